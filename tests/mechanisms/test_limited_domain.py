"""Limited domain: its parameters, the bar, ties at the last place, and huge or few counts."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.exactness import between
from helpers.refusals import refusal
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PrivateCounts
from shortlist.mechanisms import LimitedDomain
from shortlist.privacy import ZCDP, Approximate, Pure
from shortlist.privacy.accountant import BoundedRange, Composition, ThresholdDelta

fixed = settings(derandomize=True, deadline=None, max_examples=80)
HUGE = 2**62
LOUD = {"epsilon": 2.0, "delta": 0.2}  # so that "nobody" is often not picked


def select(mechanism, counts, draws, bound=None):
    evidence = PrivateCounts(np.array(counts, np.int64), bound)
    return tuple(mechanism.select(evidence, draws).positions.tolist())


def positions_law(mechanism, counts, bound=None):
    return law(lambda draws: select(mechanism, counts, draws, bound))


# --- parameters


@pytest.mark.parametrize(("k", "k_bar"), [(2, 1), (1000, 999)])
def test_fewer_looked_at_than_named_is_refused(k, k_bar):
    refusal(
        lambda: LimitedDomain(k=k, k_bar=k_bar, **LOUD),
        f"k_bar={k_bar}: must be at least k={k}",
    )


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True, math.nan])
@pytest.mark.parametrize("name", ["k_bar", "max_items_per_user"])
def test_bad_bounds_are_refused(name, value):
    refusal(lambda: LimitedDomain(k=1, **LOUD, **{name: value}), f"{name}={value!r}")


PARAMETERS = st.fixed_dictionaries(
    {
        "k": st.integers(1, 2000),
        "epsilon": between(1e-6, 50),
        "delta": between(1e-290, 0.3),
        "max_items_per_user": st.none() | st.integers(1, 2**32),
        "threshold_share": st.sampled_from([1e-6, 0.5, 0.9, 1 - 1e-6]),
    }
)


@settings(max_examples=10)
@given(given=PARAMETERS, beyond=st.none() | st.integers(0, 10**5))
@example(given={"k": 1, "epsilon": 1.0, "delta": 1e-290, "max_items_per_user": 2**32}, beyond=None)
def test_the_cost_and_the_bar_are_those_of_the_theorem(given, beyond):
    k_bar = None if beyond is None else given["k"] + beyond
    mechanism = LimitedDomain(**given, k_bar=k_bar, second_try=None)
    cost, local, k = mechanism.cost, mechanism.local_epsilon, mechanism.k
    assert cost.delta(mechanism.epsilon) <= mechanism.delta
    if isinstance(cost, Approximate):
        assert mechanism.threshold_delta == mechanism.delta
        assert k * Fraction(local) <= Fraction(mechanism.epsilon)
        assert cost.parameters()["epsilon"] <= mechanism.epsilon
    else:
        lost = mechanism.threshold_delta
        assert cost.ways[0] == ZCDP((Pure.bounded_range(local) * k).rho, lost)
        assert cost.composition == Composition((BoundedRange(local, k),), ThresholdDelta(lost))
        assert mechanism.threshold_delta < mechanism.delta
        assert k * Fraction(local) > Fraction(mechanism.epsilon)  # or pure picks were better
    bounds = [mechanism.looked_at, mechanism.max_items_per_user]
    changed = min(bound for bound in bounds if bound is not None)
    needed = Fraction(changed) / Fraction(mechanism.threshold_delta)
    assert needed <= Fraction(mechanism._nobody) <= needed * (1 + Fraction(1, 2**50))
    log_needed = math.log(changed) - math.log(mechanism.threshold_delta)
    assert math.isclose(mechanism.lead, 1 + log_needed / local, rel_tol=1e-12)


@pytest.mark.parametrize(
    ("given", "looked_at"),
    [
        ({"k": 7}, 1000),
        ({"k": 700}, 7000),
        ({"k": 7, "k_bar": 9}, 9),
        ({"k": 7, "max_items_per_user": 5}, None),
        ({"k": 7, "k_bar": 9, "max_items_per_user": 5}, 9),
    ],
)
def test_how_many_are_looked_at(given, looked_at):
    mechanism = LimitedDomain(epsilon=1.0, delta=1e-6, **given)
    assert mechanism.looked_at == looked_at
    among = "all items" if looked_at is None else f"the {looked_at} items"
    assert among in mechanism.explain()[0]


def test_a_bound_on_users_lowers_the_bar():
    leads = [
        LimitedDomain(k=10, epsilon=1.0, delta=1e-6, k_bar=500, max_items_per_user=bound).lead
        for bound in (None, 500, 100, 1)
    ]
    assert leads[0] == leads[1] > leads[2] > leads[3]


def test_evidence_that_is_bounded_more_loosely_is_refused():
    mechanism = LimitedDomain(k=2, max_items_per_user=3, **LOUD)
    draws = ExactDraws(SeededBits(1))
    for bound, said in ((4, "bounded at 4"), (None, "not bounded")):
        refusal(lambda b=bound: select(mechanism, [9, 8], draws, b), "max_items_per_user=3", said)
    for bound in (1, 3):
        select(mechanism, [9, 8], draws, bound)
    for bound in (1, 10**6, None):  # where nothing is promised, every bound will do
        select(LimitedDomain(k=2, **LOUD), [9, 8], draws, bound)


# --- what comes out


def distinct(mechanism, counts, at_most):
    for outcome in positions_law(mechanism, counts, bound=1):
        assert len(outcome) <= at_most
        assert len(set(outcome)) == len(outcome)
        assert all(counts[i] > 0 for i in outcome)


@pytest.mark.parametrize("k_bar", [None, 2, 3, 100])
@pytest.mark.parametrize("bound", [None, 1, 5])
def test_no_item_twice_no_item_that_nobody_holds_and_at_most_k(k_bar, bound):
    for counts in itertools.product(range(3), repeat=3):
        mechanism = LimitedDomain(k=2, k_bar=k_bar, max_items_per_user=bound, **LOUD)
        distinct(mechanism, counts, at_most=2)


@pytest.mark.parametrize("counts", [[], [0], [0, 0, 0]])
@pytest.mark.parametrize("k_bar", [None, 3])
def test_nothing_is_named_where_nobody_holds_anything(counts, k_bar):
    mechanism = LimitedDomain(k=3, k_bar=k_bar, epsilon=50.0, delta=0.9)
    assert positions_law(mechanism, counts) == {(): 1.0}


def test_items_of_count_0_change_nothing():
    for bound in (None, 2):
        mechanism = LimitedDomain(k=2, k_bar=3, max_items_per_user=bound, **LOUD)
        some = positions_law(mechanism, [5, 3, 2], bound=2)
        padded = positions_law(mechanism, [5, 3, 2, 0, 0, 0, 0], bound=2)
        assert some.keys() == padded.keys()
        assert all(math.isclose(padded[o], p, rel_tol=1e-12) for o, p in some.items())


@pytest.mark.parametrize("k_bar", [2, 3, 4])
def test_ties_at_the_last_place_are_broken_at_random(k_bar):
    # Items 1, 2, 4, 5 are tied across the places looked at: renaming them changes no probability.
    counts, tied = [9, 5, 5, 2, 5, 5], (1, 2, 4, 5)
    outcomes = positions_law(LimitedDomain(k=2, k_bar=k_bar, epsilon=2.0, delta=0.9), counts)
    assert len(outcomes) > 10
    for images in itertools.permutations(tied):
        renamed = dict(zip(tied, images, strict=True))
        for outcome, p in outcomes.items():
            other = tuple(renamed.get(i, i) for i in outcome)
            assert math.isclose(outcomes[other], p, rel_tol=1e-9)
    named = {i for outcome in outcomes for i in outcome}
    assert named == ({0, *tied} if k_bar < 6 else set(range(6)))


@pytest.mark.parametrize("k_bar", [1, 2, 3, None])
@pytest.mark.parametrize("counts", [[2], [5, 3], [5, 5], [5, 5, 3], [4, 4, 4, 1], [6, 5, 5, 4]])
def test_nobody_has_the_odds_of_the_first_count_not_looked_at_and_the_lead(counts, k_bar):
    mechanism = LimitedDomain(k=1, k_bar=k_bar, max_items_per_user=1, epsilon=0.5, delta=0.1)
    following = 0 if k_bar is None else [*counts, 0, 0, 0][k_bar]

    def chance(lead):
        odds = [math.exp(mechanism.local_epsilon * (c - following - lead)) for c in counts[:k_bar]]
        return sum(odds) / (1 + sum(odds))

    named = 1 - positions_law(mechanism, counts, bound=1)[()]
    assert math.isclose(named, chance(mechanism.lead), rel_tol=1e-9)
    assert chance(0.7 * mechanism.lead) > 1.02 * named  # would be seen


def test_more_looked_at_than_there_are_is_all():
    for k_bar in (3, 4, 10**9):
        mechanism = LimitedDomain(k=2, k_bar=k_bar, max_items_per_user=1, **LOUD)
        every = LimitedDomain(k=2, max_items_per_user=1, **LOUD)
        one, other = (positions_law(m, [5, 3, 3], bound=1) for m in (mechanism, every))
        assert one == other


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("delta", [1e-290, 1e-6, 0.3])
def test_huge_counts(delta, margin):
    counts = [HUGE, 3, HUGE - 5, 2**61, 0, HUGE]
    for bound in (None, 4):
        mechanism = LimitedDomain(k=6, epsilon=2.0, delta=delta, max_items_per_user=bound)
        for seed in range(3):
            named = select(mechanism, counts, ExactDraws(SeededBits(seed), margin), bound)
            assert set(named[:3]) == {0, 2, 5}
            assert named[3] == 3
            assert 4 not in named
            assert delta == 0.3 or len(named) == 4


def test_huge_counts_of_which_one_sets_the_bar():
    mechanism = LimitedDomain(k=2, k_bar=2, epsilon=2.0, delta=1e-6)
    for seed in range(5):
        draws = ExactDraws(SeededBits(seed))
        assert select(mechanism, [HUGE, HUGE - 1, HUGE - 2, 7], draws) == ()
        assert select(mechanism, [HUGE, HUGE - 1000, 9, 7], draws) == (0, 1)


@pytest.mark.parametrize("delta", [1e-290, 1e-100, 1e-12])
def test_a_tiny_delta_names_what_very_many_hold(delta):
    mechanism = LimitedDomain(k=3, epsilon=1.0, delta=delta)
    assert math.isfinite(mechanism.lead)
    counts = [10**6, 20, 2 * 10**6, 3 * 10**6]
    for seed in range(5):
        assert select(mechanism, counts, ExactDraws(SeededBits(seed))) == (3, 2, 0)
        assert select(mechanism, [5, 6, 7], ExactDraws(SeededBits(seed))) == ()


def test_a_delta_of_which_nothing_could_be_named_is_refused():
    refusal(lambda: LimitedDomain(k=3, epsilon=1.0, delta=0.0), "delta is needed", "private")
    refusal(lambda: LimitedDomain(k=3, epsilon=1.0, delta=5e-324), "delta=5e-324")


@fixed
@given(
    seed=st.integers(0, 2**32),
    counts=st.lists(st.integers(0, 40), max_size=30),
    k=st.integers(1, 8),
    beyond=st.none() | st.integers(0, 20),
)
def test_forced_to_be_slow_it_names_the_same(seed, counts, k, beyond):
    k_bar = None if beyond is None else k + beyond
    mechanism = LimitedDomain(k=k, k_bar=k_bar, epsilon=4.0, delta=0.1)
    bits = SeededBits(seed), SeededBits(seed)
    fast, slow = (
        select(mechanism, counts, ExactDraws(b, margin))
        for b, margin in zip(bits, (0.0, math.inf), strict=True)
    )
    assert fast == slow
    assert bits[0].words(1) == bits[1].words(1)
    assert len(fast) <= min(k, sum(count > 0 for count in counts))
    assert len(set(fast)) == len(fast)
