"""What a mechanism asks an engine to show."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wants:
    """What a mechanism asks an engine to show.

    Attributes:
        kind: The type of evidence.
        bound: How much of one user may be in it at most: items, or comparisons. None where it is
            to be whole, or where the mechanism bounds it by itself.
        show_from: Items that weigh less than this, in units of `UNIT`, need not be shown:
            `WeightedHistogram.below_threshold` may stand for them. None to show all items.
        users: Whether the number of all users, or of those of each group, is shown with counts.
        groups: In how many groups one user may be in it at most; None where nothing is in groups,
            or where the mechanism bounds them by itself.
        caps: Parts of the cap of amounts, of which the mechanism chooses one: it is shown
            `AmountsAtCaps` then, of what is wanted otherwise. Empty where the cap is given.
    """

    kind: type
    bound: int | None = None
    show_from: int | None = None
    users: bool = False
    groups: int | None = None
    caps: tuple[float, ...] = ()
