"""Groups of equal counts against `numpy.unique`, and their members one by one."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.exactness import ints
from shortlist.algorithms import grouping
from shortlist.algorithms.grouping import EqualCounts, Shuffle
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws

fixed = settings(derandomize=True, deadline=None, max_examples=150)
HUGE = 2**62


def check_groups(counts):
    groups = EqualCounts.of(counts)
    values, sizes = np.unique(counts, return_counts=True)
    assert groups.values.tolist() == values[::-1].tolist()
    assert groups.sizes.tolist() == sizes[::-1].tolist()
    assert groups.ends.tolist() == np.cumsum(sizes[::-1]).tolist()
    assert groups.counts.tolist() == counts.tolist()
    assert {array.dtype for array in (groups.values, groups.sizes, groups.ends)} == {counts.dtype}
    return groups


RANDOM = np.random.default_rng(1)
COUNTS = {
    "none": ints(),
    "one": ints(7),
    "one zero": ints(0),
    "one huge": ints(HUGE),
    "equal": ints(*[5] * 1000),
    "dense": RANDOM.integers(0, 50, 3000),
    "dense, once each": RANDOM.permutation(3000),
    "sparse": RANDOM.integers(0, HUGE, 3000),
    "near 2^62": HUGE - RANDOM.integers(0, 50, 3000),
    "near 2^62, sparse": HUGE - RANDOM.integers(0, 2**40, 3000),
    "both ends": np.append(RANDOM.integers(0, 9, 500), HUGE - RANDOM.integers(0, 9, 500)),
    "a few far above": np.append(RANDOM.integers(0, 9, 2000), RANDOM.integers(10**6, 10**9, 20)),
    "one far below": np.append(RANDOM.integers(10**9, 10**9 + 9, 2000), 3),
    "Zipf": (10**7 / np.arange(1, 3000)).astype(np.int64),
}


@pytest.mark.parametrize("counts", COUNTS.values(), ids=COUNTS)
def test_groups_are_the_distinct_counts(counts):
    check_groups(counts)


@fixed
@given(
    counts=st.lists(st.integers(0, 12) | st.sampled_from([HUGE, HUGE - 1, 2**40]), max_size=40),
    sparse=st.integers(0, 4),
    small=st.integers(1, 8),
)
def test_groups_wherever_the_tally_ends(counts, sparse, small):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_SPARSE", sparse)
        patch.setattr(grouping, "_SMALL", small)
        check_groups(np.array(counts, np.int64))


@pytest.mark.parametrize("length", range(1, 8))
@pytest.mark.parametrize("most", range(1, 8))
def test_the_last_count_that_is_tallied_and_the_first_that_is_not(length, most):
    counts = np.append(np.zeros(length, np.int64), np.repeat(np.arange(most), 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grouping, "_SPARSE", 0)
        patch.setattr(grouping, "_SMALL", 4)  # 0, 1, 2, 3 are tallied
        check_groups(counts)


def test_arrays_of_any_layout():
    original = RANDOM.integers(0, 20, 600)
    frozen = original.copy()
    frozen.setflags(write=False)
    layouts = [original[::3], original[::-1], original.reshape(20, 30)[:, 4], frozen, frozen[::2]]
    for counts in layouts:
        before = counts.copy()
        groups = check_groups(counts)
        every = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
        places = np.concatenate([np.arange(size) for size in groups.sizes])
        assert sorted(groups.positions(every, places)) == list(range(len(counts)))
        assert (counts == before).all()


# --- positions


def member(counts, groups, group, place):
    """Where member number `place` of a group stands."""
    return int(np.flatnonzero(counts == groups.values[group])[place])


@pytest.mark.parametrize("length", range(1, 5))
def test_positions_of_all_members_in_any_order(length):
    for values in itertools.product([0, 3, HUGE], repeat=length):
        counts = ints(*values)
        groups = EqualCounts.of(counts)
        members = [(g, p) for g, size in enumerate(groups.sizes.tolist()) for p in range(size)]
        for n in range(length + 1):
            for wanted in itertools.permutations(members, n):
                places = ints(*(place for _, place in wanted))
                found = groups.positions(ints(*(group for group, _ in wanted)), places)
                assert found.tolist() == [member(counts, groups, *each) for each in wanted]


@fixed
@given(
    counts=st.lists(st.integers(0, 6) | st.sampled_from([HUGE, 2**40]), min_size=1, max_size=60),
    data=st.data(),
)
def test_positions_of_some_members(counts, data):
    counts = np.array(counts, np.int64)
    groups = EqualCounts.of(counts)
    members = [(g, p) for g, size in enumerate(groups.sizes.tolist()) for p in range(size)]
    wanted = data.draw(st.lists(st.sampled_from(members), unique=True))
    found = groups.positions(*(ints(*(each[i] for each in wanted)) for i in (0, 1)))
    assert found.tolist() == [member(counts, groups, *each) for each in wanted]


# --- a shuffle of which only what moved is kept


@pytest.mark.parametrize("n", range(1, 6))
def test_a_shuffle_deals_every_arrangement_once(n):
    for k in range(1, n + 1):
        dealt = []
        for choices in itertools.product(*(range(n - step) for step in range(k))):
            shuffle = Shuffle()
            dealt.append(tuple(shuffle.deal(step, step + c) for step, c in enumerate(choices)))
        assert sorted(dealt) == sorted(itertools.permutations(range(n), k))


@pytest.mark.parametrize("ranges", [(1, 2, 3), (2, 2, 5), (1, 4, 4, 4), (3, 3, 3), (2, 5, 5)])
def test_a_shuffle_whose_ranges_grow_deals_every_arrangement_within_them_once(ranges):
    dealt = []
    for choices in itertools.product(*(range(n - step) for step, n in enumerate(ranges))):
        shuffle = Shuffle()
        dealt.append(tuple(shuffle.deal(step, step + c) for step, c in enumerate(choices)))
    arrangements = itertools.product(*map(range, ranges))
    assert sorted(dealt) == [each for each in arrangements if len(set(each)) == len(ranges)]


def test_a_shuffle_of_very_many_keeps_what_moved_only():
    shuffle, seen = Shuffle(), set()
    for step in range(1000):
        seen.add(shuffle.deal(step, HUGE - 1 - step % 7))
    assert len(seen) == 1000
    assert len(shuffle._moved) <= 2000


# --- members


def arrangements(counts, values):
    """All ways to give each value in turn an item of that count, none twice."""
    every = itertools.product(*(np.flatnonzero(counts == value).tolist() for value in values))
    return [each for each in every if len(set(each)) == len(values)]


@pytest.mark.parametrize(
    ("counts", "values"),
    [
        ([5], [5]),
        ([4, 4, 4], [4]),
        ([4, 4, 4], [4, 4, 4]),
        ([7, 2, 7, 2, 7], [2, 7, 7, 2]),
        ([0, HUGE, 0, 0, 9], [0, 9, 0, HUGE]),
        ([1, 1, 1, 1, 3, 3], [1, 3, 1, 1]),
        ([1, 2, 3], []),
    ],
)
def test_members_are_uniform_and_none_is_drawn_twice(counts, values):
    counts = np.array(counts, np.int64)
    groups = EqualCounts.of(counts)
    picked = np.array([groups.values.tolist().index(value) for value in values], np.int64)
    drawn = law(lambda draws: tuple(groups.draw_members(picked, draws).tolist()))
    expected = arrangements(counts, values)
    assert drawn.keys() == set(expected)
    assert all(math.isclose(p, 1 / len(expected), rel_tol=1e-12) for p in drawn.values())


@fixed
@given(seed=st.integers(0, 2**32), counts=st.lists(st.integers(0, 5), min_size=1, max_size=30))
def test_all_members_in_the_order_of_their_groups(seed, counts):
    groups = EqualCounts.of(np.array(counts, np.int64))
    picked = np.repeat(np.arange(len(groups.sizes)), groups.sizes)
    np.random.default_rng(seed).shuffle(picked)
    drawn = groups.draw_members(picked, ExactDraws(SeededBits(seed)))
    assert sorted(drawn.tolist()) == list(range(len(counts)))
    assert groups.counts[drawn].tolist() == groups.values[picked].tolist()


def deviation(positions, n):
    """Of the frequency of each of n positions from 1/n, at most, in standard errors."""
    seen = np.bincount(positions, minlength=n)
    return np.abs(seen - len(positions) / n).max() / math.sqrt(len(positions) / n * (1 - 1 / n))


def test_frequency_of_members():
    groups, draws = EqualCounts.of(np.tile(ints(3, 8), 5)), ExactDraws(SeededBits(2))
    drawn = np.array([groups.draw_members(ints(0, 0, 1), draws) for _ in range(4000)])
    for place, parity in enumerate((1, 1, 0)):
        assert (drawn[:, place] % 2 == parity).all()
        assert deviation(drawn[:, place] // 2, 5) < 4.5
    skewed = np.random.default_rng(3).choice(5, 4000, p=np.array([1.3, 1, 1, 1, 1]) / 5.3)
    assert deviation(skewed, 5) > 4.5
