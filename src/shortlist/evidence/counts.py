"""Counts and weights of items, and how many of them one user can change."""

from __future__ import annotations

from dataclasses import dataclass

from shortlist.draws import Ints
from shortlist.evidence.light import LightItems

__all__ = ["PrivateCounts", "PublicCounts", "WeightedHistogram"]


@dataclass(frozen=True)
class PublicCounts:
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
    and 1 to any of the counts. An item of weight 0 is held by nobody after bounding, or is light.

    Attributes:
        weights: Integers in units of `UNIT`, shape (n_items,), 0 or more.
        counts: How many users hold each item, without bounding, shape (n_items,).
        max_items_per_user: The enforced bound.
        light: The items that are not shown, where `Wants.light_below` let an engine keep some.
    """

    weights: Ints
    counts: Ints
    max_items_per_user: int
    light: LightItems | None = None
