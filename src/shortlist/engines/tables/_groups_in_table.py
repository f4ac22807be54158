"""Users' items in groups in an engine: one table of who holds what where, and its sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines.tables._amounts_in_table import above, capped
from shortlist.engines.tables._expressions import (
    AMOUNT,
    CODE,
    HOLDERS,
    PLACE,
    SIZE,
    USER,
    VALUE,
    Expression,
    listed,
    total,
)
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import NumberedItems, SetsRead
from shortlist.engines.tables._sets_in_table import SetsInTable
from shortlist.evidence import UserGroups
from shortlist.evidence.user_sets import InOneGroup, PairSets
from shortlist.table.amounts import MOST

_GROUP, _ITEM, _PAIR = "place_of_group", "place_of_item", "pair"


@dataclass(frozen=True, eq=False)
class GroupsInTable(UserGroups):
    """Sets of items, one for each user in each group, of which nothing leaves the engine but sums.

    Attributes:
        groups: The groups that each user is in.
        held: Who holds what in which group, distinct rows: `USER`, `VALUE`, the columns of groups
            and those of items. Where amounts are summed up, `AMOUNT` too, and only what is above 0.
        known: The items by numbers, in whichever groups; how many hold them is not told.
        whole: The sets that were read, where `held` is all of them and need not be joined.
        groups_are_public: Whether everybody knows the groups.
        public: As in `UserGroups`.
        listed: As in `UserGroups`.
    """

    groups: SetsInTable
    held: Expression
    known: NumberedItems
    scratch: Scratch
    whole: SetsRead | None = None
    groups_are_public: bool = False
    public: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    listed: Ints | None = None

    @classmethod
    def of(
        cls, pairs: SetsRead, n_by: int, scratch: Scratch, spent: Expression | None = None
    ) -> GroupsInTable:
        """The sets of pairs of a group and an item, whose first columns are a group's.

        Args:
            pairs: The sets.
            n_by: How many columns are a group's.
            scratch: Where temporary tables are made.
            spent: As `AmountsInTable.spent`, of these pairs; None where users are counted.
        """
        by, items = pairs.columns[:n_by], pairs.columns[n_by:]
        held = pairs.sets.select(USER, VALUE, *by, *items)
        if spent is not None:
            held = held.join(spent, [VALUE, *by, *items])
        is_joined = pairs.is_joined or spent is not None
        if is_joined:
            held = scratch.keep(held)
        whole = None if is_joined else pairs
        sets, users = scratch.dialect.some_of(held, whole, by, scratch)
        rows = listed(sets)
        numbered = NumberedItems(
            lambda: rows.group_by(by).agg(**{HOLDERS: rows.count()}), by, scratch
        )
        groups = SetsInTable(_side(sets, users, numbered), scratch)
        known = NumberedItems(
            lambda: held.select(items).distinct(), items, scratch, tell_holders=False
        )
        return cls(groups, held, known, scratch, whole)

    @property
    def unit(self) -> float:
        """As of `PublicCounts`."""
        return 1 / MOST if self._are_amounts else 1.0

    @property
    def _are_amounts(self) -> bool:
        return AMOUNT in self.held.columns

    @property
    def n_groups(self) -> int:
        return self.groups.n_items

    @property
    def n_items(self) -> int:
        return max(self.known.n, int(self.public.max(initial=-1)) + 1)

    def with_public(self, codes: Ints) -> GroupsInTable:
        return replace(self, public=np.sort(codes))

    def bounded(self, max_groups_per_user: int, draws: Draws) -> GroupsInTable:
        """Each user keeps the groups of the smallest hash, under a fresh key."""
        if self.groups.largest <= max_groups_per_user:
            return self
        return self._in(self.groups.bounded(max_groups_per_user, draws))

    def within(self, groups: Ints) -> GroupsInTable:
        return replace(self._in(self.groups.among(groups)), groups_are_public=True)

    def above(self, parts: Sequence[float], whole: int) -> Ints:
        """As `GroupedAmounts.above`."""
        return above(self.held, parts, whole, self.scratch)

    def capped(self, part: float) -> GroupsInTable:
        """As `UserAmounts.capped`."""
        return replace(self, held=capped(self.held, part))

    def _in(self, groups: SetsInTable) -> GroupsInTable:
        """What users hold in some of their groups."""
        by = groups.values.columns
        self.known.number()  # those of all groups, while all are at hand
        kept = self.held.semi_join(groups.values.sets.select(USER, *by), [USER, *by])
        own = replace(groups.values, left_out=())
        return replace(
            self, groups=SetsInTable(own, self.scratch), held=self.scratch.keep(kept), whole=None
        )

    def each(self) -> Iterator[InOneGroup]:
        """Rows are sent to their groups once; each group then has a part of them, and of items.

        What a group has temporary tables for is dropped before the next one.
        """
        for group in self._each():
            with self.scratch.passing():
                yield group

    def _each(self) -> Iterator[InOneGroup]:
        rows, pairs = self._apart()
        if self.listed is not None:
            for group in range(self.n_groups):
                yield InOneGroup(self._in_one(group, rows, pairs, len(self.listed)))
            return
        found = self.scratch.fetch(pairs.select(_GROUP, CODE, _ITEM))
        codes = found[_ITEM][np.lexsort((found[CODE], found[_GROUP]))]
        ends = np.bincount(found[_GROUP], minlength=self.n_groups).cumsum()
        for group, own in enumerate(np.split(codes, ends[:-1])):
            yield InOneGroup(self._in_one(group, rows, pairs, len(own)), own)

    def _apart(self) -> tuple[Expression, Expression]:
        """All rows, and all pairs of a group and an item, each with the `_GROUP` that it lies in.

        The `CODE` of an item is one of its group: the place in the list, if there is one.
        """
        import ibis

        scratch, columns, of_groups = self.scratch, self.known.columns, self.groups.values
        known = of_groups.items.select(*of_groups.columns, **{_GROUP: of_groups.items[CODE]})
        rows = self.held.join(known, of_groups.columns).drop(*of_groups.columns)
        held = total(rows[AMOUNT]) if self._are_amounts else rows.count()
        pairs = rows.group_by([_GROUP, *columns]).agg(**{HOLDERS: held})
        if self.listed is None:
            items = self.known.table.select(*columns, **{_ITEM: CODE})
            pairs = pairs.join(items, columns).select(_GROUP, *columns, HOLDERS, _ITEM)
            place = ibis.row_number().over(group_by=pairs[_GROUP], order_by=pairs[_ITEM])
        else:
            places = np.flatnonzero(self.listed >= 0)
            items = self.known.at(self.listed[places], places).select(PLACE, *columns)
            pairs = pairs.join(items, columns).select(_GROUP, *columns, HOLDERS, PLACE)
            place = pairs[PLACE]
        pairs = scratch.keep(pairs.mutate(**{CODE: place.cast("int32")}), by=_GROUP)
        numbered = pairs.select(_GROUP, *columns, CODE)
        rows = rows.join(numbered, [_GROUP, *columns]).select(_GROUP, USER, VALUE, *columns, CODE)
        size = rows.count().over(group_by=[rows[_GROUP], rows[USER]]).cast("int32")
        return scratch.keep(rows.mutate(**{SIZE: size}), by=_GROUP), pairs

    def _in_one(self, group: int, rows: Expression, pairs: Expression, n: int) -> SetsInTable:
        """What users hold in one group, of `n` items."""
        columns, scratch = self.known.columns, self.scratch
        own, items = (table.filter(table[_GROUP] == group) for table in (rows, pairs))
        items = items.select(CODE, *columns, HOLDERS)
        side = SetsRead(
            NumberedItems(lambda: items.drop(CODE), columns, scratch, items, n),
            find_sets=lambda: (own.select(USER, VALUE, *columns, CODE, SIZE),),
            find_pairs=lambda: own.select(USER, CODE, SIZE),
            find_users=lambda: own.select(USER, SIZE).distinct(),
            code=CODE,
        )
        return SetsInTable(side, scratch, unit=self.unit)

    def items(self) -> SetsInTable:
        columns, whole, dialect = self.known.columns, self.whole, self.scratch.dialect
        if self.groups.largest > 1:
            sets, users = dialect.some_of(self.held, whole, columns, self.scratch)
            side = _side(sets, users, self.known)
        else:  # in one group, each item is held once
            side = self._each_row(columns, self.known)
        return SetsInTable(side, self.scratch).with_public(self.public)

    def _each_row(self, columns: Sequence[str], numbered: NumberedItems) -> SetsRead:
        """Users' sets of what some columns say, where they say something else in each row."""
        if self.whole is None:
            held = self.held.select(USER, VALUE, *columns)
            return _side(*self.scratch.dialect.counted(held, self.scratch), numbered)
        (part,) = self.whole.parts
        side = _side(part.select(USER, VALUE, *columns, SIZE), part, numbered)
        return replace(side, find_users=self.whole.find_users)

    def pairs(self) -> PairSets:
        columns = [*self.groups.values.columns, *self.known.columns]
        numbered = NumberedItems(
            lambda: self.held.select(columns).distinct(), columns, self.scratch
        )
        own = SetsInTable(self._each_row(columns, numbered), self.scratch)
        return PairSets(own, partial(self._positions, numbered))

    def _positions(self, pairs: NumberedItems, codes: Ints) -> Ints:
        """Where the pairs of these codes stand."""
        numbered = {_GROUP: self.groups.values.numbered, _ITEM: self.known}
        asked = pairs.at(codes, np.arange(len(codes)))
        for code, part in numbered.items():
            known = part.table.select(*part.columns, **{code: part.table[CODE]})
            asked = asked.join(known, part.columns)
        found = self.scratch.fetch(asked.select(PLACE, *numbered))
        positions = np.empty(len(codes), np.int64)
        positions[found[PLACE]] = found[_GROUP] * np.int64(self.n_items) + found[_ITEM]
        return positions

    def among(self, groups: Ints, items: Ints) -> SetsInTable:
        """What a user holds are then places, which are their own numbers."""
        by = self.groups.values.numbered.at(groups, np.arange(len(groups)))
        wanted = self.known.at(items, np.arange(len(items)))
        rows = self.held.join(by.rename({_GROUP: PLACE}), self.groups.values.columns)
        rows = rows.join(wanted.rename({_ITEM: PLACE}), self.known.columns)
        pair = rows[_GROUP] * len(items) + rows[_ITEM]
        rows = rows.mutate(**{_PAIR: pair.cast("int32")})
        sets, users = self.scratch.dialect.counted(rows.select(USER, VALUE, _PAIR), self.scratch)
        pairs = listed(sets)
        if self._are_amounts:
            held = rows.group_by(_PAIR).agg(**{HOLDERS: total(rows[AMOUNT])})
        else:
            held = pairs.group_by(_PAIR).agg(**{HOLDERS: pairs.count()})
        pairs = pairs.select(USER, SIZE, **{CODE: pairs[_PAIR]})
        places = held.mutate(**{CODE: held[_PAIR]})
        n = len(groups) * len(items)
        numbered = NumberedItems(lambda: held, [_PAIR], self.scratch, places, n, are_numbers=True)
        own = SetsRead(
            numbered, lambda: (sets,), lambda: pairs[[USER, CODE, SIZE]], lambda: users, code=_PAIR
        )
        return SetsInTable(own, self.scratch, unit=self.unit)


def _side(sets: Expression, users: Expression, numbered: NumberedItems) -> SetsRead:
    """Users' sets of groups, or of items in whichever groups."""
    side = SetsRead(numbered, lambda: (sets,), lambda: side.coded(side.sets), lambda: users)
    return side
