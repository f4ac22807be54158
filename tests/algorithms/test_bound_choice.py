"""The choice of a bound against its definition, and what one user can change of it."""

import math

import numpy as np
import pytest

from helpers.hitting import contributions
from shortlist.algorithms.bound_choice import BoundChoice
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws

ONE = 2**20
BOUNDS, THRESHOLDS, FACTORS = (1, 2, 4), (9.0, 10.0, 12.0), (0.25, 1.0, 0.5)
USERS = [{0}, {1}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}]
EPSILON = 0.7


def chooses(epsilon=EPSILON, factors=FACTORS):
    return BoundChoice(BOUNDS, THRESHOLDS, factors, epsilon)


def losses(sizes):
    """By the definition: of each bound."""
    costs = [1 - THRESHOLDS[0] / threshold for threshold in THRESHOLDS]
    return [
        sum(1 if size > bound else cost for size in sizes if size)
        for bound, cost in zip(BOUNDS, costs, strict=True)
    ]


def law_of(choice, users):
    held = contributions(users, 5)
    found = law(lambda draws: choice.pick(held, draws))
    return np.array([found.get(place, 0.0) for place in range(len(BOUNDS))], float)


@pytest.mark.parametrize("n", range(len(USERS) + 1))
def test_the_odds_are_those_of_the_definition(n):
    lost = losses([len(user) for user in USERS[:n]])
    odds = np.array(FACTORS) * np.exp(-EPSILON * np.array(lost))
    assert law_of(chooses(), USERS[:n]) == pytest.approx(odds / sum(odds), abs=1e-5)


@pytest.mark.parametrize("user", USERS)
def test_one_user_more_moves_each_loss_by_at_most_one(user):
    choice = chooses()
    before, after = (
        choice._lost(contributions(users, 5).users_of_size()) for users in (USERS, [*USERS, user])
    )
    moved = after - before
    assert moved.dtype == np.int64
    assert ((moved >= 0) & (moved <= ONE)).all()
    assert moved == pytest.approx(np.array(losses([len(user)])) * ONE, abs=1)


@pytest.mark.parametrize("user", USERS)
def test_its_privacy_loss_has_no_more_than_its_range(user):
    ratios = np.log(law_of(chooses(), USERS) / law_of(chooses(), [*USERS, user]))
    assert np.ptp(ratios) <= EPSILON * (1 + 1e-9)
    if len(user) == 3:  # beyond some bounds, and within another: nearly all of it
        assert np.ptp(ratios) >= 0.7 * EPSILON


def test_who_holds_nothing_changes_nothing():
    choice = chooses()
    some, more = (np.array([nobody, 4, 3, 1]) for nobody in (0, 1000))
    assert (choice._lost(some) == choice._lost(more)).all()


def test_nobody_leaves_it_to_the_factors():
    assert law_of(chooses(), []) == pytest.approx(np.array(FACTORS) / sum(FACTORS))


@pytest.mark.parametrize(("size", "bound"), [(1, 1), (2, 2), (4, 4), (5, 1)])
def test_many_users_get_the_bound_that_loses_them_least(size, bound):
    held = contributions([set(range(size))] * 400, 5)
    picked = [
        BOUNDS[chooses(factors=(1.0,) * 3).pick(held, ExactDraws(SeededBits(seed)))]
        for seed in range(20)
    ]
    if size <= BOUNDS[-1]:
        assert set(picked) == {bound}
    else:  # beyond all of them: none is better
        assert set(picked) == set(BOUNDS)


def test_a_billion_users_do_not_overflow():
    sizes = np.array([0, 2**29, 0, 2**29, 0, 0, 0], np.int64)
    lost = chooses()._lost(sizes)
    assert lost[0] == 2**29 * ONE
    assert math.log2(lost.max()) < 51
