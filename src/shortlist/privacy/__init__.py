"""What privacy costs, how costs add, and what parameters a budget allows."""

from shortlist.privacy.costs import (
    ZCDP,
    Approximate,
    Cost,
    Either,
    Gaussian,
    Pure,
    Sum,
    max,  # noqa: A004 - as numpy.max: read `privacy.max(a, b)`
)
from shortlist.privacy.rounding import bisect, round_down, round_up

__all__ = [
    "ZCDP",
    "Approximate",
    "Cost",
    "Either",
    "Gaussian",
    "Pure",
    "Sum",
    "bisect",
    "max",
    "round_down",
    "round_up",
]
