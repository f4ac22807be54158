"""What privacy costs, how costs add, and what parameters a budget allows."""

from shortlist.privacy.combined_costs import (
    Either,
    Sum,
    Ways,
    max,  # noqa: A004 - as numpy.max: read `privacy.max(a, b)`
)
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import ZCDP, Approximate, Cost, Gaussian, Pure
from shortlist.privacy.rounding import bisect, round_down, round_up

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
