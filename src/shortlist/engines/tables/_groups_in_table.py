"""Users' items in groups in an engine: one table of who holds what where, and its sides."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines.tables._expressions import (
    CODE,
    HOLDERS,
    PLACE,
    SIZE,
    USER,
    VALUE,
    Expression,
    listed,
)
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import NumberedItems, SetsRead
from shortlist.engines.tables._sets_in_table import SetsInTable
from shortlist.evidence import UserGroups
from shortlist.evidence.user_sets import PairSets

_GROUP, _ITEM, _PAIR = "place_of_group", "place_of_item", "pair"


@dataclass(frozen=True, eq=False)
class GroupsInTable(UserGroups):
    """Sets of items, one for each user in each group, of which nothing leaves the engine but sums.

    Attributes:
        groups: The groups that each user is in.
        held: Who holds what in which group, distinct rows: `USER`, `VALUE`, the columns of groups
            and those of items.
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
    def of(cls, pairs: SetsRead, n_by: int, scratch: Scratch) -> GroupsInTable:
        """The sets of pairs of a group and an item, whose first columns are a group's."""
        by, items = pairs.columns[:n_by], pairs.columns[n_by:]
        held = pairs.sets.select(USER, VALUE, *by, *items)
        if pairs.is_joined:
            held = scratch.keep(held)
        whole = None if pairs.is_joined else pairs
        sets, users = scratch.dialect.some_of(held, whole, by, scratch)
        rows = listed(sets)
        numbered = NumberedItems(
            lambda: rows.group_by(by).agg(**{HOLDERS: rows.count()}), by, scratch
        )
        groups = SetsInTable(_side(sets, users, numbered), scratch)
        known = NumberedItems(lambda: held.select(items).distinct(), items, scratch)
        return cls(groups, held, known, scratch, whole)

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

    def _in(self, groups: SetsInTable) -> GroupsInTable:
        """What users hold in some of their groups."""
        by = groups.values.columns
        kept = self.held.semi_join(groups.values.sets.select(USER, *by), [USER, *by])
        own = replace(groups.values, left_out=())
        return replace(
            self, groups=SetsInTable(own, self.scratch), held=self.scratch.keep(kept), whole=None
        )

    def items(self) -> SetsInTable:
        columns, whole, dialect = self.known.columns, self.whole, self.scratch.dialect
        if self.groups.largest > 1:
            sets, users = dialect.some_of(self.held, whole, columns, self.scratch)
            side = _side(sets, users, self.known)
        elif whole is None:  # in one group, each item is held once
            held = self.held.select(USER, VALUE, *columns)
            side = _side(*dialect.counted(held, self.scratch), self.known)
        else:
            (part,) = whole.parts
            side = _side(part.drop(*self.groups.values.columns), part, self.known)
            side = replace(side, find_users=whole.find_users)
        return SetsInTable(side, self.scratch).with_public(self.public)

    def pairs(self) -> PairSets:
        columns = [*self.groups.values.columns, *self.known.columns]
        numbered = NumberedItems(
            lambda: self.held.select(columns).distinct(), columns, self.scratch
        )
        held = self.held.select(USER, VALUE, *columns)
        sets, users = self.scratch.dialect.counted(held, self.scratch)
        own = SetsInTable(_side(sets, users, numbered), self.scratch)
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
        rows = rows.select(USER, VALUE, **{_PAIR: pair})
        sets, users = self.scratch.dialect.counted(rows, self.scratch)
        pairs = listed(sets)
        held = pairs.group_by(_PAIR).agg(**{HOLDERS: pairs.count()})
        pairs = pairs.select(USER, SIZE, **{CODE: pairs[_PAIR].cast("int32")})
        places = held.mutate(**{CODE: held[_PAIR]})
        n = len(groups) * len(items)
        numbered = NumberedItems(lambda: held, [_PAIR], self.scratch, places, n, are_numbers=True)
        own = SetsRead(numbered, lambda: (sets,), lambda: pairs[[USER, CODE, SIZE]], lambda: users)
        return SetsInTable(own, self.scratch)


def _side(sets: Expression, users: Expression, numbered: NumberedItems) -> SetsRead:
    """Users' sets of groups, or of items in whichever groups."""
    side = SetsRead(numbered, lambda: (sets,), lambda: side.coded(side.sets), lambda: users)
    return side
