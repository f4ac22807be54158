"""Hitting sets against sets of Python, tried one by one."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions
from shortlist.metrics import best_hitting_set, greedy_hitting_set, hits, missed_users

N_USERS, N_ITEMS = 8, 6
ROWS = st.lists(st.tuples(st.integers(0, N_USERS - 1), st.integers(0, N_ITEMS - 1)), max_size=25)


def of_rows(rows, n_users=N_USERS, n_items=N_ITEMS):
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    return Contributions.of_rows(users, items, n_users=n_users, n_items=n_items)


def reached(rows, items):
    return len({user for user, item in rows if item in items})


def greedy(rows, k):
    """As the kernels do it, by counting anew after each choice."""
    chosen, left = [], set(rows)
    while left and len(chosen) < k:
        holders = [sum(item == i for _, item in left) for i in range(N_ITEMS)]
        best = holders.index(max(holders))
        hit = {user for user, item in left if item == best}
        left = {(user, item) for user, item in left if user not in hit}
        chosen.append(best)
    return chosen


@given(ROWS, st.sets(st.integers(0, N_ITEMS - 1)))
def test_users_are_hit_or_missed(rows, items):
    held = of_rows(rows)
    assert hits(held, sorted(items)) == reached(rows, items)
    users = len({user for user, _ in rows})
    assert missed_users(held, sorted(items)) == users - reached(rows, items)


@given(ROWS, st.integers(1, N_ITEMS + 1))
def test_the_greedy_set_is_greedy(rows, k):
    held = of_rows(rows)
    before = held.counts.copy()
    assert greedy_hitting_set(held, k).tolist() == greedy(rows, k)
    assert (held.counts == before).all()


@given(ROWS, st.integers(1, N_ITEMS + 1))
def test_the_best_set_is_best(rows, k):
    held = of_rows(rows)
    best = best_hitting_set(held, k)
    size = min(k, len({item for _, item in rows}))
    assert len(best) == size
    most = max(reached(rows, items) for items in combinations(range(N_ITEMS), size))
    assert hits(held, best) == most
    assert hits(held, greedy_hitting_set(held, k)) >= (1 - (1 - 1 / k) ** k) * most


@given(ROWS, st.integers(1, 3), st.integers(1, N_ITEMS))
def test_what_bounding_left_out_is_not_held(rows, bound, k):
    bounded = of_rows(rows).bounded(bound, ExactDraws(SeededBits(1)))
    ranges = zip(bounded.starts.tolist(), bounded.sizes.tolist(), strict=True)
    kept = [
        (user, item)
        for user, (start, size) in enumerate(ranges)
        for item in bounded.items[start : start + size].tolist()
    ]
    assert greedy_hitting_set(bounded, k).tolist() == greedy(kept, k)
    assert hits(bounded, list(range(N_ITEMS))) == len({user for user, _ in kept})
    assert hits(bounded, best_hitting_set(bounded, N_ITEMS)) == len({user for user, _ in kept})


def test_where_greedy_is_worse():
    rows = [*[(user, 0) for user in (0, 1, 2)], *[(user, 1) for user in (3, 4, 5)]]
    held = of_rows([*rows, *[(user, 2) for user in (1, 2, 3, 4)]])
    assert hits(held, greedy_hitting_set(held, 2)) == 5
    assert best_hitting_set(held, 2).tolist() == [0, 1]
    assert hits(held, [0, 1]) == 6


def test_small_inputs():
    empty = of_rows([])
    assert greedy_hitting_set(empty, 2).tolist() == best_hitting_set(empty, 2).tolist() == []
    assert missed_users(empty, []) == 0  # nobody holds anything
    assert greedy_hitting_set(of_rows([], 0, 0), 1).tolist() == []


def test_the_best_of_many_is_refused():
    held = of_rows([(user, user) for user in range(100)], 100, 100)
    with pytest.raises(ValueError, match=r"k=10: .* greedy_hitting_set"):
        best_hitting_set(held, 10)


@pytest.mark.parametrize("find", [greedy_hitting_set, best_hitting_set])
@pytest.mark.parametrize("k", [0, -1, 2.5, 2.0, True, "2", math.nan, None])
def test_k_is_a_whole_number_of_at_least_one(find, k):
    with pytest.raises(ValueError, match=f"k={k!r}: must be a whole number, at least 1"):
        find(of_rows([(0, 0)]), k)


@pytest.mark.parametrize("measure", [hits, missed_users])
@pytest.mark.parametrize("positions", [[-1], [0, N_ITEMS], [1.9], [True], ["1"], 1, [[1]], [2**70]])
def test_positions_are_those_of_items(measure, positions):
    with pytest.raises(ValueError, match="positions: must be"):
        measure(of_rows([(0, 0)]), positions)
