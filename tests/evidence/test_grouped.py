"""Users' sets of pairs: bounded by a user's own groups, seen as groups, items and places."""

from collections import Counter

import numpy as np
import pytest

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import buckets
from shortlist.evidence.buckets import Buckets
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped_sets import GroupedSets, Pairing
from shortlist.runtime import threads

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
    return GroupedSets.of_pairs(sets, group_of, item_of, 3, N_ITEMS)


def told(sets):
    """What each user holds, by its code."""
    return [
        set(sets.items[start : start + size].tolist())
        for start, size in zip(sets.starts, sets.sizes, strict=True)
    ]


def pairs_of(sets):
    """What each user holds, group by group; nothing twice."""
    groups, held = sets.groups, sets.parts
    users = []
    for start, size in zip(groups.starts, groups.sizes, strict=True):
        own = [
            (int(groups.items[part]), item)
            for part in range(start, start + size)
            for item in held.items[held.starts[part] :][: held.sizes[part]].tolist()
        ]
        assert len(own) == len(set(own))
        users.append(set(own))
    return users


def grouped(rows, n_users, n_groups, n_items, *, packed=True):
    """Sets of rows (user, group, item), with packed codes or those that tables tell of."""
    users, groups, items = np.array(rows, np.uint32).reshape(-1, 3).T.copy()
    pairing = Pairing(n_groups, n_items)
    codes = pairing.pack(groups.copy(), items)
    if not packed:
        numbers, codes = np.unique(groups.astype(np.int64) * n_items + items, return_inverse=True)
        tables = (part.astype(np.uint32) for part in np.divmod(numbers, n_items))
        pairing, codes = Pairing(n_groups, n_items, *tables), codes.astype(np.uint32)
    return GroupedSets.of_buckets(Buckets.of_rows(users, codes, n_users), pairing)


def on_cores(monkeypatch, number):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: number)
    monkeypatch.setattr(threads, "_WORTH_A_THREAD", 0)


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("number", [1, 2, 5])
@pytest.mark.parametrize(("n_users", "n_groups", "n_items"), [(9, 3, 4), (5, 1, 7), (40, 6, 1)])
def test_rows_become_sets_as_dictionaries_tell(
    monkeypatch, packed, number, n_users, n_groups, n_items
):
    """Users in one group and in several, repeated rows, users without any; in many buckets."""
    on_cores(monkeypatch, number)
    monkeypatch.setattr(buckets, "_SHIFT", 1)
    rng = np.random.default_rng(number)
    for n in (0, 1, 7, 60, 500):
        users, items = rng.integers(0, n_users, n), rng.integers(0, n_items, n)
        groups = np.where(users % 2, users % n_groups, rng.integers(0, n_groups, n))
        rows = list(zip(users.tolist(), groups.tolist(), items.tolist(), strict=True))
        sets = grouped(rows, n_users, n_groups, n_items, packed=packed)
        held = [{(g, i) for u, g, i in rows if u == user} for user in range(n_users)]
        assert pairs_of(sets) == held
        items = [{i for _, i in own} for own in held]
        assert list(filter(None, told(sets.items()))) == list(filter(None, items))
        assert told(sets.groups) == [{g for g, _ in own} for own in held]
        one = sets.bounded(1, ExactDraws(SeededBits(n)))
        lines, columns = rng.permutation(n_groups)[:2], rng.permutation(n_items)[:3]
        for some in (sets, one):
            own = pairs_of(some)
            width, at = len(columns), some.among(lines, columns)
            places = [
                {
                    line * width + column
                    for line, g in enumerate(lines)
                    for column, i in enumerate(columns)
                    if (g, i) in pairs
                }
                for pairs in own
            ]
            assert sorted(map(sorted, filter(None, told(at)))) == sorted(
                map(sorted, filter(None, places))
            )
            counts = [sum(p in s for s in places) for p in range(width * len(lines))]
            assert at.counts.tolist() == counts
            assert some.items().counts.tolist() == [
                sum(any(i == item for _, i in pairs) for pairs in own) for item in range(n_items)
            ]


@pytest.mark.parametrize("n", [255, 9000, 20_000])
def test_many_items_of_one_user_are_told_apart(n):
    """More than the scratch space has room for at first; and so many that they are sorted."""
    rng = np.random.default_rng(3)
    rows = [(0, 0, i) for i in rng.integers(0, 4000, n).tolist()]
    rows += [(1, i % 3, i) for i in rng.integers(0, 4000, n).tolist()]
    rows += [(2, u % 3, u) for u in range(5)]
    sets = grouped(rows, 3, 3, 4000)
    assert pairs_of(sets) == [{(g, i) for u, g, i in rows if u == user} for user in range(3)]
    assert told(sets.items()) == [{i for u, _, i in rows if u == user} for user in range(3)]


def test_codes_are_packed_in_32_bits_at_most():
    assert Pairing(2**12, 2**20).fits
    assert not Pairing(2**12 + 1, 2**20).fits
    assert Pairing(1, 2**32 - 1).fits
    ends = np.array([2**12 - 1], np.uint32), np.array([2**20 - 1], np.uint32)
    assert Pairing(2**12, 2**20).pack(*ends).tolist() == [2**32 - 1]
    assert Pairing(1, 2**32 - 1).pack(ends[0] * 0, ends[1]).tolist() == [2**20 - 1]


def test_what_is_held_in_groups_that_are_known():
    sets = sets_of(USERS).within(np.array([2, -1, 0]))
    assert (sets.n_groups, sets.groups_are_public) == (3, True)
    at = {2: 0, 0: 2}
    known = [{(at[g], i) for g, i in held if g in at} for held in USERS]
    assert pairs_of(sets) == list(filter(None, known))
    assert sets.groups.counts.tolist() == [2, 0, 2]


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
    assert told(places) == [{0b01, 0b10}, {0b00, 0b10, 0b11}]
    assert places.counts.tolist() == [1, 1, 2, 1]


def test_users_who_hold_none_of_them_are_left_out():
    users = [{(1, 0)}, {(0, 0)}, *[{(1, i) for i in range(3)}] * 9]
    places = sets_of(users).among(np.array([0]), np.array([0]))
    assert told(places) == [{0}]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_each_of_the_users_own_groups_is_as_likely_to_be_kept(most):
    sets, draws = sets_of(USERS), ExactDraws(SeededBits(7))
    seen = Counter()
    for _ in range(600):
        bounded = sets.bounded(most, draws)
        groups = told(bounded.groups)
        assert [len(kept) for kept in groups] == [min(len({g for g, _ in u}), most) for u in USERS]
        for held, kept, own in zip(USERS, groups, pairs_of(bounded), strict=True):
            assert own == {(g, i) for g, i in held if g in kept}
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


@pytest.mark.parametrize("seed", [1, 2])
def test_pairs_are_those_of_all_groups(seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, (8, 5, 4), (60, 3))
    sets = grouped(rows, 8, 5, 4)
    bounded = sets.bounded(2, ExactDraws(SeededBits(seed)))
    placed = sets.within(np.array([3, -1, 0]))
    for each in (sets_of(USERS), sets, bounded, placed):
        pairs = each.pairs()
        expected = [
            {group * each.n_items + item for group, item in held} for held in pairs_of(each)
        ]
        found = [
            set(pairs.positions(np.array(sorted(held), int)).tolist()) for held in told(pairs.sets)
        ]
        assert found == expected
        positions = pairs.positions(np.arange(pairs.sets.n_items)).tolist()
        assert len(positions) == len(set(positions))
