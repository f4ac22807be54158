"""What costs convert to, by what they say of themselves and another arithmetic."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import singledispatch

from shortlist.audit.transcripts._accountant import certain_delta, delta_of_zcdp
from shortlist.audit.transcripts._spent import Spent
from shortlist.privacy import Cost
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import Approximate, Gaussian, Pure
from shortlist.privacy.either import Either
from shortlist.privacy.sums import Sum, Ways

__all__ = ["converted"]

_ROUNDING = 1 + 1e-9  # of sums of epsilons


@singledispatch
def converted(cost: Cost, epsilon: float) -> float:
    """The delta of a cost at epsilon: what is lost, and what its zCDP converts to."""
    return cost.lost + delta_of_zcdp(cost.rho, epsilon)


@converted.register
def _(cost: Composed, epsilon: float) -> float:  # noqa: ARG001 - its stages are counted anew
    return cost.lost


@converted.register
def _(cost: Ways, epsilon: float) -> float:
    return min(converted(way, epsilon) for way in cost.ways)


@converted.register
def _(cost: Gaussian, epsilon: float) -> float:
    return cost.lost + certain_delta(Spent(squares=2 * cost.rho), epsilon)


@converted.register(Pure)
@converted.register(Approximate)
def _(cost: Pure | Approximate, epsilon: float) -> float:
    is_enough = epsilon * _ROUNDING >= cost.pure
    return cost.lost + (0.0 if is_enough else delta_of_zcdp(cost.rho, epsilon))


@converted.register
def _(cost: Either, epsilon: float) -> float:
    left = [one.rho for one in cost.alternatives if one.pure > epsilon * _ROUNDING]
    return delta_of_zcdp(max(left), epsilon) if left else 0.0


@converted.register
def _(cost: Sum, epsilon: float) -> float:
    return min([*_by_each_way(cost.parts, epsilon), 1.0])


def _by_each_way(parts: tuple[Cost, ...], epsilon: float) -> Iterator[float]:
    """What has an epsilon counts by that, which is taken off the whole, or by its rho."""
    lost = sum(part.lost for part in parts)
    with_epsilon = [part for part in parts if isinstance(part, Pure | Either | Approximate)]
    for n in range(len(with_epsilon) + 1):
        for some in itertools.combinations(with_epsilon, n):
            left = epsilon * _ROUNDING - sum(part.pure for part in some)
            rest = [part for part in parts if part not in some]
            if left >= 0:
                yield lost + _of_rest(rest, left)


def _of_rest(parts: list[Cost], epsilon: float) -> float:
    rho = sum(part.rho for part in parts)
    if all(isinstance(part, Gaussian) for part in parts):
        return certain_delta(Spent(squares=2 * rho), epsilon)
    return delta_of_zcdp(rho, epsilon)
