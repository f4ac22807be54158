"""How many open items one user can hold: what the choice of a clipping bound is divided by."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from helpers.hitting import contributions
from shortlist.algorithms import grouped_measurements
from shortlist.algorithms.clipped_counts import ClippedCounts
from shortlist.algorithms.grouped_measurements import GroupedMeasurements
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions

EPSILON = 0.5  # what a choice is charged with
FEW = [{0, 1}, {12, 13}, {15, 26}] * 8
SIZES = np.array([12, 3, 12])
N_ITEMS = 27


def looks(groups=1, shares=(Fraction(1, 2), Fraction(1, 2)), k=2):
    return GroupedMeasurements(k, shares, (1, 2, 4), EPSILON, groups, 1.0)


def most_of(sizes, groups):
    """Over all users in so many groups, by brute force."""
    return max(sum(some) for some in itertools.combinations(sizes, min(groups, len(sizes))))


@pytest.fixture
def told(monkeypatch):
    """What each look takes for the most that one user holds."""
    seen = []

    class Seen(ClippedCounts):
        def __init__(self, *given, **more):
            super().__init__(*given, **more)
            seen.append(self._most)

    monkeypatch.setattr(grouped_measurements, "ClippedCounts", Seen)
    return seen


@pytest.mark.parametrize("groups", [1, 2, 3, 4])
def test_the_most_is_that_of_open_items_whoever_holds_them(told, groups):
    for held in ([], FEW, [*FEW, set(range(10))], [set(range(12))]):
        looks(groups)._measured(contributions(held, N_ITEMS), SIZES, 0.5, ExactDraws(SeededBits(7)))
    assert told == [most_of(SIZES.tolist(), groups)] * 4


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_each_look_s_most_is_that_of_what_is_open_in_it(told, monkeypatch, groups):
    """Of 6 items of each group 3 to 5 are open after the first look, and all of them count."""
    opened, among = [], Contributions.among
    monkeypatch.setattr(
        Contributions, "among", lambda held, places: opened.append(places) or among(held, places)
    )
    counts = np.array([[90] * 3 + [20] * 3, [70] * 4 + [9] * 2, [50] * 5 + [0]])
    held = contributions([{i} for i, n in enumerate(counts.ravel()) for _ in range(n)], 18)
    looks(groups).best(held, np.ones(6), 0.5, ExactDraws(SeededBits(7)))
    sizes = np.bincount(opened[0] // 6).tolist()
    assert {3, 4, 5} >= set(sizes)
    assert told == [6 * groups, most_of(sizes, groups)]


def odds_of(held, monkeypatch):
    """The chance of each bound, in a look at one group's part of a user."""
    monkeypatch.setattr(ClippedCounts, "noisy", lambda *_: None)
    sets = contributions(held, N_ITEMS)
    found = law(lambda draws: looks()._measured(sets, SIZES, 8.0, draws)[1])
    return np.array([float(found[sd]) for sd in sorted(found)])


def test_one_user_who_holds_more_than_all_others_moves_the_choice_by_what_is_charged(monkeypatch):
    before = odds_of(FEW, monkeypatch)
    for joins in (range(1), range(2), range(10), range(12)):
        moved = np.log(odds_of([*FEW, set(joins)], monkeypatch) / before)
        assert np.ptp(moved) <= EPSILON
    assert np.ptp(moved) > 0.2 * EPSILON  # by the last, who holds all of a group
