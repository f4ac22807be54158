"""Exact draws: from random bits to decisions that no rounding touches."""

from shortlist.draws.contract import (
    UNIT,
    Candidates,
    Draws,
    Floats,
    Ints,
    Ladder,
    Noise,
    Order,
    Ordered,
    Reals,
    SharedFactor,
    Words,
)
from shortlist.draws.exact_draws import ExactDraws

__all__ = [
    "UNIT",
    "Candidates",
    "Draws",
    "ExactDraws",
    "Floats",
    "Ints",
    "Ladder",
    "Noise",
    "Order",
    "Ordered",
    "Reals",
    "SharedFactor",
    "Words",
]
