"""What a question comes to: its mechanism, its options, and what is refused."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.planned import build, build_for_counts, refusal
from shortlist import mechanisms
from shortlist.bits import SeededBits, SystemBits
from shortlist.evidence import WeightedHistogram
from shortlist.evidence.user_sets import UserSets
from shortlist.mechanisms import (
    AdaptiveGaussian,
    AdaptiveTopK,
    ChosenBound,
    DiscoverThenRank,
    GreedyOrAdaptive,
    GreedyOrRounds,
    JointOrPeel,
    LimitedDomain,
    Mechanism,
    OneShotLaplace,
    Peeling,
    PerGroup,
    PermuteAndFlip,
    PolicyGreedy,
    UserPeeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
)
from shortlist.mechanisms.registry import mechanism_named, mechanism_names
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.parameters import Share, Whole
from shortlist.plan import bits_of, require_enough
from shortlist.questions import COUNT_SHARE, Domain, HittingSet, TopK


@dataclass(frozen=True, kw_only=True)
class Held(Peeling):
    """Of public items, with an option that says in how many counts a user is."""

    max_items_per_user: Whole | None = None


@dataclass(frozen=True, kw_only=True)
class Strict(LimitedDomain):
    """Of private items, and only where a user is in so many counts."""

    max_items_per_user: Whole = 0


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({}, GreedyOrAdaptive),
        ({"k": None}, GreedyOrRounds),
        ({"k": None, "bound": 2}, GreedyOrRounds),
        ({"k": None, "bound": 1}, PolicyGreedy),
        ({"k": None, "bound": None}, GreedyOrRounds),
        ({"bound": None}, GreedyOrAdaptive),
        ({"bound": 1}, GreedyOrAdaptive),
        ({"public": True, "delta": 0.0}, JointOrPeel),
        ({"public": True}, JointOrPeel),
        ({"mechanism": WeightedGaussianPeeling}, WeightedGaussianPeeling),
        ({"mechanism": LimitedDomain}, LimitedDomain),
        ({"mechanism": partial(DiscoverThenRank)}, DiscoverThenRank),
    ],
)
def test_the_mechanism_of_a_question(asked, kind):
    assert type(build(**asked)) is kind


@pytest.mark.parametrize(
    ("mechanism", "bound", "given"),
    [
        (ChosenBound, None, 1000),
        (GreedyOrRounds, None, None),
        (GreedyOrRounds, 100, 100),
        (ChosenBound, 100, 100),
        (partial(ChosenBound, max_items_per_user=50), None, 50),
        (AdaptiveGaussian, None, 100),
        (AdaptiveGaussian, 1000, 1000),
    ],
)
def test_a_bound_that_nobody_asked_for_gives_way_to_a_mechanism_s_own(mechanism, bound, given):
    assert build(k=None, mechanism=mechanism, bound=bound).max_items_per_user == given


@pytest.mark.parametrize(
    ("asked", "kind"),
    [
        ({}, LimitedDomain),
        ({"public": True}, JointOrPeel),
        ({"public": True, "mechanism": Peeling, "delta": 0}, Peeling),
        ({"mechanism": partial(LimitedDomain, k_bar=30)}, LimitedDomain),
    ],
)
def test_the_mechanism_of_a_histogram(asked, kind):
    assert type(build_for_counts(**asked)) is kind


def test_the_bound_of_counts_is_a_promise():
    assert build_for_counts(bound=np.int8(7)) == build_for_counts(bound=7)
    assert build_for_counts(bound=7).max_items_per_user == 7
    assert build_for_counts().max_items_per_user is None
    assert build_for_counts(Held, public=True, bound=7).max_items_per_user == 7
    assert build_for_counts(Held, public=True).max_items_per_user is None
    assert build_for_counts(Strict, bound=3).max_items_per_user == 3
    refusal(lambda: build_for_counts(Strict), "max_items_per_user=None: must be a whole number")
    for bound in (0, -1, 2.0, True, "3"):
        said = f"max_items_per_user={bound!r}: must be a whole number, 1 or more"
        refusal(lambda bound=bound: build_for_counts(bound=bound), said)


def test_the_bound_of_pairs_is_enforced_where_it_is_given():
    assert build(LimitedDomain, bound=7).max_items_per_user == 7
    assert build(Held, public=True, bound=7).max_items_per_user is None  # nothing is bounded
    given = partial(Held, max_items_per_user=np.int16(5))
    assert build(given, public=True).max_items_per_user == 5
    refusal(
        lambda: build(partial(Held, max_items_per_user=0), public=True),
        "max_items_per_user=0: must",
    )


def test_the_question_supplies_what_it_knows():
    mechanism = build(partial(DiscoverThenRank, discovery_share=0.3), bound=7)
    assert mechanism == DiscoverThenRank(
        k=20, epsilon=1.0, delta=1e-6, max_items_per_user=7, discovery_share=0.3
    )


@pytest.mark.parametrize("k", [None, 20])
def test_private_items_need_delta_and_it_is_said_why(k):
    refusal(
        lambda: build(k=k, delta=0),
        "delta is needed, because the items are private: add delta=1e-6.",
        *([] if k is None else ["If everybody knows the items, give public_items instead."]),
    )


def test_a_domain_of_public_items_is_refused():
    refusal(lambda: build(k=None, public=True), "public_items: everybody knows", "ask for top_k or")


def test_users_are_not_bounded_for_a_hitting_set_of_public_items():
    asked = {"question": HittingSet, "k": 2, "public": True}
    bounded = partial(UserPeeling, max_items_per_user=5)
    refusal(lambda: build(bounded, **asked), "max_items_per_user", "omit it")
    assert build(UserPeeling, **asked).max_items_per_user is None


def test_an_instance_is_refused_with_the_remedy():
    instance = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=5)
    remedy = "give the class WeightedGaussian, or functools.partial(WeightedGaussian, ...)"
    refusal(lambda: build(instance, k=None), "mechanism=WeightedGaussian(...)", remedy)


@pytest.mark.parametrize(
    "mechanism", ["peeling", "", 0, int, Mechanism, partial(DiscoverThenRank, 1), len]
)
def test_what_is_no_mechanism_is_refused(mechanism):
    refusal(lambda: build(mechanism), "mechanism=", "DiscoverThenRank, ")


def test_options_are_checked():
    refusal(
        lambda: build(partial(DiscoverThenRank, discovery_shar=0.3)),
        "no option discovery_shar; it has discovery_share",
        'Did you mean "discovery_share"?',
    )
    refusal(
        lambda: build(partial(PermuteAndFlip, speed=1), public=True, delta=0),
        "no option speed; it has none.",
    )
    for name in ("k", "epsilon", "delta"):
        given = partial(DiscoverThenRank, **{name: 1})
        refusal(lambda given=given: build(given), f"{name} is given by the question")
    refusal(
        lambda: build(partial(DiscoverThenRank, max_items_per_user=1)),
        "max_items_per_user is an argument of the source",
    )
    refusal(
        lambda: build_for_counts(partial(Held, max_items_per_user=1), public=True),
        "max_items_per_user is an argument of the source",
    )
    refusal(lambda: build(partial(DiscoverThenRank, discovery_share=2)), "discovery_share=2: must")


def test_a_mechanism_answers_its_own_question():
    refusal(lambda: build(WeightedGaussian), "it answers domain, not top_k")
    refusal(lambda: build(DiscoverThenRank, k=None), "it answers top_k, not domain")
    refusal(lambda: build(Peeling), "items that everybody knows; give public_items")
    for kind in (DiscoverThenRank, LimitedDomain):
        refusal(
            lambda kind=kind: build(kind, public=True), "discovers private items, and these are"
        )
    refusal(lambda: build(WeightedGaussian, public=True), "it answers domain, not top_k")
    refusal(lambda: build(LimitedDomain, k=None), "it answers top_k, not domain")


def test_a_histogram_does_not_say_who_holds_what():
    for kind in (DiscoverThenRank, WeightedGaussianPeeling):
        said = f"mechanism={kind.__name__}: it needs to know who holds what", "by sl.pairs"
        refusal(lambda kind=kind: build_for_counts(kind), *said)
    refusal(lambda: build_for_counts(Peeling), "items that everybody knows; give public_items")
    for kind in (DiscoverThenRank, LimitedDomain):
        refusal(lambda kind=kind: build_for_counts(kind, public=True), "discovers private items")


def test_a_delta_that_would_not_be_used_is_refused():
    said = "delta=1e-06: PermuteAndFlip is pure and uses none of it; omit delta, or choose"
    for made in (build, build_for_counts):
        refusal(lambda made=made: made(PermuteAndFlip, public=True), said)
        assert made(PermuteAndFlip, public=True, delta=0) == PermuteAndFlip(k=20, epsilon=1.0)
        refusal(lambda made=made: made(PermuteAndFlip, public=True, delta="0"), "delta='0': must")


def test_what_is_no_question_is_refused():
    plays = sl.pairs(pl.DataFrame({"user": ["a"], "item": ["x"]}), user="user", item="item")
    for asked, said in (
        (5, "question=5: must be a question"),
        (Domain, "question=Domain: must be"),
    ):
        refusal(lambda asked=asked: plays.plan(asked, epsilon=1.0, delta=1e-6), said)


def test_a_share_of_the_budget_is_for_counts():
    counted = build(count_share=0.25)
    assert type(counted) is NoisyCounts
    assert type(counted.selection) is AdaptiveTopK
    assert counted.selection.epsilon == 0.75
    assert (counted.k, counted.epsilon, counted.delta) == (20, 1.0, 1e-6)
    assert counted.count_share == 0.25
    assert counted.evidence is UserSets
    assert build(DiscoverThenRank, count_share=0.25).evidence is WeightedHistogram
    for kind in (AdaptiveTopK, DiscoverThenRank):  # beside sets and weights, counts are of all
        assert build(kind, bound=3, count_share=0.25)._changed == 20
    assert build(LimitedDomain, bound=3, count_share=0.25)._changed == 3
    assert build_for_counts(count_share=0.25).max_items_per_user is None
    promised = build_for_counts(PermuteAndFlip, public=True, bound=7, count_share=0.25, delta=0)
    assert promised.max_items_per_user == 7
    assert promised.selection == PermuteAndFlip(k=20, epsilon=0.75)
    # The counts' noise uses a delta even where the selection does not.
    assert build(PermuteAndFlip, public=True, count_share=0.25).delta == 1e-6


def test_counts_are_asked_for_without_saying_a_share():
    rows = {"user": [1], "title": ["Emma"], "place": ["Bath"]}
    source = sl.pairs(rows, user="user", item="title")
    asked = {"epsilon": 1.0, "delta": 1e-6}
    for question in (TopK, Domain):
        first = () if question is Domain else (20,)
        made = source.plan(question(*first, noisy_counts=True), **asked).mechanism
        assert made == source.plan(question(*first, count_share=COUNT_SHARE), **asked).mechanism
        other = source.plan(question(*first, count_share=0.4, noisy_counts=True), **asked)
        assert other.mechanism.count_share == 0.4
        refusal(lambda q=question, f=first: q(*f, noisy_counts="yes"), "noisy_counts='yes'")
    grouped = source.grouped("place").plan(TopK(20, noisy_counts=True), **asked)
    assert type(grouped.mechanism) is PerGroup  # which has counts anyway
    refusal(lambda: source.grouped("place").plan(TopK(20, count_share=0.3), **asked), "omit it")


def test_a_mechanism_that_is_none_by_itself_is_refused():
    refusal(lambda: build(NoisyCounts), "mechanism=NoisyCounts: it goes with a mechanism", "noisy_")

    @dataclass(frozen=True, kw_only=True)
    class Needy(WeightedGaussian):
        patience: Whole

    remedy = "it needs its option patience; give it by functools.partial(Needy, patience=...)"
    refusal(lambda: build(Needy, k=None), remedy)
    assert build(partial(Needy, patience=3), k=None).patience == 3


def test_no_more_than_there_are_public_items():
    require_enough(TopK(3), 3)
    require_enough(TopK(3), None)
    require_enough(Domain(), 3)
    refusal(
        lambda: require_enough(TopK(4), 3), "k=4: there are only 3 public items; ask for at most 3."
    )


def test_a_mechanism_of_the_callers_own_is_taken():
    @dataclass(frozen=True, kw_only=True)
    class Bolder(WeightedGaussian):
        nerve_share: Share = 0.5

    assert build(partial(Bolder, nerve_share=0.7), k=None).nerve_share == 0.7


def test_names_of_mechanisms():
    kinds = {
        "adaptive-top-k": AdaptiveTopK,
        "discover-then-rank": DiscoverThenRank,
        "joint-or-peel": JointOrPeel,
        "limited-domain": LimitedDomain,
        "peeling": Peeling,
        "weighted-gaussian": WeightedGaussian,
        "weighted-gaussian-peeling": WeightedGaussianPeeling,
    }
    names = mechanism_names()
    assert set(kinds) <= set(names)
    assert {name: mechanism_named(name) for name in kinds} == kinds
    assert all(getattr(mechanisms, mechanism_named(name).__name__) for name in names)
    refusal(lambda: mechanism_named("peling"), '"peling"', *names, 'Did you mean "peeling"?')


def test_sources_of_bits():
    assert bits_of(None) == SystemBits()
    seeded = SeededBits(1)
    assert bits_of(seeded) is seeded
    refusal(lambda: bits_of(42), "random=42", "shortlist.bits.SeededBits(42)", "not private")
    refusal(lambda: bits_of(np.random.default_rng(1)), "a value of type Generator", "SeededBits")
    refusal(lambda: bits_of(SeededBits), "random=SeededBits: give an instance")


def test_counts_that_are_free_are_not_bought():
    bounded = partial(OneShotLaplace, max_items_per_user=2)
    refusal(
        lambda: build(bounded, public=True, delta=0, count_share=0.3),
        "count_share=0.3: OneShotLaplace gives noisy counts at no cost",
    )


@pytest.mark.parametrize("more", [{"others": True}, {"noisy_counts": True}])
def test_a_refusal_of_a_stage_shows_what_was_asked_of_the_whole(more):
    source = sl.pairs({"user": [1], "title": ["Emma"]}, user="user", item="title")
    with pytest.raises(sl.InputError, match=r"^epsilon=1e-06, delta=1e-12: ") as refused:
        source.top_k(5, epsilon=1e-6, delta=1e-12, **more)
    assert (refused.value.argument, refused.value.value) == ("delta", "1e-12")
