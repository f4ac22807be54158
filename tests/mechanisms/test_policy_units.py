"""Policy histograms of one unit each: what one user more can change."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.hitting import contributions
from helpers.policy_histograms import N_ITEMS, SETS, all_small, fixed, units_of
from helpers.wrong_policies import fractional_fill
from shortlist.mechanisms import PolicyGreedy
from shortlist.mechanisms.mechanism import Accounting


def test_one_unit_each_by_the_definition():
    rng = np.random.default_rng(12)
    for _ in range(200):
        n_users = int(rng.integers(1, 30))
        data = [np.flatnonzero(rng.random(N_ITEMS) < 0.5).tolist() for _ in range(n_users)]
        users, ranks = rng.permutation(n_users), rng.permutation(N_ITEMS)
        cutoff, expected = int(rng.integers(1, 5)), [0] * N_ITEMS
        for user in users:
            open_items = [item for item in data[user] if expected[item] < cutoff]
            if data[user]:
                expected[min(open_items or data[user], key=lambda item: ranks[item])] += 1
        assert units_of(data, users, cutoff, ranks=ranks).tolist() == expected


def test_without_a_choice_units_are_counts_and_no_order_is_drawn():
    held = contributions([[0], [0], [1], [], [0]], 3)
    start = np.array([0, 4, 0])
    assert PolicyGreedy(epsilon=1.0, delta=0.1)._units(held, start, None).tolist() == [3, 5, 0]


def moves_by_one_unit(data, users, cutoff, n_items, ranks=None):
    """Whether user 0 more adds one unit to one item, if any is held, and takes none away."""
    more = units_of(data, users, cutoff, n_items, ranks)
    less = units_of(data, [user for user in users if user], cutoff, n_items, ranks)
    added = min(len(data[0]), 1)
    return sorted((more - less).tolist()) == [0] * (n_items - 1) + [added]


def test_one_user_more_moves_one_unit_on_any_small_input():
    for n_items, n_users, cutoffs in ((2, 3, (1, 2, 3)), (3, 2, (1, 2))):
        for data, users in all_small(n_items, n_users):
            assert all(moves_by_one_unit(data, users, cutoff, n_items) for cutoff in cutoffs)


@settings(fixed, max_examples=250)
@given(
    data=SETS,
    place=st.integers(0, 39),
    cutoff=st.integers(1, 5),
    ranks=st.permutations(range(N_ITEMS)),
)
def test_no_user_is_found_that_moves_more_than_one_unit(data, place, cutoff, ranks):
    users = list(range(1, len(data)))
    users.insert(min(place, len(users)), 0)
    assert moves_by_one_unit(data, users, cutoff, N_ITEMS, ranks)


def pushed_along(n, whole):
    """User 0 takes what n items lack, so that n others push as much on, to an item each of theirs.

    Of these, n have weight 1/n, and none where user 0 is not there.
    """
    width = n + 1  # each of n rows: n items that lack 1/n, and one that nobody else holds
    full = [[row * width + place] for row in range(n) for place in range(n)]
    pushing = [list(range(row * width, (row + 1) * width)) for row in range(n)]
    taking = [row * width for row in range(n)]
    data = [taking, *[single for single in full for _ in range(whole)], *pushing]
    users = [*range(1, len(data) - n), 0, *range(len(data) - n, len(data))]
    new = [row * width + n for row in range(n)]
    return data, users, new, n * width


def published(*, epsilon, delta):
    return PolicyGreedy(epsilon=epsilon, delta=delta, accounting=Accounting.PUBLISHED)


def new_names(weights, other, mechanism, items):
    """P(one of these items is named by noise), of those that have weight here and not there."""
    failed = 1.0
    for item in items:
        if weights[item] and not other[item]:
            gap = float(weights[item]) - mechanism.threshold
            failed *= 1 - math.exp(mechanism.epsilon * gap) / 2
    return 1 - failed


def units_rounded_up(data, users, cutoff, n_items):
    return units_of(data, users, math.ceil(cutoff), n_items)


def all_small_pushes(n_items=4):
    """Two users after any items that have a unit each, and the same without the first of them."""
    sets = [
        c for size in range(1, n_items + 1) for c in itertools.combinations(range(n_items), size)
    ]
    for full in [(), *sets]:
        singles = [[item] for item in full]
        for two in itertools.product(sets, repeat=2):
            yield [*singles, *two], [*range(len(singles) + 2)], len(singles)


def likeliest_new_names(histogram, mechanism, cutoff, n_items=4):
    """The largest P(an item is named) of those that have weight on one side only, on any push."""
    worst = 0.0
    for data, users, added in all_small_pushes(n_items):
        more = histogram(data, users, cutoff, n_items)
        less = histogram(data, [user for user in users if user != added], cutoff, n_items)
        worst = max(
            worst,
            new_names(more, less, mechanism, range(n_items)),
            new_names(less, more, mechanism, range(n_items)),
        )
    return worst


def test_on_all_small_inputs_one_unit_is_within_delta_and_fractions_are_not():
    mechanism, cutoff = published(epsilon=0.5, delta=0.4), Fraction(3, 2)
    assert mechanism.threshold < cutoff  # as published, with a fraction of alpha
    unit = likeliest_new_names(units_rounded_up, mechanism, cutoff)
    assert unit == pytest.approx(mechanism.delta)
    assert likeliest_new_names(fractional_fill, mechanism, cutoff) > 1.3 * mechanism.delta


def test_a_cutoff_that_is_no_whole_number_is_found_to_break_delta():
    mechanism, n, whole = published(epsilon=1.0, delta=1e-6), 48, 17
    data, users, new, n_items = pushed_along(n, whole)
    without = users[: len(users) - n - 1] + users[-n:]
    cutoff = whole + Fraction(1, n)
    assert mechanism.threshold < cutoff < mechanism.cutoff
    more, less = (fractional_fill(data, u, cutoff, n_items) for u in (users, without))
    assert sum(abs(a - b) for a, b in zip(more, less, strict=True)) <= 1  # and yet
    assert 17 < new_names(more, less, mechanism, new) / mechanism.delta < 19
    for cutoff in (whole, whole + 1):
        more, less = (units_of(data, u, cutoff, n_items) for u in (users, without))
        assert np.abs(more - less).sum() <= 1
        assert new_names(more, less, mechanism, new) <= mechanism.delta * (1 + 1e-9)
