"""Users' sets in an engine: all that a mechanism may ask of them, as group-bys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines.tables._dialect import Expression, Key
from shortlist.engines.tables._functions import total
from shortlist.engines.tables._light import LightInTable, weighed
from shortlist.engines.tables._names import CODE, HOLDERS, PLACE, RANK, SIZE, SUM, USER, VALUE
from shortlist.engines.tables._numbered import Numbered
from shortlist.engines.tables._steering import SteeringInTable
from shortlist.engines.tables._unreached import UnreachedInTable
from shortlist.engines.tables.reading import Read, united
from shortlist.engines.tables.scratch import Scratch
from shortlist.errors import InputError
from shortlist.evidence import UserSets, WeightedHistogram
from shortlist.evidence.buckets import MOST_USERS

__all__ = ["SetsInTable"]

_BITS = 2**62  # in each half of a key
_WEIGHT = "w"


@dataclass(frozen=True, eq=False)
class SetsInTable(UserSets):
    """Sets of items, one per user, of which nothing leaves the engine but sums over all users.

    Attributes:
        values: The sets, and what their numbers stand for.
        scratch: Where temporary tables are made.
        max_items_per_user: As in `UserSets`.
        whole: The same before they were bounded, if they are.
    """

    values: Read
    scratch: Scratch
    max_items_per_user: int | None = None
    whole: SetsInTable | None = None

    @property
    def n_items(self) -> int:  # type: ignore[override]  # nobody writes to it
        """As in `UserSets`."""
        return self.values.numbered.n

    @property
    def pairs(self) -> Expression:
        """The sets, as `Read.pairs`."""
        return self.values.pairs

    @cached_property
    def counts(self) -> Ints:  # type: ignore[override]  # nobody writes to it
        """As in `UserSets`; fetched only where they are looked at."""
        held = self.scratch.fetch(self.values.items.select(CODE, HOLDERS))
        return self._by_code(held[CODE], held[HOLDERS])

    def bounded(self, max_items_per_user: int, draws: Draws) -> SetsInTable:
        """As `UserSets.bounded`: the items of the smallest hash, under a fresh key."""
        first, second = draws.integer(np.full(2, _BITS)).tolist()
        return self.bounded_by(max_items_per_user, (first, second))

    def bounded_by(self, max_items_per_user: int, key: Key) -> SetsInTable:
        """The same by a key, which must be fresh wherever rows are read."""
        ranked = self.scratch.keep(self._ranked(max_items_per_user, key))
        is_kept = ranked[RANK] < max_items_per_user
        of_many, whole = ranked.filter(is_kept).drop(RANK), self.values
        left_out = ranked.filter(~is_kept).select(whole.columns)

        def few(sets: Expression) -> Expression:
            return sets.filter(sets[SIZE] <= max_items_per_user)

        kept = replace(
            whole,
            find_sets=lambda: (few(whole.sets), of_many),
            find_pairs=lambda: few(whole.pairs).union(self.scratch.keep(whole.coded(of_many))),
            find_users=None,
            left_out=(*whole.left_out, left_out),
        )
        return replace(self, values=kept, max_items_per_user=max_items_per_user, whole=self)

    def _ranked(self, bound: int, key: Key) -> Expression:
        """The sets of users with more items, who keep those of the first places.

        The hash is of the user's and the item's own values. Their numbers depend on other users.
        """
        import ibis

        sets, columns = self.values.sets, self.values.columns
        many = sets.filter(sets[SIZE] > bound)
        items = [many[name] for name in columns]
        hashed = self.scratch.dialect.hashed(key, many[VALUE], items)
        window = ibis.window(group_by=many[USER], order_by=[hashed, *items])
        size = ibis.literal(bound, type="int32")
        places = {RANK: ibis.row_number().over(window), SIZE: size}
        return many.select(USER, VALUE, *columns, **places)

    def among(self, codes: Ints) -> SetsInTable:
        """As `UserSets.among`."""
        whole, columns = self.values, self.values.columns
        places = np.flatnonzero(codes >= 0)
        given = self.scratch.give({CODE: codes[places].astype(np.int32), PLACE: places})
        items = whole.items.join(given, CODE).drop(CODE).rename({CODE: PLACE})
        sets = whole.sets.semi_join(items, columns)
        size = sets.count().over(group_by=sets[USER]).cast("int32")
        sets = sets.mutate(**{SIZE: size})
        chosen = Read(
            Numbered(items.drop(CODE), columns, self.scratch, items, len(codes)),
            find_sets=lambda: (sets,),
            find_pairs=lambda: self.scratch.keep(chosen.coded(sets)),
            find_users=lambda: chosen.pairs.select(USER, SIZE).distinct(),
            left_out=tuple(part.semi_join(items, columns) for part in whole.left_out),
        )
        return replace(self, values=chosen, whole=None)

    @cached_property
    def _users_of_size(self) -> Ints:
        """Every user of a size has as many rows; those beyond a bound have come down to it."""
        if self.whole is not None and self.max_items_per_user is not None:
            return _clipped(self.whole.users_of_size(), self.max_items_per_user)
        rows = self.scratch.fetch(self.values.rows_of_size)
        users = np.zeros(int(rows[SIZE].max(initial=0)) + 1, np.int64)
        users[rows[SIZE]] = rows[HOLDERS] // np.maximum(rows[SIZE], 1)
        if users.sum() > MOST_USERS:  # 64 bits could not add up what they weigh
            raise InputError("too many users: a table may hold about a billion of them")
        return users

    def users_of_size(self) -> Ints:
        """As `UserSets.users_of_size`."""
        return self._users_of_size

    def added_by_size(self, weights: Ints) -> Ints:
        """As `UserSets.added_by_size`."""
        return self.fetched(self._added(weights))

    def _added(self, weights: Ints) -> Expression:
        """The same in the engine: `CODE` and `SUM`."""
        pairs = self.pairs.join(self._by_size(weights), SIZE)
        return pairs.group_by(CODE).agg(**{SUM: total(pairs[_WEIGHT])})

    def _weighed(self, weights: Ints) -> Expression:
        """The same for every item, and `HOLDERS`: by what items are called, in one grouping.

        Whoever holds an item that bounding left out adds nothing to it, and is one of its holders.
        """
        import ibis

        given, columns = self._by_size(weights), self.values.columns
        kept = [part.join(given, SIZE).select(*columns, _WEIGHT) for part in self.values.parts]
        nothing = ibis.literal(0, type="int64")
        others = [part.select(*columns, **{_WEIGHT: nothing}) for part in self.values.left_out]
        rows = united([*kept, *others])
        return rows.group_by(columns).agg(**{SUM: total(rows[_WEIGHT]), HOLDERS: rows.count()})

    def _by_size(self, weights: Ints) -> Expression:
        """The weight of each size that there is."""
        sizes = np.flatnonzero(self._users_of_size)
        return self.scratch.give({SIZE: sizes.astype(np.int32), _WEIGHT: weights[sizes]})

    def weigh(self, show_from: int | None = None) -> WeightedHistogram:
        """As `UserSets.weigh`: light items stay in the engine."""
        if show_from is None or self.max_items_per_user is None:
            return super().weigh()
        summed = self._weighed(self.unit_weights())
        ranked = self.scratch.keep(self.scratch.dialect.numbered(summed, RANK, by=SUM))
        coded = self.values.numbered.coded(ranked, RANK)
        heavy = weighed(coded.filter(coded[SUM] >= show_from), self.scratch)
        light = LightInTable.of(coded, show_from, self.scratch)
        weights, counts = (self._by_code(heavy.positions, held) for held in heavy[1:])
        return WeightedHistogram(weights, counts, self.max_items_per_user, light)

    def fetched(self, sums: Expression) -> Ints:
        """The sum of each item, 0 where there is none."""
        with self.scratch.summing():
            found = self.scratch.fetch(sums)
        return self._by_code(found[CODE], found[SUM])

    def _by_code(self, codes: Ints, values: Ints) -> Ints:
        """A value of each item, 0 where there is none."""
        each = np.zeros(self.n_items, np.int64)
        each[codes] = values
        return each

    def steering(self) -> SteeringInTable:
        """As `UserSets.steering`."""
        return SteeringInTable(
            self.pairs, self.scratch, self.n_items, is_sorted=self.values.is_by_user
        )

    def unreached(self, domain: Ints) -> UnreachedInTable:
        """As `UserSets.unreached`."""
        return UnreachedInTable.of(self.among(domain))


def _clipped(users: Ints, bound: int) -> Ints:
    """How many users are of each size, where those of more than the bound keep as many as it."""
    sizes = np.arange(len(users))
    clipped = np.zeros(min(len(users), bound + 1), np.int64)
    np.add.at(clipped, np.minimum(sizes, len(clipped) - 1), users)
    return clipped
