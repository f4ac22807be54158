"""The private choice between JOINT and peeling: its chance, its parameters, and what it costs."""

import dataclasses
import itertools
import math
from fractions import Fraction
from functools import cache

import numpy as np
import polars as pl
import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

import shortlist as sl
from helpers.exactness import between, within_stated_error
from helpers.refusals import refusal
from shortlist.algorithms.competition import Competition, Crowded
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.sequences import Sequences
from shortlist.algorithms.slack import SlackWeights
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import (
    Accounting,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    Peeling,
    PermuteAndFlip,
    _whole_or_picks,
)
from shortlist.privacy import Either, Pure

fixed = settings(derandomize=True, deadline=None, max_examples=60)
HUGE = 2**62
COUNTS = st.lists(
    st.integers(0, 30) | st.sampled_from([HUGE, HUGE - 7, 2**40, 10**6]) | st.integers(0, 2000),
    min_size=1,
    max_size=40,
)


def weights_of(counts, k, decay):
    return SlackWeights.of(Sequences(EqualCounts.of(np.array(counts, np.int64)), k), decay)


# --- the chance


@fixed
@given(
    counts=COUNTS,
    share=st.floats(0, 1),
    epsilon=between(1e-6, 50),
    slope=between(1e-6, 2e6),
    threshold=st.floats(-200, 200),
    floor=st.integers(1, 60),
)
@example(counts=[5], share=0, epsilon=1.0, slope=1.0, threshold=1, floor=1)
@example(counts=[HUGE, 0], share=1, epsilon=1e-12, slope=2e6, threshold=2**32, floor=1)
@example(counts=[HUGE, 0], share=0, epsilon=1.0, slope=0.1, threshold=-1e3, floor=1)
def test_the_chance_is_within_its_stated_error(counts, share, epsilon, slope, threshold, floor):
    k = 1 + int(share * (len(counts) - 1))
    far = Competition(
        Sequences(EqualCounts.of(np.array(counts, np.int64)), k), epsilon / 2, floor
    ).weights
    for weights in (weights_of(counts, k, epsilon / 2), far):
        if weights is None:
            continue
        near = weights.log_sum()[0] + weights.shift
        for level in (threshold, round(near), near + 1):
            for ceiling in (math.inf, level, level + 3.5):
                _, errors = within_stated_error(Crowded(weights, slope, level, ceiling))
                assert errors[0] < 1e-11 * (1 + slope * (200 + abs(level) + abs(near)))


@pytest.mark.parametrize(("k", "n"), [(1, 1000), (20, 400), (100, 150)])
@pytest.mark.parametrize("decay", [1e-6, 0.05, 5.0])
def test_the_chance_in_large_universes_is_within_its_stated_error(k, n, decay):
    zipf = (10**7 / np.arange(1, n)).astype(np.int64)
    for counts in (zipf, np.arange(n), np.full(10 * n, 4), HUGE - np.arange(n)):
        crowded = Crowded(weights_of(counts, k, decay), 0.1, 40)
        within_stated_error(crowded, bits=150)
        assert crowded.approximate()[1] < 2.0**-28


@cache
def log_normaliser(counts, k, decay, floor):
    """Ln of the sum over all slacks t of N(t) exp(-decay t), by its definition; None if empty.

    N(t) counts from exp(floor) on alone. After the last slack N is constant.
    """
    largest = sorted(counts, reverse=True)[:k]
    slacks = [
        max(top - count for top, count in zip(largest, items, strict=True))
        for items in itertools.permutations(counts, k)
    ]
    numbers = [sum(slack <= t for slack in slacks) for t in range(max(slacks) + 1)]
    with ctx.workprec(200):
        total, ratio = arb(0), (-arb(decay)).exp()
        for t, number in enumerate(numbers):
            if number >= math.exp(floor):
                last = t + 1 == len(numbers)
                total += number * ratio**t * (1 if last else 1 - ratio)
        return total.log() if total > 0 else None


def crowded(mechanism, counts):
    return mechanism.crowded(mechanism.competition(EqualCounts.of(np.array(counts, np.int64))))


SMALL = [counts for d in range(1, 5) for counts in itertools.product(range(4), repeat=d)]


@pytest.mark.parametrize("k", [2, 3])
def test_the_odds_fall_evenly_and_grow_with_the_normaliser(k):
    mechanism = JointOrPeel(k=k, epsilon=1.5, delta=0.3, choice_share=0.3, threshold=1)
    assert not mechanism.one_shot
    pairs = {}
    for counts in SMALL:
        least, decay = min(k, len(counts)), mechanism.joint_epsilon / 2
        log_w = log_normaliser(tuple(sorted(counts)), least, decay, max(least - 1, 1))
        chance = crowded(mechanism, counts)
        assert (chance is None) == (log_w is None)
        if log_w is None:
            continue
        chance, behind = chance.approximate()[0][0], (1 - float(log_w)) * mechanism.slope
        exact = 1 / (1 + math.exp(behind))
        assert math.isclose(chance, exact, rel_tol=1e-9)
        pairs[round(float(log_w), 9)] = chance
    chances = [pairs[log_w] for log_w in sorted(pairs)]
    assert all(one < other for one, other in itertools.pairwise(chances))
    assert chances[0] < 0.5 or k == 3  # of as many items, with so few people
    assert chances[-1] > 0.5


def test_where_nearly_all_compete_the_whole_is_drawn_again_if_the_rest_is_pure():
    equal, near = np.zeros(300, np.int64), np.arange(300)
    for delta, hopeless in ((0.0, True), (1e-6, False)):
        mechanism = JointOrPeel(k=50, epsilon=1.0, delta=delta)
        assert mechanism.one_shot is hopeless
        assert bool(crowded(mechanism, equal).approximate()[0][0] < 0.1) is hopeless
        assert crowded(mechanism, near).approximate()[0][0] > 0.8


def test_far_ahead_the_choice_is_hardly_ever_wrong():
    # JOINT's whole normaliser is 1 there, whatever the gap: its noise would be wrong as often.
    mechanism = JointOrPeel(k=20, epsilon=1.0, delta=1e-6)
    chances = [crowded(mechanism, np.arange(100) * gap).approximate()[0][0] for gap in (50, 500)]
    assert chances[0] < 0.2
    assert chances[1] < 1e-6


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
            for one, other in zip(value(counts), value(more), strict=False)
        ]
        return max(moves, key=float)


def at_most(ball, bound):
    """Whether it is not seen to be more: both are often equal."""
    return not ball > arb(bound) + 1e-40


def log_w_of(mechanism, counts):
    chance = crowded(mechanism, counts)
    if chance is None:  # for as many items always
        return ()
    weights = chance.weights
    total = sum((weights.ball(i) for i in range(len(weights))), arb(0))
    return (total.log() + arb(weights.shift),)


def log_likelihoods(mechanism, counts):
    chance = crowded(mechanism, counts)
    if (
        chance is None or getattr(chance, "ceiling", None) == chance.threshold
    ):  # for as many items always
        return ()
    chance = chance.ball(0)
    return chance.log(), (1 - chance).log()


CHOICES = [
    {"k": 2, "epsilon": 1.0, "threshold": 0.5},
    {"k": 2, "epsilon": 3.0, "threshold": 1},
    {"k": 3, "epsilon": 0.1, "delta": 1e-6, "choice_share": 0.5, "threshold": 1.5},
    {"k": 2, "epsilon": 20.0, "choice_share": 0.01, "threshold": -7},
]


@pytest.mark.parametrize("given", CHOICES)
def test_one_user_moves_the_normaliser_by_at_most_half_of_epsilon(given):
    mechanism = JointOrPeel(**given)
    assert at_most(largest_move(mechanism, log_w_of), mechanism.joint_epsilon / 2)


class FromTheData(JointOrPeel):
    """Sequences count from the first slack on that more than the best ones have."""

    def competition(self, groups, unit=1.0):
        near = super().competition(groups, unit)
        best = Sequences(groups, near.every.k).at_most(0)
        return dataclasses.replace(near, floor=math.log(best) + 1e-6)


def test_a_floor_that_follows_the_data_is_caught():
    mechanism = FromTheData(**CHOICES[0])
    assert largest_move(mechanism, log_w_of) > 1.3 * arb(mechanism.joint_epsilon) / 2


@pytest.mark.parametrize("given", CHOICES)
def test_one_user_moves_the_log_likelihood_of_the_choice_by_at_most_its_epsilon(given):
    mechanism = JointOrPeel(**given)
    assert at_most(largest_move(mechanism, log_likelihoods), mechanism.choice_epsilon)


# All fall behind two, that one user less had in common with very many: and these are nearly as
# many. Or the best are so far ahead that they fall behind by the slack itself.
NEAR = [5] * 2**20, [6, 6] + [5] * 2**20
AHEAD = [500, 400, 0, 0, 0], [501, 401, 0, 0, 0]


@pytest.mark.parametrize("given", CHOICES)
def test_that_much_is_nearly_attained_where_very_many_compete_and_where_hardly_any_do(given):
    mechanism = JointOrPeel(**given | {"k": 2, "delta": 0.0, "threshold": -1e4})
    with ctx.workprec(200):
        for pair in (NEAR, AHEAD) if mechanism.epsilon < 10 else (AHEAD,):
            before, after = (log_w_of(mechanism, counts)[0] for counts in pair)
            assert at_most(before - after, mechanism.joint_epsilon / 2)
            assert before - after >= 0.99 * arb(mechanism.joint_epsilon) / 2


@pytest.mark.parametrize("given", CHOICES)
def test_noise_that_is_30_percent_too_small_tells_too_much(given):
    mechanism = JointOrPeel(**given | {"k": 2, "delta": 0.0, "threshold": 10})
    with ctx.workprec(200):
        for times, caught in ((1.0, False), (1 / 0.7, True)):
            slope = mechanism.slope * times
            logs = [
                Crowded(crowded(mechanism, counts).weights, slope, 10).ball(0).log()
                for counts in AHEAD
            ]
            assert bool(logs[0] - logs[1] > 1.3 * arb(mechanism.choice_epsilon)) is caught
            assert at_most(logs[0] - logs[1], mechanism.choice_epsilon) is not caught


@pytest.mark.parametrize(("delta", "threshold"), [(0.3, 6), (0.0, -3)])
def test_frequency_of_the_choice(delta, threshold, monkeypatch):
    mechanism = JointOrPeel(k=2, epsilon=1.5, delta=delta, choice_share=0.3, threshold=threshold)
    counts, whole, n = np.array([9, 8, 8, 8, 8, 8, 8, 8, 7, 5]), [], 3000

    def draw_flipped(classes, _):
        whole.append(1)
        return np.arange(classes.lists.k)

    monkeypatch.setattr(_whole_or_picks, "draw_flipped", draw_flipped)
    draws = ExactDraws(SeededBits(6))
    for _ in range(n):
        mechanism.select(PublicCounts(counts), draws)

    def deviation(factor):
        right = crowded(mechanism, counts)
        chance = dataclasses.replace(right, slope=right.slope * factor)
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


few = settings(derandomize=True, deadline=None, max_examples=10)

PARAMETERS = st.fixed_dictionaries(
    {
        "k": st.integers(4, 2000),
        "epsilon": between(1e-6, 50),
        "delta": st.just(0.0) | between(1e-290, 0.3),
        "choice_share": st.floats(1e-6, 1 - 1e-6) | st.sampled_from([0.05, 1e-6, 1 - 1e-6]),
    }
)


@few
@given(given=PARAMETERS)
def test_epsilon_is_split_and_the_slope_rounded_towards_privacy(given):
    mechanism = JointOrPeel(**given)
    choice, joint = Fraction(mechanism.choice_epsilon), Fraction(mechanism.joint_epsilon)
    assert choice + joint <= Fraction(mechanism.epsilon)
    larger = math.nextafter(mechanism.joint_epsilon, math.inf)
    assert choice + Fraction(larger) > Fraction(mechanism.epsilon)
    assert Fraction(mechanism.slope) * joint / 2 <= choice
    assert Fraction(math.nextafter(mechanism.slope, math.inf)) * joint / 2 > choice


@few
@given(given=PARAMETERS, accounting=st.sampled_from([Accounting.EXACT, Accounting.ZCDP]))
def test_the_cost_is_within_what_was_asked_for_and_covers_both_ways(given, accounting):
    mechanism = JointOrPeel(**given, accounting=accounting)
    cost = mechanism.cost
    assert cost.delta(mechanism.epsilon) <= mechanism.delta
    choice = (Pure if mechanism.one_shot else Pure.bounded_range)(mechanism.choice_epsilon)
    pure = Pure if accounting is Accounting.EXACT else Pure.bounded_range
    ways = [pure(mechanism.joint_epsilon)]
    if not mechanism.one_shot:
        ways.append(Pure.bounded_range(mechanism.local_epsilon) * mechanism.k)
    by_rho = cost.ways[0]
    kept = by_rho.alternatives if isinstance(by_rho, Either) else (by_rho,)
    assert all(any(other.covers(choice + way) for other in kept) for way in ways)
    assert set(kept) <= {choice + way for way in ways}


@few
@given(given=PARAMETERS)
def test_noise_is_drawn_once_unless_a_delta_makes_up_for_it(given):
    mechanism = JointOrPeel(**given)
    pure = mechanism.joint_epsilon / mechanism.k
    if mechanism.one_shot:
        assert mechanism.k * Fraction(mechanism.local_epsilon) <= Fraction(mechanism.joint_epsilon)
        assert math.isclose(mechanism.local_epsilon, pure, rel_tol=1e-15)
        assert mechanism.cost.delta(mechanism.epsilon) == 0
    else:
        assert mechanism.delta > 0
        assert mechanism.local_epsilon > 1.1 * pure * (1 - 1e-12)
        more = Pure.bounded_range(mechanism.local_epsilon * (1 + 1e-6)) * mechanism.k
        choice = Pure.bounded_range(mechanism.choice_epsilon)
        assert (choice + more).delta(mechanism.epsilon) > mechanism.delta
    text = " ".join(mechanism.explain())
    name = "xponential noise" if mechanism.one_shot else "the exponential mechanism"
    assert name in text
    assert "visited in random order" in text


@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3])
def test_one_item_is_named_with_all_of_epsilon_and_without_a_choice(delta, accounting):
    mechanism = JointOrPeel(k=1, epsilon=0.7, delta=delta, accounting=accounting)
    assert mechanism.choice_epsilon == 0
    assert not {"choice_share", "choice_epsilon", "switch_at"} & mechanism.parameters().keys()
    if accounting is Accounting.EXACT:
        assert mechanism.cost == PermuteAndFlip(k=1, epsilon=0.7).cost
        assert mechanism.local_epsilon == 0.7
    else:
        peeling = Peeling(k=1, epsilon=0.7, delta=delta, accounting=accounting)
        assert mechanism.cost == peeling.cost
        assert mechanism.local_epsilon == peeling.local_epsilon


@pytest.mark.parametrize("k", [2, 3])
def test_few_items_are_worth_no_choice_unless_a_threshold_is_given(k):
    for delta in (0.0, 1e-6):
        usual = {"k": k, "epsilon": 1.0, "delta": delta}
        assert JointOrPeel(**usual).joint_epsilon == 1.0
        assert JointOrPeel(**usual).one_shot
        choosing = JointOrPeel(**usual, threshold=3)
        assert choosing.joint_epsilon == pytest.approx(0.9 if choosing.one_shot else 0.85)


@pytest.mark.parametrize("k", [50, 1000])
def test_many_picks_make_use_of_a_delta(k):
    assert not JointOrPeel(k=k, epsilon=1.0, delta=1e-6).one_shot
    assert JointOrPeel(k=k, epsilon=1.0).one_shot


def test_for_one_release_of_many_all_is_of_bounded_range():
    given = {"k": 20, "epsilon": 1.0, "accounting": Accounting.ZCDP}
    share = 0.4 / math.sqrt(20)
    assert JointOrPeel(**given).cost.rho == pytest.approx((share**2 + (1 - share) ** 2) / 8)
    text = " ".join(JointOrPeel(**given, delta=1e-6).explain())
    assert "picked as a whole" in text
    assert "by the exponential mechanism" in text


@pytest.mark.parametrize(
    ("delta", "shares"), [(0.0, {9: 0.1, 900: 0.01}), (1e-6, {5: 0.15, 16: 0.1, 100: 0.04})]
)
def test_the_more_items_the_less_the_choice_takes(delta, shares):
    for k, share in shares.items():
        assert JointOrPeel(k=k, epsilon=1.0, delta=delta).share == pytest.approx(share)
    assert JointOrPeel(k=900, epsilon=1.0, delta=delta, choice_share=0.2).share == 0.2


def test_the_threshold_has_a_default():
    assert JointOrPeel(k=20, epsilon=1.0).switch_at == 7
    assert JointOrPeel(k=25, epsilon=1.0, delta=1e-6).switch_at == -5
    assert JointOrPeel(k=4, epsilon=1.0, delta=1e-9).switch_at == -1  # it buys little
    assert JointOrPeel(k=3, epsilon=1.0, threshold=-7.5).switch_at == -7.5


@pytest.mark.parametrize("n", [2, 3, 10])
def test_costs_compose(n):
    for k, delta in ((20, 1e-6), (4, 0.0), (200, 1e-9)):
        cost = JointOrPeel(k=k, epsilon=0.5, delta=delta).cost.ways[0]
        many = cost * n
        ways = cost.alternatives if isinstance(cost, Either) else (cost,)
        assert len(ways) == 2 or delta == 0
        if delta == 0:
            assert many.delta(0.5 * n) == 0
        for taken in itertools.combinations_with_replacement(ways, n):  # in whatever order
            total = sum(taken[1:], taken[0])
            assert many.epsilon(1e-6) >= total.epsilon(1e-6) * (1 - 1e-9)


@pytest.mark.parametrize("kind", [Joint, JointPermuteAndFlip])
def test_what_memory_may_not_hold_is_refused_before_the_charge(kind):
    """By k, epsilon and the number of items; where that is read, once it is known."""
    rows = pl.DataFrame({"item": range(20_000), "count": np.arange(20_000) * 7})
    listed = sl.counts(rows, item="item", count="count", public_items=list(range(20_000)))
    refusal(lambda: listed.plan(sl.TopK(1000), epsilon=1e-6, mechanism=kind), "more sequences")
    question = sl.TopK(1000, noisy_counts=True)
    refusal(lambda: listed.plan(question, epsilon=1e-6, mechanism=kind), "more sequences")
    listed.plan(sl.TopK(400), epsilon=1e-6, mechanism=kind)  # 8 million pieces
    in_table = sl.counts(rows, item="item", count="count", public_items=sl.IN_TABLE)
    asked = in_table.plan(sl.TopK(1000), epsilon=1e-6, mechanism=kind)
    refusal(asked.run, "more sequences", "as spent")
