"""How fine a grid is, and whether one is worth its time: by public parameters alone."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from shortlist.privacy.accountant.stages import (
    BoundedRange,
    EitherStage,
    GaussianStage,
    PureStage,
    Stage,
    Stages,
    is_gaussian,
    spread_of,
)

__all__ = ["Spacing", "is_feasible", "spacing"]

_FINEST = 2048  # steps in a range
_USUAL = 160  # steps in a range where many stages are composed; delta is off by about 0.05 %
_MANY = 200  # stages; from there on ranges have fewer steps
_MOST = 5000  # stages on a grid
_WIDEST = 50.0  # the largest range on a grid
_DEVIATION = 1024  # steps in a standard deviation where there is no range to go by
_LONGEST = 1 << 17  # nodes
_MOST_WORK = 2e9  # products in a convolution


class Spacing(NamedTuple):
    """The step of a grid: a length divided by a whole number."""

    base: float
    parts: int


def spacing(stages: Stages, fineness: float = 1.0, *, up: bool = True) -> Spacing:
    """The step for these stages; errors fall with the square of the fineness.

    Where ranges differ, they are whole numbers of steps, rounded up or down: by as little as a
    small choice of steps allows.
    """
    whole = math.sqrt(spread_of(stages).variance)
    ranges = list(_ranges(stages))
    if ranges:
        main = max(ranges, key=lambda stage: (stage.times, stage.epsilon))
        share = math.sqrt(min(main.spread.variance / whole**2, 1.0))
        wanted = _steps(sum(stage.times for stage in ranges)) * share * fineness
        parts = max(2, math.ceil(wanted), math.ceil(20 * main.epsilon * fineness))
        if main.epsilon / parts >= whole / (4 * _DEVIATION):
            return Spacing(main.epsilon, _aligned(parts, main.epsilon, ranges, up=up))
    return Spacing(whole, math.ceil(_DEVIATION * fineness))


def _steps(times: int) -> float:
    if times > _MANY:
        return _USUAL * math.sqrt(_MANY / times)
    return max(_USUAL, min(_FINEST, 5 * _FINEST // (2 * times)))


def _aligned(parts: int, base: float, ranges: list[BoundedRange | PureStage], *, up: bool) -> int:
    """A number of parts of which other ranges are nearly whole numbers as well."""
    others = [stage for stage in ranges if stage.epsilon != base]
    if not others:
        return parts
    counts = np.arange(parts, parts + max(8, parts // 2))
    lost = np.zeros(len(counts))
    for stage in others:
        steps = stage.epsilon / base * counts
        whole = np.ceil(steps) if up else np.floor(steps)
        lost += stage.times * np.abs(whole - steps) / counts
    return int(counts[np.argmin(lost)])


def _ranges(stages: Stages) -> Iterator[BoundedRange | PureStage]:
    for stage in stages:
        if isinstance(stage, EitherStage):
            yield from _ranges(stage.first + stage.second)
        elif not isinstance(stage, GaussianStage):
            yield stage


def is_feasible(stages: Stages) -> bool:
    """Whether a grid is worth its time: else delta is that of zCDP.

    It is not for more than 5,000 picks, for ranges above 50, or where noises are so different in
    size that a grid for both is too long.
    """
    if is_gaussian(stages):
        return True  # they have a closed form
    ranges = list(_ranges(stages))
    if sum(stage.times for stage in ranges) > _MOST:
        return False
    if any(stage.epsilon > _WIDEST for stage in ranges):
        return False
    whole = math.sqrt(spread_of(stages).variance)
    base, parts = spacing(stages)
    nodes = 12 * whole / (base / parts)
    work = max(_products(stage, nodes, base / parts) for stage in stages)
    return whole < _WIDEST and nodes < _LONGEST and work < _MOST_WORK


def _products(stage: Stage, nodes: float, step: float) -> float:
    return nodes * 16 * stage.mu / step if isinstance(stage, GaussianStage) else 0.0
