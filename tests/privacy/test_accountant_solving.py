"""From (epsilon, delta) to parameters; and the best coin for items moved by whole units."""

import itertools
import math
from fractions import Fraction

import pytest
from flint import arb, ctx

from helpers.accountant_twins import ball
from shortlist.errors import InputError
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    GaussianStage,
    ItemsByThreshold,
    Threshold,
)
from shortlist.privacy.accountant.fitting import largest_parameter
from shortlist.privacy.accountant.gaussian_threshold import least_threshold
from shortlist.privacy.accountant.policy_coin import UnitCoin
from shortlist.privacy.calibration import peeling_epsilon


def picks(k, epsilon, delta, near):
    return largest_parameter(
        lambda local, fineness: Composition((BoundedRange(local, k),)).delta(
            epsilon, fineness=fineness
        ),
        delta=delta,
        near=near,
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-5), (3.0, 1e-8), (1.0, 0.1)])
@pytest.mark.parametrize("k", [1, 2, 5, 20, 200])
def test_delta_is_met_and_never_passed(k, epsilon, delta):
    near = peeling_epsilon(k, epsilon=epsilon, delta=delta)
    local = picks(k, epsilon, delta, near)
    assert local > near
    assert 0.995 * delta <= Composition((BoundedRange(local, k),)).delta(epsilon) <= delta


@pytest.mark.parametrize("near", [1e-6, 0.01, 0.5, 20.0])
def test_a_bad_guess_costs_looks_alone(near):
    assert picks(20, 1.0, 1e-6, near) == pytest.approx(0.1067, rel=1e-3)


@pytest.mark.parametrize(("k", "aim"), [(5, 0.232), (20, 0.1065), (200, 0.0334)])
def test_picks_are_as_good_as_they_can_be(k, aim):
    assert picks(k, 1.0, 1e-6, 1 / k) >= aim


def test_a_parameter_that_cannot_be_small_enough_is_refused():
    with pytest.raises(InputError, match="too small to be reached"):
        largest_parameter(lambda *_: 0.5, delta=1e-6, near=1.0)


def test_discover_then_rank_gives_both_users_nearly_all_of_delta():
    """With the shares that the mechanism has: 0.3 of rho for discovery, thresholds by halves."""
    epsilon, delta, k, bound = 1.0, 1e-6, 20, 100

    def stages(rho):
        local = (8 * 0.7 * rho / k) ** 0.5
        first, second = ((2 * share * rho) ** 0.5 for share in (0.3, 0.7))
        more = (GaussianStage(second, on_weights=True),)
        branch = EitherStage((BoundedRange(local, k),), more)
        return (GaussianStage(first, on_weights=True), branch), local

    rho = largest_parameter(
        lambda rho, fineness: Composition(stages(rho)[0]).delta(epsilon, fineness=fineness),
        delta=delta,
        near=0.0244,
    )
    sigmas = (2 * 0.3 * rho) ** -0.5, (2 * rho) ** -0.5

    def whole(lost):
        tests = (Threshold(s, least_threshold(s, lost / 2, bound)) for s in sigmas)
        return Composition(stages(rho)[0], ItemsByThreshold(tuple(tests), bound))

    lost = largest_parameter(
        lambda lost, fineness: whole(lost).own_items_delta(epsilon, fineness=fineness),
        delta=delta,
        near=0.98 * delta,
        fineness=1.0,
    )
    first, mean = (test.least for test in whole(lost).own_items.thresholds)
    assert stages(rho)[1] >= 0.0884
    assert first <= 44.6
    assert mean <= 24.4
    assert lost > 0.97 * delta
    assert 0.995 * delta <= whole(lost).delta(epsilon) <= delta


COINS = [(1.0, 1e-6), (0.1, 1e-6), (0.01, 1e-20), (20.0, 1e-6), (1.0, 0.6), (1e-3, 1e-8)]
COINS += [(5e-324, 0.4), (1e-90, 0.01), (1e7, 1e-6)]


@pytest.mark.parametrize(("epsilon", "delta"), COINS)
def test_a_unit_coin_is_private_exactly_and_cannot_be_better(epsilon, delta):
    coin = UnitCoin(epsilon, delta)
    least = Fraction(1, 1 << coin.bits)
    chances = [coin.chance(n) for n in range(coin.certain + 1)]
    assert chances[0] == 0
    assert chances[1] == Fraction(delta)
    assert chances[-1] == 1
    step = max(1, len(chances) // 200)
    with ctx.workprec(2000):
        for less, more in list(itertools.pairwise(chances))[::step]:
            assert keeps(epsilon, delta, less, more)
            assert more == 1 or not keeps(epsilon, delta, less, more + 8 * least)


def keeps(epsilon, delta, less, more):
    """Both conditions of (epsilon, delta)-DP, for a coin and for its other side."""
    pairs = (less, more), (more, less), (1 - less, 1 - more), (1 - more, 1 - less)
    return all(
        left <= Fraction(delta)
        or bool(ball(left - Fraction(delta)) <= arb(epsilon).exp() * ball(right))
        for left, right in pairs
    )


def test_a_unit_coin_of_today_is_never_better():
    """Laplace noise and a threshold, with the same guarantee."""
    coin, quantile = UnitCoin(1.0, 1e-6), math.log(2e-6)
    for units in range(1, 60):
        w = units - 1 + quantile
        today = math.exp(w) / 2 if w <= 0 else 1 - math.exp(-w) / 2
        assert coin.chance(units) >= Fraction(today) * Fraction(1 - 1e-12)
    assert float(coin.chance(14)) > 0.48


def test_a_unit_coin_that_would_climb_for_ever_is_refused():
    with pytest.raises(InputError, match="so small"):
        _ = UnitCoin(1e-6, 1e-300).numerators
