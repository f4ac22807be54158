"""Counts and weights of items, in groups or not, and how many of them one user can change."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints

_COARSE = 8


@dataclass(frozen=True)
class PublicCounts:
    """How many users hold each of the items, which everybody knows.

    Adding one user raises at most `max_items_per_user` counts by 1 and lowers none: by at most
    1 / unit, where counts are sums of what users spent, each up to a cap. Of scores that
    stand as counts, one user moves the differences alone so little: no two of them by more than
    1 / unit against each other. Such are for mechanisms that say `reads_unit`.

    Attributes:
        counts: Shape (n_items,), 0 or more; those of scores may be below.
        max_items_per_user: A bound that was enforced, or promised; None if there is none.
        users: How many users there are, whatever they hold: one user raises it by 1. None where
            that was not wanted.
        unit: A power of 2: 1 / unit of the whole numbers are what one user counts.
    """

    counts: Ints
    max_items_per_user: int | None = None
    users: int | None = None
    unit: float = 1.0

    @property
    def coarse(self) -> PublicCounts:
        """In at most 8 whole numbers for one user, for what takes longer with more of them.

        They are rounded down, so that one user still moves two of them no further apart.
        """
        shift = max(0, -math.frexp(self.unit * _COARSE)[1] + 1)
        if shift == 0:
            return self
        return replace(self, counts=self.counts >> shift, unit=self.unit * 2**shift)


@dataclass(frozen=True)
class PrivateCounts:
    """How many users hold each of the items, which only the table knows.

    Adding one user raises at most `max_items_per_user` counts by 1 and lowers none. An item of
    count 0 is not in the table: it may be listed or not, and is never named.

    Attributes:
        counts: Shape (n_items,), 0 or more.
        max_items_per_user: A bound that was enforced, or promised; None if there is none.
        unit: As of `PublicCounts`.
    """

    counts: Ints
    max_items_per_user: int | None
    unit: float = 1.0


class WeighedItems(NamedTuple):
    """Some items of a weighted histogram.

    Attributes:
        positions: Where each stands in the evidence, shape (n,).
        weights: Integers in units of `UNIT`, above 0, shape (n,).
        counts: How many users hold each, without bounding, shape (n,).
    """

    positions: Ints
    weights: Ints
    counts: Ints

    def at(self, places: Ints | NDArray[np.bool_]) -> WeighedItems:
        """Those at these places, or those that a mask keeps."""
        return WeighedItems(*(column[places] for column in self))

    def and_also(self, others: WeighedItems) -> WeighedItems:
        """These, and behind them the others."""
        return WeighedItems(*map(np.concatenate, zip(self, others, strict=True)))


class ItemsBelowThreshold(ABC):
    """Items of so little weight that hardly any is ever named: an engine keeps them to itself.

    A few may be asked for by rank.

    A mechanism draws how many of them might be named, and which: that depends on random bits and on
    `n` alone. Both `n` and the ranks are as private as the weights: they go to the engine that
    holds the rows, and to no log or release.

    Attributes:
        n: How many there are.
        below: Each weighs more than 0 and less than this, in units of `UNIT`. Public.
    """

    n: int
    below: int

    @abstractmethod
    def fetch(self, ranks: Ints) -> WeighedItems:
        """The items of these ranks, in any order.

        The ranks are from 0 to n - 1, in an order of all these items that is the engine's choice
        and stays the same as long as the evidence is shown. Each item stands at a position of its
        own, where no shown item stands.

        Args:
            ranks: Distinct, shape (m,).
        """


@dataclass(frozen=True)
class WeightedHistogram:
    """Weights of which one user changes at most ℓ2 norm 1, and the counts of the same items.

    Adding one user adds 1/sqrt(t), rounded down, to the weights of t <= max_items_per_user items,
    and 1 to any of the counts. An item of weight 0 is held by nobody after bounding, or not shown.

    Attributes:
        weights: Integers in units of `UNIT`, shape (n_items,), 0 or more.
        counts: How many users hold each item, without bounding, shape (n_items,).
        max_items_per_user: The enforced bound.
        below_threshold: The items that are not shown, where `Wants.show_from` lets an engine keep
            some to itself; None if all are shown.
    """

    weights: Ints
    counts: Ints
    max_items_per_user: int
    below_threshold: ItemsBelowThreshold | None = None


@dataclass(frozen=True)
class GroupedCounts:
    """How many users hold each item in each group.

    Adding one user raises counts of at most `max_groups_per_user` groups by 1, at most
    `max_items_per_user` in all, and lowers none. A private group without a count above 0 is not in
    the table: it may be listed or not, and nothing of it is ever named.

    Attributes:
        counts: Of the items of all groups, one group after another, shape (n,), 0 or more.
        ends: Where each group ends, shape (n_groups,).
        kind: Whether everybody knows the groups and their items, as the kind of counts.
        max_items_per_user: In how many counts one user is, as was promised; None if in any number.
        max_groups_per_user: In how many groups one user is, as was promised.
        users: How many users are in each group, whatever they hold there, shape (n_groups,); None
            where that was not wanted.
        unit: As of `PublicCounts`.
    """

    counts: Ints
    ends: Ints
    kind: type[PrivateCounts | PublicCounts]
    max_items_per_user: int | None
    max_groups_per_user: int
    users: Ints | None = None
    unit: float = 1.0

    @classmethod
    def of_rows(
        cls,
        counts: Ints,
        groups: Ints,
        kind: type[PrivateCounts | PublicCounts],
        *,
        max_items_per_user: int | None,
        max_groups_per_user: int,
    ) -> GroupedCounts:
        """Counts of which those of each group lie side by side.

        Args:
            counts: Of all items, shape (n,), 0 or more.
            groups: The number of the group of each, rising.
            kind: Whether everybody knows the groups and their items.
            max_items_per_user: As the attribute.
            max_groups_per_user: As the attribute.
        """
        ends = np.append(np.flatnonzero(np.diff(groups)) + 1, len(groups))
        return cls(counts, ends, kind, max_items_per_user, max_groups_per_user)

    def each(self) -> Iterator[tuple[int, PrivateCounts | PublicCounts]]:
        """Where a group begins, and its counts; one group after another."""
        for group, (start, end) in enumerate(pairwise([0, *self.ends.tolist()])):
            counts, bound = self.counts[start:end], self.max_items_per_user
            if self.users is None:
                yield start, self.kind(counts, bound, unit=self.unit)
            else:
                users = int(self.users[group])
                yield start, PublicCounts(counts, bound, users, self.unit)
