"""Sums of what users spent: clamped by user and item, exact, and moved by one user by no more."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import UserAmounts

MOST, ITEMS = 10, 3
DRAWS = ExactDraws(SeededBits(1))
rows = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, ITEMS - 1), st.integers(-15, 25)), max_size=12
)


def amounts(held, of=UserAmounts):
    users, items, steps = (np.array([row[i] for row in held], np.int64) for i in range(3))
    codes = users.astype(np.uint64), items.astype(np.uint32), steps
    return of.of_rows(*codes, n_items=ITEMS, most=MOST)


def sums(held, bound=None):
    return amounts(held).sums(bound, DRAWS).tolist()


def spent(held):
    """What each user has of each item, clamped."""
    added = Counter()
    for user, item, steps in held:
        added[user, item] += steps
    return {pair: min(max(total, 0), MOST) for pair, total in added.items()}


def by_definition(held):
    of_items = Counter()
    for (_, item), total in spent(held).items():
        of_items[item] += total
    return [of_items[item] for item in range(ITEMS)]


def capped_by_row(held):
    """Planted: the cap is that of a row, and not of a user and item."""
    clamped = [(user, item, min(max(steps, 0), MOST)) for user, item, steps in held]
    return [sum(steps for _, i, steps in clamped if i == item) for item in range(ITEMS)]


@given(rows)
def test_sums_are_those_of_the_definition(held):
    assert sums(held) == by_definition(held)
    counts = amounts(held).sets
    assert counts.unit == 1 / MOST
    users = [sum(i == item and n > 0 for (_, i), n in spent(held).items()) for item in range(ITEMS)]
    assert counts.recount().counts.tolist() == users


@given(rows, rows)
def test_one_user_raises_each_sum_by_no_more_than_the_cap(others, own):
    more = [*others, *((9, item, steps) for _, item, steps in own)]
    moved = np.subtract(sums(more), sums(others))
    assert ((moved >= 0) & (moved <= MOST)).all()


def test_a_cap_applied_to_rows_is_found():
    own = [(9, 0, 8), (9, 0, 8), (9, 1, -5), (9, 1, 8)]
    assert sums(own) == by_definition(own) == [10, 3, 0]
    assert capped_by_row(own) == [16, 8, 0]  # one user moves a sum by more than the cap


@pytest.mark.parametrize("steps", [2**31, -(2**31)])
def test_what_saturates_adds_up(steps):
    held = [(0, 0, steps)] * 1000 + [(1, 0, 7)]
    assert sums(held) == [7 + MOST * (steps > 0), 0, 0]


def test_a_random_subset_of_the_items_of_each_user_counts():
    held = [(user, item, item + 1) for user in range(60) for item in range(ITEMS)]
    whole = amounts(held)
    one = whole.sums(1, DRAWS)
    assert whole.sums(ITEMS, DRAWS).tolist() == sums(held) == [60, 120, 180]
    assert (one // [1, 2, 3]).sum() == 60
    assert (one > 0).all()
    assert {tuple(whole.sums(1, DRAWS).tolist()) for _ in range(5)} != {tuple(one.tolist())}


def test_nobody_is_no_mistake():
    assert sums([]) == [0] * ITEMS
    assert sums([], 1) == [0] * ITEMS
    assert amounts([(0, 0, 0), (1, 1, -1)]).sets.largest == 0
