"""Users' items in groups in an engine: one table of who holds what where, and its sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
)
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import NumberedItems, SetsRead
from shortlist.engines.tables._sets_in_table import SetsInTable
from shortlist.evidence import UserGroups

__all__ = ["GroupsInTable"]

_GROUP, _ITEM, _PAIR = "place_of_group", "place_of_item", "pair"


@dataclass(frozen=True, eq=False)
class GroupsInTable(UserGroups):
    """Sets of items, one for each user in each group, of which nothing leaves the engine but sums.

    Attributes:
        groups: The groups that each user is in.
        held: Who holds what in which group, a temporary table of distinct rows: `USER`, `VALUE`,
            the columns of groups and those of items.
        known: The items by numbers, with all who hold them, in whichever groups.
        groups_are_public: Whether everybody knows the groups.
    """

    groups: SetsInTable
    held: Expression
    known: NumberedItems
    scratch: Scratch
    groups_are_public: bool = False

    @classmethod
    def of(cls, pairs: SetsRead, n_by: int, scratch: Scratch) -> GroupsInTable:
        """The sets of pairs of a group and an item, whose first columns are a group's."""
        by, items = pairs.columns[:n_by], pairs.columns[n_by:]
        held = scratch.keep(pairs.sets.select(USER, VALUE, *by, *items))
        known = _numbered(held.select(USER, *items).distinct(), items, scratch)
        return cls(SetsInTable(_side(held, by, scratch), scratch), held, known, scratch)

    @property
    def n_groups(self) -> int:
        return self.groups.n_items

    @property
    def n_items(self) -> int:
        return self.known.n

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
        held = self.scratch.keep(kept)
        own = _side(held, by, self.scratch, groups.values.numbered)
        return replace(self, groups=SetsInTable(own, self.scratch), held=held)

    def items(self) -> SetsInTable:
        own = _side(self.held, self.known.columns, self.scratch, self.known)
        return SetsInTable(own, self.scratch)

    def among(self, groups: Ints, items: Ints) -> SetsInTable:
        """What a user holds are then places, which are their own numbers."""
        by = self._asked(self.groups.values.numbered, groups, _GROUP)
        wanted = self._asked(self.known, items, _ITEM)
        rows = self.held.join(by, self.groups.values.columns).join(wanted, self.known.columns)
        pair = rows[_GROUP] * len(items) + rows[_ITEM]
        sets = _sized(rows.select(USER, VALUE, **{_PAIR: pair}), self.scratch)
        held = sets.group_by(_PAIR).agg(**{HOLDERS: sets.count()})
        places, n = held.mutate(**{CODE: held[_PAIR]}), len(groups) * len(items)
        pairs = sets.select(USER, SIZE, **{CODE: sets[_PAIR].cast("int32")})
        numbered = NumberedItems(held, [_PAIR], self.scratch, places, n)
        own = SetsRead(numbered, lambda: (sets,), lambda: pairs[[USER, CODE, SIZE]])
        return SetsInTable(own, self.scratch)

    def _asked(self, known: NumberedItems, codes: Ints, place: str) -> Expression:
        """What these codes stand for, each with its place."""
        given = self.scratch.give({CODE: codes.astype(np.int32), PLACE: np.arange(len(codes))})
        asked = given.join(known.table, CODE)
        return asked.select(*known.columns, **{place: asked[PLACE]})


def _side(
    held: Expression,
    columns: Sequence[str],
    scratch: Scratch,
    numbered: NumberedItems | None = None,
) -> SetsRead:
    """Users' distinct sets of some of the columns, numbered as is known, or as they come."""
    sets = _sized(held.select(USER, VALUE, *columns).distinct(), scratch)
    if numbered is None:
        numbered = _numbered(sets, columns, scratch)

    def find_pairs() -> Expression:
        return scratch.keep(side.coded(sets))

    side = SetsRead(numbered, lambda: (sets,), find_pairs)
    return side


def _numbered(sets: Expression, columns: Sequence[str], scratch: Scratch) -> NumberedItems:
    """What users hold, with how many do; numbers are given when they are asked for."""
    held = sets.group_by(list(columns)).agg(**{HOLDERS: sets.count()})
    return NumberedItems(held, list(columns), scratch)


def _sized(rows: Expression, scratch: Scratch) -> Expression:
    """Distinct rows, worked out once, each with how many its user has."""
    size = rows.count().over(group_by=rows[USER]).cast("int32")
    return scratch.keep(rows.mutate(**{SIZE: size}))
