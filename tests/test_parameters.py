"""What is asked is checked: numbers, by their type and not by their name."""

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers.planned import build, build_for_counts, refusal
from helpers.refusals import MARKER
from shortlist.mechanisms import DiscoverThenRank, Peeling
from shortlist.parameters import Share
from shortlist.plan import bits_of
from shortlist.questions import Domain, HittingSet, Rank, TopK

HELD = [pl.DataFrame({"item": [MARKER]}), pd.Series([MARKER]), [MARKER], {MARKER}]


@pytest.mark.parametrize("number", [np.float32, np.float64, np.int64, int])
def test_numbers_of_numpy_become_plain_ones(number):
    mechanism = build(k=np.int16(3), epsilon=number(1), delta=np.float64(1e-6))
    assert mechanism == build(k=3)
    kinds = [type(value) for value in (mechanism.k, mechanism.epsilon, mechanism.delta)]
    assert kinds == [int, float, float]


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", True, np.float64("nan")])
def test_epsilon_is_checked(epsilon):
    refusal(lambda: build(epsilon=epsilon), f"epsilon={epsilon!r}: must be a number above 0")


@pytest.mark.parametrize("delta", [-1e-9, 1, 1.5, math.nan, math.inf, "0", None, False])
def test_delta_is_checked(delta):
    for public in (False, True):
        refusal(lambda public=public: build(delta=delta, public=public), f"delta={delta!r}: must")


@pytest.mark.parametrize("question", [TopK, HittingSet, Rank])
@pytest.mark.parametrize("k", [0, -1, 2.0, "2", True, math.nan, np.float64(2), None])
def test_k_is_checked(k, question):
    refusal(lambda: question(k), f"k={k!r}: must be a whole number, 1 or more")


@pytest.mark.parametrize("value", HELD, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("argument", ["k", "epsilon", "delta", "mechanism"])
def test_what_may_be_data_is_not_quoted(argument, value):
    refusal(lambda: build(**{argument: value}), argument, f"a value of type {type(value).__name__}")
    refusal(
        lambda: build(partial(DiscoverThenRank, discovery_share=value)),
        "discovery_share=a value of",
    )
    refusal(lambda: bits_of(value), f"random=a value of type {type(value).__name__}")


@pytest.mark.parametrize("share", [0, 1, -1, 2, math.nan, "0.1", True, *HELD])
def test_the_share_for_counts_is_checked(share):
    for made in (build, build_for_counts, Domain):
        refusal(lambda made=made: made(count_share=share), "count_share=", "must be a number from")


@dataclass(frozen=True, kw_only=True)
class Tempered(Peeling):
    """With parameters whose names say nothing of what they take."""

    temper: Share = 0.5
    epsilon_of_another: float = -1.0


def test_a_parameter_is_checked_by_its_type_and_not_by_its_name():
    given = {"k": 2, "epsilon": 1.0}
    assert Tempered(**given, temper=0.999).temper == 0.999
    assert Tempered(**given).epsilon_of_another == -1.0
    refusal(lambda: Tempered(**given, temper=2), "temper=2: must be a number from 1e-6")
