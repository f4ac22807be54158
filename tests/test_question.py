import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import refusals
from shortlist.bits import SeededBits, SystemBits
from shortlist.mechanisms import (
    DiscoverThenRank,
    Mechanism,
    Peeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
)
from shortlist.sources.question import (
    bits_of,
    build_mechanism,
    mechanism_named,
    mechanism_names,
)

MARKER = "Zz-private-91"
HELD = [pl.DataFrame({"item": [MARKER]}), pd.Series([MARKER]), [MARKER], {MARKER}]


def build(mechanism=None, *, public=False, bound=100, **asked):
    asked = {"k": 20, "epsilon": 1.0, "delta": 1e-6} | asked
    return build_mechanism(mechanism, items_are_public=public, max_items_per_user=bound, **asked)


def refusal(action, *contains):
    message = refusals.refusal(action, *contains)
    assert MARKER not in message
    assert "\n" not in message
    return message


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({}, DiscoverThenRank),
        ({"k": None}, WeightedGaussian),
        ({"public": True, "delta": 0.0}, Peeling),
        ({"mechanism": WeightedGaussianPeeling}, WeightedGaussianPeeling),
        ({"mechanism": partial(DiscoverThenRank)}, DiscoverThenRank),
    ],
)
def test_the_mechanism_of_a_question(asked, kind):
    assert type(build(**asked)) is kind


def test_the_question_supplies_what_it_knows():
    mechanism = build(partial(DiscoverThenRank, discovery_share=0.3), bound=7)
    assert mechanism == DiscoverThenRank(
        k=20, epsilon=1.0, delta=1e-6, max_items_per_user=7, discovery_share=0.3
    )


@pytest.mark.parametrize("number", [np.float32, np.float64, np.int64, int])
def test_numbers_of_numpy_become_plain_ones(number):
    mechanism = build(k=np.int16(3), epsilon=number(1), delta=np.float64(1e-6))
    assert mechanism == build(k=3)
    kinds = [type(value) for value in (mechanism.k, mechanism.epsilon, mechanism.delta)]
    assert kinds == [int, float, float]


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", None, True, np.float64("nan")])
def test_epsilon_is_checked(epsilon):
    refusal(lambda: build(epsilon=epsilon), f"epsilon={epsilon!r}: must be a number above 0")


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, math.inf, "0", None, False])
def test_delta_is_checked(delta):
    for public in (False, True):
        refusal(lambda public=public: build(delta=delta, public=public), f"delta={delta!r}: must")


@pytest.mark.parametrize("k", [0, -1, 2.0, "2", True, math.nan, np.float64(2)])
def test_k_is_checked(k):
    refusal(lambda: build(k=k), f"k={k!r}: must be a whole number, 1 or more")


@pytest.mark.parametrize("value", HELD, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("argument", ["k", "epsilon", "delta", "mechanism"])
def test_what_may_be_data_is_not_quoted(argument, value):
    refusal(lambda: build(**{argument: value}), argument, f"a value of type {type(value).__name__}")
    refusal(
        lambda: build(partial(DiscoverThenRank, discovery_share=value)),
        "discovery_share=a value of",
    )
    refusal(lambda: bits_of(value), f"random=a value of type {type(value).__name__}")


@pytest.mark.parametrize("k", [None, 20])
def test_private_items_need_delta_and_it_is_said_why(k):
    refusal(lambda: build(k=k, delta=0), "delta=0: the items are private", "1e-6", "public_items")


def test_a_domain_of_public_items_is_refused():
    refusal(lambda: build(k=None, public=True), "public_items: everybody knows", "ask for top_k")


def test_an_instance_is_refused_with_the_remedy():
    instance = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=5)
    remedy = "give the class WeightedGaussian, or functools.partial(WeightedGaussian, ...)"
    refusal(lambda: build(instance, k=None), "mechanism=WeightedGaussian(...)", remedy)


@pytest.mark.parametrize(
    "mechanism", ["peeling", "", 0, int, Mechanism, partial(DiscoverThenRank, 1), len]
)
def test_what_is_no_mechanism_is_refused(mechanism):
    refusal(lambda: build(mechanism), "mechanism=", "DiscoverThenRank, Peeling, WeightedGaussian")


def test_options_are_checked():
    refusal(
        lambda: build(partial(DiscoverThenRank, discovery_shar=0.3)),
        "no option discovery_shar; it has discovery_share",
        'Did you mean "discovery_share"?',
    )
    refusal(lambda: build(partial(Peeling, speed=1), public=True), "no option speed; it has none.")
    for name in ("k", "epsilon", "delta", "max_items_per_user"):
        given = partial(DiscoverThenRank, **{name: 1})
        refusal(lambda given=given: build(given), f"{name} is given by the question")
    refusal(lambda: build(partial(DiscoverThenRank, discovery_share=2)), "discovery_share=2: must")


def test_a_mechanism_answers_its_own_question():
    refusal(lambda: build(WeightedGaussian), "it answers domain, not top_k")
    refusal(lambda: build(DiscoverThenRank, k=None), "it answers top_k, not domain")
    refusal(lambda: build(Peeling), "items that everybody knows; give public_items")
    refusal(lambda: build(DiscoverThenRank, public=True), "discovers private items, and these are")


def test_a_mechanism_of_the_callers_own_is_taken():
    @dataclass(frozen=True, kw_only=True)
    class Bolder(WeightedGaussian):
        nerve_share: float = 0.5

    assert build(partial(Bolder, nerve_share=0.7), k=None).nerve_share == 0.7


def test_names_of_mechanisms():
    kinds = [DiscoverThenRank, Peeling, WeightedGaussian, WeightedGaussianPeeling]
    names = ["discover-then-rank", "peeling", "weighted-gaussian", "weighted-gaussian-peeling"]
    assert mechanism_names() == names
    assert [mechanism_named(name) for name in names] == kinds
    refusal(lambda: mechanism_named("peling"), '"peling"', *names, 'Did you mean "peeling"?')


def test_sources_of_bits():
    assert bits_of(None) == SystemBits()
    seeded = SeededBits(1)
    assert bits_of(seeded) is seeded
    refusal(lambda: bits_of(42), "random=42", "shortlist.bits.SeededBits(42)", "not private")
    refusal(lambda: bits_of(np.random.default_rng(1)), "a value of type Generator", "SeededBits")
    refusal(lambda: bits_of(SeededBits), "random=SeededBits: give an instance")
