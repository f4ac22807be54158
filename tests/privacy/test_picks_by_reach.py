"""Picks that count a user until one reaches them: what they cost, from below and from above."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from helpers.hitting import picks_oracle
from shortlist.privacy._delta_curves import gaussian_curve
from shortlist.privacy.accountant import BoundedRange, Composition, GaussianStage, LossStage
from shortlist.privacy.accountant.picks_as_noise import picks_below
from shortlist.privacy.accountant.picks_by_reach import (
    noise_above_reach,
    of_any_number,
    picks_by_reach_below,
    reach_curve,
)

LOST = 5e-7
MANY = pytest.mark.parametrize("times", [1, 2, 7, 30])


def attacks(local_epsilon, times, steps=24):
    """The delta at each epsilon n · step, by an adversary whose chances lie on a grid.

    Before each pick the adversary, who knows all losses, says how likely it is to reach the user.
    """
    chosen = np.arange(steps + 1) * local_epsilon / steps  # the log of what odds are divided by
    without = np.expm1(chosen) / math.expm1(local_epsilon)
    n = (times + 1) * steps
    losses = np.arange(-n, n + 1) * local_epsilon / steps
    end = np.maximum(-np.expm1(-losses), 0.0)

    def moved(values, by):
        """The values at a loss that is larger by so many steps; none below, and the mean above."""
        far = np.arange(len(values)) + by
        above = -np.expm1(-(far - n) * local_epsilon / steps)
        inside = values[np.clip(far, 0, len(values) - 1)]
        return np.where(far < 0, 0.0, np.where(far >= len(values), above, inside))

    adding = removing = end
    for _ in range(times):
        with_user = without * np.exp(local_epsilon - chosen)
        adding = np.max(
            [
                p * moved(end, steps - i) + (1 - p) * moved(adding, -i)
                for i, p in enumerate(with_user)
            ],
            axis=0,
        )
        removing = np.max(
            [
                p * moved(end, i - steps) + (1 - p) * moved(removing, i)
                for i, p in enumerate(without)
            ],
            axis=0,
        )
    return np.maximum(adding, removing)[n::-1]


@MANY
@pytest.mark.parametrize("local_epsilon", [0.05, 1.0])
def test_the_curve_is_just_above_what_an_adversary_reaches(times, local_epsilon):
    epsilons, deltas = reach_curve(BoundedRange(local_epsilon, times), LOST)
    least = attacks(local_epsilon, times)
    at = np.arange(len(least)) * local_epsilon / 24
    seen = (at <= epsilons[-1]) & (least > 1e-5)
    most = np.interp(np.exp(at[seen]), np.exp(epsilons), deltas)
    assert np.all(most >= least[seen] * (1 - 1e-12))
    assert np.all(most <= least[seen] * 1.02 + 0.01 * least[0])


def hockey_stick(p, q, epsilon):
    return sum(max(p[told] - math.exp(epsilon) * q.get(told, 0.0), 0.0) for told in p)


SETS = [frozenset(s) for n in range(1, 4) for s in itertools.combinations(range(3), n)]


@pytest.mark.parametrize("weights", [{0: 1.0, 1: 1.0, 2: 1.0}, {0: 1.0, 1: 2.0, 2: 1.4}])
def test_no_user_changes_the_law_of_picks_by_more(weights):
    k, local_epsilon, worst = 3, 0.8, 0.0
    epsilons, deltas = reach_curve(BoundedRange(local_epsilon, k), LOST)
    others = [(), *((one,) for one in SETS), *itertools.combinations(SETS, 2)]
    for rest, user in itertools.product(others, SETS):
        laws = [
            picks_oracle(d, (0, 1, 2), k, local_epsilon, weights) for d in (rest, (*rest, user))
        ]
        for p, q in (laws, laws[::-1]):
            for epsilon in (0.0, 0.3, 0.6, 0.9, 1.2):
                most = np.interp(math.exp(epsilon), np.exp(epsilons), deltas)
                worst = max(worst, hockey_stick(p, q, epsilon) / max(most, 1e-300))
    assert 0.89 < worst <= 1


def test_a_user_who_counts_on_after_being_reached_costs_more():
    """Here 20 picks, each of one of the user's items with a chance of a half."""
    picks, epsilon = BoundedRange(0.2, 20), 1.0
    epsilons, deltas = reach_curve(picks, 1e-12)
    most = np.interp(math.exp(epsilon), np.exp(epsilons), deltas)
    assert Composition((picks,)).least_delta(epsilon) > 1.2 * most


@pytest.mark.parametrize("local_epsilon", [0.1, 2.0])
def test_any_number_of_picks_is_one_exponential_waiting_time(local_epsilon):
    rate = math.exp(local_epsilon)
    for epsilon in (0.0, 0.5 * local_epsilon, 3 * local_epsilon):

        def gain(t, first, second, epsilon=epsilon):
            density = first * math.exp(-first * t) - math.exp(epsilon) * second * math.exp(
                -second * t
            )
            return max(density, 0.0)

        edge = [(local_epsilon + sign * epsilon) / (rate - 1) for sign in (1, -1)]
        points = [t for t in edge if 0 < t < 60]
        roles = (
            quad(gain, 0, 60, pair, points=points, limit=200)[0] for pair in ((1, rate), (rate, 1))
        )
        found = of_any_number(np.array([epsilon]), local_epsilon)[0]
        assert found == pytest.approx(max(roles), abs=1e-8)


def test_more_picks_cost_more_and_never_more_than_any_number():
    curves = [reach_curve(BoundedRange(0.3, times), LOST).deltas for times in (1, 3, 10, 60, 500)]
    for fewer, more in itertools.pairwise(curves):
        n = min(len(fewer), len(more))
        assert np.all(fewer[:n] <= more[:n] * (1 + 1e-8))
    assert np.all(curves[-1] == of_any_number(np.arange(len(curves[-1])) * 0.3 / 128, 0.3))


@MANY
@pytest.mark.parametrize("mu", [0.05, 1.0])
def test_they_cost_no_more_than_noise_and_the_loss_but_with_3_percent_more(times, mu):
    local_epsilon = picks_by_reach_below(mu, times, LOST)
    assert local_epsilon >= picks_below(mu, times)
    if local_epsilon == picks_below(mu, times):
        return

    def excess(local_epsilon):
        least = attacks(local_epsilon, times)
        at = np.arange(len(least)) * local_epsilon / 24
        return np.max(least - LOST - gaussian_curve(at, mu, up=False))

    assert excess(local_epsilon) <= 1e-9
    assert excess(1.03 * local_epsilon) > 0
    assert noise_above_reach(BoundedRange(1.03 * local_epsilon, times), LOST) > mu


def test_more_picks_than_are_looked_at_and_hardly_any_loss():
    assert picks_by_reach_below(0.2, 10**6, LOST) == picks_by_reach_below(0.2, 200, LOST)
    assert picks_below(0.2, 50) < picks_by_reach_below(0.2, 50, 0.0)
    assert picks_by_reach_below(0.2, 200, 0.0) == picks_below(0.2, 200)
    assert 0 < picks_by_reach_below(0.2, 10**6, 1e-100) < picks_by_reach_below(0.2, 10**6, 1e-20)
    assert picks_by_reach_below(100.0, 3, LOST) >= picks_below(100.0, 3)


def test_what_is_lost_on_every_way_adds_up():
    noise = Composition((GaussianStage(0.3, on_weights=True),))
    both = Composition((GaussianStage(0.3, on_weights=True), LossStage(1e-3)))
    for epsilon in (0.1, 1.0):
        assert both.delta(epsilon) == pytest.approx(noise.delta(epsilon) + 1e-3, rel=1e-9)
    assert both.lost == pytest.approx(1e-3)
