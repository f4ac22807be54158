"""Races: the joint law under all accesses, wrong ones that are caught, the paper's sampler."""

import bisect
import itertools
import math
import sys

import numpy as np
import pytest
from scipy.stats import chi2

from helpers.wrong_races import Everywhere, Forgetful, Repeating, Stale
from shortlist.algorithms.race import Race
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws

SORTED = "sorted"


def ask(race, access):
    if access == SORTED:
        return race.sorted_access(len(race._in_order), 1)
    return race.random_access(np.array([access]))


def run(kind, m, bits, pattern):
    """What the accesses say, then the leading bits of all ids."""

    def outcome(draws):
        race = kind(m, draws, bits)
        for access in pattern:
            ask(race, access)
        served = race.sorted_access(0, len(race._in_order))[0].tolist()
        return tuple(race.random_access(np.arange(m)).tolist()), tuple(served)

    return law(outcome)


def patterns(m, length):
    return [p for n in range(length + 1) for p in itertools.product([SORTED, *range(m)], repeat=n)]


def cells_law(found):
    cells = {}
    for (leading, _), p in found.items():
        cells[leading] = cells.get(leading, 0) + p
    return cells


def distance_from_uniform(kind, m, bits, pattern):
    found = cells_law(run(kind, m, bits, pattern))
    every = itertools.product(range(2**bits), repeat=m)
    return max(abs(found.get(cells, 0) - 2.0 ** (-bits * m)) for cells in every)


@pytest.mark.parametrize(("m", "bits"), [(1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (3, 2)])
def test_after_any_accesses_all_numbers_are_independent_and_uniform(m, bits):
    for pattern in patterns(m, 3):
        assert distance_from_uniform(Race, m, bits, pattern) < 1e-14, pattern


@pytest.mark.parametrize(("m", "bits"), [(2, 2), (3, 2)])
def test_sorted_accesses_tell_the_largest_in_order(m, bits):
    for pattern in patterns(m, 3):
        for leading, served in run(Race, m, bits, pattern):
            told = [leading[i] for i in served]
            assert len(served) == len(set(served)) == min(pattern.count(SORTED), m)
            assert told == sorted(leading, reverse=True)[: len(told)]


def test_which_ids_are_first_is_uniform_and_independent_of_the_numbers():
    found = run(Race, 3, 2, (SORTED, 0, SORTED))
    for cells in itertools.permutations((0, 1, 3)):  # without ties the order is that of the bits
        order = tuple(np.argsort(cells)[::-1][:2].tolist())
        assert found[cells, order] == pytest.approx(4.0**-3)


@pytest.mark.parametrize("wrong", [Stale, Forgetful, Repeating, Everywhere])
def test_a_wrong_race_is_caught(wrong):
    assert any(distance_from_uniform(wrong, 3, 2, p) > 0.003 for p in patterns(3, 3))


# --- beside the order statistics of the paper


class OrderStatistics:
    """Wu et al. (2023), Algorithm 4 with Theorems 4.8 and 4.10, in floats.

    Number j of the row, by falling value, is drawn given its neighbours in the row that are known.
    """

    def __init__(self, m, rng, shift=0):
        self._m, self._rng, self._shift = m, rng, shift
        self._values, self._ids, self._place, self._read = {0: 1.0, m + 1: 0.0}, {}, {}, 0

    def _draw(self, j):
        known = sorted(self._values)
        right = bisect.bisect(known, j)
        before, after = known[right - 1], known[right]
        share = self._rng.beta(after - j, j - before + self._shift)
        low, high = self._values[after], self._values[before]
        self._values[j] = low + (high - low) * share

    def _settle(self, j, i):
        self._draw(j)
        self._ids[j], self._place[i] = i, j

    def sorted_access(self):
        self._read += 1
        if self._read not in self._ids:
            hidden = [i for i in range(self._m) if i not in self._place]
            self._settle(self._read, hidden[self._rng.integers(len(hidden))])
        return self._ids[self._read]

    def random_access(self, i):
        if i not in self._place:
            free = [j for j in range(1, self._m + 1) if j not in self._ids]
            self._settle(free[self._rng.integers(len(free))], i)
        return self._values[self._place[i]]


M, PATTERN = 5, (SORTED, 2, SORTED, 0, SORTED)


def from_order_statistics(rng, shift=0):
    row = OrderStatistics(M, rng, shift)
    served = [row.sorted_access() if a == SORTED else row.random_access(a) for a in PATTERN]
    upper = tuple(row.random_access(i) >= 1 / 2 for i in range(M))
    return tuple(i for i, a in zip(served, PATTERN, strict=True) if a == SORTED), upper


def from_race(draws):
    race = Race(M, draws)
    served = [ask(race, access)[0] for access in PATTERN]
    upper = race.random_access(np.arange(M)) >= 2**61
    names = tuple(int(ids[0]) for ids, a in zip(served, PATTERN, strict=True) if a == SORTED)
    return names, tuple(upper.tolist())


def chance(outcome):
    """Of the best three in order, and who is in the upper half."""
    served, upper = outcome
    n_upper = sum(upper)
    if [upper[i] for i in served] != [True] * min(3, n_upper) + [False] * max(3 - n_upper, 0):
        return 0.0
    ways = math.perm(n_upper, min(3, n_upper)) * math.perm(M - n_upper, max(3 - n_upper, 0))
    return 2.0**-M / ways


def discrepancy(sample, n=6000):
    """By how many standard deviations chi-square exceeds its mean."""
    every = itertools.product(
        itertools.permutations(range(M), 3), itertools.product([False, True], repeat=M)
    )
    chances = {outcome: p for outcome in every if (p := chance(outcome)) > 0}
    assert sum(chances.values()) == pytest.approx(1)
    seen = dict.fromkeys(chances, 0)
    for _ in range(n):
        seen[sample()] += 1
    statistic = sum((seen[o] - n * p) ** 2 / (n * p) for o, p in chances.items())
    return -chi2.logsf(statistic, len(chances) - 1)


def test_the_race_and_the_order_statistics_have_the_same_joint_law():
    draws, rng = ExactDraws(SeededBits(1)), np.random.default_rng(1)
    assert discrepancy(lambda: from_race(draws)) < 9
    assert discrepancy(lambda: from_order_statistics(rng)) < 9
    assert discrepancy(lambda: from_order_statistics(rng, shift=0.3)) > 20


# --- size and speed


@pytest.mark.parametrize("size", [10**3, 10**9, 2**61])
def test_memory_grows_with_what_is_asked_for(size):
    race, rng, asked = Race(size, ExactDraws(SeededBits(2))), np.random.default_rng(2), 0
    for n in (1, 5, 30, 100):
        race.sorted_access(asked, n)
        race.random_access(rng.integers(0, size, n))
        asked += n
        assert len(race._drawn) <= 3 * asked + 40
        assert len(race._hidden._at) + len(race._hidden._place_of) <= 2 * len(race._drawn)
    assert sys.getsizeof(race._drawn) < 2**16


def test_a_race_comes_to_its_end():
    race = Race(1000, ExactDraws(SeededBits(3)))
    one, told = race.sorted_access(0, 400)
    rest, more = race.sorted_access(400, 5000)
    assert sorted([*one.tolist(), *rest.tolist()]) == list(range(1000))
    assert (np.diff([*told, *more]) <= 0).all()
    assert len(race.sorted_access(1000, 3)[0]) == 0
    assert Race(0, ExactDraws(SeededBits(3))).sorted_access(0, 3)[0].shape == (0,)


def test_an_id_keeps_its_number_and_may_be_asked_for_twice_at_once():
    race = Race(50, ExactDraws(SeededBits(4)))
    first = race.random_access(np.array([7, 3, 7]))
    assert first[0] == first[2]
    ids, told = race.sorted_access(0, 50)
    known = dict(zip(ids.tolist(), told.tolist(), strict=True))
    assert [known[7], known[3]] == first[:2].tolist()
    assert race.sorted_access(10, 5)[0].tolist() == ids[10:15].tolist()


def test_how_many_are_drawn_at_once_changes_no_law():
    # The means of the largest of 1000 numbers, and of the tenth, by single and by many accesses.
    for n, expected in [(1, 1000 / 1001), (10, 991 / 1001)]:
        for step in (1, n):
            tops = []
            for seed in range(400):
                race = Race(1000, ExactDraws(SeededBits(seed)))
                for start in range(0, n, step):
                    _, told = race.sorted_access(start, step)
                tops.append(told[-1] / 2.0**62)
            sd = math.sqrt(n * (1001 - n) / 1001**2 / 1002)
            assert abs(np.mean(tops) - expected) < 4 * sd / math.sqrt(400)


@pytest.mark.parametrize("seed", range(6))
def test_the_slow_way_draws_the_same(seed):
    outcomes = []
    for margin in (0.0, math.inf):
        bits = SeededBits(seed)
        race = Race(10**6, ExactDraws(bits, margin))
        answers = [race.sorted_access(0, 3), race.sorted_access(3, 20)]
        told = race.random_access(np.arange(5))
        answers.append(race.sorted_access(23, 10))
        outcomes.append((*(a.tolist() for pair in answers for a in pair), told.tolist()))
        outcomes[-1] += (int(bits.words(1)[0]),)
    assert outcomes[0] == outcomes[1]
