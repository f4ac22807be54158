"""Evidence: what a mechanism may look at, and how much of it one user can change."""

from __future__ import annotations

from dataclasses import dataclass

from shortlist.reals import Ints

__all__ = ["Counts", "PrivateCounts", "WeightedHistogram", "Wins"]


@dataclass(frozen=True)
class Counts:
    """How many users hold each of the items, which everybody knows.

    Adding one user raises at most `max_items_per_user` counts by 1 and lowers none.

    Attributes:
        counts: Shape (n_items,), 0 or more.
        max_items_per_user: A bound that was enforced, or promised; None if there is none.
    """

    counts: Ints
    max_items_per_user: int | None = None


@dataclass(frozen=True)
class PrivateCounts:
    """How many users hold each of the items, which only the table knows.

    Adding one user raises at most `max_items_per_user` counts by 1 and lowers none. An item of
    count 0 is not in the table: it may be listed or not, and is never named.

    Attributes:
        counts: Shape (n_items,), 0 or more.
        max_items_per_user: A bound that was enforced, or promised; None if there is none.
    """

    counts: Ints
    max_items_per_user: int | None


@dataclass(frozen=True)
class WeightedHistogram:
    """Weights of which one user changes at most ℓ2 norm 1, and the counts of the same items.

    Adding one user adds 1/sqrt(t), rounded down, to the weights of t <= max_items_per_user items,
    and 1 to any of the counts. An item of weight 0 is held by nobody after bounding.

    Attributes:
        weights: Integers in units of `UNIT`, shape (n_items,), 0 or more.
        counts: How many users hold each item, without bounding, shape (n_items,).
        max_items_per_user: The enforced bound.
    """

    weights: Ints
    counts: Ints
    max_items_per_user: int


@dataclass(frozen=True)
class Wins:
    """How many comparisons each of the items won, which everybody knows.

    Adding one comparison raises one count by 1. Adding one user raises counts by at most
    `max_comparisons_per_user` in sum.

    Attributes:
        counts: Shape (n_items,), 0 or more.
        max_comparisons_per_user: The bound that was enforced; None where users are not known.
    """

    counts: Ints
    max_comparisons_per_user: int | None = None
