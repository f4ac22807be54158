"""Clipped counts, the choice of their bound and two looks at them, against their definitions."""

import itertools
import math

import numpy as np
import pytest

from helpers.hitting import contributions
from shortlist.algorithms.clipped_counts import (
    ClippedCounts,
    TwoMeasurements,
    best_first,
    clipped_weights,
)
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws

ONE = 2**20
BOUNDS = (1, 2, 4)
SDS = (3.0, 4.0, 6.0)
FEW = [{0}, {0, 1}, {0, 1, 2, 3}, {1, 2, 3}]
DRAWS = 4000


def draws(seed=1):
    return ExactDraws(SeededBits(seed))


@pytest.mark.parametrize("bound", [1, 2, 3, 4, 16, 255, 256, 2**12])
def test_a_user_adds_at_most_the_bound_and_hardly_less(bound):
    weights = clipped_weights(bound, 2000).tolist()
    for size, weight in enumerate(weights[1:], start=1):
        assert size * weight**2 <= min(bound, size) * ONE**2
        assert weight == ONE or size * (weight + 1) ** 2 > bound * ONE**2


@pytest.mark.parametrize("bound", BOUNDS)
def test_clipped_counts_add_up_what_each_user_does(bound):
    sums = np.zeros(4)
    for held in FEW:
        sums[sorted(held)] += min(1.0, math.sqrt(bound / len(held)))
    clipped = ClippedCounts(contributions(FEW, 4)).clipped(bound) / ONE
    assert np.all(clipped <= sums)
    assert clipped == pytest.approx(sums, abs=len(FEW) / ONE)


def odds_of(data, n_items, epsilon):
    """By the definition, in floats."""
    odds = []
    for bound, sd in zip(BOUNDS, SDS, strict=True):
        lost = sum(max(0.0, len(held) - math.sqrt(bound * len(held))) for held in data)
        odds.append(math.exp(-epsilon * (lost / n_items + 5 * sd)))
    return np.array(odds) / sum(odds)


def law_of_bound(data, n_items, epsilon):
    counts = ClippedCounts(contributions(data, n_items))
    found = law(lambda draws: counts.pick(BOUNDS, SDS, epsilon, draws))
    return np.array([found.get(place, 0.0) for place in range(len(BOUNDS))], float)


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_a_bound_is_picked_by_what_it_leaves_out_and_its_noise(epsilon):
    expected = odds_of(FEW, 4, epsilon)
    assert law_of_bound(FEW, 4, epsilon) == pytest.approx(expected, rel=1e-5)


def largest_range(epsilon):
    """Over tables of two users and one who may join, of how far the losses of a pick are apart."""
    subsets = [set(held) for n in range(5) for held in itertools.combinations(range(4), n)]
    ranges = []
    for joins in subsets[1:]:
        for data in ([{0}, {1, 2}], [{0, 1, 2, 3}, {3}]):
            with_user = law_of_bound([*data, joins], 4, epsilon)
            without = law_of_bound(data, 4, epsilon)
            ranges.append(np.ptp(np.log(with_user / without)))
    return max(ranges)


def test_the_choice_has_the_range_that_it_is_counted_with():
    assert 0.2 < largest_range(1.0) <= 1.0


def test_a_choice_by_what_is_left_out_in_all_would_not_have_it(monkeypatch):
    monkeypatch.setattr(ClippedCounts, "_lost", lambda self, bound: 4 * _lost(self, bound))
    assert largest_range(1.0) > 1.0


_lost = ClippedCounts._lost


def spread(sd):
    """The mean and the standard deviation of the noise, in parts of what is claimed."""
    counts = ClippedCounts(contributions([set(range(DRAWS))] * 3, DRAWS))
    noise = counts.noisy(DRAWS, sd, draws()) - 3.0
    return noise.mean() / sd, noise.std() / 10.0


def test_noise_is_as_wide_as_claimed():
    mean, width = spread(10.0)
    assert abs(mean) < 4 / math.sqrt(DRAWS) + 2**-10
    assert abs(width - 1) < 4 / math.sqrt(2 * DRAWS)


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_noise_that_is_too_narrow_or_wide_is_seen(factor):
    assert abs(spread(10.0 * factor)[1] - 1) > 4 / math.sqrt(2 * DRAWS)


def test_noisy_counts_stand_on_a_public_grid():
    counts = ClippedCounts(contributions(FEW, 4))
    for sd in (0.01, 3.0, 1e6):
        step = 2.0 ** (math.frexp(sd)[1] - 11)
        steps = counts.noisy(2, sd, draws()) / max(step, 1 / ONE)
        assert np.all(steps == np.floor(steps))


def test_equal_values_come_in_any_order():
    orders = law(lambda draws: tuple(best_first(np.array([1.0, 2.0, 1.0, 1.0]), draws).tolist()))
    assert len(orders) == math.factorial(3)
    assert all(order[0] == 1 for order in orders)
    assert [float(p) for p in orders.values()] == pytest.approx([1 / 6] * 6)


def test_different_values_take_no_draw():
    assert best_first(np.array([1.0, 3.0, 2.0]), None).tolist() == [1, 2, 0]


# --- two looks

HELD = contributions([{i for i in range(12) if user % (i + 2) == 0} for user in range(1, 400)], 12)
NARROW = TwoMeasurements((1, 64), (1e-3, 1e-3), epsilon=200.0)


@pytest.mark.parametrize("k", [1, 5, 11, 12, 30])
def test_with_hardly_any_noise_the_best_are_named_with_their_counts(k):
    ranked = NARROW.best(HELD, k, draws())
    assert ranked.items.tolist() == np.argsort(-HELD.counts, kind="stable")[:k].tolist()
    assert ranked.counts == pytest.approx(HELD.counts[ranked.items], abs=0.1)


def test_where_there_is_nothing_nothing_is_named():
    assert not len(NARROW.best(contributions([], 0), 3, draws()).items)


def test_users_count_with_all_they_hold_and_nobody_may_hold_any():
    ranked = NARROW.best(contributions([set(), {2}, set()], 3), 1, draws())
    assert ranked.items.tolist() == [2]


def scores(sd, times=300):
    """How far released counts are from the true ones, in the standard deviations claimed."""
    looks = TwoMeasurements((64,), (sd,), epsilon=1.0)
    rows = [looks.best(HELD, 12, draws(seed)) for seed in range(times)]
    return np.concatenate([(r.counts - HELD.counts[r.items]) / r.sds for r in rows])


def test_counts_seen_twice_have_the_noise_that_is_told():
    found = scores(20.0)
    assert abs(found.std() - 1) < 4 / math.sqrt(2 * len(found))


def test_what_is_open_is_looked_at_twice_and_what_is_not_once():
    ranked = TwoMeasurements((64,), (8.0,), epsilon=1.0).best(HELD, 6, draws())
    assert set(np.round(ranked.sds, 9)) == {8.0, round(8 / math.sqrt(2), 9)}


def test_a_second_look_names_better():
    """The mass that is missed, beside looking once with the same noise."""
    best = np.sort(HELD.counts)[::-1][:6].sum()
    twice, once = 0.0, 0.0
    for seed in range(200):
        looks = TwoMeasurements((64,), (20.0,), epsilon=1.0)
        twice += best - HELD.counts[looks.best(HELD, 6, draws(seed)).items].sum()
        noisy = ClippedCounts(HELD).noisy(64, 20.0, draws(seed))
        once += best - HELD.counts[np.argsort(-noisy)[:6]].sum()
    assert twice < 0.8 * once
