"""Noise beyond a bound: the float interval against the quantile function itself."""

import math

import numpy as np
import pytest
from flint import ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from helpers.drawn import ONE, TOP, fixed, in_interval, noise_at
from helpers.exactness import between, ints
from shortlist.draws.noise import Normal

WORDS = [0, 1, 2, 2**20, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2**20, TOP - 1, TOP]


def ends_of(word, sd, weight, bound, above):
    """The ends of the interval, which holds all that it has to hold."""
    bounds, sides = (None, None) if bound is None else (ints(bound), np.array([above]))
    noise = Normal(sd, weight, bounds, sides)
    return in_interval(noise, lambda uniform: noise_at(uniform, sd, weight, bound, above), word)


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("sd", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("z", [None, -30.0, -5.0, -1e-9, 0.0, 0.7, 30.0])
@pytest.mark.parametrize("above", [True, False])
def test_noise_of_extreme_words_is_in_its_interval(word, sd, z, above):
    bound = None if z is None else round(z * sd * ONE)
    ends_of(word, sd, 0.25, bound, above)


@fixed
@given(
    word=st.integers(0, TOP),
    sd=between(1e-3, 1e6),
    weight=st.floats(2**-20, 1),
    z=st.none() | st.floats(-36, 36),
    above=st.booleans(),
)
def test_noise_is_in_its_interval_which_is_narrow(word, sd, weight, z, above):
    bound = None if z is None else round(z * sd * ONE)
    low, high = ends_of(word, sd, weight, bound, above)
    if 2**40 < word < 2**64 - 2**40 and (z is None or abs(z) < 30):
        assert high - low <= 1e-6 * sd * weight


@pytest.mark.parametrize(("z", "above"), [(200.0, True), (-200.0, False)])
def test_noise_far_beyond_the_floats_is_in_its_interval(z, above):
    for word in WORDS[1:-1]:
        ends_of(word, 1.0, 1.0, round(z * ONE), above)


@pytest.mark.parametrize(("z", "above"), [(-1e6, True), (1e6, False)])
def test_a_bound_that_says_nothing_leaves_the_noise_as_it_is(z, above):
    for word in WORDS[1:-1]:
        low, high = ends_of(word, 1.0, 1.0, round(z * ONE), above)
        with ctx.workprec(400):
            free = noise_at(fmpq(2 * word + 1, 2**65), 1.0, 1.0, None, True)
            assert low <= (-free if above else free) <= high


@fixed
@given(word=st.integers(0, TOP), z=st.floats(-8, 8), above=st.booleans())
def test_noise_is_on_its_side_of_the_bound(word, z, above):
    noise = Normal(1.0, 1.0, ints(round(z * ONE)), np.array([above]))
    low, high = noise.interval(np.array([word], np.uint64))
    bound, end = round(z * ONE) / ONE, low if above else high

    def beyond(x):
        return math.erfc((x if above else -x) / math.sqrt(2))

    assert beyond(end.item()) <= beyond(bound) * (1 + 2.0**-36)


@pytest.mark.parametrize("sd", [1e-12, 1.0, 4e15])
def test_free_noise_is_in_its_interval_over_the_whole_range(sd):
    """One quantile stands for both ends: near 1/2, and where a word leaves much open."""
    near = (2.0 ** np.linspace(0, 62.999, 600)).astype(np.uint64)
    words = np.append(near, ~near)
    low, high = Normal(sd).interval(words)
    with ctx.workprec(200):
        for word, a, b in zip(words.tolist(), low.tolist(), high.tolist(), strict=True):
            ends = (noise_at(fmpq(end, 2**64), sd, 1, None, True) for end in (word, word + 1))
            assert all(a <= end <= b for end in ends)
            assert b - a <= (1e-11 + 1.3 / min(word, TOP - word)) * sd
