"""Both directions between neighbours, and the worst of all users: the value of the whole."""

from __future__ import annotations

import math
from collections.abc import Callable

from shortlist.privacy._blocks import largest_of_blocks
from shortlist.privacy.accountant.novel import Cases

__all__ = ["Reading", "both_directions", "worst"]

Reading = Callable[[float], float]
"""The value function of what follows, at any loss."""

_TOLERANCE = 2e-5  # what a worst case between the ends may be overestimated by, to save looks


def both_directions(value: Reading, lost: float) -> float:
    """The larger of what adding and what removing a user gives, with one coin up front.

    Where the user is there, novel items are named with probability `lost`; else all happens with
    1 - lost times the probability that it had without them. So with the user on the left, the loss
    is infinite or falls by -ln(1 - lost); with the user on the right it rises by as much.
    """
    if lost >= 1:
        return 1.0
    moved = -math.log1p(-lost)
    adding = lost + (1 - lost) * value(-moved)
    removing = value(moved)
    return max(adding, removing)


def worst(cases: Cases, value_of: Callable[[float, float], float]) -> float:
    """At least the largest value of all cases, and hardly more.

    The value grows with the share that is shared and with what is lost.
    """
    shared, lost = (numbers.tolist() for numbers in cases)
    return largest_of_blocks(shared, lost, value_of, tolerance=_TOLERANCE)
