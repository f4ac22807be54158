"""What tests of exact draws share: floats against balls, and bits that are given."""

import math

import numpy as np
from flint import arb, ctx
from hypothesis import strategies as st

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws


def between(low, high):
    """Floats spread evenly over the orders of magnitude, with all their bits."""
    exponents = st.floats(math.log10(low), math.log10(high))
    return exponents.map(lambda x: min(max(10.0**x, low), high))


def within_stated_error(reals, only=None, bits=300):
    """The floats and their errors, which the balls are within; only these numbers are looked at."""
    values, errors = reals.approximate()
    assert values.shape == errors.shape == (len(reals),)
    with ctx.workprec(bits):
        for i in range(len(reals)) if only is None else only:
            value, error = float(values[i]), float(errors[i])
            assert math.isfinite(value)
            assert abs(reals.ball(i) - arb(value)) <= arb(error), (i, value, error)
    return values, errors


def ints(*values):
    return np.array(values, np.int64)


def agreeing(seed, draw):
    """The outcome of `draw`, fast and forced to be slow, with the bits that it leaves."""
    outcomes = []
    for margin in (0.0, math.inf):
        bits = SeededBits(seed)
        outcome = draw(ExactDraws(bits, margin))
        outcomes.append((outcome, bits.words(1)[0]))
    assert outcomes[0] == outcomes[1]
    return outcomes[0][0]


class Script:
    """Bits that are given, then a fixed word again and again; counts what was read."""

    private = False

    def __init__(self, *words, then=0x9E3779B97F4A7C15):
        self.left, self.then, self.read = list(words), then, 0

    def words(self, n):
        self.read += n
        given, self.left = self.left[:n], self.left[n:]
        return np.array([*given, *[self.then] * (n - len(given))], np.uint64)


class OnesFirst:
    """Bits of which the first `n` words are ones: a uniform within 2^-64n of 1."""

    private = False

    def __init__(self, n, seed):
        self._left, self._bits = n, SeededBits(seed)

    def words(self, n):
        drawn = self._bits.words(n).copy()
        drawn[: self._left] = 2**64 - 1
        self._left = max(0, self._left - n)
        return drawn
