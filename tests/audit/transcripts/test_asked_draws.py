"""The losses of draws, one by one, and what they certainly lose together."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from shortlist.audit.transcripts._asked_draws import Dealt, Flipped, Noisy, Picked, Tossed
from shortlist.audit.transcripts._spent import (
    Differs,
    Spent,
    Unfollowed,
    certain_delta,
    delta_of_zcdp,
)
from shortlist.draws.noise import Exponential, Gumbel, Laplace, Normal
from shortlist.draws.reals import ExponentialWeights
from shortlist.mechanisms import Peeling
from shortlist.privacy import ZCDP


def noisy(scores, noise, **given):
    return Noisy(np.array(scores, np.float64), [noise], **given)


def picked(counts, epsilon=0.5, sizes=None, own=0):
    sizes = np.ones(len(counts), np.int64) if sizes is None else np.array(sizes)
    return Picked(ExponentialWeights(np.array(counts), sizes, epsilon), 1, own)


def flipped(counts, epsilon):
    return Flipped(picked(counts, epsilon).weights)


def test_normal_noise_is_shifts_over_variances():
    spent = noisy([3.0, 5.0, 7.0], Normal(2.0)).spent(noisy([2.0, 5.0, 5.0], Normal(2.0)))
    assert spent == Spent(squares=(1 + 4) / 4)


def test_shared_noise_hides_what_all_scores_have_in_common():
    mine = noisy([4.0, 6.0, 9.0], Normal(2.0), shared=Normal(3.0))
    theirs = noisy([3.0, 5.0, 8.0], Normal(2.0), shared=Normal(3.0))
    covariance = 4 * np.eye(3) + 9
    moved = np.ones(3)
    wanted = moved @ np.linalg.solve(covariance, moved)
    assert mine.spent(theirs).squares == pytest.approx(wanted)


def test_noise_that_was_conditioned_on_is_not_paid_twice():
    known = Normal(2.0, bounds=np.array([0]), above=np.array([True]))
    assert noisy([1.0], known).spent(noisy([0.0], known)) == Spent()


def test_told_values_in_laplace_noise_are_a_loss_each():
    spent = noisy([3.0, 5.0], Laplace(4.0)).spent(noisy([2.0, 4.0], Laplace(4.0)))
    assert spent.pures == (0.25, 0.25)


def test_named_items_cost_by_how_far_scores_move_apart():
    up, down = [3.0, 5.0, 8.0], [2.0, 5.0, 8.0]
    once = {"told": False, "k": 2}
    shot = noisy(up, Exponential(4.0), **once).spent(noisy(down, Exponential(4.0), **once))
    picks = noisy(up, Gumbel(4.0), **once).spent(noisy(down, Gumbel(4.0), **once))
    assert shot.pures == (0.5,)
    assert picks.ranges == (0.25, 0.25)


@pytest.mark.parametrize(
    "theirs",
    [noisy([2.0], Normal(2.1)), noisy([2.0], Normal(2.0), ends=(0, 5)), noisy([2, 3], Normal(2.0))],
)
def test_noise_that_depends_on_the_data_is_seen(theirs):
    with pytest.raises(Differs):
        noisy([2.0], Normal(2.0)).spent(theirs)


def test_a_users_own_items_reach_their_bound_by_chance():
    mine = noisy([9.0, 1.0, 1.0], Normal(2.0), bounds=np.array([8.0, 8.0, 8.0]), told=False)
    theirs = noisy([9.0], Normal(2.0), bounds=np.array([8.0]), told=False)
    assert mine.spent(theirs).lost == pytest.approx(1 - (1 - ndtr(-3.5)) ** 2)


@pytest.mark.parametrize("moved", list(itertools.product((0, 1), repeat=3)))
def test_the_range_of_a_pick_is_that_of_its_log_odds(moved):
    counts = np.array([30, 20, 10])
    mine, theirs = (picked(each, 0.3) for each in (counts + moved, counts))

    def law(counts):
        odds = np.exp(0.3 * (counts - 30.0))
        return np.log(odds / odds.sum())

    wanted = np.ptp(law(counts + moved) - law(counts))
    assert sum(mine.spent(theirs).ranges) == pytest.approx(wanted)


def test_ways_are_known_again_by_what_is_public_of_them():
    factors = np.array([0.5, 1.0, 0.5])
    ways = (np.array(scores) for scores in ([-1, -2, -5], [-2, -1, -4]))
    mine, theirs = (Picked(ExponentialWeights.of_ways(x, factors, 0.5), 1) for x in ways)
    assert mine.spent(theirs).ranges == pytest.approx((1.0,))
    assert mine.answer(np.array([0]), theirs).tolist() == [1]


def test_a_pick_of_a_users_own_item_is_lost_mass():
    mine = picked([5, 1], 1.0, sizes=[1, 2], own=2)
    theirs = picked([5], 1.0)
    wanted = 2 / (2 + math.exp(4))
    assert mine.spent(theirs).picked == pytest.approx(wanted)
    with pytest.raises(Unfollowed):
        mine.answer(np.array([1]), theirs)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_permute_and_flip_is_told_by_its_law(epsilon):
    counts = [9, 7, 7, 4]
    law = np.zeros(4)
    for order in itertools.permutations(range(4)):
        left = 1.0
        for i in order:
            chance = math.exp(-epsilon * (9 - counts[i]))
            law[i] += left * chance / 24
            left *= 1 - chance
    assert np.exp(flipped(counts, epsilon)._log_law) == pytest.approx(law)
    far = flipped([2000, 7], epsilon), flipped([2001, 7], epsilon)
    assert far[0].spent(far[1]).pures == pytest.approx((epsilon,))
    more = flipped([10, 7, 7, 4], epsilon)
    assert more.spent(flipped(counts, epsilon)).pures[0] <= epsilon * (1 + 1e-12)


def test_coins_lose_what_the_rarer_side_does():
    spent = Tossed(np.array([0.1, 0.5])).spent(Tossed(np.array([0.2, 0.5])))
    assert spent.coins == (pytest.approx((math.log(2), math.log(2) + math.log(0.9 / 0.8))),)
    assert spent.by_losses(1).pures == (pytest.approx(math.log(2)),)
    assert spent.by_losses(0).ranges == (pytest.approx(math.log(0.9 / 0.8 * 2)),)
    assert Tossed(np.array([0.3])).spent(Tossed(np.array([0.0]))).lost == pytest.approx(0.3)


def test_what_is_dealt_alike_costs_nothing():
    assert Dealt(np.array([4, 7])).spent(Dealt(np.array([4]))) == Spent()
    assert Dealt(np.array([4])).spent(Dealt(np.array([5]))).pures == pytest.approx(
        (math.log(5 / 4),)
    )


@pytest.mark.parametrize("squares", [0.01, 0.1, 2.0])
def test_normal_noise_alone_has_its_curve(squares):
    mu = math.sqrt(squares)
    for epsilon in (0.1, 1.0):
        tail = ndtr(-mu / 2 - epsilon / mu)
        wanted = ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * tail
        assert certain_delta(Spent(squares=squares), epsilon) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("k", "epsilon", "delta"), [(5, 1.0, 1e-6), (20, 0.1, 1e-5), (100, 1.0, 1e-6), (200, 3.0, 1e-6)]
)
def test_picks_certainly_lose_most_of_what_they_are_calibrated_to(k, epsilon, delta):
    each = Peeling(k=k, epsilon=epsilon, delta=delta).local_epsilon
    certain = certain_delta(Spent(ranges=(each,) * k), epsilon)
    assert 0.7 * delta < certain <= delta
    assert certain_delta(Spent(ranges=(1.03 * each,) * k), epsilon) > delta


def test_what_is_lost_adds_up():
    assert certain_delta(Spent(lost=0.01), 1.0) == 0.01
    assert certain_delta(Spent(lost=3.0), 1.0) == 1.0
    with_noise = certain_delta(Spent(squares=0.1, lost=1e-6), 0.5)
    assert with_noise == pytest.approx(certain_delta(Spent(squares=0.1), 0.5) + 1e-6, rel=1e-4)


@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5])
def test_zcdp_is_converted_as_by_the_package(rho):
    for epsilon in (0.1, 1.0, 3.0):
        assert delta_of_zcdp(rho, epsilon) == pytest.approx(ZCDP(rho).delta(epsilon), rel=1e-4)
