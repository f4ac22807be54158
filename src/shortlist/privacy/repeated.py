"""The cost of independent releases of one kind, as one release."""

from __future__ import annotations

from shortlist.errors import InputError
from shortlist.privacy.composed import Composed, composition_of
from shortlist.privacy.costs import Approximate, Cost, Gaussian

__all__ = ["repeated"]

_KNOWN = (Composed, Approximate, Gaussian)
"""Costs whose stages say all; of others, the sum is the answer."""


def repeated(cost: Cost, times: int, *, epsilon: float) -> Cost:
    """What so many releases cost, fixed beforehand, each by a mechanism of this cost.

    Where its stages are known, they are composed as the stages of one mechanism, whose worst case
    is mostly less than the sum of the costs says.

    >>> from shortlist.privacy import Pure
    >>> from shortlist.privacy.accountant import BoundedRange, Composition
    >>> picks = Composed(
    ...     Composition((BoundedRange(0.1, times=10),)), Pure.bounded_range(0.1) * 10, epsilon=1.0
    ... )
    >>> twice = repeated(picks, 2, epsilon=1.0)
    >>> twice.delta(1.0) < (picks * 2).delta(1.0)
    True

    Args:
        cost: Of each.
        times: How many, at least 1.
        epsilon: Of the whole; at which it counts where epsilons and deltas are added up.
    """
    added_up = cost * times
    stages = composition_of(cost) if type(cost) in _KNOWN else None
    if times == 1 or stages is None:
        return added_up if times > 1 else cost
    from shortlist.privacy.accountant import Composition, Lost

    # What else there is besides the stages, such as a choice among them or items that one user
    # alone holds, would be forgotten below.
    if type(stages) is not Composition or not isinstance(stages.unnamed, Lost | None):
        return added_up
    lost = Lost(added_up.lost) if stages.lost else None
    try:
        composition = Composition(stages.stages * times, lost)
    except InputError:  # too many branches
        return added_up
    composed = Composed(composition, cost.ways[0] * times, epsilon=epsilon)
    # No grid may reach the worst case of all.
    return composed if composed.delta(epsilon) <= added_up.delta(epsilon) else added_up
