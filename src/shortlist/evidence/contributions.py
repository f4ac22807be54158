"""Each user's distinct items: grouped, bounded, counted, weighted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import Draws, Ints
from shortlist.evidence.buckets import Buckets, Codes
from shortlist.evidence.user_sets import Steering, Unreached, UserSets
from shortlist.runtime.threads import parts, share, total, zeros

# Subset choices drawn at a time: it bounds the memory that bounding takes.
_BATCH = 2**20

_MANY = 2**17  # items: sums of fewer fit the processor's caches
_FEW = 8  # rows an item: with more, most are of items that are in the caches anyway


@dataclass(frozen=True)
class Contributions(UserSets):
    """Sets of items, one per user, as rows in memory.

    Attributes:
        starts: Where each user's items begin in `items`, shape (n_users,).
        sizes: How many distinct items each user holds, shape (n_users,).
        items: Item codes 0 .. n_items - 1, in the order of users; what lies between their ranges
            means nothing.
        n_items: How many codes there are; some may be held by nobody.
        known: How many users hold each item, shape (n_items,), where that was counted at once.
        max_items_per_user: The bound that `bounded` enforced, or None.
        whole: The sets that `bounded` took these from, or None.
        public: As in `UserSets`.
        unit: As in `UserSets`.
    """

    starts: Ints
    sizes: Ints
    items: Codes
    n_items: int
    known: Ints | None = field(default=None, repr=False)
    max_items_per_user: int | None = None
    whole: Contributions | None = field(default=None, repr=False)
    public: Ints = field(default_factory=lambda: np.empty(0, np.int64), repr=False)
    unit: float = 1.0

    @cached_property
    def counts(self) -> Ints:  # type: ignore[override] # set by nobody
        if self.known is not None:
            return self.known
        return self.recount().counts if self.whole is None else self.whole.counts

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
        sizes, starts, items = self.sizes, self.starts, self.items
        large = np.flatnonzero(self.sizes > max_items_per_user)
        if len(large):
            sizes = np.minimum(self.sizes, max_items_per_user)
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
        return replace(
            self,
            starts=starts,
            sizes=sizes,
            items=items,
            max_items_per_user=max_items_per_user,
            whole=self.whole or self,
        )

    def with_public(self, codes: Ints) -> Contributions:
        n_items = max(self.n_items, int(codes.max(initial=-1)) + 1)
        new = np.zeros(n_items - self.n_items, np.int64)
        known = None if self.known is None else np.append(self.known, new)
        return replace(self, n_items=n_items, known=known, public=np.sort(codes))

    def among(self, codes: Ints) -> Contributions:
        kernel = partial(
            kernels.keep_items,
            *(self.starts, self.sizes, self.items, places_of(codes, self.n_items)),
        )
        kept = self.kept_by(kernel, self.sizes, self.items, len(codes))
        asked = self.known is not None or self.whole is not None
        counts = np.append(self.counts, 0)[codes] if asked else None
        bound, unit = self.max_items_per_user, self.unit
        return replace(kept, known=counts, max_items_per_user=bound, unit=unit)

    @classmethod
    def kept_by(
        cls, kernel: Callable[..., None], sizes: Ints, items: Codes, n_items: int
    ) -> Contributions:
        """What a kernel keeps of what users hold; those of whom it keeps nothing are left out.

        Args:
            kernel: As `kernels.keep_items`, given all but users and what is to be written.
            sizes: How many parts each user has.
            items: What all users hold.
            n_items: How many codes there are of what is kept.
        """
        starts, left = np.empty(len(sizes), np.int64), np.empty(len(sizes), np.int64)
        kept, ranges = np.empty_like(items), parts(int(sizes.sum()), np.cumsum(sizes))
        done = share(ranges, kernel, lambda: [kept, starts, left, zeros(1)])
        users = [
            slice(first, first + int(n[0]))
            for (first, _), (*_, n) in zip(ranges, done, strict=True)
        ]
        at, sizes = (np.concatenate([column[of] for of in users]) for column in (starts, left))
        return cls(at, sizes, kept, n_items)

    def listed(self) -> Codes:
        """The items of all users, one after another."""
        before = np.cumsum(self.sizes) - self.sizes
        places = np.repeat(self.starts - before, self.sizes) + np.arange(self.sizes.sum())
        listed: Codes = self.items[places]
        return listed

    def users_of_size(self) -> Ints:
        return np.bincount(self.sizes, minlength=1).astype(np.int64)

    def added_by_size(self, weights: Ints) -> Ints:
        return self.added_up(kernels.weigh, weights)

    def renumbered(self) -> tuple[Contributions, Ints | None]:
        """As `UserSets.renumbered`, where items are many and few users hold each.

        What lies side by side is in the processor's caches when it is asked for.
        """
        n_rows = int(self.sizes.sum())
        if self.n_items < _MANY or n_rows > _FEW * self.n_items:
            return self, None
        numbers = np.full(self.n_items, kernels.NOWHERE, np.uint32)
        items, codes = np.empty_like(self.items), np.empty(self.n_items, np.int64)
        n = kernels.renumber(self.starts, self.sizes, self.items, numbers, items, codes)
        unheld = self.public[numbers[self.public] == kernels.NOWHERE]
        held, n = n, n + len(unheld)
        codes[held:n], numbers[unheld] = unheld, np.arange(held, n)
        public = np.sort(numbers[self.public].astype(np.int64))
        fewer = replace(self, items=items, n_items=n, known=None, whole=None, public=public)
        return fewer, codes[:n]

    def steering(self) -> Steering:
        return _Steered(self)

    def unreached(self, domain: Ints) -> UnreachedRows:
        return UnreachedRows.of(self, domain)

    @property
    def largest(self) -> int:
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


def places_of(codes: Ints, n: int) -> Codes:
    """Where each of n codes stands among some, of which -1 is none; NOWHERE where it does not."""
    places = np.full(n, kernels.NOWHERE, np.uint32)
    held = np.flatnonzero(codes >= 0)
    places[codes[held]] = held
    return places


@dataclass
class _Steered(Steering):
    """Users' rows, of each the items that were left after the last round first.

    Attributes:
        held: The rows before the first round.
        state: How many of each user's items were left, shape (n_users,); these, in the place of the
            items of `held`; and how many are dropped, shape (n_users,). None before the first.
    """

    held: Contributions
    state: tuple[Ints, Codes, Ints] | None = None

    def sums(self, boosts: NDArray[np.int16], floors: Ints, caps: Ints) -> Ints:
        held = self.held
        if self.state is None:
            self.state = held.sizes.copy(), np.empty_like(held.items), np.zeros_like(held.sizes)
        else:
            held = replace(held, items=self.state[1])
        return held.added_up(kernels.steer, *self.state, boosts, floors, caps)


@dataclass(frozen=True)
class UnreachedRows(Unreached):
    """By users' rows.

    All `reach` together look at each (user, item) twice: once by the item, once by the user. Items
    stand in the order of their counts, falling: one whose count falls by 1 changes places
    with the last of those of its count, whose end moves up by one.
    """

    counts: Ints
    _held: Contributions
    _places: Ints  # of each item code in the domain, or -1
    _starts: Ints  # where each item's holders begin
    _holders: Codes
    _reached: NDArray[np.bool_]
    _at_least: Ints  # how many items have at least each count, those left out not among them
    _order: Ints  # places in the domain by falling count, and behind them those left out
    _ranks: Ints  # where in the order each place of the domain stands
    _falling: Ints  # the counts in the order

    @classmethod
    def of(cls, held: Contributions, domain: Ints) -> UnreachedRows:
        """All users; the domain are item codes, none twice."""
        counts = held.recount().counts[domain]
        places = np.full(held.n_items, -1, np.int64)
        places[domain] = np.arange(len(domain))
        starts = np.append(0, np.cumsum(counts))
        holders = np.empty(starts[-1], np.uint32)
        kernels.invert(held.starts, held.sizes, held.items, places, starts[:-1].copy(), holders)
        reached = np.zeros(len(held.starts), np.bool_)
        at_least = np.bincount(counts, minlength=1)[::-1].cumsum()[::-1].copy()
        order, ranks = np.empty_like(counts), np.empty_like(counts)
        kernels.sort_falling(counts, at_least.copy(), order, ranks)
        falling = counts[order]
        return cls(counts, held, places, starts, holders, reached, at_least, order, ranks, falling)

    def reach(self, place: int) -> None:
        held = self._held
        kernels.reach(
            self._holders[self._starts[place] : self._starts[place + 1]],
            self._reached,
            held.starts,
            held.sizes,
            held.items,
            self._places,
            self.counts,
            self._at_least,
            self._order,
            self._ranks,
            self._falling,
        )

    def leave_out(self, place: int) -> None:
        kernels.lower(
            *(place, self.counts, self._at_least, self._order, self._ranks, self._falling)
        )

    def groups(self) -> tuple[Ints, Ints]:
        most = min(len(self.counts), len(self._at_least))
        values, sizes = np.empty(most, np.int64), np.empty(most, np.int64)
        n = kernels.distinct(self._falling, self._at_least, values, sizes)
        return values[:n], sizes[:n]

    def in_order(self) -> tuple[Ints, Ints]:
        return self._order[: self._at_least[0]], self._falling[: self._at_least[0]]

    def members(self, count: int) -> Ints:
        first = self._at_least[count + 1] if count + 1 < len(self._at_least) else 0
        return self._order[first : self._at_least[count]]
