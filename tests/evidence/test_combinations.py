"""Pairs and triples of a user's items: all of them, a piece at a time."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.evidence import combinations
from shortlist.evidence.combinations import PairsOfItems, combined, numbers_of_combinations
from shortlist.evidence.contributions import Contributions

TABLES = st.lists(st.frozensets(st.integers(0, 9), max_size=8), max_size=6)


def held_by(*users, n_items=10):
    rows = [(user, item) for user, items in enumerate(users) for item in sorted(items)[::-1]]
    codes = np.array(rows, np.uint32).reshape(-1, 2)
    columns = np.ascontiguousarray(codes.T)
    return Contributions.of_rows(*columns, n_users=len(users), n_items=n_items)


def pieces_of(users, of):
    return [piece.T.tolist() for piece in combined(held_by(*users), of)]


@pytest.mark.parametrize("of", [2, 3])
@given(users=TABLES)
def test_every_combination_comes_once_in_the_order_of_users(of, users):
    found = [tuple(row) for piece in pieces_of(users, of) for row in piece]
    each = [set(itertools.combinations(sorted(items), of)) for items in users]
    sizes = numbers_of_combinations(held_by(*users).sizes, of)
    assert sizes.tolist() == list(map(len, each))
    ends = np.cumsum(sizes).tolist()
    of_users = [found[end - size : end] for end, size in zip(ends, sizes.tolist(), strict=True)]
    assert len(found) == sum(map(len, each))
    assert list(map(set, of_users)) == each


@given(TABLES, st.integers(1, 12))
def test_a_piece_is_small_or_of_one_user(users, most):
    with pytest.MonkeyPatch.context() as patch:
        whole = pieces_of(users, 2)
        patch.setattr(combinations, "_AT_ONCE", most)
        pieces = pieces_of(users, 2)
    assert list(itertools.chain(*pieces)) == list(itertools.chain(*whole))
    largest = max((len(items) * (len(items) - 1) // 2 for items in users), default=0)
    assert all(len(piece) <= max(most, largest) for piece in pieces)


def test_nobody_holds_nothing_together():
    assert pieces_of([], 2) == []
    assert list(itertools.chain(*pieces_of([set(), {3}], 2))) == []


@given(TABLES, st.frozensets(st.integers(0, 9)))
def test_pairs_of_some_items_are_counted_whether_anybody_holds_them(users, some):
    evidence, codes = PairsOfItems(held_by(*users)), np.array(sorted(some), np.int64)
    counts = evidence.held_together(codes)
    first, second = evidence.items_of(evidence.pairs_of(codes, np.arange(len(counts))))
    found = dict(zip(zip(first.tolist(), second.tolist(), strict=True), counts, strict=True))
    pairs = itertools.combinations(sorted(some), 2)
    assert found == {pair: sum(items.issuperset(pair) for items in users) for pair in pairs}
