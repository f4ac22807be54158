"""The cost of one mechanism, known stage by stage."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shortlist.errors import InputError
from shortlist.privacy.combined_costs import Either, Ways
from shortlist.privacy.costs import Approximate, Cost, Gaussian, Pure

if TYPE_CHECKING:
    from shortlist.privacy.accountant import Composition

_CLOSE = 1e-6  # relative, of an epsilon
_FARTHEST = 2.0**100  # of an epsilon; what leads there is no guarantee to speak of
_LEAST = 1e-320  # of a delta that is looked for


class Composed(Ways):
    """The cost of one mechanism by the exact worst case of its stages.

    Alone, it converts by the curve of the stages (`docs/proofs/accountant.md`). That curve does not
    compose with releases whose choice depends on this one. So in a sum it counts by its zCDP, or by
    the epsilon it was calibrated to (`docs/proofs/costs.md`).

    >>> from shortlist.privacy import Pure
    >>> from shortlist.privacy.accountant import BoundedRange, Composition
    >>> stages = Composition((BoundedRange(0.1065, times=20),))
    >>> alone = Composed(stages, Pure.bounded_range(0.1065) * 20, epsilon=1.0)
    >>> round(alone.delta(1.0) * 1e6, 2), round(alone.ways[0].delta(1.0) * 1e6, 2)
    (0.95, 4.93)
    """

    __slots__ = ()

    def __init__(self, composition: Composition, by_rho: Cost, epsilon: float) -> None:
        """The cost of a mechanism that was calibrated to an epsilon.

        Args:
            composition: All stages of the mechanism.
            by_rho: The cost of the same stages in zCDP, which adds up.
            epsilon: The epsilon at which it counts where epsilons and deltas are added up.
        """
        least = min(composition.delta(epsilon), by_rho.delta(epsilon))
        made_of = composition, by_rho, epsilon
        super().__init__(by_rho, Approximate(epsilon, least), made_of=made_of)

    @property
    def composition(self) -> Composition:
        stages: Composition = self._made_of[0]
        return stages

    @property
    def calibrated_to(self) -> float:
        """The epsilon at which it counts where epsilons and deltas are added up."""
        return float(self._made_of[2])

    def delta(self, epsilon: float) -> float:
        return min(super().delta(epsilon), self.composition.delta(epsilon))

    def epsilon(self, delta: float) -> float:
        """The smallest known epsilon, or up to a millionth more."""
        # Not to the last bit, as of other costs: each delta takes milliseconds.
        if not 0 < delta < 1 or self.delta(0.0) <= delta:
            return super().epsilon(delta)
        bad, good = 0.0, self.calibrated_to
        while self.delta(good) > delta:
            bad, good = good, 2 * good
            if good > _FARTHEST:
                return math.inf
        from scipy.optimize import brentq

        def excess(epsilon: float) -> float:
            return math.log(max(self.delta(epsilon), _LEAST)) - math.log(delta)

        crossing = brentq(excess, bad, good, rtol=_CLOSE / 10) if bad < good else good
        near = float(crossing) * (1 + _CLOSE)
        return near if near < good and self.delta(near) <= delta else good


def composition_of(cost: Cost) -> Composition | None:
    """The stages of a cost; None for a cost that is known in zCDP alone.

    >>> from shortlist.privacy import Pure
    >>> composition_of(Pure(0.5))
    Composition(stages=(PureStage(epsilon=0.5, times=1),), own_items=None)
    """
    from shortlist.privacy.accountant import Composition, GaussianStage, PureStage, ThresholdDelta

    match cost:
        case Composed():
            return cost.composition
        case Pure() | Either():
            return Composition((PureStage(cost.pure),))
        case Approximate():
            return Composition((PureStage(cost.pure),), ThresholdDelta(cost.lost))
        case Gaussian():
            mu = math.sqrt(2 * cost.rho) * (1 + 2.0**-50)
            return Composition((GaussianStage(mu),), ThresholdDelta(cost.lost))
    return None


def repeated(cost: Cost, times: int, *, epsilon: float) -> Cost:
    """The cost of a number of releases that is fixed beforehand, each of this cost.

    Where the stages are known, those of all releases are composed as the stages of one mechanism:
    their worst case is mostly less than the sum of the costs. Where epsilons are added up, they
    count at the epsilon given.

    >>> from shortlist.privacy import Pure
    >>> from shortlist.privacy.accountant import BoundedRange, Composition
    >>> picks = Composed(
    ...     Composition((BoundedRange(0.1, times=10),)), Pure.bounded_range(0.1) * 10, epsilon=1.0
    ... )
    >>> twice = repeated(picks, 2, epsilon=1.0)
    >>> twice.delta(1.0) < (picks * 2).delta(1.0)
    True
    """
    if type(cost) is Ways and times > 1:
        by_rho, by_epsilon = cost.ways
        together = repeated(by_epsilon, times, epsilon=epsilon)
        if isinstance(together, Composed):
            return Composed(together.composition, by_rho * times, epsilon=epsilon)
        return Ways(by_rho * times, together)
    added_up = cost * times
    # Of other costs, stages do not say all, so that the sum is the answer.
    is_known = type(cost) in {Composed, Approximate, Gaussian}
    stages = composition_of(cost) if is_known else None
    if times == 1 or stages is None:
        return added_up if times > 1 else cost
    from shortlist.privacy.accountant import Composition, ThresholdDelta

    # What else there is besides the stages, such as a choice among them or items that one user
    # alone holds, would be forgotten below.
    if type(stages) is not Composition or not isinstance(stages.own_items, ThresholdDelta | None):
        return added_up
    # What is lost in a stage of one release is lost in that of each.
    lost = None if stages.own_items is None else ThresholdDelta(added_up.lost)
    try:
        composition = Composition(stages.stages * times, lost)
    except InputError:  # too many branches
        return added_up
    composed = Composed(composition, cost.ways[0] * times, epsilon=epsilon)
    # Where the stages of all are too many for a grid, the sum may be the better bound.
    return composed if composed.delta(epsilon) <= added_up.delta(epsilon) else added_up
