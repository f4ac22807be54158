"""Policy histograms: against a definition by fractions, and what one user more can change."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.exactness import between, ints, within_stated_error
from helpers.wrong_policies import even_fill, fill_then_spread, fractional_fill
from shortlist.algorithms.policies import (
    MOST_ITEMS,
    Grid,
    count_units,
    descend,
    shuffled,
    users_shuffled,
)
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.draws.reals import LaplaceCDF, NormalCDF
from shortlist.errors import InputError
from shortlist.evidence.contributions import MOST_USERS, Contributions
from shortlist.mechanisms import PolicyGaussian, PolicyGreedy, WeightedGaussian
from shortlist.privacy.calibration import gaussian_sigma, threshold

fixed = settings(derandomize=True, deadline=None, max_examples=100)
FINE, COARSE = Grid(54), Grid(20)
N_ITEMS = 6
SETS = st.lists(st.sets(st.integers(0, N_ITEMS - 1)).map(sorted), min_size=1, max_size=40)


def contributions(data, n_items=N_ITEMS):
    """The users' sets; the items of each in the order given."""
    rows = [(user, item) for user, items in enumerate(data) for item in items]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    return Contributions.of_rows(users, items, n_users=len(data), n_items=n_items)


def order_of(users):
    return np.array(users, np.uint32)


def weights_of(data, users, cutoff, grid=FINE, n_items=N_ITEMS):
    held = contributions(data, n_items)
    return descend(held, order_of(users), cutoff=cutoff, grid=grid)


def units_of(data, users, cutoff, n_items=N_ITEMS, ranks=None):
    ranks = np.arange(n_items) if ranks is None else ranks
    held = contributions(data, n_items)
    return count_units(held, order_of(users), order_of(ranks), cutoff=cutoff)


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


GAPS = st.integers(0, 61).flatmap(lambda bits: st.integers(0, 2**bits))


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
    after = descend(held, order_of([0]), cutoff=cutoff, grid=Grid(bits), start=start)
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
        weights = descend(held, order_of([0]), cutoff=cutoff, grid=Grid(bits))
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


def all_small(n_items, n_users):
    """User 0 and all others, with any sets, in every order; the others' is the one without."""
    sets = [
        c for size in range(1, n_items + 1) for c in itertools.combinations(range(n_items), size)
    ]
    for added in sets:
        for others in itertools.product(sets, repeat=n_users):  # the others in turn
            for place in range(n_users + 1):
                users = [*range(1, n_users + 1)]
                yield [added, *others], [*users[:place], 0, *users[place:]]


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
    grid=st.sampled_from([FINE, COARSE, Grid(6)]),
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
        descend(held, order_of([0]), cutoff=cutoff, grid=Grid(bits), start=each) for each in before
    ]
    distance = Fraction(math.isqrt(squares(before[0] - before[1]) << 200) + 1, 2**100)
    allowed = distance + drift_of(Grid(bits), n, 1) * 2**bits
    assert squares(after[0] - after[1]) <= allowed**2


def test_on_a_coarse_grid_there_is_drift_and_it_is_bounded():
    rng, grid, worst = np.random.default_rng(14), Grid(2), 0.0
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


# --- one unit each


def test_one_unit_each_by_the_definition():
    rng = np.random.default_rng(12)
    for _ in range(200):
        n_users = int(rng.integers(1, 30))
        data = [np.flatnonzero(rng.random(N_ITEMS) < 0.5).tolist() for _ in range(n_users)]
        users, ranks = rng.permutation(n_users), rng.permutation(N_ITEMS)
        cutoff, expected = int(rng.integers(1, 5)), [0] * N_ITEMS
        for user in users:
            open_items = [item for item in data[user] if expected[item] < cutoff]
            if open_items:
                expected[min(open_items, key=lambda item: ranks[item])] += 1
        assert units_of(data, users, cutoff, ranks=ranks).tolist() == expected


def moves_by_one_unit(data, users, cutoff, n_items, ranks=None):
    """Whether user 0 more adds at most one unit to one item, and takes none away."""
    more = units_of(data, users, cutoff, n_items, ranks)
    less = units_of(data, [user for user in users if user], cutoff, n_items, ranks)
    return sorted((more - less).tolist())[:-1] == [0] * (n_items - 1) and 0 <= sum(more - less) <= 1


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


def new_names(weights, other, mechanism, items):
    """P(one of these items is named), of those that have weight here and not there."""
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
    mechanism, cutoff = PolicyGreedy(epsilon=0.5, delta=0.4), Fraction(3, 2)
    assert mechanism.threshold < cutoff  # as published, with a fraction of alpha
    unit = likeliest_new_names(units_rounded_up, mechanism, cutoff)
    assert unit == pytest.approx(mechanism.delta)
    assert likeliest_new_names(fractional_fill, mechanism, cutoff) > 1.3 * mechanism.delta


def test_a_cutoff_that_is_no_whole_number_is_found_to_break_delta():
    mechanism, n, whole = PolicyGreedy(epsilon=1.0, delta=1e-6), 48, 17
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


# --- random orders


@pytest.mark.parametrize("n", range(5))
def test_orders_are_exactly_uniform(n):
    orders = law(lambda draws: tuple(shuffled(n, draws).tolist()))
    assert orders.keys() == set(itertools.permutations(range(n)))
    assert all(math.isclose(p, 1 / math.factorial(n)) for p in orders.values())


def test_users_who_hold_nothing_have_no_turn():
    held = contributions([[], [1], [], [0, 2], [3]])
    orders = law(lambda draws: tuple(users_shuffled(held, draws).tolist()))
    assert orders.keys() == set(itertools.permutations([1, 3, 4]))


def test_large_orders_are_permutations():
    order = shuffled(10_000, ExactDraws(SeededBits(1)))
    assert sorted(order.tolist()) == list(range(10_000))
    places = np.corrcoef(order, np.arange(10_000))[0, 1]
    assert abs(places) < 4.5 / math.sqrt(10_000)


# --- chances


@fixed
@given(
    gaps=st.lists(st.integers(0, 2**31) | st.integers(0, 60), min_size=1, max_size=8),
    epsilon=between(1e-9, 100),
    chance=between(1e-300, 0.5) | st.floats(0.01, 1 - 2**-53),
)
@example(gaps=[0, 1, 2], epsilon=1.0, chance=0.5)
@example(gaps=[0, 1, 2], epsilon=math.log(2), chance=0.25)  # near the middle at gap 1
@example(gaps=[0, 2**31], epsilon=100.0, chance=1 - 2**-53)
def test_laplace_chances_are_within_their_stated_error(gaps, epsilon, chance):
    within_stated_error(LaplaceCDF(ints(*gaps), epsilon, chance))


@pytest.mark.parametrize("chance", [1e-6, 0.3, 0.5, 0.9])
def test_laplace_chances_are_those_of_laplace_noise(chance):
    gaps = ints(*range(60))
    values, errors = within_stated_error(LaplaceCDF(gaps, 0.7, chance))
    assert math.isclose(values[0], chance, rel_tol=1e-12)
    w = 0.7 * gaps + math.copysign(-math.log(2 * min(chance, 1 - chance)), chance - 0.5)
    expected = np.where(w < 0, np.exp(-np.abs(w)) / 2, 1 - np.exp(-np.abs(w)) / 2)
    assert np.allclose(values, expected, rtol=1e-12, atol=0)
    assert (errors <= 1e-13 * values).all()
    assert (np.diff(values) >= 0).all()


@fixed
@given(gaps=st.lists(GAPS, min_size=1, max_size=6), sd=between(1e-2, 1e6), bits=st.integers(32, 58))
def test_normal_chances_on_other_grids_are_within_their_stated_error(gaps, sd, bits):
    within_stated_error(NormalCDF(ints(*gaps, *(-gap for gap in gaps)), sd, 2.0**-bits))


# --- calibration


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("delta", [1e-20, 1e-6, 0.4, 0.999])
@pytest.mark.parametrize("share", [0.5, 0.999])
def test_all_weights_and_gaps_fit_the_grid(epsilon, delta, share):
    mechanism = PolicyGaussian(
        epsilon=epsilon, delta=delta, max_items_per_user=100, threshold_share=share
    )
    grid = mechanism.grid
    cutoff, threshold = grid.up(mechanism.cutoff), grid.up(mechanism.threshold)
    assert 2**grid.bits <= cutoff < 2**62
    assert max(cutoff - threshold, abs(threshold)) < 2**62
    assert threshold >= Fraction(mechanism.threshold) * 2**grid.bits


def test_the_noise_is_weighted_gaussian_s_for_a_sensitivity_that_has_the_drift():
    n = 100
    given = {"epsilon": 1.0, "delta": 1e-6, "max_items_per_user": n}
    mechanism, weighted = PolicyGaussian(**given), WeightedGaussian(**given)
    drift = Fraction(mechanism.sensitivity) - 1
    steps = MOST_USERS * (Fraction(10, 2**mechanism.grid.bits) + Fraction(1, 2**47))
    assert steps <= drift < Fraction(1, 10**5)
    assert mechanism.rho == weighted.rho
    assert Fraction(mechanism.sigma) >= Fraction(weighted.sigma) * (1 + drift)
    assert mechanism.sigma <= weighted.sigma * 1.00001
    assert mechanism.threshold >= weighted.threshold
    # The noise of the threshold is the noise that is added.
    lost = mechanism.threshold_delta
    assert mechanism.threshold == threshold(sigma=mechanism.sigma, delta=lost, max_items_per_user=n)
    before = gaussian_sigma(mechanism.rho)
    assert mechanism.threshold > threshold(sigma=before, delta=lost, max_items_per_user=n)


def test_more_items_of_a_user_than_squares_add_up_exactly_are_refused():
    given = {"epsilon": 1.0, "delta": 1e-6}
    assert PolicyGaussian(**given, max_items_per_user=MOST_ITEMS).sensitivity < 1.0001
    with pytest.raises(InputError, match=f"max_items_per_user={MOST_ITEMS + 1}: must be at most"):
        PolicyGaussian(**given, max_items_per_user=MOST_ITEMS + 1)


def test_noise_that_no_grid_is_fine_enough_for_is_refused():
    with pytest.raises(InputError, match="epsilon=1e-06, delta=1e-20"):
        PolicyGaussian(epsilon=1e-6, delta=1e-20, max_items_per_user=MOST_ITEMS)


def test_the_cutoff_must_be_a_whole_number_and_not_below_the_threshold():
    for kind in (PolicyGaussian, PolicyGreedy):
        given = {"epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 10}
        given = {name: given[name] for name in kind.fields() if name in given}
        for alpha in (0, -1, 2.5):
            with pytest.raises(InputError, match=f"alpha={alpha}: must be a whole number"):
                kind(**given, alpha=alpha)
        assert kind(**given, alpha=1).cutoff < kind(**given).cutoff < kind(**given, alpha=9).cutoff


@pytest.mark.parametrize("bound", [1, 5, 40])
def test_sets_may_be_bounded_already(bound):
    held = contributions([range(40)] * 90, 40).bounded(bound, ExactDraws(SeededBits(2)))
    mechanism = PolicyGaussian(epsilon=9.0, delta=1e-3, max_items_per_user=5)
    for built in (mechanism, PolicyGreedy(epsilon=9.0, delta=1e-3)):
        positions = built.select(held, ExactDraws(SeededBits(3))).positions.tolist()
        assert 10 < len(set(positions)) == len(positions) <= 40


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 0.3, 0.5, 0.7, 1 - 1e-12])
def test_one_unit_is_named_with_probability_delta(epsilon, delta):
    mechanism = PolicyGreedy(epsilon=epsilon, delta=delta)
    gap = epsilon * (1 - mechanism.threshold)
    named = math.exp(gap) / 2 if gap < 0 else 1 - math.exp(-gap) / 2
    assert math.isclose(named, delta, rel_tol=1e-9)
    assert mechanism.cutoff == max(math.ceil(mechanism.threshold + 3 / epsilon), 1)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-20, 1e-300])
def test_a_cutoff_that_no_item_reaches_is_as_many_users_as_there_can_be(epsilon):
    mechanism, data = PolicyGreedy(epsilon=epsilon, delta=0.4), [[0, 1]] * 30
    assert mechanism.threshold + 3 / epsilon > mechanism.cutoff == MOST_USERS
    assert units_of(data, range(30), mechanism.cutoff).tolist()[:2] == [30, 0]
    for seed in range(5):
        named = mechanism.select(contributions(data), ExactDraws(SeededBits(seed))).positions
        assert set(named.tolist()) in (set(), {0}, {1})


def test_a_bound_on_items_is_said_to_have_no_effect():
    told = " ".join(PolicyGreedy(epsilon=1.0, delta=1e-6).explain())
    assert "a bound on items per user has no effect" in told
