"""The private choice between JOINT and peeling: its chance, what it tells, and what it costs."""

import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.exactness import between, within_stated_error
from shortlist.algorithms.grouping import Groups
from shortlist.algorithms.slack import SlackWeights
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import JointOrPeel, joint_or_peel
from shortlist.mechanisms.joint_or_peel import _Crowded
from shortlist.privacy import Either, Pure

fixed = settings(derandomize=True, deadline=None, max_examples=60)
HUGE = 2**62
COUNTS = st.lists(
    st.integers(0, 30) | st.sampled_from([HUGE, HUGE - 7, 2**40, 10**6]) | st.integers(0, 2000),
    min_size=1,
    max_size=40,
)


def weights_of(counts, k, decay):
    return SlackWeights.of(Groups.of(np.array(counts, np.int64)), k, decay)


# --- the chance


@fixed
@given(
    counts=COUNTS,
    share=st.floats(0, 1),
    epsilon=between(1e-6, 50),
    slope=between(1e-6, 2e6),
    threshold=st.integers(1, 200),
)
@example(counts=[5], share=0, epsilon=1.0, slope=1.0, threshold=1)
@example(counts=[HUGE, 0], share=1, epsilon=1e-12, slope=2e6, threshold=2**32)
def test_the_chance_is_within_its_stated_error(counts, share, epsilon, slope, threshold):
    weights = weights_of(counts, 1 + int(share * (len(counts) - 1)), epsilon / 2)
    near = max(1, round(weights.log_sum()[0] + weights.shift))
    for level in (threshold, near, near + 1):
        _, errors = within_stated_error(_Crowded(weights, slope, level))
        assert errors[0] < 1e-12 * (1 + slope * (200 + level))


@pytest.mark.parametrize(("k", "n"), [(1, 1000), (20, 400), (100, 150)])
@pytest.mark.parametrize("decay", [1e-6, 0.05, 5.0])
def test_the_chance_in_large_universes_is_within_its_stated_error(k, n, decay):
    zipf = (10**7 / np.arange(1, n)).astype(np.int64)
    for counts in (zipf, np.arange(n), np.full(10 * n, 4), HUGE - np.arange(n)):
        crowded = _Crowded(weights_of(counts, k, decay), 0.1, 40)
        within_stated_error(crowded, bits=150)
        assert crowded.approximate()[1] < 2.0**-28


@cache
def log_normaliser(counts, k, decay):
    """Ln of the sum over all sequences of exp(-decay · slack), by the definition."""
    largest = sorted(counts, reverse=True)[:k]
    with ctx.workprec(200):
        total = arb(0)
        for items in itertools.permutations(counts, k):
            slack = max(top - count for top, count in zip(largest, items, strict=True))
            total += (-arb(decay) * slack).exp()
        return total.log()


def crowded(mechanism, counts):
    weights = weights_of(counts, min(mechanism.k, len(counts)), mechanism.joint_epsilon / 2)
    return _Crowded(weights, mechanism.slope, mechanism.switch_at)


SMALL = [counts for d in range(1, 5) for counts in itertools.product(range(4), repeat=d)]


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_chance_is_that_of_laplace_noise_and_grows_with_the_normaliser(k):
    mechanism = JointOrPeel(k=k, epsilon=1.5, choice_share=0.3, threshold=2)
    pairs = {}
    for counts in SMALL:
        log_z = float(
            log_normaliser(tuple(sorted(counts)), min(k, len(counts)), mechanism.joint_epsilon / 2)
        )
        chance = crowded(mechanism, counts).approximate()[0][0]
        behind = (2 - log_z) * mechanism.slope
        exact = math.exp(-behind) / 2 if behind > 0 else 1 - math.exp(behind) / 2
        assert math.isclose(chance, exact, rel_tol=1e-9)
        pairs[round(log_z, 9)] = chance
    chances = [pairs[log_z] for log_z in sorted(pairs)]
    assert all(one < other for one, other in itertools.pairwise(chances))
    assert chances[0] < 0.5
    assert k == 1 or chances[-1] > 0.5


def neighbours(counts):
    """All that one user more can make of the counts."""
    for added in itertools.product([0, 1], repeat=len(counts)):
        if any(added):
            yield tuple(count + more for count, more in zip(counts, added, strict=True))


def largest_move(mechanism, number):
    """By how much a number of the counts moves between neighbours in small universes, at most."""
    with ctx.workprec(200):
        known = {}

        def value(counts):
            counts = tuple(sorted(counts))
            if counts not in known:
                known[counts] = number(mechanism, counts)
            return known[counts]

        moves = [
            abs(one - other)
            for counts in SMALL
            for more in neighbours(counts)
            for one, other in zip(value(counts), value(more), strict=True)
        ]
        return max(moves, key=float)


def log_z_of(mechanism, counts):
    chance = crowded(mechanism, counts)
    weights = chance.weights
    total = sum((weights.ball(i) for i in range(len(weights))), arb(0))
    return (total.log() + arb(weights.shift),)


def log_likelihoods(mechanism, counts):
    chance = crowded(mechanism, counts).ball(0)
    return chance.log(), (1 - chance).log()


CHOICES = [
    {"k": 1, "epsilon": 1.0},
    {"k": 2, "epsilon": 3.0, "threshold": 2},
    {"k": 3, "epsilon": 0.1, "delta": 1e-6, "choice_share": 0.5},
    {"k": 2, "epsilon": 20.0, "choice_share": 0.01, "threshold": 1},
]


@pytest.mark.parametrize("given", CHOICES)
def test_one_user_moves_the_normaliser_by_at_most_half_of_epsilon(given):
    mechanism = JointOrPeel(**given)
    assert largest_move(mechanism, log_z_of) <= arb(mechanism.joint_epsilon) / 2


@pytest.mark.parametrize("given", CHOICES)
def test_one_user_moves_the_log_likelihood_of_the_choice_by_at_most_its_epsilon(given):
    mechanism = JointOrPeel(**given)
    assert largest_move(mechanism, log_likelihoods) <= arb(mechanism.choice_epsilon)


@pytest.mark.parametrize("given", CHOICES)
def test_that_much_is_nearly_attained_where_very_many_compete(given):
    # One more user makes one of very many equal items the best by far: all others fall behind.
    mechanism = JointOrPeel(**given | {"k": 1, "threshold": 100})
    equal = np.zeros(10**6 if mechanism.epsilon < 10 else 2**24, np.int64)
    better = equal.copy()
    better[7] = 1
    with ctx.workprec(200):
        before, after = (log_z_of(mechanism, counts)[0] for counts in (equal, better))
        assert before - after <= arb(mechanism.joint_epsilon) / 2
        assert before - after >= 0.99 * arb(mechanism.joint_epsilon) / 2
        before, after = (log_likelihoods(mechanism, counts)[0] for counts in (equal, better))
        assert before - after <= arb(mechanism.choice_epsilon)
        assert before - after >= 0.99 * arb(mechanism.choice_epsilon)


@pytest.mark.parametrize("given", CHOICES)
def test_noise_that_is_30_percent_too_small_tells_too_much(given):
    mechanism = JointOrPeel(**given | {"k": 1, "threshold": 100})
    sharp = [
        _Crowded(weights_of(counts, 1, mechanism.joint_epsilon / 2), mechanism.slope / 0.7, 100)
        for counts in (np.zeros(2**24, np.int64), np.arange(2**24) == 7)
    ]
    with ctx.workprec(200):
        before, after = (chance.ball(0).log() for chance in sharp)
        assert before - after > 1.3 * arb(mechanism.choice_epsilon)


def test_frequency_of_the_choice(monkeypatch):
    mechanism = JointOrPeel(k=2, epsilon=1.5, choice_share=0.3, threshold=2)
    counts, whole, n = np.array([9, 8, 8, 8, 8, 8, 8, 8, 7, 5]), [], 2000

    def draw_joint(weights, _):
        whole.append(1)
        return np.arange(weights.sequences.k)

    monkeypatch.setattr(joint_or_peel, "draw_joint", draw_joint)
    draws = ExactDraws(SeededBits(6))
    for _ in range(n):
        mechanism.select(PublicCounts(counts), draws)

    def deviation(factor):
        weights = weights_of(counts, 2, mechanism.joint_epsilon / 2)
        chance = _Crowded(weights, mechanism.slope * factor, mechanism.switch_at)
        p = 1 - float(chance.approximate()[0][0])
        return abs(len(whole) - n * p) / math.sqrt(n * p * (1 - p))

    assert deviation(1.0) < 4
    assert deviation(0.7) > 4.5
    assert deviation(1.3) > 4.5


def test_wide_gaps_lead_to_joint_and_narrow_ones_to_picks_one_by_one():
    mechanism = JointOrPeel(k=20, epsilon=1.0, delta=1e-6)
    wide = crowded(mechanism, np.arange(1000) * 500)
    narrow = crowded(mechanism, np.arange(10**5) // 50)
    assert wide.approximate()[0] < 0.03
    assert narrow.approximate()[0] > 0.99


# --- parameters


PARAMETERS = st.fixed_dictionaries(
    {
        "k": st.integers(1, 2000),
        "epsilon": between(1e-6, 50),
        "delta": st.just(0.0) | between(1e-290, 0.3),
        "choice_share": st.floats(1e-6, 1 - 1e-6) | st.sampled_from([0.05, 1e-6, 1 - 1e-6]),
    }
)


@fixed
@given(given=PARAMETERS)
def test_epsilon_is_split_and_the_slope_rounded_towards_privacy(given):
    mechanism = JointOrPeel(**given)
    choice, joint = Fraction(mechanism.choice_epsilon), Fraction(mechanism.joint_epsilon)
    assert choice + joint <= Fraction(mechanism.epsilon)
    larger = math.nextafter(mechanism.joint_epsilon, math.inf)
    assert choice + Fraction(larger) > Fraction(mechanism.epsilon)
    assert Fraction(mechanism.slope) * joint / 2 <= choice
    assert Fraction(math.nextafter(mechanism.slope, math.inf)) * joint / 2 > choice


@fixed
@given(given=PARAMETERS)
def test_the_cost_is_within_what_was_asked_for_and_covers_both_ways(given):
    mechanism = JointOrPeel(**given)
    cost = mechanism.cost
    assert cost.delta(mechanism.epsilon) <= mechanism.delta
    choice = Pure(mechanism.choice_epsilon)
    one = Pure if mechanism.flips else Pure.bounded_range
    ways = Pure.bounded_range(mechanism.joint_epsilon), one(mechanism.local_epsilon) * mechanism.k
    by_rho = cost.ways[0]
    kept = by_rho._alternatives if isinstance(by_rho, Either) else (by_rho,)
    assert all(any(other.covers(choice + way) for other in kept) for way in ways)
    assert set(kept) <= {choice + way for way in ways}


@fixed
@given(given=PARAMETERS)
def test_items_are_picked_by_permute_and_flip_unless_a_delta_makes_up_for_it(given):
    mechanism = JointOrPeel(**given)
    pure = mechanism.joint_epsilon / mechanism.k
    if mechanism.flips:
        assert mechanism.k * Fraction(mechanism.local_epsilon) <= Fraction(mechanism.joint_epsilon)
        assert math.isclose(mechanism.local_epsilon, pure, rel_tol=1e-15)
        assert mechanism.cost.delta(mechanism.epsilon) == 0
    else:
        assert mechanism.delta > 0
        assert mechanism.local_epsilon > 1.05 * pure * (1 - 1e-12)
        more = Pure.bounded_range(mechanism.local_epsilon * (1 + 1e-6)) * mechanism.k
        assert (Pure(mechanism.choice_epsilon) + more).delta(mechanism.epsilon) > mechanism.delta
    name = "permute-and-flip" if mechanism.flips else "the exponential mechanism"
    assert name in " ".join(mechanism.explain())


@pytest.mark.parametrize("k", [1, 2])
def test_few_picks_are_by_permute_and_flip_whatever_the_delta(k):
    assert JointOrPeel(k=k, epsilon=1.0, delta=1e-6).flips
    assert JointOrPeel(k=k, epsilon=1.0).flips


@pytest.mark.parametrize("k", [50, 1000])
def test_many_picks_make_use_of_a_delta(k):
    assert not JointOrPeel(k=k, epsilon=1.0, delta=1e-6).flips
    assert JointOrPeel(k=k, epsilon=1.0).flips


def test_the_threshold_has_a_default():
    assert JointOrPeel(k=3, epsilon=1.0).switch_at == 80
    assert JointOrPeel(k=20, epsilon=1.0, delta=1e-6).switch_at == 40
    assert JointOrPeel(k=2, epsilon=1.0, delta=1e-6).switch_at == 80  # it buys nothing
    assert JointOrPeel(k=3, epsilon=1.0, threshold=7).switch_at == 7


@pytest.mark.parametrize("n", [2, 3, 10])
def test_costs_compose(n):
    for k, delta in ((20, 1e-6), (3, 0.0), (200, 1e-9)):
        cost = JointOrPeel(k=k, epsilon=0.5, delta=delta).cost.ways[0]
        many = cost * n
        ways = cost._alternatives if isinstance(cost, Either) else (cost,)
        assert len(ways) == 2 or delta == 0
        if delta == 0:
            assert many.delta(0.5 * n) == 0
        for taken in itertools.combinations_with_replacement(ways, n):  # in whatever order
            total = sum(taken[1:], taken[0])
            assert many.epsilon(1e-6) >= total.epsilon(1e-6) * (1 - 1e-9)
