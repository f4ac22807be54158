"""Rows of users and items in this process's memory; and of users, groups and items."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines._table_engine import (
    Once,
    Origin,
    UsersInMemory,
    listed_description,
    require_whole_groups,
    shown_in_groups,
    shown_of,
    with_known,
)
from shortlist.engines.engine import ShownEvidence
from shortlist.engines.items_together import Combinations, ItemsTogether
from shortlist.engines.known_in_groups import KnownInGroups
from shortlist.evidence import (
    GroupedAmounts,
    GroupedSets,
    KeyedPairs,
    PrivateCounts,
    PublicCounts,
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

if TYPE_CHECKING:
    import polars as pl

_PRIVATE = (WeightedHistogram, PrivateCounts, UserSets, Contributions)


class RowsInMemory(UsersInMemory):
    """Who holds what, read once from a table of users and items."""

    def __init__(
        self,
        table: SensitiveTable,
        public: pl.DataFrame | None,
        known: pl.DataFrame | None = None,
        held: Once[tuple[Contributions, Coding]] | None = None,
        grouped: dict[tuple[str, ...], RowsInGroups] | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user and an item a row.
            public: What everybody knows, one row an item; None where items are private.
            known: Those of the private items that everybody knows, likewise.
            held: What was read, where several engines share it.
            grouped: What was read with columns of groups, by these, likewise.
        """
        super().__init__(table, public, held, known)
        self.n_items = None if public is None else public.height
        private, known_to_all = (*_PRIVATE, KeyedPairs), (PublicCounts, UserSets, Contributions)
        self.can_show = private if public is None else known_to_all
        self._grouped = {} if grouped is None else grouped

    def grouped_by(self, names: object) -> RowsInGroups:
        """The rows with further columns, which say groups; they are read once, however often asked.

        Raises:
            InputError: A column is unknown, named twice, or of no usable type.
        """
        table = self._table.by(names)
        n_by = len(table.items) - len(self._table.items)
        return self._grouped.setdefault(tuple(table.items)[:n_by], RowsInGroups(table, n_by))

    def together(self, together: Combinations) -> ItemsTogether:
        """What users hold together of the same rows, read once for both; see `ItemsTogether`."""
        return ItemsTogether(self._table, self._held, together)

    def of_items(self, public: pl.DataFrame) -> RowsInMemory:
        """The same rows, read once for both, where everybody knows the items that count."""
        return RowsInMemory(self._table, public, held=self._held, grouped=self._grouped)

    @property
    def listed(self) -> pl.DataFrame | None:
        """The items that everybody knows, of which no others count; None where they are private."""
        public: pl.DataFrame | None = self._public
        return public

    @property
    def table(self) -> SensitiveTable:
        """What the rows are read from."""
        table: SensitiveTable = self._table
        return table

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.bound` items, if there is a bound.

        Pairs by their values are read anew.
        """
        if wants.kind is KeyedPairs:
            yield ShownEvidence(KeyedPairs(self._table.by_value()), _by_no_position)
            return
        held, items = self._held()
        if self.known is not None:
            held, items = with_known(held, items, self.known)
        if wants.bound is not None:
            held = held.bounded(wants.bound, draws)
        yield shown_of(held, items, wants, self._public)

    def _read(self) -> tuple[Contributions, Coding]:
        """Who holds what."""
        users, items = self._table.pairs()
        buckets = Buckets.of_rows(users.codes, items.codes, users.size)
        n_items, coding = items.size, items.coding
        del users, items  # frees the codes, 8 bytes a row, before memory for the groups is taken
        return Contributions.of_buckets(buckets, n_items), coding


def _by_no_position(_: Ints) -> pl.DataFrame:
    raise ValueError("pairs by their values have no positions.")


class InGroups(NamedTuple):
    """Who holds what, or spent what, in which group, and what the codes stand for."""

    sets: GroupedSets | GroupedAmounts
    groups: Coding
    items: Coding


class RowsInGroups:
    """A table of users, groups and items, read once for all questions.

    Attributes:
        table: The table.
        by: The columns of the groups.
        types: The types of these columns.
        parts: What the rows are read from.
        held: Who holds what in which group.
        pairs: Who holds which pair of a group and an item; and these.
    """

    def __init__(self, table: SensitiveTable, n_by: int) -> None:
        """Read nothing yet.

        Args:
            table: With a user, a group and an item a row: the first item columns say the group.
            n_by: How many these are.
        """
        self.table, self._n_by = table, n_by
        self.types = dict(list(table.items.items())[:n_by])
        self.by, self.parts = tuple(self.types), table.parts
        self.held, self.pairs = Once(self._read, Origin(table)), Once(self._join)

    def in_groups(self, lists: KnownInGroups) -> GroupedRows:
        """An engine of each item in its group, by which groups and items everybody knows."""
        return GroupedRows(self, lists)

    def as_pairs(self) -> PairRows:
        """An engine where an item is a pair of a group and an item."""
        return PairRows(self)

    def _read(self) -> InGroups:
        users, groups, items = self.table.grouped(self._n_by)
        codings = groups.coding, items.coding
        codes, pairing = _paired(groups, items)
        del groups, items  # frees codes before memory for the sets is taken
        buckets = Buckets.of_rows(users.codes, codes, users.size)
        del users, codes
        return InGroups(GroupedSets.of_buckets(buckets, pairing), *codings)

    def _join(self) -> tuple[Contributions, Keys]:
        sets, of_groups, of_items = self.held()
        assert isinstance(sets, GroupedSets)  # noqa: S101 - of amounts, nobody asks for pairs
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


class PairRows(UsersInMemory):
    """Who holds what, where an item is a pair of a group and an item."""

    can_show = _PRIVATE

    def __init__(self, rows: RowsInGroups) -> None:
        super().__init__(rows.table, None, rows.held)
        self.by, self._pairs = rows.by, rows.pairs

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.bound` pairs, if there is a bound."""
        held, pairs = self._pairs()
        if wants.bound is not None:
            held = held.bounded(wants.bound, draws)
        yield ShownEvidence(held.shown_as(wants), pairs.take)


class GroupedRows(UsersInMemory):
    """Who holds what, in which group."""

    def __init__(self, rows: RowsInGroups, lists: KnownInGroups) -> None:
        """Read nothing yet.

        Args:
            rows: With a user, a group and an item each.
            lists: What everybody knows of groups and items.
        """
        super().__init__(rows.table, lists.groups, rows.held, lists.known)
        self.by, self.amounts, self._lists = rows.by, rows.table.amounts, lists
        self.items_are_public, self.n_items = lists.listed is not None, lists.n_items
        self.n_groups = lists.n_groups
        self.can_show = lists.can_show

    def about(self) -> dict[str, object]:
        return {**super().about(), **listed_description(self._lists)}

    def require(self, wants: Wants) -> None:
        require_whole_groups(wants)

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.groups` groups, if there is such a bound."""
        held: InGroups = self._held()
        yield shown_in_groups(*held, self._lists, wants, draws)
