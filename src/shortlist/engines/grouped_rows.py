"""Rows of users, groups and items in this process's memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines._described import Origin, described
from shortlist.engines._once import Once
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.evidence import (
    GroupedSets,
    PrivateCounts,
    UserGroups,
    UserSets,
    Wants,
    WeightedHistogram,
)
from shortlist.evidence.buckets import Buckets, Codes
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped_sets import Pairing
from shortlist.table import SensitiveTable
from shortlist.table.coding import join
from shortlist.table.keys import Coding, Keys
from shortlist.table.part import origin_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["GroupedRows", "PairRows", "Rows"]


class _Held(NamedTuple):
    """Who holds what, in which group, and what the codes stand for."""

    sets: GroupedSets
    groups: Coding
    items: Coding

    def take(self, groups: Ints | Codes, items: Ints | Codes) -> pl.DataFrame:
        """The columns of these groups, and those of these items."""
        return self.groups.take(groups).hstack(self.items.take(items))


class Rows:
    """A table of users, groups and items, read once for all questions.

    Attributes:
        by: The columns of the groups.
        types: Those of these columns.
        parts: What they are read from.
        columns: The types of all columns.
        held: Who holds what in which group.
        pairs: Who holds which pair of a group and an item; and these.
    """

    def __init__(self, table: SensitiveTable, n_by: int) -> None:
        """Read nothing yet.

        Args:
            table: With a user, a group and an item a row: the first item columns say the group.
            n_by: How many these are.
        """
        self._table, self._n_by = table, n_by
        self.types = dict(list(table.items.items())[:n_by])
        self.by, self.parts, self.columns = tuple(self.types), table.parts, table.columns
        self.held, self.pairs = Once(self._read, Origin(table)), Once(self._join)

    @property
    def unit(self) -> str:
        """The column of users."""
        return next(iter(self._table.columns))

    def in_groups(self, public: pl.DataFrame | None) -> GroupedRows:
        """An engine of each item in its group; the groups that everybody knows, if they do."""
        return GroupedRows(self, public)

    def as_pairs(self) -> PairRows:
        """An engine where an item is a pair of a group and an item."""
        return PairRows(self)

    def about(self, public: object) -> dict[str, object]:
        """What is public of the rows, as JSON values, and which groups are known."""
        return {**described(self._table, public), "by": list(self.by)}

    def check(self) -> None:
        """As `Engine.check`: of what was not read yet."""
        if not self.held.is_found:
            self._table.check()

    def _read(self) -> _Held:
        users, groups, items = self._table.grouped(self._n_by)
        codings = groups.coding, items.coding
        codes, pairing = _paired(groups, items)
        del groups, items  # frees codes before memory for the sets is taken
        buckets = Buckets.of_rows(users.codes, codes, users.size)
        del users, codes
        return _Held(GroupedSets.of_buckets(buckets, pairing), *codings)

    def _join(self) -> tuple[Contributions, Keys]:
        sets, of_groups, of_items = self.held()
        parts = sets.parts
        of_rows = np.repeat(sets.groups.items, parts.sizes)
        pairs = join(
            Keys(of_rows, sets.n_groups, of_groups), Keys(parts.listed(), sets.n_items, of_items)
        )
        before = np.append(0, np.cumsum(parts.sizes))
        starts = before[sets.groups.starts]
        sizes = before[sets.groups.starts + sets.groups.sizes] - starts
        return Contributions(starts, sizes, pairs.codes, pairs.size), pairs


def _paired(groups: Keys, items: Keys) -> tuple[Codes, Pairing]:
    """Codes of the rows' pairs; those of the groups are not to be used any more."""
    packed = Pairing(groups.size, items.size)
    if packed.fits:
        return packed.pack(groups.codes, items.codes), packed
    pairs = join(groups, items)
    group_of, item_of = np.zeros(pairs.size, np.uint32), np.zeros(pairs.size, np.uint32)
    group_of[pairs.codes], item_of[pairs.codes] = groups.codes, items.codes
    return pairs.codes, Pairing(groups.size, items.size, group_of, item_of)


class PairRows(Engine):
    """Who holds what, where an item is a pair of a group and an item."""

    can_show = (WeightedHistogram, PrivateCounts, UserSets, Contributions)
    items_are_public = False

    def __init__(self, rows: Rows) -> None:
        """Read nothing yet."""
        self._rows, self.by, self.columns = rows, rows.by, rows.columns
        self.origin = origin_of(rows.parts)

    @property
    def unit(self) -> str:
        """As `Engine`."""
        return self._rows.unit

    def about(self) -> dict[str, object]:
        """As `Engine`."""
        return self._rows.about(None)

    def identity(self) -> object:
        """As `Engine`."""
        return self._rows.held.identity

    def check(self, wants: Wants) -> None:  # noqa: ARG002 - whatever is wanted
        """As `Engine.check`."""
        self._rows.check()

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """As `Engine.show`: of each user at most `wants.bound` pairs, if there is one."""
        held, pairs = self._rows.pairs()
        if wants.bound is not None:
            held = held.bounded(wants.bound, draws)
        yield ShownEvidence(held.shown_as(wants), pairs.take)


class GroupedRows(Engine):
    """Who holds what, in which group."""

    can_show = (UserGroups,)
    items_are_public = False

    def __init__(self, rows: Rows, public: pl.DataFrame | None) -> None:
        """Read nothing yet.

        Args:
            rows: With a user, a group and an item each.
            public: The groups that everybody knows, one row each; None where they are private.
        """
        self._rows, self._public = rows, public
        self.by, self.columns, self.origin = rows.by, rows.columns, origin_of(rows.parts)

    @property
    def unit(self) -> str:
        """As `Engine`."""
        return self._rows.unit

    def about(self) -> dict[str, object]:
        """As `Engine`."""
        return self._rows.about(self._public)

    def identity(self) -> object:
        """As `Engine`."""
        return self._rows.held.identity

    def check(self, wants: Wants) -> None:  # noqa: ARG002 - whatever is wanted
        """As `Engine.check`."""
        self._rows.check()

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - see `wants`
        """As `Engine.show`: whole sets, which the mechanism bounds. Others' groups are left out."""
        known = self._rows.held()
        sets, public = known.sets, self._public
        if public is not None:
            sets = sets.within(known.groups.find(public))

        def named(positions: Ints) -> pl.DataFrame:
            groups, items = np.divmod(positions, max(sets.n_items, 1))
            if public is None:
                return known.take(groups, items)
            return public[groups].hstack(known.items.take(items))

        yield ShownEvidence(sets, named)
