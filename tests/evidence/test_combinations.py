"""Pairs and triples of a user's items: all of them, or a random subset with its exact law."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import combinations
from shortlist.evidence.combinations import combined
from shortlist.evidence.contributions import Contributions

TABLES = st.lists(st.frozensets(st.integers(0, 9), max_size=8), max_size=6)


def held_by(*users, n_items=10):
    rows = [(user, item) for user, items in enumerate(users) for item in sorted(items)[::-1]]
    codes = np.array(rows, np.uint32).reshape(-1, 2)
    columns = np.ascontiguousarray(codes.T)
    return Contributions.of_rows(*columns, n_users=len(users), n_items=n_items)


def sets_of(users, of, most, draws):
    """The combinations of each user, none twice."""
    sizes, codes = combined(held_by(*users), of, most, draws)
    rows = iter(map(tuple, codes.T.tolist()))
    each = [[next(rows) for _ in range(size)] for size in sizes.tolist()]
    assert next(rows, None) is None
    assert all(len(set(rows)) == len(rows) for rows in each)
    return [frozenset(rows) for rows in each]


def all_of(items, of):
    return frozenset(itertools.combinations(sorted(items), of))


@given(TABLES, st.sampled_from([2, 3]))
def test_of_few_items_every_combination_counts(users, of):
    found = sets_of(users, of, 10**6, ExactDraws(SeededBits(1)))
    assert found == [all_of(items, of) for items in users]


@given(TABLES, st.sampled_from([2, 3]), st.integers(1, 9), st.integers(0, 99))
def test_of_many_items_as_many_count_as_may(users, of, most, seed):
    found = sets_of(users, of, most, ExactDraws(SeededBits(seed)))
    for items, some in zip(users, found, strict=True):
        assert some <= all_of(items, of)
        assert len(some) == min(most, math.comb(len(items), of))


SUBSETS = [({1, 4, 5, 8}, 2, 2), ({1, 4, 5, 8}, 3, 3), ({0, 2, 7}, 2, 1), ({0, 2, 7, 9}, 2, 5)]


@pytest.mark.parametrize(("items", "of", "most"), SUBSETS)
def test_every_subset_is_as_likely(items, of, most):
    found = law(lambda draws: sets_of([items], of, most, draws)[0])
    subsets = [frozenset(some) for some in itertools.combinations(all_of(items, of), most)]
    assert found == pytest.approx(dict.fromkeys(subsets, 1 / len(subsets)), abs=1e-12)


def test_a_subset_that_is_drawn_from_too_little_is_caught(monkeypatch):
    choose = combinations._choices

    def from_too_little(whole, kept):
        drawn, bounds = choose(whole, kept)
        return drawn, np.maximum(bounds - 1, 1)

    monkeypatch.setattr(combinations, "_choices", from_too_little)
    found = law(lambda draws: sets_of([{1, 4, 5, 8}], 2, 2, draws)[0])
    assert max(abs(found.get(some, 0) - 1 / 15) for some in found) > 0.01


def test_users_draw_apart():
    users = {0, 2, 7}, {1, 2, 3}
    both = law(lambda draws: tuple(sets_of(users, 2, 1, draws)))
    assert len(both) == 9
    assert both == pytest.approx(dict.fromkeys(both, 1 / 9), abs=1e-12)


def test_a_user_of_many_items_has_triples_of_all():
    n, most = 3_000, 4_000
    held = Contributions(np.array([0]), np.array([n]), np.arange(n, dtype=np.uint32), n)
    sizes, codes = combined(held, 3, most, ExactDraws(SeededBits(5)))
    assert sizes.tolist() == [most]
    assert (np.diff(codes.astype(np.int64), axis=0) > 0).all()
    assert len(set(map(tuple, codes.T.tolist()))) == most
    spread = Counter((codes.astype(np.int64) * 10 // n).ravel().tolist())
    expected = 3 * most / 10
    assert all(abs(spread[part] - expected) < 6 * math.sqrt(expected) for part in range(10))


def test_a_user_of_more_items_than_ranks_allow_keeps_the_bound(monkeypatch):
    monkeypatch.setattr(combinations, "_MOST_ITEMS", 3)
    found = law(lambda draws: sets_of([{0, 2, 7, 9}], 2, 1, draws)[0])
    assert set(found) == {frozenset([pair]) for pair in all_of({0, 2, 7, 9}, 2)}
    assert sum(map(Fraction, found.values())) == pytest.approx(1)


def test_nobody_holds_nothing_together():
    assert sets_of([], 2, 5, ExactDraws(SeededBits(1))) == []
    assert sets_of([set(), {3}], 2, 5, ExactDraws(SeededBits(1))) == [frozenset(), frozenset()]
