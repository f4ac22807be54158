"""The numbers that noisy sums of weights are rounded down to."""

from __future__ import annotations

import math

from shortlist.draws import RoundingGrid

__all__ = [
    "BITS_OF_WEIGHTS",
    "FARTHEST",
    "UNIT_OF_WEIGHTS",
    "coarse_grid",
    "fine_grid",
    "grid_of_two",
]

BITS_OF_WEIGHTS = 20
UNIT_OF_WEIGHTS = 2.0**-BITS_OF_WEIGHTS
"""Weights and their sums are multiples of it."""

FARTHEST = 2**54
"""In units: so far below 0 that no weights bring a sum back, and farther than sums are above."""

_FINE = 10  # binary places of a step, of the noise's standard deviation


def fine_grid(sd: float) -> RoundingGrid:
    """Numbers so close together that rounding down costs nothing worth a word.

    Args:
        sd: The standard deviation of the noise.
    """
    step = 2 ** max(math.frexp(sd)[1] - 1 - _FINE + BITS_OF_WEIGHTS, 0)
    return RoundingGrid(step, -FARTHEST // step, FARTHEST // step)


def coarse_grid(reached: float) -> RoundingGrid:
    """Numbers so far apart, up to a weight, that all outcomes can be enumerated."""
    step = 2 ** max(math.frexp(reached / 2)[1] + BITS_OF_WEIGHTS, 0)
    return RoundingGrid(step, 0, max(math.ceil(reached / (step * UNIT_OF_WEIGHTS)), 1) + 1)


def grid_of_two(sd: float) -> RoundingGrid:
    """The coarsest grid on which what is far below another is seen: one number, or below it.

    Args:
        sd: The standard deviation of the noise.
    """
    step = 2 ** max(math.frexp(sd)[1] + 1 + BITS_OF_WEIGHTS, 0)
    return RoundingGrid(step, 1, 1)
