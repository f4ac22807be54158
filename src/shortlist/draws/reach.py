"""How far noise reaches in 95 of 100 cases."""

from __future__ import annotations

import math

REACH = {"Normal": 1.96, "Laplace": math.log(20) / math.sqrt(2) * (1 + 2.0**-40)}
"""In standard deviations: what noise of such a law exceeds with a probability of at most 5 %."""
LEAST_SD = 0.3
"""Rounding can hide a part of noise that is less."""


def reach_of_rounded(law: str, sd: float) -> float:
    """How far noise that was rounded to a whole number reaches in 95 of 100 cases, rounded up.

    >>> reach_of_rounded("Normal", 2.0)
    4.0
    """
    # What rounding adds is half of 1, and the reach is a whole number, too.
    return float(math.floor(REACH[law] * max(sd, LEAST_SD) + 0.5))
