"""Units, scores and random words of exact draws, and what noise a word leaves possible."""

import numpy as np
from flint import arb, ctx, fmpq
from hypothesis import settings
from hypothesis import strategies as st

from helpers.exactness import Script
from shortlist.draws.uniform import Uniform

fixed = settings(derandomize=True, deadline=None, max_examples=150)
ONE = 2**32  # 1.0 in units
TOP = 2**64 - 1
EXTREME = [0, 1, 2, 3, 2**20, 2**52 + 1, 2**62, 2**63 - 2, 2**63 - 1]
EXTREME += [TOP - word for word in EXTREME]
words_anywhere = st.integers(0, TOP) | st.integers(0, 63).flatmap(
    lambda bit: st.integers(-4, 4).map(lambda step: min(max((1 << bit) + step, 0), TOP))
)


def noise_at(uniform, sd, weight, bound, above):
    """The noise whose uniform is this exact fraction: conditioned and weighted."""
    cap, sign, root = arb(1), 1, arb(2).sqrt()
    if bound is not None:
        sign = -1 if above else 1
        cap = (-sign * arb(bound) / 2**32 / arb(sd) / root).erfc() / 2
    value = -root * (2 * arb(uniform) * cap).erfcinv()
    return sign * value * arb(sd) * arb(weight)


def in_interval(noise, quantile, word):
    """The interval and the ball of a word hold every noise that the word leaves possible."""
    low, high = (float(end[0]) for end in noise.interval(np.array([word], np.uint64)))
    assert low <= high
    for place in (1, 2**31, 2**32 - 1):
        uniform = fmpq(word * 2**32 + place, 2**96)
        with ctx.workprec(600):
            value = quantile(uniform)
            assert low <= value <= high
            assert noise.ball(0, arb(uniform)).overlaps(value)
        with ctx.workprec(192):
            ball = noise.ball(0, Uniform(Script(), word).ball())
        assert not ball.is_finite() or ball.overlaps(value)
    return low, high
