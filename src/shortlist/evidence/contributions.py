"""Each user's distinct items: grouped, bounded, counted, weighted."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import UNIT, Draws, Ints
from shortlist.evidence._sharing import parts, share, total, zeros
from shortlist.evidence.buckets import Buckets, Codes
from shortlist.evidence.counts import PrivateCounts, PublicCounts, WeightedHistogram

__all__ = ["Contributions", "unit_weight"]

_BATCH = 2**20  # subset choices drawn at a time: bounds the memory that bounding takes


@dataclass(frozen=True)
class Contributions:
    """Sets of items, one per user.

    Attributes:
        starts: Where each user's items begin in `items`, shape (n_users,).
        sizes: How many distinct items each user holds, shape (n_users,).
        items: Item codes 0 .. n_items - 1; what lies between the users' ranges means nothing.
        n_items: How many codes there are; some may be held by nobody.
        counts: How many users hold each item, shape (n_items,).
        max_items_per_user: The bound that `bounded` enforced, or None.
    """

    starts: Ints
    sizes: Ints
    items: Codes
    n_items: int
    counts: Ints = field(repr=False)
    max_items_per_user: int | None = None

    @classmethod
    def of_rows(
        cls,
        users: Codes | NDArray[np.uint64],
        items: Codes,
        *,
        n_users: int | None,
        n_items: int,
    ) -> Contributions:
        """Group rows (user, item code) by user, as `Buckets` do; repeated rows count once."""
        return cls.of_buckets(Buckets.of_rows(users, items, n_users), n_items)

    @classmethod
    def of_buckets(cls, buckets: Buckets, n_items: int) -> Contributions:
        """Group rows by user, bucket by bucket; repeated rows count once."""
        starts, sizes = zeros(buckets.n_users), zeros(buckets.n_users)
        grouped = np.empty(len(buckets.pairs), np.uint32)
        ends = buckets.ends
        tallies = share(
            parts(len(grouped), ends),
            partial(kernels.group, buckets.pairs, buckets.runs, buckets.first_users, ends),
            lambda: [starts, sizes, grouped, np.zeros(n_items, np.uint32), zeros(n_items)],
        )
        return cls(starts, sizes, grouped, n_items, total(tallies, n_items))

    def bounded(self, max_items_per_user: int, draws: Draws) -> Contributions:
        """A uniformly random subset of at most `max_items_per_user` items of each user.

        The subsets are independent between users: each is drawn from fresh bits. `counts` stay
        those of all items.
        """
        sizes = np.minimum(self.sizes, max_items_per_user)
        starts, items = self.starts, self.items
        large = np.flatnonzero(self.sizes > max_items_per_user)
        if len(large):
            starts, items = starts.copy(), items.copy()
            excess = self.sizes[large] - max_items_per_user
            # Choosing the items to drop takes fewer draws where these are fewer.
            steps = np.minimum(excess, max_items_per_user)
            batches = np.cumsum(steps) // _BATCH
            for batch in np.split(np.arange(len(large)), np.flatnonzero(np.diff(batches)) + 1):
                bounds = np.empty(steps[batch].sum(), np.int64)
                kernels.draw_bounds(self.sizes[large[batch]], steps[batch], bounds)
                choices = draws.integer(bounds)
                kernels.pick_subsets(starts[large[batch]], steps[batch], choices, items)
            starts[large] += np.where(excess < max_items_per_user, steps, 0)
        return Contributions(starts, sizes, items, self.n_items, self.counts, max_items_per_user)

    def among(self, codes: Ints) -> Contributions:
        """The same users' sets, of nothing but these items.

        Args:
            codes: The item code of each, which is its place from now on, or -1 where nobody holds
                it; shape (n,), no code twice.
        """
        places = np.full(self.n_items, -1, np.int64)
        held = np.flatnonzero(codes >= 0)
        places[codes[held]] = held
        sizes, items = self.sizes.copy(), self.items.copy()
        kernels.keep_items(self.starts, sizes, items, places)
        counts = np.append(self.counts, 0)[codes]
        return Contributions(self.starts, sizes, items, len(codes), counts, self.max_items_per_user)

    def listed(self) -> Codes:
        """The items of all users, one after another."""
        before = np.cumsum(self.sizes) - self.sizes
        places = np.repeat(self.starts - before, self.sizes) + np.arange(self.sizes.sum())
        listed: Codes = self.items[places]
        return listed

    def count(self) -> PublicCounts:
        """How many users hold each item."""
        return PublicCounts(self.counts)

    def recount(self) -> PrivateCounts:
        """How many users hold each item, after `bounded`."""
        counts = self.added_up(kernels.weigh, np.ones(self.largest + 1, np.int64))
        return PrivateCounts(counts, self.max_items_per_user)

    def weigh(self) -> WeightedHistogram:
        """Each user adds `unit_weight(number of items)` to every item held, after `bounded`."""
        if self.max_items_per_user is None:
            raise ValueError("weigh() needs bounded contributions: call bounded() first.")
        weight_of_size = np.zeros(self.largest + 1, np.int64)
        for size in np.flatnonzero(np.bincount(self.sizes)).tolist():
            weight_of_size[size] = unit_weight(size) if size else 0
        weights = self.added_up(kernels.weigh, weight_of_size)
        return WeightedHistogram(weights, self.counts, self.max_items_per_user)

    def shown_as(self, kind: type) -> Contributions | PrivateCounts | WeightedHistogram:
        """As what a mechanism of private items looks at: sets, counts or weights."""
        if kind is Contributions:
            return self
        return self.recount() if kind is PrivateCounts else self.weigh()

    @property
    def largest(self) -> int:
        """How many items the user holds who holds most."""
        return int(self.sizes.max(initial=0))

    def added_up(self, kernel: Callable[..., None], *tables: NDArray[Any]) -> Ints:
        """The sum of what all users add to each item, shape (n_items,).

        Args:
            kernel: Adds what the users first .. last - 1 do, given these, the sets, the tables and
                the sums.
            tables: What it needs to know beside the sets.
        """
        partial_sums = share(
            parts(int(self.sizes.sum()), np.cumsum(self.sizes)),
            partial(kernel, self.starts, self.sizes, self.items),
            lambda: [*tables, zeros(self.n_items)],
        )
        return total(partial_sums, self.n_items)


def unit_weight(size: int) -> int:
    """The largest w with size · w² <= 1, in units of `UNIT`: a user's ℓ2 norm never exceeds 1.

    >>> [unit_weight(size) * UNIT for size in (1, 4, 100)]
    [1.0, 0.5, 0.09999999986030161]
    """
    return math.isqrt(round(UNIT**-2) // size)
