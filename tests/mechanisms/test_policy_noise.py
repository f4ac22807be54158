"""Mechanisms of policy histograms: random orders, chances, calibration."""

import itertools
import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from helpers.exactness import between, ints, within_stated_error
from helpers.oracles_of_policies import best_chance
from helpers.policy_histograms import GAPS, contributions, fixed, units_of
from shortlist.algorithms.policies import MOST_ITEMS, shuffled, users_shuffled
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.draws.reals import LaplaceCDF, NormalCDF
from shortlist.errors import InputError
from shortlist.evidence.buckets import MOST_USERS
from shortlist.mechanisms import Accounting, PolicyGaussian, PolicyGreedy, WeightedGaussian
from shortlist.mechanisms.policy_greedy import _Halves
from shortlist.privacy.accountant.policy_coin import UnitCoin
from shortlist.privacy.calibration import threshold


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
@given(
    units=st.lists(st.integers(1, 2**31) | st.integers(1, 60), min_size=1, max_size=8),
    epsilon=between(0.1, 1e9),
    delta=between(1e-300, 0.5) | st.floats(0.01, 1 - 2**-53),
)
@example(units=[1, 2, 3], epsilon=5e-324, delta=0.4)
@example(units=[1, 2, 2**31], epsilon=1.0, delta=1 - 2**-53)
def test_coins_are_within_their_stated_error_and_start_at_delta(units, epsilon, delta):
    mechanism = PolicyGreedy(epsilon=epsilon, delta=delta)
    chances = mechanism._chances(ints(1, *units))
    values, _ = within_stated_error(chances)
    assert values[0] == math.nextafter(delta, 0)
    assert chances.coin.chance(1) == Fraction(math.nextafter(delta, 0))


@pytest.mark.parametrize(
    ("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-4), (3.0, 1e-12), (20.0, 1e-6), (0.5, 0.7)]
)
def test_coins_are_the_best_there_are(epsilon, delta):
    mechanism = PolicyGreedy(epsilon=epsilon, delta=delta)
    units = ints(*range(1, mechanism._coin.certain + 3))
    values, _ = mechanism._chances(units).approximate()
    best = [float(best_chance(n, epsilon, delta)) for n in units.tolist()]
    assert np.allclose(values, best, rtol=1e-11, atol=0)
    assert values[-4] < 1 == values[-3] == values[-1]


def lost_in_noisy_units(coin, epsilon):
    """The delta of one unit more or less, either way, of any number: names with noisy units.

    All in rational numbers, with a lower bound of e^epsilon: so nothing is rounded towards privacy.
    """
    growth = Fraction(Context(prec=120).exp(Decimal(epsilon))) * (1 - Fraction(1, 10**110))
    chances = [Fraction(numerator, 1 << coin.bits) for numerator in coin.numerators]
    of_need = [0, *(b - a for a, b in itertools.pairwise(chances)), 0]
    more = fewer = worst = Fraction(0)
    for n, (now, then) in enumerate(itertools.pairwise([*chances, 1, 1])):
        # The new value of n + 1 units, and the one of n units beside it.
        next_to = of_need[n : n + 2] if n < len(chances) else [0, 0]
        more += max(next_to[1] - growth * next_to[0], 0)
        fewer += max(next_to[0] - growth * next_to[1], 0)
        worst = max(
            worst,
            more + max((1 - then) - growth * (1 - now), 0),
            fewer + max((1 - now) - growth * (1 - then), 0),
        )
    return worst


@pytest.mark.parametrize("epsilon", [0.4, 1.0, 3.0, 20.0, 40.0])
@pytest.mark.parametrize("delta", [1e-300, 1e-6, 2.0**-10, 0.3, 0.5, 0.7, 1 - 2**-53])
def test_noisy_units_are_within_the_guarantee_in_whole_numbers(epsilon, delta):
    mechanism = PolicyGreedy(epsilon=epsilon, delta=delta)
    assert mechanism.score_unit is not None
    assert 0.999 * delta < lost_in_noisy_units(mechanism._coin, epsilon) <= Fraction(delta)


def test_a_coin_without_room_for_roundings_breaks_the_guarantee_of_noisy_units():
    assert lost_in_noisy_units(UnitCoin(1.0, 1e-6), 1.0) > Fraction(1e-6)
    loud = UnitCoin(1.0, 0.9e-6)
    assert lost_in_noisy_units(loud, 0.9) > Fraction(1e-6)


@fixed
@given(
    epsilon=between(0.1, 40.0),
    delta=between(1e-300, 0.5) | st.floats(0.01, 1 - 2**-53),
    places=st.lists(st.integers(0, 2**16), min_size=3, max_size=3),
)
@example(epsilon=0.3, delta=1e-9, places=[2**16 - 3, 2**16 - 2, 2**16])
@example(epsilon=0.3, delta=1e-9, places=[40, 41, 42])
def test_halves_of_a_need_are_within_their_stated_error(epsilon, delta, places):
    coin = PolicyGreedy(epsilon=epsilon, delta=delta)._coin
    middle = [n % (coin.certain - 1) + 1 for n in sorted(places)]
    low, high = [n // 2 for n in middle], [n + (coin.certain - n + 1) // 2 for n in middle]
    for below, above in ((low, high), ([n - 1 for n in middle], [n + 1 for n in middle])):
        within_stated_error(_Halves(coin, ints(*below), ints(*middle), ints(*above)))


@pytest.mark.parametrize("epsilon", [1e3, 1e5, 1e7, 1e15])
def test_a_huge_epsilon_is_as_good_as_any(epsilon):
    mechanism = PolicyGreedy(epsilon=epsilon, delta=1e-300)
    assert mechanism._coin.numerators == PolicyGreedy(epsilon=999, delta=1e-300)._coin.numerators
    assert (mechanism.threshold, mechanism.cutoff) == (2, 2)


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
    assert Fraction(mechanism.sigma) >= Fraction(weighted.sigma) * (1 + drift)
    assert mechanism.sigma <= weighted.sigma * 1.00001
    assert mechanism.threshold >= weighted.threshold
    # The noise of the threshold is the noise that is added.
    lost = mechanism.cost.lost
    least = threshold(sigma=mechanism.sigma, delta=lost, max_items_per_user=n)
    assert math.isclose(mechanism.threshold, least, rel_tol=1e-9)
    before = threshold(sigma=weighted.sigma, delta=lost, max_items_per_user=n)
    assert mechanism.threshold > before * (1 + 1e-9)


def test_the_drift_counts_in_zcdp_too():
    given = {"epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 100}
    mechanism = PolicyGaussian(**given, accounting=Accounting.ZCDP)
    weighted = WeightedGaussian(**given, accounting=Accounting.ZCDP)
    drift = Fraction(mechanism.sensitivity) - 1
    assert Fraction(mechanism.sigma) >= Fraction(weighted.sigma) * (1 + drift)
    assert mechanism.sigma <= weighted.sigma * 1.00001
    least = threshold(sigma=mechanism.sigma, delta=5e-7, max_items_per_user=100)
    assert mechanism.threshold == least > weighted.threshold


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


@pytest.mark.parametrize("alpha", [1, 3, 9, 40, 10**6])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.05, 1e-9), (9.0, 0.3), (1.0, 0.95)])
def test_a_coin_s_threshold_and_cutoff_are_where_its_chances_are_passed(epsilon, delta, alpha):
    mechanism = PolicyGreedy(epsilon=epsilon, delta=delta, alpha=alpha)
    limits = {mechanism.threshold: 0.5, mechanism.cutoff: 1 - math.exp(-alpha) / 2}
    for units, limit in limits.items():
        assert isinstance(units, int)
        assert units >= 1
        assert mechanism._coin.chance(units - 1) < limit <= mechanism._coin.chance(units)


@pytest.mark.parametrize(("epsilon", "delta"), [(1e-4, 1e-6), (1e-6, 1e-6), (0.01, 1e-300)])
def test_where_a_coin_would_be_long_noise_is_taken_in_its_place(epsilon, delta):
    given = {"epsilon": epsilon, "delta": delta}
    exact, noisy = PolicyGreedy(**given), PolicyGreedy(**given, accounting=Accounting.PUBLISHED)
    assert isinstance(exact._chances(ints(1)), LaplaceCDF)
    assert (exact.threshold, exact.cutoff) == (noisy.threshold, noisy.cutoff)
    assert exact.explain() == noisy.explain()
    assert "Laplace noise" in " ".join(exact.explain())


def test_what_is_told_of_a_coin_is_what_it_does():
    told = " ".join(PolicyGreedy(epsilon=1.0, delta=1e-6).explain())
    assert "An item with one unit is named with probability 1e-06;" in told
    assert "items with at least 14 are named more often than not" in told
    assert "Laplace" not in told


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("delta", [1e-12, 0.3, 0.5, 0.7, 1 - 1e-12])
def test_one_unit_is_named_with_probability_delta(epsilon, delta):
    mechanism = PolicyGreedy(epsilon=epsilon, delta=delta, accounting=Accounting.PUBLISHED)
    gap = epsilon * (1 - mechanism.threshold)
    named = math.exp(gap) / 2 if gap < 0 else 1 - math.exp(-gap) / 2
    assert math.isclose(named, delta, rel_tol=1e-9)
    assert mechanism.cutoff == max(math.ceil(mechanism.threshold + 3 / epsilon), 1)


@pytest.mark.parametrize("epsilon", [1e-9, 1e-20, 1e-300])
def test_a_cutoff_that_no_item_reaches_is_as_many_users_as_there_can_be(epsilon):
    noisy = PolicyGreedy(epsilon=epsilon, delta=0.4, accounting=Accounting.PUBLISHED)
    mechanism, data = noisy, [[0, 1]] * 30
    assert mechanism.threshold + 3 / epsilon > mechanism.cutoff == MOST_USERS
    assert units_of(data, range(30), mechanism.cutoff).tolist()[:2] == [30, 0]
    for seed in range(5):
        named = mechanism.select(contributions(data), ExactDraws(SeededBits(seed))).positions
        assert set(named.tolist()) in (set(), {0}, {1})


def test_a_bound_on_items_is_said_to_have_no_effect():
    told = " ".join(PolicyGreedy(epsilon=1.0, delta=1e-6).explain())
    assert "a bound on items per user has no effect" in told
