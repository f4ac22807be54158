"""The numbers that noisy sums of weights are rounded down to."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from shortlist.draws import RoundingGrid

BITS_OF_WEIGHTS = 20
UNIT_OF_WEIGHTS = 2.0**-BITS_OF_WEIGHTS
WHOLE_WEIGHT = 1 << BITS_OF_WEIGHTS  # a weight of 1, in this unit
"""Weights and their sums are multiples of it."""

FARTHEST = 2**54
"""In units: so far below 0 that no weights bring a sum back, and farther than sums are above."""

_FINE = 10  # binary places of a step, of the noise's standard deviation


GridFor: TypeAlias = Callable[[float, float], RoundingGrid]
"""A grid for noise of a standard deviation, and values of which the highest decides something."""

GridOfCounts: TypeAlias = Callable[[float], RoundingGrid]
"""A grid for noise of a standard deviation."""


def fine_grid(sd: float, highest: float = 0.0) -> RoundingGrid:  # noqa: ARG001 - for any values
    """Numbers so close together that rounding down costs nothing worth a word."""
    step = 2 ** max(math.frexp(sd)[1] - 1 - _FINE + BITS_OF_WEIGHTS, 0)
    return RoundingGrid(step, -FARTHEST // step, FARTHEST // step)


def coarse_grid(sd: float, highest: float) -> RoundingGrid:  # noqa: ARG001 - for any noise
    """Numbers from 0 on, so far apart that all outcomes can be enumerated."""
    step = 2 ** max(math.frexp(highest / 2)[1] + BITS_OF_WEIGHTS, 0)
    return RoundingGrid(step, 0, max(math.ceil(highest / (step * UNIT_OF_WEIGHTS)), 1) + 1)


def coarse_grid_above_zero(sd: float, highest: float) -> RoundingGrid:
    """The same without 0."""
    return coarse_grid(sd, highest)._replace(lowest=1)


def grid_of_two(sd: float) -> RoundingGrid:
    """The coarsest grid on which what is far below another is seen: one number, or below it."""
    step = 2 ** max(math.frexp(sd)[1] + 1 + BITS_OF_WEIGHTS, 0)
    return RoundingGrid(step, 1, 1)
