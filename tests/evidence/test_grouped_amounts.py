"""Sums of what users spent in groups: clamped by user, group and item; bounded group by group."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import GroupedAmounts

MOST, GROUPS, ITEMS = 10, 3, 2
DRAWS = ExactDraws(SeededBits(1))
PLACES = st.tuples(st.integers(0, 3), st.integers(0, GROUPS - 1), st.integers(0, ITEMS - 1))
rows = st.lists(st.tuples(PLACES, st.integers(-15, 25)), max_size=14)
ALL = np.arange(GROUPS), np.arange(ITEMS)


def amounts(held):
    users, groups, items = (np.array([row[0][i] for row in held], np.int64) for i in range(3))
    steps = np.array([row[1] for row in held], np.int64)
    codes = users.astype(np.uint64), groups.astype(np.uint32), items.astype(np.uint32)
    return GroupedAmounts.of_rows(*codes, steps, n_groups=GROUPS, n_items=ITEMS, most=MOST)


def spent(held):
    """What each user has of each item of each group, clamped, and above 0."""
    added = Counter()
    for key, steps in held:
        added[key] += steps
    return {key: min(total, MOST) for key, total in added.items() if total > 0}


def by_definition(of_users):
    sums = np.zeros((GROUPS, ITEMS), np.int64)
    for (_, group, item), total in of_users.items():
        sums[group, item] += total
    return sums.tolist()


@given(rows)
def test_sums_are_those_of_the_definition(held):
    exact, found = spent(held), amounts(held)
    assert [each.counts.tolist() for each, _ in found.each()] == by_definition(exact)
    assert {each.unit for each, _ in found.each()} == {1 / MOST}
    asked = found.among(*ALL)
    assert asked.counts.reshape(GROUPS, ITEMS).tolist() == by_definition(exact)
    assert asked.unit == 1 / MOST
    holders = np.zeros((GROUPS, ITEMS), int)
    for _, group, item in exact:
        holders[group, item] += 1
    assert [each.recount().counts.tolist() for each, _ in found.each()] == holders.tolist()
    assert found.items().recount().counts.sum() == len({(u, i) for u, _, i in exact})


@given(rows, st.sampled_from([0.1, 0.25, 0.5, 1.0]), st.integers(1, 3))
def test_who_is_above_a_cap_is_counted_over_all_groups(held, part, whole):
    exact = spent(held)
    of_users = Counter(user for (user, _, _), total in exact.items() if total > part * MOST)
    above = amounts(held).above((part, 1.0), whole).tolist()
    assert above == [sum(min(n, whole) for n in of_users.values()), 0]


@given(rows, st.sampled_from([0.1, 0.25, 0.5, 1.0]))
def test_a_part_of_the_cap_clamps_sums_in_each_group_and_leaves_who_holds_what(held, part):
    exact = {key: min(int(total / part), MOST) for key, total in spent(held).items()}
    found = amounts(held).capped(part)
    assert [each.counts.tolist() for each, _ in found.each()] == by_definition(exact)
    assert found.among(*ALL).counts.reshape(GROUPS, ITEMS).tolist() == by_definition(exact)
    assert found.amounts.min(initial=1) >= 1


@given(rows)
def test_of_users_in_fewer_groups_the_sums_that_are_left_are_above_a_cap(held):
    kept = amounts(held).bounded(1, DRAWS)
    left = kept.amounts[kept.spent.parts.listed()]
    assert kept.above((0.1,), GROUPS * ITEMS).tolist() == [np.count_nonzero(left > 0.1 * MOST)]


@given(rows, st.integers(1, 2))
def test_bounded_sums_are_of_so_many_groups_of_each_user_as_they_are(held, bound):
    exact, kept = spent(held), amounts(held).bounded(bound, DRAWS)
    in_groups = Counter(user for user, _ in {(u, g) for u, g, _ in exact})
    sizes = np.bincount(list(in_groups.values()), minlength=GROUPS + 1)
    assert kept.groups.users_of_size()[1:].sum() == sizes.sum()
    assert kept.groups.largest <= bound
    for (found, _), whole in zip(kept.each(), by_definition(exact), strict=True):
        assert (found.counts <= whole).all()


def test_public_groups_have_their_places_and_no_others_count():
    held = [((0, 0, 0), 3), ((0, 1, 0), 4), ((1, 1, 1), 20), ((1, 2, 1), 5)]
    found = amounts(held).within(np.array([1, -1]))
    assert found.groups_are_public
    assert [each.counts.tolist() for each, _ in found.each()] == [[4, MOST], [0, 0]]
    of_list = found.among(np.arange(2), np.array([1, -1]))
    assert of_list.counts.tolist() == [MOST, 0, 0, 0]
    assert found.bounded(1, DRAWS) is not None
    assert [len(each.sizes) for each, _ in found.each()] == [2, 0]
