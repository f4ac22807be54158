"""Users' sets of pairs: bounded by a user's own groups, seen as groups, items and places."""

from collections import Counter

import numpy as np
import pytest

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped import GroupedSets

N_ITEMS = 3
USERS = [{(0, 0), (0, 1)}, {(0, 2), (1, 2), (2, 0)}, set(), {(1, 0), (1, 1), (1, 2), (2, 2)}]


def sets_of(users):
    """Pairs coded in random order; the last code is held by nobody."""
    pairs = sorted({pair for held in users for pair in held}, key=lambda pair: hash(str(pair)))
    rows = [(user, pairs.index(pair)) for user, held in enumerate(users) for pair in held]
    held, codes = np.array(rows, np.uint32).reshape(-1, 2).T.copy()
    group_of, item_of = np.array([*pairs, (0, 0)], np.uint32).T.copy()
    n_pairs = len(pairs) + 1
    sets = Contributions.of_rows(held, codes, n_users=len(users), n_items=n_pairs)
    return GroupedSets(sets, group_of, item_of, 3, N_ITEMS)


def told(sets):
    """What each user holds, by its code."""
    return [
        set(sets.items[start : start + size].tolist())
        for start, size in zip(sets.starts, sets.sizes, strict=True)
    ]


def test_groups_and_items_of_each_user():
    sets = sets_of(USERS)
    assert told(sets.groups) == [{g for g, _ in held} for held in USERS]
    assert told(sets.items()) == [{i for _, i in held} for held in USERS]
    assert sets.groups.counts.tolist() == [2, 2, 2]
    assert sets.items().counts.tolist() == [3, 2, 2]


def test_places_of_some_items_in_some_groups():
    sets = sets_of(USERS)
    places = sets.among(np.array([2, 1]), np.array([2, 0]))
    assert places.n_items == 4
    assert told(places) == [set(), {0b01, 0b10}, set(), {0b00, 0b10, 0b11}]
    assert places.counts.tolist() == [1, 1, 2, 1]


def test_few_that_are_left_are_packed():
    users = [{(0, 0)}, *[{(1, i) for i in range(3)}] * 9]
    places = sets_of(users).among(np.array([0]), np.array([0]))
    assert told(places) == [{0}]
    assert len(places.items) == 1


@pytest.mark.parametrize("most", [1, 2, 3])
def test_each_of_the_users_own_groups_is_as_likely_to_be_kept(most):
    sets, draws = sets_of(USERS), ExactDraws(SeededBits(7))
    seen = Counter()
    for _ in range(600):
        bounded = sets.bounded(most, draws)
        groups = told(bounded.groups)
        assert [len(kept) for kept in groups] == [min(len({g for g, _ in u}), most) for u in USERS]
        pairs = told(bounded.pairs)
        for held, kept, codes in zip(USERS, groups, pairs, strict=True):
            of = {(int(sets.group_of[c]), int(sets.item_of[c])) for c in codes}
            assert of == {(g, i) for g, i in held if g in kept}
        seen[frozenset(groups[1])] += 1
    expected = {1: 3, 2: 3, 3: 1}[most]
    assert len(seen) == expected
    assert all(abs(n - 600 / expected) < 5 * (600 / expected) ** 0.5 for n in seen.values())


def test_what_others_hold_plays_no_part():
    """With the same bits a user keeps the same groups, whoever else is in them."""
    kept = []
    for others in ([], [{(0, 0)}] * 50):
        sets = sets_of([USERS[1], *others])
        bounded = sets.bounded(1, ExactDraws(SeededBits(3)))
        kept.append(told(bounded.groups)[0])
    assert kept[0] == kept[1]
