"""Conversions of costs are upper bounds of the truth and near it."""

import itertools
import math

import pytest
from flint import arb, ctx
from hypothesis import assume, example, given
from hypothesis import strategies as st

from helpers.costs import COSTS, between, fixed, true_gaussian_delta
from shortlist.privacy import ZCDP, Approximate, Gaussian, Pure
from shortlist.privacy.calibration import peeling_epsilon, peeling_epsilon_lemma_b1


def ball(f, bits=200):
    with ctx.workprec(bits):
        return f()


def true_zcdp_delta(rho, epsilon):
    """exp of the minimum over x = alpha - 1 > 0, a convex function, at the root of its slope."""
    rho, epsilon, low, high = arb(rho), arb(epsilon), arb(-200), arb(200)
    for _ in range(150):
        middle = ((low + high) / 2).mid()
        x = arb(2) ** middle
        down = (2 * x + 1) * rho - epsilon - (1 / x).log1p() < 0
        low, high = (middle, high) if down else (low, middle)
    x = arb(2) ** high
    return (x * ((1 + x) * rho - epsilon) - x * (1 / x).log1p() - x.log1p()).exp()


RHO, EPSILON = between(1e-12, 1e4), between(1e-12, 500) | st.just(0.0)


# Pairs whose delta is in reach: epsilon is rho + s sqrt(2 rho), s standard deviations.
REACHABLE = st.tuples(RHO, st.floats(-5, 37)).map(
    lambda p: (p[0], min(max(p[0] + p[1] * math.sqrt(2 * p[0]), 0.0), 500.0))
)


@fixed
@given(pair=REACHABLE | st.tuples(RHO, EPSILON))
@example(pair=(1e-12, 500.0))
@example(pair=(1e4, 0.0))
@example(pair=(1e-12, 0.0))
@example(pair=(499.0, 500.0))
def test_zcdp_delta_is_just_above_the_minimum_over_alpha(pair):
    value, truth = ZCDP(pair[0]).delta(pair[1]), ball(lambda: true_zcdp_delta(*pair))
    assert value == 1 or value >= truth
    assert value <= 1
    if truth > 1e-300:
        assert value <= truth * (1 + arb(1e-9))


@fixed
@given(pair=REACHABLE | st.tuples(RHO, EPSILON))
@example(pair=(1e-12, 500.0))
@example(pair=(1e4, 0.0))
@example(pair=(499.0, 500.0))
def test_gaussian_delta_is_just_above_its_curve(pair):
    value, truth = Gaussian(pair[0]).delta(pair[1]), ball(lambda: true_gaussian_delta(*pair), 600)
    assert value == 1 or value >= truth
    if truth > 1e-280:
        near = arb(1e-6) * truth + arb(1e-10) * (truth + arb(min(1, pair[0] ** 0.5)))
        assert value <= truth + near


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("share", [1e-3, 0.03, 0.3, 0.9])
def test_zcdp_delta_grows_with_rho_from_float_to_float(epsilon, share):
    rho = epsilon * share
    floats = list(
        itertools.accumulate(range(300), lambda x, _: math.nextafter(x, 1e9), initial=rho)
    )
    deltas = [ZCDP(x).delta(epsilon) for x in floats]
    assert deltas == sorted(deltas)


@fixed
@given(pair=REACHABLE)
def test_the_gaussian_curve_is_within_the_zcdp_bound(pair):
    looser = ZCDP(pair[0]).delta(pair[1])
    assert Gaussian(pair[0]).delta(pair[1]) <= looser * (1 + 1e-9) + 1e-299


@pytest.mark.parametrize(("rho", "epsilon"), [(1e-12, 1.0), (1e-4, 1.0), (0.02, 20.0)])
def test_no_float_that_runs_out_makes_zcdp_pure(rho, epsilon):
    assert ZCDP(rho).delta(epsilon) > 0
    assert ZCDP(rho).epsilon(0.0) == math.inf
    assert Gaussian(rho).delta(epsilon) > 0
    assert Gaussian(rho).epsilon(0.0) == math.inf


@fixed
@given(pure=between(1e-6, 100), epsilon=EPSILON)
def test_pure_delta_is_that_of_randomised_response_or_better(pure, epsilon):
    value = Pure(pure).delta(epsilon)
    if epsilon >= pure:
        assert value == 0
        return

    def worst():
        p = arb(pure).exp()
        return (p - arb(epsilon).exp()) / (p + 1)

    response = ball(worst, 400)
    by_rho = ball(lambda: true_zcdp_delta(Pure(pure).rho, epsilon))
    assert value >= min(response, by_rho)
    assert value <= response * (1 + arb(1e-9))
    assert value <= by_rho * (1 + arb(1e-9)) or value <= 1e-300


def test_check_values_of_local_epsilons():
    ks = (20, 50, 100, 200)
    tight = [round(peeling_epsilon(k, epsilon=1.0, delta=1e-6), 4) for k in ks]
    paper = [round(peeling_epsilon_lemma_b1(k, epsilon=1.0, delta=1e-6), 4) for k in ks]
    assert tight == [0.0987, 0.0624, 0.0441, 0.0312]
    assert paper == [0.0836, 0.0529, 0.0374, 0.0264]
    assert round(peeling_epsilon_lemma_b1(10, epsilon=1.1, delta=0.1), 5) == 0.29264


@fixed
@given(cost=COSTS, delta=between(1e-290, 0.9))
def test_epsilon_and_delta_are_safe_inverses(cost, delta):
    epsilon = cost.epsilon(delta)
    if epsilon == math.inf:
        assert cost.delta(2.0**90) > delta
        return
    assert cost.delta(epsilon) <= delta
    if epsilon > 0:
        assert cost.delta(epsilon * (1 - 1e-6)) > delta


@fixed
@given(cost=COSTS, epsilon=between(1e-3, 50))
def test_delta_then_epsilon_does_not_grow(cost, epsilon):
    delta = cost.delta(epsilon)
    assume(1e-290 < delta < 1)
    assert cost.epsilon(delta) <= epsilon * (1 + 1e-9)
    assert cost.delta(epsilon * 1.01) <= delta


def test_epsilon_of_what_cannot_be_reached_is_infinite():
    assert ZCDP(0.1, 1e-6).epsilon(1e-7) == math.inf
    assert Approximate(1.0, 1e-6).epsilon(1e-7) == math.inf
    assert Approximate(1.0, 1e-6).epsilon(1e-6) == 1.0
    assert Pure(0.5).epsilon(0.0) == 0.5
    assert ZCDP(0.0).epsilon(0.0) == 0.0


@pytest.mark.parametrize("rho", [5e-324, 1e-300, 1e-6, 1.0, 1e3, 1e300])
@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-6, 1.0, 1e200])
def test_the_conversion_of_any_numbers_is_a_probability(rho, epsilon):
    delta = ZCDP(rho).delta(epsilon)
    assert 0 < delta <= 1
    if rho < epsilon / 1e6:
        assert delta < 1e-99
    if rho > 2 * epsilon + 50:
        assert delta > 0.99
