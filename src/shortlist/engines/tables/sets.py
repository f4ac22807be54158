"""Users' sets in an engine: all that a mechanism may ask of them, as group-bys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines.tables._dialect import Expression, Key
from shortlist.engines.tables._functions import total
from shortlist.engines.tables._light import LightInTable, weighed
from shortlist.engines.tables._steering import SteeringInTable
from shortlist.engines.tables._unreached import UnreachedInTable
from shortlist.engines.tables.reading import CODE, HOLDERS, PLACE, SIZE, SUM, USER, VALUE, Read
from shortlist.engines.tables.scratch import Scratch
from shortlist.evidence import UserSets, WeightedHistogram

__all__ = ["SetsInTable"]

_BITS = 2**62  # in each half of a key


@dataclass(frozen=True, eq=False)
class SetsInTable(UserSets):
    """Sets of items, one per user, of which nothing leaves the engine but sums over all users.

    Attributes:
        pairs: The sets, as `Read.pairs`.
        values: What was read: what the numbers in `pairs` stand for.
        scratch: Where temporary tables are made.
        n_items: As in `UserSets`; `max_items_per_user` too.
    """

    pairs: Expression
    values: Read
    scratch: Scratch
    n_items: int
    max_items_per_user: int | None = None

    @classmethod
    def of(cls, values: Read, scratch: Scratch) -> SetsInTable:
        """Whole sets, as they were read."""
        n_items = int(scratch.fetch(values.items.agg(n=values.items.count()))["n"][0])
        return cls(values.pairs, values, scratch, n_items)

    @cached_property
    def counts(self) -> Ints:  # type: ignore[override]  # nobody writes to it
        """As in `UserSets`; fetched only where they are looked at."""
        held = self.scratch.fetch(self.values.items.select(CODE, HOLDERS))
        return self._by_code(held[CODE], held[HOLDERS])

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
        return self.fetched(self._added(weights))

    def _added(self, weights: Ints) -> Expression:
        """The same in the engine: `CODE` and `SUM`."""
        sizes = np.flatnonzero(self._users_of_size)
        given = self.scratch.give({SIZE: sizes.astype(np.int32), "w": weights[sizes]})
        pairs = self.pairs.join(given, SIZE)
        return pairs.group_by(CODE).agg(**{SUM: total(pairs["w"])})

    def weigh(self, light_below: int | None = None) -> WeightedHistogram:
        """As `UserSets.weigh`: light items stay in the engine."""
        if light_below is None or self.max_items_per_user is None:
            return super().weigh()
        sums = self._added(self.unit_weights()).join(self.values.items, CODE)
        kept = self.scratch.keep(sums.select(CODE, SUM, HOLDERS))
        heavy = weighed(kept.filter(kept[SUM] >= light_below), self.scratch)
        light = LightInTable.of(kept, light_below, self.scratch)
        weights, counts = (self._by_code(heavy.positions, held) for held in heavy[1:])
        return WeightedHistogram(weights, counts, self.max_items_per_user, light)

    def fetched(self, sums: Expression) -> Ints:
        """The sum of each item, 0 where there is none."""
        found = self.scratch.fetch(sums)
        return self._by_code(found[CODE], found[SUM])

    def _by_code(self, codes: Ints, values: Ints) -> Ints:
        """A value of each item, 0 where there is none."""
        each = np.zeros(self.n_items, np.int64)
        each[codes] = values
        return each

    def steering(self) -> SteeringInTable:
        """As `UserSets.steering`."""
        return SteeringInTable(self.pairs, self.scratch, self.n_items)

    def unreached(self, domain: Ints) -> UnreachedInTable:
        """As `UserSets.unreached`."""
        return UnreachedInTable.of(self.among(domain))
