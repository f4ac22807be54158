"""Exact draws: from random bits to decisions that no rounding touches."""

from shortlist.draws.contract import (
    UNIT,
    Candidates,
    Draws,
    Floats,
    Ints,
    Noise,
    Order,
    Ordered,
    Reals,
    RoundingGrid,
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
    "Noise",
    "Order",
    "Ordered",
    "Reals",
    "RoundingGrid",
    "SharedFactor",
    "Words",
]
