"""What a mechanism asks an engine to show."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Wants"]


@dataclass(frozen=True)
class Wants:
    """What a mechanism asks an engine to show.

    Attributes:
        kind: The type of evidence.
        bound: How much of one user may be in it at most: items, or comparisons. None where it is
            to be whole, or where the mechanism bounds it by itself.
        light_below: Items that weigh less than this, in units of `UNIT`, need not be shown:
            `WeightedHistogram.light` may stand for them. None where all items are to be shown.
    """

    kind: type
    bound: int | None = None
    light_below: int | None = None
