"""What privacy costs, how costs add, and what parameters a budget allows."""

from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import ZCDP, Approximate, Cost, Gaussian, Pure
from shortlist.privacy.either import Either
from shortlist.privacy.rounding import bisect, round_down, round_up
from shortlist.privacy.sums import (
    Sum,
    Ways,
    max,  # noqa: A004 - as numpy.max: read `privacy.max(a, b)`
)

__all__ = [
    "ZCDP",
    "Approximate",
    "Composed",
    "Cost",
    "Either",
    "Gaussian",
    "Pure",
    "Sum",
    "Ways",
    "bisect",
    "max",
    "round_down",
    "round_up",
]
