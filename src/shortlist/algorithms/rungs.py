"""The numbers that noisy sums of weights are rounded down to."""

from __future__ import annotations

import math

from shortlist.draws import Ladder

__all__ = ["BITS_OF_WEIGHTS", "FARTHEST", "UNIT_OF_WEIGHTS", "few_rungs", "fine_rungs", "one_rung"]

BITS_OF_WEIGHTS = 20
UNIT_OF_WEIGHTS = 2.0**-BITS_OF_WEIGHTS
"""Weights and their sums are multiples of it."""

FARTHEST = 2**54
"""In units: so far below 0 that no weights bring a sum back, and farther than sums are above."""

_FINE = 10  # binary places of a rung, of the noise's standard deviation


def fine_rungs(sd: float) -> Ladder:
    """Rungs so close together that rounding down costs nothing worth a word.

    Args:
        sd: The standard deviation of the noise.
    """
    step = 2 ** max(math.frexp(sd)[1] - 1 - _FINE + BITS_OF_WEIGHTS, 0)
    return Ladder(step, -FARTHEST // step, FARTHEST // step)


def few_rungs(reached: float) -> Ladder:
    """So few rungs, up to a weight, that all that comes of them can be enumerated."""
    step = 2 ** max(math.frexp(reached / 2)[1] + BITS_OF_WEIGHTS, 0)
    return Ladder(step, 0, max(math.ceil(reached / (step * UNIT_OF_WEIGHTS)), 1) + 1)


def one_rung(sd: float) -> Ladder:
    """The fewest that tell what is far below another: those that reach the rung, and the others.

    Args:
        sd: The standard deviation of the noise.
    """
    step = 2 ** max(math.frexp(sd)[1] + 1 + BITS_OF_WEIGHTS, 0)
    return Ladder(step, 1, 1)
