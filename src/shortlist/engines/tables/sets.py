"""Users' sets in an engine: all that a mechanism may ask of them, as group-bys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines.tables._dialect import Expression, Key
from shortlist.engines.tables._functions import total
from shortlist.engines.tables._steering import SteeringInTable
from shortlist.engines.tables._unreached import UnreachedInTable
from shortlist.engines.tables.reading import CODE, HOLDERS, PLACE, SIZE, USER, VALUE, Read
from shortlist.engines.tables.scratch import Scratch
from shortlist.evidence import UserSets

__all__ = ["SetsInTable"]

_BITS = 2**62  # in each half of a key


@dataclass(frozen=True, eq=False)
class SetsInTable(UserSets):
    """Sets of items, one per user, of which nothing leaves the engine but sums over all users.

    Attributes:
        pairs: The sets, as `Read.pairs`.
        values: What was read: what the numbers in `pairs` stand for.
        scratch: Where temporary tables are made.
        n_items: As in `UserSets`; `counts` and `max_items_per_user` too.
    """

    pairs: Expression
    values: Read
    scratch: Scratch
    n_items: int
    counts: Ints
    max_items_per_user: int | None = None

    @classmethod
    def of(cls, values: Read, scratch: Scratch) -> SetsInTable:
        """Whole sets, as they were read."""
        held = scratch.fetch(values.items.select(CODE, HOLDERS))
        counts = np.zeros(len(held[CODE]), np.int64)
        counts[held[CODE]] = held[HOLDERS]
        return cls(values.pairs, values, scratch, len(counts), counts)

    def bounded(self, max_items_per_user: int, draws: Draws) -> SetsInTable:
        """As `UserSets.bounded`: the items of the smallest hash, under a fresh key."""
        first, second = draws.integer(np.full(2, _BITS)).tolist()
        pairs = self._smallest(max_items_per_user, (first, second))
        return replace(self, pairs=pairs, max_items_per_user=max_items_per_user)

    def _smallest(self, bound: int, key: Key) -> Expression:
        """Of each user the items of the smallest hash; only those of users with more are ranked.

        The hash is of the user's and the item's own values. Their numbers depend on other users.
        """
        import ibis

        many = self.pairs.filter(self.pairs[SIZE] > bound)
        named = self.values.with_values(many)
        items = [named[name] for name in self.values.columns]
        hashed = self.scratch.dialect.hashed(key, named[VALUE], items)
        window = ibis.window(group_by=named[USER], order_by=[hashed, *items])
        ranked = named.mutate(rank=ibis.row_number().over(window))
        kept = ranked.filter(ranked["rank"] < bound)
        of_many = self.scratch.keep(
            kept.select(USER, CODE, **{SIZE: ibis.literal(bound, type="int32")})
        )
        few = self.pairs.filter(self.pairs[SIZE] <= bound)
        return few.select(USER, CODE, SIZE).union(of_many)

    def among(self, codes: Ints) -> SetsInTable:
        """As `UserSets.among`."""
        places = np.flatnonzero(codes >= 0)
        given = self.scratch.give({CODE: codes[places].astype(np.int32), PLACE: places})
        held = self.pairs.join(given, CODE)
        held = held.select(held[USER], **{CODE: held[PLACE].cast("int32")})
        held = held.mutate(**{SIZE: held.count().over(group_by=held[USER]).cast("int32")})
        return replace(
            self,
            pairs=self.scratch.keep(held),
            values=self.values.among(given),
            n_items=len(codes),
            counts=np.append(self.counts, 0)[codes],
        )

    @cached_property
    def _users_of_size(self) -> Ints:
        """Every user of a size has as many rows."""
        rows = self.scratch.fetch(self.pairs.group_by(SIZE).agg(n=self.pairs.count()))
        users = np.zeros(int(rows[SIZE].max(initial=0)) + 1, np.int64)
        users[rows[SIZE]] = rows["n"] // np.maximum(rows[SIZE], 1)
        return users

    def users_of_size(self) -> Ints:
        """As `UserSets.users_of_size`."""
        return self._users_of_size

    def added_by_size(self, weights: Ints) -> Ints:
        """As `UserSets.added_by_size`."""
        sizes = np.flatnonzero(self._users_of_size)
        given = self.scratch.give({SIZE: sizes.astype(np.int32), "w": weights[sizes]})
        weighed = self.pairs.join(given, SIZE)
        return self.fetched(weighed.group_by(CODE).agg(sum=total(weighed["w"])))

    def fetched(self, sums: Expression) -> Ints:
        """The sum of each item, 0 where there is none."""
        found = self.scratch.fetch(sums)
        values = np.zeros(self.n_items, np.int64)
        values[found[CODE]] = found["sum"]
        return values

    def steering(self) -> SteeringInTable:
        """As `UserSets.steering`."""
        return SteeringInTable(self.pairs, self.scratch, self.n_items)

    def unreached(self, domain: Ints) -> UnreachedInTable:
        """As `UserSets.unreached`."""
        return UnreachedInTable.of(self.among(domain))
