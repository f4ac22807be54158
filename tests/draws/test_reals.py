"""Reals: floats are within their stated error of the ball."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import example, given
from hypothesis import strategies as st

from helpers.drawn import ONE, fixed
from helpers.exactness import between, ints, within_stated_error
from shortlist.draws import UNIT
from shortlist.draws.reals import ExponentialWeights, NormalCDF


def signed(high):
    """Integers spread evenly over the orders of magnitude."""
    sizes = st.integers(0, high.bit_length() - 1).flatmap(lambda b: st.integers(0, 2**b))
    return st.builds(lambda size, sign: sign * size, sizes, st.sampled_from([-1, 1]))


# --- reals: floats within their stated error of the ball


@fixed
@given(gaps=st.lists(signed(2**61), min_size=1, max_size=8), sd=between(1e-3, 1e6))
@example(gaps=[2**61, -(2**61), 0, 1, -1], sd=1e-3)
@example(gaps=[2**61, -(2**61), 0, 1, -1], sd=1e6)
@example(gaps=[z * ONE for z in (-39, -38, -37, -8, 8, 37, 38, 39)], sd=1.0)
def test_normal_cdf_is_within_its_stated_error(gaps, sd):
    within_stated_error(NormalCDF(ints(*gaps), sd))


@pytest.mark.parametrize("sd", [1e-3, 1.0, 7.3, 1e6])
def test_normal_cdf_is_within_its_error_over_the_whole_range(sd):
    z = np.linspace(-40, 40, 801)
    reals = NormalCDF((z * sd / UNIT).astype(np.int64), sd)
    values, errors = within_stated_error(reals)
    near = values > 1e-198  # beyond -32 the error is a constant
    assert (errors[near] <= 1e-11 * values[near]).all()  # and the error stated is small


@fixed
@given(
    gaps=st.lists(st.integers(0, 2**62 - 1) | signed(10**5).map(abs), min_size=1, max_size=8),
    exponent=between(1e-12, 10),
    top=st.sampled_from([0, 5, 2**62 - 1]),
    many=st.integers(1, 2**28),
    at_most=st.sampled_from([2.0**32, math.inf]),
)
def test_exponential_weights_are_within_their_stated_error(gaps, exponent, top, many, at_most):
    counts = np.unique([top, *[max(top - gap, 0) for gap in gaps]])[::-1]
    multiplicities = np.full(len(counts), many)
    within_stated_error(ExponentialWeights(counts, multiplicities, exponent, at_most))


def test_exponential_weights_are_within_their_error_down_to_where_floats_end():
    gaps = np.unique([*np.linspace(0, 760, 400).astype(int), 1000, 10**5])
    reals = ExponentialWeights(gaps.max() - gaps, np.full(len(gaps), 3), 1.0, math.inf)
    values, errors = within_stated_error(reals)
    assert (errors[gaps < 600] <= 1e-12 * values[gaps < 600]).all()
    assert values[0] == 3


@fixed
@given(gap=signed(2**61), sd=between(1e-3, 1e6), count=st.integers(0, 2**62 - 1))
def test_balls_enclose_the_number_at_every_precision(gap, sd, count):
    with ctx.workprec(700):
        z = arb(gap) / 2**32 / arb(sd)
        chance = (-z / arb(2).sqrt()).erfc() / 2
        weight = 7 * (-arb(1e-3) * count).exp()
    for bits in (64, 192):
        with ctx.workprec(bits):
            assert NormalCDF(ints(gap), sd).ball(0).overlaps(chance)
            weights = ExponentialWeights(ints(count, 0), ints(1, 7), 1e-3)
            assert weights.ball(1).overlaps(weight)
