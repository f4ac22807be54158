"""Calibrated parameters satisfy their constraint, and nothing noticeably less private does."""

import math
from fractions import Fraction
from functools import cache

import pytest
from flint import arb, ctx
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.costs import true_gaussian_delta
from helpers.exactness import between
from shortlist.errors import InputError
from shortlist.privacy import ZCDP, Approximate, Gaussian, Pure, calibration
from shortlist.privacy.calibration import (
    bounded_range_epsilon,
    divide_down,
    gaussian_rho,
    gaussian_sigma,
    largest,
    peeling_epsilon,
    peeling_epsilon_lemma_b1,
    subtract_down,
    threshold,
    zcdp_rho,
)

fixed = settings(derandomize=True, deadline=None, max_examples=60)
LESS_PRIVATE = 1 + 1e-6
EPSILON, DELTA, RHO = between(1e-3, 50), between(1e-280, 0.3), between(1e-12, 1e3)
LOST = st.sampled_from([0.0, 0.1, 0.5, 0.9])  # of delta


@fixed
@given(epsilon=EPSILON, delta=DELTA, share=LOST)
def test_zcdp_rho_is_the_largest_that_fits(epsilon, delta, share):
    rho = zcdp_rho(epsilon=epsilon, delta=delta, lost=share * delta)
    assert ZCDP(rho, share * delta).delta(epsilon) <= delta
    assert ZCDP(rho * LESS_PRIVATE, share * delta).delta(epsilon) > delta


@fixed
@given(epsilon=EPSILON, delta=DELTA, share=LOST)
def test_gaussian_rho_fits_the_exact_curve_and_is_the_largest(epsilon, delta, share):
    rho = gaussian_rho(epsilon=epsilon, delta=delta, lost=share * delta)
    rest = Fraction(delta) - Fraction(share * delta)
    with ctx.workprec(600):
        allowed = arb(rest.numerator) / rest.denominator
        assert true_gaussian_delta(rho, epsilon) <= allowed
        # Near the end of the floats the subtracted tail is left out, which only costs accuracy.
        more = true_gaussian_delta(rho * LESS_PRIVATE, epsilon)
        assert more > allowed or delta < 1e-270


@fixed
@given(rho=between(1e-300, 1e300))
@example(rho=0.5)
def test_sigma_is_the_least_float_whose_rho_fits(rho):
    sigma = gaussian_sigma(rho)
    assert 2 * Fraction(rho) * Fraction(sigma) ** 2 >= 1
    assert 2 * Fraction(rho) * Fraction(sigma * (1 - 2**-50)) ** 2 < 1


@fixed
@given(k=st.integers(1, 5000), rho=RHO)
def test_local_epsilon_of_a_rho_is_the_largest_that_fits(k, rho):
    epsilon = bounded_range_epsilon(k, rho)
    assert k * Fraction(epsilon) ** 2 / 8 <= Fraction(rho)
    assert k * Fraction(epsilon * LESS_PRIVATE) ** 2 / 8 > Fraction(rho)


@fixed
@given(k=st.integers(1, 1000), epsilon=EPSILON, delta=DELTA)
def test_peeling_epsilon_is_the_largest_that_fits_and_beats_the_paper(k, epsilon, delta):
    local = peeling_epsilon(k, epsilon=epsilon, delta=delta)
    assert (Pure.bounded_range(local) * k).delta(epsilon) <= delta
    assert (Pure.bounded_range(local * LESS_PRIVATE) * k).delta(epsilon) > delta
    paper = peeling_epsilon_lemma_b1(k, epsilon=epsilon, delta=delta)
    assert local >= paper * (1 - 1e-9)


@fixed
@given(k=st.integers(1, 1000), epsilon=EPSILON, delta=DELTA)
def test_lemma_b1_is_rounded_down(k, epsilon, delta):
    local = peeling_epsilon_lemma_b1(k, epsilon=epsilon, delta=delta)
    with ctx.workprec(300):
        log_term = -arb(delta).log()
        exact = (8 * (log_term + epsilon) / k).sqrt() - (8 * log_term / k).sqrt()
        exact = exact.max(arb(epsilon) / k)
        assert exact * (1 - arb(2) ** -46) <= local <= exact


@pytest.mark.parametrize("k", [1, 3, 10, 300, 372, 1000, 100_000])
@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize("calibrate", [peeling_epsilon, peeling_epsilon_lemma_b1])
def test_without_delta_peeling_is_pure(calibrate, k, epsilon):
    local = calibrate(k, epsilon=epsilon, delta=0.0)
    assert k * Fraction(local) <= Fraction(epsilon)
    assert local >= epsilon / k * (1 - 1e-9)


@pytest.mark.parametrize("calibrate", [zcdp_rho, gaussian_rho])
def test_no_rho_fits_without_delta(calibrate):
    for arguments in ({"delta": 0.0}, {"delta": 1e-6, "lost": 1e-6}, {"delta": 1e-6, "lost": 1e-5}):
        with pytest.raises(InputError, match="too small"):
            calibrate(epsilon=1.0, **arguments)


@fixed
@given(epsilon=EPSILON, edge=between(1e-6, 1e6))
def test_largest_finds_the_last_float_that_fits(epsilon, edge):
    def cost_of(x):
        return Approximate(epsilon, 0.1 if x <= edge else 0.2)

    assert largest(cost_of, epsilon=epsilon, delta=0.1) == edge


@fixed
@given(epsilon=EPSILON, delta=DELTA, near=between(1e-6, 1e6))
def test_a_guess_does_not_move_the_answer(epsilon, delta, near):
    found, seen = zcdp_rho(epsilon=epsilon, delta=delta), {}

    def cost_of(rho):
        seen[rho] = ZCDP(rho).delta(epsilon) <= delta
        return ZCDP(rho)

    again = largest(cost_of, epsilon=epsilon, delta=delta, near=near)
    assert again == pytest.approx(found, rel=1e-9)
    assert seen[again] is True
    assert seen[math.nextafter(again, math.inf)] is False
    seen.clear()
    largest(cost_of, epsilon=epsilon, delta=delta, near=found)
    assert len(seen) <= 20


FLOATS = between(1e-300, 1e300) | st.sampled_from([0.0, 5e-324, 1e-310, 0.1, 1.0, 3.0])


@fixed
@given(total=FLOATS, share=st.floats(0, 1) | st.sampled_from([1e-300, 1e-17, 0.3, 1 - 1e-16]))
@example(total=0.3, share=1 / 3)
@example(total=1e-323, share=0.5)
def test_subtract_down_is_the_largest_float_that_still_fits(total, share):
    part = total * share
    rest = subtract_down(total, part)
    assert 0 <= Fraction(rest) <= Fraction(total) - Fraction(part)
    assert Fraction(math.nextafter(rest, math.inf)) > Fraction(total) - Fraction(part)


@fixed
@given(epsilon=FLOATS, k=st.integers(1, 2**32) | st.integers(1, 1000))
@example(epsilon=5e-324, k=2)
@example(epsilon=5e-324, k=1)
@example(epsilon=0.1, k=3)
def test_divide_down_is_the_largest_float_of_which_k_fit(epsilon, k):
    share = divide_down(epsilon, k)
    assert 0 <= k * Fraction(share) <= Fraction(epsilon)
    assert k * Fraction(math.nextafter(share, math.inf)) > Fraction(epsilon)


def test_what_rounds_to_nearest_would_not_fit():
    totals = [(3 + n) / 7 for n in range(100)]
    assert any(3 * Fraction(total / 3) > Fraction(total) for total in totals)
    parts = [(total, total * 0.05) for total in totals]
    assert any(Fraction(t - part) + Fraction(part) > Fraction(t) for t, part in parts)


def quantile(delta, t):
    """z with P(the largest of t standard normals > z) = delta."""
    tail = -(arb(t) ** -1 * (-arb(delta)).log1p()).expm1()
    return arb(2).sqrt() * (2 * tail).erfcinv()


@cache
def quantiles(delta, upto):
    with ctx.workprec(200):
        return [quantile(delta, t) for t in range(1, upto + 1)]


def true_threshold(sigma, delta, upto):
    with ctx.workprec(200):
        every = [
            1 / arb(t).sqrt() + arb(sigma) * z for t, z in enumerate(quantiles(delta, upto), 1)
        ]
        best = every[0]
        for value in every[1:]:
            best = best.max(value)
        return best


DELTAS = [5e-324, 1e-300, 1e-290, 1e-17, 1e-6, 0.01, 0.3, 0.9]
SLACK = 1e-3  # of the threshold, where delta is a float that normal tails can be computed at


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("upto", [1, 2, 100, 101, 150, 1000])
@pytest.mark.parametrize("sigma", [1e-3, 0.05, 0.3, 1.0, 4.4, 1e3])
def test_threshold_is_just_above_the_maximum_over_set_sizes(sigma, upto, delta):
    value = threshold(sigma=sigma, delta=delta, max_items_per_user=upto)
    truth = true_threshold(sigma, delta, upto)
    assert math.isfinite(value)
    assert value >= truth
    assert value <= truth + abs(truth) * (SLACK if delta > 1e-291 else 3 * SLACK)


@pytest.mark.parametrize("sigma", [0.01, 0.1, 5.0])
def test_threshold_for_thousands_of_items_per_user(sigma):
    truth = true_threshold(sigma, 1e-6, 5000)
    value = threshold(sigma=sigma, delta=1e-6, max_items_per_user=5000)
    assert truth <= value <= truth * (1 + SLACK)
    assert threshold(sigma=sigma, delta=1e-6, max_items_per_user=10**9) >= value


@fixed
@given(sigma=between(1e-2, 1e4), delta=between(1e-17, 0.5), upto=st.integers(1, 300))
def test_threshold_grows_with_noise_set_size_and_privacy(sigma, delta, upto):
    value = threshold(sigma=sigma, delta=delta, max_items_per_user=upto)
    rounding = 1 - 1e-9
    less = [
        threshold(sigma=sigma * 1.1, delta=delta, max_items_per_user=upto),
        threshold(sigma=sigma, delta=delta / 2, max_items_per_user=upto),
        threshold(sigma=sigma, delta=delta, max_items_per_user=upto + 1),
    ]
    assert less[1] >= value * rounding
    if value > 1:  # all quantiles may be negative below
        assert less[0] >= value * rounding
    if upto < 100:
        assert less[2] >= value * rounding


@fixed
@given(delta=between(1e-280, 0.3), t=st.integers(1, 5000))
@example(delta=1e-290, t=1)
def test_quantile_is_at_most_1e_12_above_the_least(delta, t):
    with ctx.workprec(200):
        truth = quantile(delta, t)
        assert truth <= calibration._quantile_of_largest(delta, t) <= truth + 1e-12


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("delta", [1e-5, 1e-6])
def test_calibration_of_the_paper(epsilon, delta):
    # Theorem 3.2: half of delta for the curve, half for the threshold; sigma the least that fits.
    sigma = gaussian_sigma(gaussian_rho(epsilon=epsilon, delta=delta / 2))

    def curve(sigma):
        return true_gaussian_delta(1 / (2 * arb(sigma) ** 2), epsilon)

    with ctx.workprec(300):
        assert curve(sigma) <= delta / 2 < curve(sigma * (1 - 1e-6))
    value = threshold(sigma=sigma, delta=delta / 2, max_items_per_user=100)
    truth = true_threshold(sigma, delta / 2, 100)
    assert truth <= value <= truth * (1 + 1e-9)


def test_check_values_of_sigma():
    # As the paper: (1, 1e-6) with half of delta; classical and exact calibration differ by a fifth.
    assert round(gaussian_sigma(gaussian_rho(epsilon=1.0, delta=5e-7)), 3) == 4.365
    assert round(gaussian_sigma(Gaussian(0.5).rho), 12) == 1.0
