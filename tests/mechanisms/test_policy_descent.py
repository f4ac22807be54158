"""Policy histograms by descent: against a definition by fractions, and what one user changes."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.policy_histograms import GAPS, N_ITEMS, SETS, all_small, contributions, fixed, order_of
from helpers.wrong_policies import even_fill, fill_then_spread
from shortlist.algorithms.policies import MOST_ITEMS, FixedPoint, descend
from shortlist.evidence.buckets import MOST_USERS

FINE, COARSE = FixedPoint(54), FixedPoint(20)


def weights_of(data, users, cutoff, grid=FINE, n_items=N_ITEMS):
    held = contributions(data, n_items)
    return descend(held, order_of(users), cutoff=cutoff, grid=grid)


def squares(vector):
    return sum(int(x) ** 2 for x in vector)


def norm_within(vector, grid, drift):
    """Whether the ℓ2 norm is at most 1 + drift, in exact arithmetic."""
    return squares(vector) <= (2**grid.bits * (1 + Fraction(drift))) ** 2


def drift_of(grid, max_items, users):
    return Fraction(grid.drift(max_items)) * users / MOST_USERS


# --- the descent, step by step


def exact_step(gaps, one):
    """g min(1, 1/|g|) in units, by integer square roots of enough digits."""
    square = squares(gaps)
    if square <= one**2:
        return [Fraction(gap) for gap in gaps]
    norm = Fraction(math.isqrt(square << 200), 2**100)
    return [Fraction(gap) * one / norm for gap in gaps]


@fixed
@given(
    gaps=st.lists(GAPS | st.integers(0, 2), min_size=1, max_size=12),
    bits=st.integers(20, 60),
)
@example(gaps=[2**54], bits=54)
@example(gaps=[2**54 + 1], bits=54)
@example(gaps=[2**54 - 1], bits=54)
@example(gaps=[2**53] * 4, bits=54)
@example(gaps=[2**53, 2**53, 2**53, 2**53 + 1], bits=54)
@example(gaps=[2**61] * 12, bits=60)
@example(gaps=[2**62 - 1] * 12, bits=20)
def test_a_step_is_the_exact_one_rounded_down(gaps, bits):
    one, cutoff, n = 2**bits, 2**62 - 1, len(gaps)
    start = np.array([cutoff - gap for gap in gaps])
    held = contributions([range(n)], n)
    after = descend(held, order_of([0]), cutoff=cutoff, grid=FixedPoint(bits), start=start)
    added = (after - start).tolist()
    assert squares(added) <= one**2
    for step, exact in zip(added, exact_step(gaps, one), strict=True):
        assert exact * (1 - Fraction(1, 2**48)) - 1 < step <= exact
    near = (one * (1 - Fraction(1, 2**50))) ** 2
    if squares(gaps) < near * (1 - Fraction(1, 2**50)):  # there is no doubt that it fits
        assert added == gaps


def test_the_most_items_of_a_user_do_not_overflow():
    n, cutoff = MOST_ITEMS, 2**62 - 1
    held = contributions([range(n)], n)
    for bits in (20, 54):
        weights = descend(held, order_of([0]), cutoff=cutoff, grid=FixedPoint(bits))
        share = 2**bits / math.sqrt(n)
        assert set(weights.tolist()) == {int(weights[0])}
        assert share * (1 - 2.0**-48) - 1 <= weights[0] <= share


@fixed
@given(data=SETS, shuffle=st.randoms(use_true_random=False), cutoff=st.floats(0.3, 5))
def test_the_order_of_a_user_s_items_changes_not_a_bit(data, shuffle, cutoff):
    other = [shuffle.sample(items, len(items)) for items in data]
    users, cutoff = range(len(data)), FINE.up(cutoff)
    weights = weights_of(data, users, cutoff)
    assert weights.tolist() == weights_of(other, users, cutoff).tolist()


@fixed
@given(data=SETS, cutoff=st.floats(0.3, 5))
def test_an_item_has_weight_if_and_only_if_somebody_holds_it(data, cutoff):
    weights = weights_of(data, range(len(data)), FINE.up(cutoff))
    held = set().union(*data)
    assert set(np.flatnonzero(weights).tolist()) == held
    assert weights.max(initial=0) <= FINE.up(cutoff)


@fixed
@given(new=st.integers(1, N_ITEMS), old=SETS, cutoff=st.floats(1, 5))
def test_items_of_one_user_alone_get_at_most_an_even_share(new, old, cutoff):
    # The user also holds items that others hold, which have smaller gaps.
    old = [[item + N_ITEMS for item in items] for items in old]
    data = [*old, list(range(new)) + list(range(N_ITEMS, 2 * N_ITEMS))]
    for users in (range(len(data)), range(len(data))[::-1]):
        weights = weights_of(data, users, FINE.up(cutoff), n_items=2 * N_ITEMS)
        assert new * int(weights[:new].max()) ** 2 <= 4**FINE.bits


# --- what one user more changes: the descent


def on_grid(data, users, cutoff, n_items):
    return weights_of(data, users, FINE.up(cutoff), n_items=n_items) * FINE.unit


def distance(histogram, data, users, cutoff, n_items):
    more = histogram(data, users, cutoff, n_items)
    less = histogram(data, [user for user in users if user], cutoff, n_items)
    return float(np.linalg.norm(more - less))


SMALL = (  # items, other users, cutoffs
    (2, 3, (0.8, 1.0, 1.3, 2.0)),
    (3, 2, (0.9, 1.2)),
    (3, 3, (2.0,)),
)


def most_moved(histogram):
    """By one user more, on any small input."""
    return max(
        distance(histogram, data, users, cutoff, n_items)
        for n_items, n_users, cutoffs in SMALL
        for data, users in all_small(n_items, n_users)
        for cutoff in cutoffs
    )


def test_on_all_small_inputs_the_descent_moves_by_one_and_to_fill_items_by_more():
    assert 0.999 < most_moved(on_grid) < 1 + 1e-13
    assert most_moved(even_fill) > 1.04
    assert most_moved(fill_then_spread) > 2


def exact_distance_is_within(data, place, cutoff, grid):
    """Whether the last user of the data, put in that place, moves the weights by 1 and drift."""
    others = list(range(len(data) - 1))
    users = [*others[:place], len(others), *others[place:]]
    moved = weights_of(data, users, cutoff, grid) - weights_of(data, others, cutoff, grid)
    return norm_within(moved, grid, drift_of(grid, N_ITEMS, len(others)))


@settings(fixed, max_examples=250)
@given(
    data=SETS,
    place=st.integers(0, 39),
    cutoff=st.floats(0.2, 6),
    grid=st.sampled_from([FINE, COARSE, FixedPoint(6)]),
)
def test_no_user_is_found_that_moves_the_weights_by_more(data, place, cutoff, grid):
    assert exact_distance_is_within(data, min(place, len(data) - 1), grid.up(cutoff), grid)


def test_no_user_among_many_at_random_moves_the_weights_by_more():
    rng = np.random.default_rng(11)
    for _ in range(150):
        n_users, taste = int(rng.integers(2, 120)), rng.dirichlet(np.ones(N_ITEMS))
        data = [np.flatnonzero(rng.random(N_ITEMS) < 4 * taste).tolist() for _ in range(n_users)]
        cutoff = FINE.up(rng.uniform(0.5, 8))
        assert exact_distance_is_within(data, int(rng.integers(n_users)), cutoff, FINE)


@settings(fixed, max_examples=250)
@given(
    states=st.lists(st.tuples(GAPS, GAPS), min_size=1, max_size=8),
    bits=st.integers(20, 58),
)
def test_a_step_brings_any_two_states_no_further_apart_than_roundings(states, bits):
    cutoff, n = 2**62 - 1, len(states)
    held = contributions([range(n)], n)
    before = [np.array([cutoff - gaps[side] for gaps in states]) for side in (0, 1)]
    after = [
        descend(held, order_of([0]), cutoff=cutoff, grid=FixedPoint(bits), start=each)
        for each in before
    ]
    distance = Fraction(math.isqrt(squares(before[0] - before[1]) << 200) + 1, 2**100)
    allowed = distance + drift_of(FixedPoint(bits), n, 1) * 2**bits
    assert squares(after[0] - after[1]) <= allowed**2


def test_on_a_coarse_grid_there_is_drift_and_it_is_bounded():
    rng, grid, worst = np.random.default_rng(14), FixedPoint(2), 0.0
    for n in rng.integers(3, 25, 500).tolist():
        data = [[0], *(np.flatnonzero(rng.random(N_ITEMS) < 0.5).tolist() for _ in range(n))]
        cutoff = grid.up(rng.uniform(1, 4))
        more, less = (weights_of(data, range(i, n + 1), cutoff, grid) for i in (0, 1))
        worst = max(worst, math.sqrt(squares(more - less)) / 2**grid.bits)
        assert norm_within(more - less, grid, drift_of(grid, N_ITEMS, n))
    assert worst > 1.03


def test_what_a_step_is_allowed_is_about_what_it_needs():
    # Rounded down on one side only, by almost a unit in each of many items.
    worst, n = 0.0, 64
    held = contributions([range(n)], n)
    for offset in range(400):
        one = 2**20
        states = [np.full(n, 4 * one + shift) for shift in (offset, offset + 1)]
        moved = [
            descend(held, order_of([0]), cutoff=2**30, grid=COARSE, start=each) for each in states
        ]
        worst = max(worst, math.sqrt(squares(moved[0] - moved[1])) - math.sqrt(n))
    assert worst <= float(drift_of(COARSE, n, 1)) * 2**20
    assert drift_of(COARSE, n, 1) * 2**20 < math.sqrt(n) * 1.01
