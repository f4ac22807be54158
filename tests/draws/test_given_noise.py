"""Noise by logarithms, and noise of known leading bits: floats within their error."""

import math

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from helpers.drawn import EXTREME, TOP, fixed, in_interval, words_anywhere
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Exponential, Given, Gumbel, Laplace
from shortlist.draws.uniform import Uniform

WORDS = [*EXTREME, int(2**64 / math.e), int(2**64 / math.e) + 1]
QUANTILES = {
    Gumbel: lambda u: -(-arb(u).log()).log(),
    Exponential: lambda u: -arb(1 - u).log(),
    Laplace: lambda u: arb(2 * u).log() if u <= fmpq(1, 2) else -arb(2 * (1 - u)).log(),
}
kinds = pytest.mark.parametrize("kind", QUANTILES)
SCALES = [1e-12, 0.02, 1.0, 7.3, 1e6, 4e15]


@kinds
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("scale", SCALES)
def test_noise_of_extreme_words_is_in_its_interval(kind, word, scale):
    low, high = in_interval(kind(scale), lambda u: arb(scale) * QUANTILES[kind](u), word)
    assert math.isinf(low) == (kind is not Exponential and word == 0)
    assert math.isinf(high) == (word == TOP)


@kinds
@fixed
@given(word=words_anywhere, scale=st.floats(1e-6, 1e12))
@example(word=2**63, scale=1.0)
@example(word=int(2**64 / math.e), scale=1.0)
def test_noise_is_in_its_interval_which_is_narrow(kind, word, scale):
    low, high = in_interval(kind(scale), lambda u: arb(scale) * QUANTILES[kind](u), word)
    if 2**50 < word < 2**64 - 2**50:
        assert high - low <= 1e-11 * scale


@kinds
@pytest.mark.parametrize("scale", SCALES)
def test_the_logarithms_keep_their_grant_over_the_whole_range(kind, scale):
    # The interval of a word that leaves hardly anything open is as wide as its stated errors.
    words = (2.0 ** np.linspace(1, 63.999, 700)).astype(np.uint64)
    words = np.append(words, ~words)
    low, high = kind(scale).interval(words)
    with ctx.workprec(200):
        for word, a, b in zip(words.tolist(), low.tolist(), high.tolist(), strict=True):
            for end in (word, word + 1):
                if 0 < end <= TOP:
                    assert a <= arb(scale) * QUANTILES[kind](fmpq(end, 2**64)) <= b


@pytest.mark.parametrize(
    ("kind", "mean", "sd"),
    [(Gumbel, np.euler_gamma, math.pi / math.sqrt(6)), (Exponential, 1, 1)],
)
def test_means_are_those_of_the_laws(kind, mean, sd):
    n, scale = 200_000, 3.0
    low, high = kind(scale).interval(SeededBits(1).words(n))
    assert np.abs(high - low).max() < 1e-4
    assert abs(low.mean() - mean * scale) < 4 * sd * scale / math.sqrt(n)
    assert abs(0.7 * low.mean() - mean * scale) > 40 * sd * scale / math.sqrt(n)


@kinds
@pytest.mark.parametrize("bits", [1, 2, 40, 62])
def test_known_bits_confine_the_noise(kind, bits):
    rng = np.random.default_rng(bits)
    leading = np.append(rng.integers(0, 2**bits, 40), [0, 2**bits - 1])
    words = SeededBits(2).words(len(leading))
    noise = Given(kind(2.5), leading, bits)
    (low, high), least, most = noise.interval(words), noise.least(), noise.most()
    assert (least <= low).all()
    assert (high <= most).all()
    for i, (cell, word) in enumerate(zip(leading.tolist(), words.tolist(), strict=True)):
        uniform = fmpq((cell << 64) + word, 2 ** (64 + bits)) + fmpq(1, 2 ** (66 + bits))
        with ctx.workprec(400):
            value = arb(2.5) * QUANTILES[kind](uniform)
            assert low[i] <= value <= high[i]
            ball = noise.ball(i, Uniform(SeededBits(1), word).ball())
            assert ball.overlaps(value)
            assert ball.rad() < 1e-12


def test_known_bits_and_fresh_ones_are_one_uniform():
    # An order under noise that is known by 62 bits, the slow way and the fast one.
    scores, rng = np.arange(12) % 3, np.random.default_rng(3)
    for kind in QUANTILES:
        for leading in (rng.integers(0, 2**62, 12), np.full(12, 2**61), np.full(12, 2**62 - 1)):
            orders = []
            for margin in (0.0, math.inf):
                draws = ExactDraws(SeededBits(4), margin)
                noise = [Given(kind(1.5), leading, 62)]
                orders.append(draws.order(Order(scores, noise, unit=1.0)).positions.tolist())
            assert orders[0] == orders[1]
            assert sorted(orders[0]) == list(range(12))
