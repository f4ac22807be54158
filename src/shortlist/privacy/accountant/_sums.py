"""What stages add up to: zCDP, the largest loss, rounding errors."""

from __future__ import annotations

import math
from fractions import Fraction

from shortlist.privacy.accountant.stages import (
    BoundedRange,
    EitherStage,
    GaussianStage,
    PureStage,
    Stage,
    Stages,
)

__all__ = ["farthest_of", "operations_of", "rho_of", "without_pure_ways"]


def rho_of(stages: Stages) -> Fraction:
    """The zCDP of all, exactly."""
    return sum((_rho(stage) for stage in stages), Fraction(0))


def _rho(stage: Stage) -> Fraction:
    match stage:
        case BoundedRange():
            return stage.times * Fraction(stage.epsilon) ** 2 / 8
        case PureStage():
            return stage.times * Fraction(stage.epsilon) ** 2 / 2
        case GaussianStage():
            return Fraction(stage.mu) ** 2 / 2
        case EitherStage():
            return max(rho_of(stage.first), rho_of(stage.second))


def farthest_of(stages: Stages) -> Fraction | float:
    """The largest loss of all, exactly."""
    total = Fraction(0)
    for stage in stages:
        match stage:
            case GaussianStage():
                return math.inf
            case EitherStage():
                ways = farthest_of(stage.first), farthest_of(stage.second)
                if math.inf in ways:
                    return math.inf
                total += max(Fraction(way) for way in ways)
            case _:
                total += stage.times * Fraction(stage.epsilon)
    return total


def without_pure_ways(stages: Stages, epsilon: float) -> Stages:
    """Without the ways of a branch on which the whole loss is at most epsilon: they add nothing."""
    kept: Stages = ()
    for place, stage in enumerate(stages):
        if isinstance(stage, EitherStage):
            others = farthest_of(stages[:place] + stages[place + 1 :])
            ways = [w for w in (stage.first, stage.second) if others + farthest_of(w) > epsilon]
            kept += (stage,) if len(ways) == 2 else ways[0] if ways else ()
        else:
            kept += (stage,)
    return kept


def operations_of(stages: Stages) -> float:
    """At least the number of units in the last place that all stages add."""
    total = 0.0
    for stage in stages:
        match stage:
            case EitherStage():
                total += max(operations_of(stage.first), operations_of(stage.second))
            case GaussianStage():
                total += 2.0**18
            case _:
                total += stage.times * (64 + 32 * stage.epsilon)
    return total
