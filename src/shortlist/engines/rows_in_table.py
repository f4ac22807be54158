"""Rows of users and items in an engine of their own, which adds up where they lie."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from shortlist.draws import Draws
from shortlist.engines._table_engine import (
    Origin,
    listed_description,
    public_description,
    require_whole_groups,
    shown_in_groups,
    shown_of,
    with_known,
)
from shortlist.engines.amounts_in_memory import (
    AmountsInGroups,
    AmountsInMemory,
    shown_amounts,
)
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.engines.items_together import (
    BYTES_A_COMBINATION,
    Combinations,
    ItemsTogether,
    in_order,
)
from shortlist.engines.known_in_groups import KnownInGroups
from shortlist.engines.rows_in_memory import RowsInGroups, RowsInMemory
from shortlist.engines.tables._amounts_in_table import AmountsInTable, require_alike
from shortlist.engines.tables._dialect import TableInEngine
from shortlist.engines.tables._expressions import Arrow, Expression
from shortlist.engines.tables._filters_in_table import filtered
from shortlist.engines.tables._groups_in_table import GroupsInTable
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_from_rows import ItemsInEngine, SetsRead, read_sets
from shortlist.engines.tables._sets_in_table import SetsInTable, held_together, rehearse
from shortlist.engines.tables.which_engine import table_in_engine
from shortlist.errors import Words
from shortlist.evidence import Contributions, KeyedPairs, PairsOfItems, Wants
from shortlist.table import SensitiveTable
from shortlist.table.keys import Coding
from shortlist.table.part import TablePart
from shortlist.table.reading import open_parts

if TYPE_CHECKING:
    import polars as pl

    from shortlist.table.amounts import Amounts


_BYTES_A_ROW = 8  # of short integers; of other keys it is more


class _UsersInEngine(Engine):
    """A table in an engine, whose first column says the user: read anew for each question, once.

    Where the engine works in this process, rows that memory holds are fetched, and added up there,
    which is faster. Which of both was done nobody is told: it depends on how many rows there are.
    """

    items_are_public = False
    items: Mapping[str, pl.DataType]
    _memory = 0  # that a fetched row takes beyond what is usual, in its own bytes

    def __init__(
        self,
        table: SensitiveTable,
        in_engine: TableInEngine,
        public: pl.DataFrame | None,
        by: tuple[str, ...],
        *,
        known: pl.DataFrame | None,
        may_fetch: bool,
    ) -> None:
        if may_fetch:
            in_engine = in_engine._replace(dialect=in_engine.dialect.beside_memory())
        self._table, self._in_engine, self._public = table, in_engine, public
        self.known, self.n_known = known, 0 if known is None else known.height
        self._may_fetch = may_fetch
        self.columns, self.items, self.by = table.columns, table.items, by
        self._origin = Origin(table)
        self.origin = Words("rows in {engine}", engine=in_engine.dialect.name)

    @property
    def unit(self) -> str:
        return next(iter(self.columns))

    def about(self) -> dict[str, object]:
        """What is public, with a digest of the query that the rows are."""
        by = {"by": list(self.by)} if self.by else {}
        known = public_description(self._table, self._public, self.known)
        return {**known, **by, "query": self._in_engine.digest()}

    def identity(self) -> object:
        return self._origin()

    @property
    def shows_changes(self) -> bool:
        return self._origin.shows_changes

    def assumes(self, wants: Wants) -> tuple[str, ...]:  # noqa: ARG002 - whatever is wanted
        """Where users are bounded, and by what."""
        bounding = self._in_engine.bounding
        if self._may_fetch:
            bounding += (
                "; or in memory, where that holds their rows, by random bits, which nobody can "
                "tell from that hash"
            )
        return (bounding,)

    def check(self, wants: Wants) -> None:
        """Ask the question of no rows."""
        bounds = wants.bound is not None or bool(self.by) or not self.items_are_public
        rehearse(self._in_engine, self.items, self._read, bounds=bounds)

    def _read(self, in_engine: TableInEngine, scratch: Scratch) -> SetsInTable:
        """Who holds what, of some rows of the table."""
        user, *names = self.columns
        return SetsInTable(read_sets(in_engine.rows, user, names, scratch), scratch)

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show what memory holds from there, and all else from the engine."""
        rows = self._fetched_rows() if self._may_fetch else None
        showing = self._shown(wants, draws) if rows is None else self._of(rows).show(wants, draws)
        with showing as shown:
            yield shown

    def _fetched_rows(self) -> Arrow | None:
        amounts = self._table.amounts
        numbers = [] if amounts is None else [amounts.column]
        return self._in_engine.fetched(list(self.columns), numbers, self._memory)

    def _of(self, rows: Arrow) -> Engine:
        """The same of rows that were fetched."""
        (part,) = open_parts(rows, "data")
        part = replace(part, origin=self.origin)
        amounts = self._table.amounts
        return self._in_memory(SensitiveTable([part], dict(self.columns), "user", amounts=amounts))

    def _in_memory(self, table: SensitiveTable) -> Engine:
        raise NotImplementedError

    def _shown(self, wants: Wants, draws: Draws) -> AbstractContextManager[ShownEvidence]:
        raise NotImplementedError


class RowsInTable(_UsersInEngine):
    """Who holds what, of which sums over all users are fetched, and the items that are named.

    What goes through the users one by one, which `Contributions` are for, has the rows fetched
    into memory.
    """

    def __init__(
        self,
        table: SensitiveTable,
        public: pl.DataFrame | None,
        by: tuple[str, ...] = (),
        *,
        known: pl.DataFrame | None = None,
        may_fetch: bool = False,
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user and an item a row, its one part in an engine.
            public: What everybody knows, one row an item; None where items are private.
            by: The first of an item's columns, where they say its group.
            known: Those of the private items that everybody knows, one row an item.
            may_fetch: Whether rows may be fetched, where the engine works in this process.
        """
        in_engine = _in_engine(table)
        may_fetch &= in_engine.dialect.is_in_process
        super().__init__(table, in_engine, public, by, known=known, may_fetch=may_fetch)
        self._fetched: RowsInMemory | ItemsTogether = RowsInMemory(table, public, known)
        self.items_are_public = public is not None
        self.n_items = self._fetched.n_items
        # Who holds what leaves an engine only where that was asked for, by `pull=True`.
        self.can_show = tuple(kind for kind in self._fetched.can_show if kind is not KeyedPairs)

    @property
    def fetches_rows(self) -> bool:
        """Always, for these."""
        return True

    def identity(self) -> object:
        """Where the table lies, and where it lay when its rows were fetched."""
        return [self._origin(), self._fetched.identity()]

    def assumes(self, wants: Wants) -> tuple[str, ...]:
        """Where users are bounded, and by what, if it is not in memory."""
        if self.items_are_public or _is_fetched(wants):
            return ()
        return super().assumes(wants)

    def grouped_by(self, names: object) -> RowsInTable:
        """The rows with further columns, which say groups: the first of an item's columns.

        Raises:
            InputError: A column is unknown, named twice, or of no usable type.
        """
        return _by(names, self._table, may_fetch=self._may_fetch)

    def of_items(self, public: pl.DataFrame) -> RowsInTable:
        """The same rows, where everybody knows the items that count."""
        return RowsInTable(self._table, public, may_fetch=self._may_fetch)

    @property
    def table(self) -> SensitiveTable:
        """What the rows are read from."""
        return self._table

    @property
    def types(self) -> dict[str, pl.DataType]:
        """The types of the columns of groups."""
        return {name: self._table.items[name] for name in self.by}

    @property
    def parts(self) -> list[TablePart]:
        """What the rows are read from."""
        return self._table.parts

    @property
    def listed(self) -> pl.DataFrame | None:
        """The items that everybody knows, of which no others count; None where they are private."""
        return self._public

    def together(self, together: Combinations) -> TogetherInTable:
        """What users hold together of the same rows; see `TogetherInTable`."""
        return TogetherInTable(self._table, together, may_fetch=self._may_fetch)

    def in_groups(self, lists: KnownInGroups) -> GroupedTable:
        """The same rows, each item in its group, by which groups and items everybody knows."""
        return GroupedTable(
            *(self._table, self._in_engine, lists, self.by), may_fetch=self._may_fetch
        )

    def as_pairs(self) -> RowsInTable:
        """The same rows, where an item is a pair of a group and an item."""
        return self

    def check(self, wants: Wants) -> None:
        """Ask the question of no rows."""
        if _is_fetched(wants):
            self._fetched.check(wants)
        else:
            super().check(wants)

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.bound` items, if there is a bound."""
        is_fetched = _is_fetched(wants)
        showing = self._fetched.show(wants, draws) if is_fetched else super().show(wants, draws)
        with showing as shown:
            yield shown

    def _in_memory(self, table: SensitiveTable) -> Engine:
        return RowsInMemory(table, self._public, self.known)

    @contextmanager
    def _shown(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        with self._in_engine.asking() as scratch:
            held = self._read(self._in_engine, scratch)
            items: Coding = ItemsInEngine(held.values.numbered, self._table.items, scratch)
            if self.known is not None:
                held, items = with_known(held, items, self.known)
            if wants.bound is not None:
                held = held.bounded(wants.bound, draws)
            yield shown_of(held, items, wants, self._public)


class TogetherInTable(RowsInTable):
    """Who holds which pairs, or triples, of items, by a join of users' sets with themselves.

    As `ItemsTogether`, of a user who holds more items than count, those of the smallest hash count.
    """

    def __init__(self, table: SensitiveTable, together: Combinations, *, may_fetch: bool) -> None:
        super().__init__(table, None, may_fetch=may_fetch)
        self.items = together.columns(table.items)
        self._together = together
        self._memory = math.ceil(together.most_for_an_item * BYTES_A_COMBINATION / _BYTES_A_ROW)
        self._fetched = RowsInMemory(table, None).together(together)
        self.can_show = self._fetched.can_show

    def about(self) -> dict[str, object]:
        return {**super().about(), **self._together.about()}

    @property
    def counts_in_part(self) -> bool:
        return True

    def _in_memory(self, table: SensitiveTable) -> Engine:
        return RowsInMemory(table, None).together(self._together)

    def _read(self, in_engine: TableInEngine, scratch: Scratch) -> SetsInTable:
        return held_together(super()._read(in_engine, scratch), self._together.of)

    @contextmanager
    def _shown(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.bound` combinations, if there is a bound."""
        with self._in_engine.asking() as scratch:
            items = super()._read(self._in_engine, scratch)
            items = items.bounded(self._together.most_items, draws)
            held = held_together(items, self._together.of)
            if wants.bound is not None:
                held = held.bounded(wants.bound, draws)
            coding = ItemsInEngine(held.values.numbered, self.items, scratch)
            yield ShownEvidence(held.shown_as(wants), lambda places: in_order(coding.take(places)))


class GroupedTable(_UsersInEngine):
    """Who holds what, or spent what, in which group: groups may be public, and items known."""

    def __init__(
        self,
        table: SensitiveTable,
        in_engine: TableInEngine,
        lists: KnownInGroups,
        by: tuple[str, ...],
        *,
        may_fetch: bool,
    ) -> None:
        super().__init__(table, in_engine, lists.groups, by, known=lists.known, may_fetch=may_fetch)
        self._lists, self.amounts = lists, table.amounts
        self.items_are_public, self.n_items = lists.listed is not None, lists.n_items
        self.n_groups = lists.n_groups
        self.can_show = lists.can_show

    def about(self) -> dict[str, object]:
        return {**super().about(), **listed_description(self._lists)}

    def require(self, wants: Wants) -> None:
        require_whole_groups(wants)

    def _in_memory(self, table: SensitiveTable) -> Engine:
        rows = RowsInGroups if self.amounts is None else AmountsInGroups
        return rows(table, len(self.by)).in_groups(self._lists)

    def _pairs(
        self, in_engine: TableInEngine, scratch: Scratch
    ) -> tuple[SetsRead, Expression | None]:
        """Who holds which pair of a group and an item; and what was spent, where that is asked."""
        user, *names = self.columns
        if self.amounts is None:
            return read_sets(in_engine.rows, user, names, scratch), None
        held = AmountsInTable.of_rows(in_engine, [user, *names], self.amounts, scratch)
        return held.sets.values, held.spent

    def _read(self, in_engine: TableInEngine, scratch: Scratch) -> SetsInTable:
        pairs, _ = self._pairs(in_engine, scratch)
        return SetsInTable(pairs, scratch)

    @contextmanager
    def _shown(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.groups` groups, if there is such a bound."""
        with self._in_engine.asking() as scratch:
            pairs, spent = self._pairs(self._in_engine, scratch)
            sets = GroupsInTable.of(pairs, len(self.by), scratch, spent)
            types = self._table.items
            by = {name: types[name] for name in self.by}
            groups = ItemsInEngine(sets.groups.values.numbered, by, scratch)
            items = ItemsInEngine(
                sets.known, {n: t for n, t in types.items() if n not in by}, scratch
            )
            yield shown_in_groups(sets, groups, items, self._lists, wants, draws)


class SumsInTable(_UsersInEngine):
    """Sums of what users spent on items, added up in the engine."""

    def __init__(
        self, table: SensitiveTable, public: pl.DataFrame | None, *, may_fetch: bool = False
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user, an item and an amount a row, its one part in an engine.
            public: What everybody knows, one row an item; None where items are private.
            may_fetch: Whether rows may be fetched, where the engine works in this process.

        Raises:
            InputError: Amounts may come out there as others than in memory.
        """
        in_engine = _in_engine(table)
        assert table.amounts is not None  # noqa: S101 - what this is for
        require_alike(in_engine, table.amounts)
        may_fetch &= in_engine.dialect.is_in_process
        super().__init__(table, in_engine, public, (), known=None, may_fetch=may_fetch)
        self.amounts: Amounts = table.amounts
        self.items_are_public = public is not None
        in_memory = AmountsInMemory(table, public)
        self.n_items, self.can_show = in_memory.n_items, in_memory.can_show

    def grouped_by(self, names: object) -> RowsInTable:
        """The rows with further columns, which say groups; see `RowsInTable.grouped_by`."""
        return _by(names, self._table, may_fetch=self._may_fetch)

    @property
    def listed(self) -> pl.DataFrame | None:
        """The items that everybody knows, of which no others count; None where they are private."""
        return self._public

    def of_items(self, public: pl.DataFrame) -> SumsInTable:
        """The same rows, where everybody knows the items that count."""
        return SumsInTable(self._table, public, may_fetch=self._may_fetch)

    @property
    def table(self) -> SensitiveTable:
        """What the rows are read from."""
        return self._table

    def assumes(self, wants: Wants) -> tuple[str, ...]:
        """Where users are bounded, and by what, where they are."""
        return () if self.items_are_public and wants.bound is None else super().assumes(wants)

    def _in_memory(self, table: SensitiveTable) -> Engine:
        return AmountsInMemory(table, self._public)

    def _spent(self, in_engine: TableInEngine, scratch: Scratch) -> AmountsInTable:
        return AmountsInTable.of_rows(in_engine, list(self.columns), self.amounts, scratch)

    def _read(self, in_engine: TableInEngine, scratch: Scratch) -> SetsInTable:
        return self._spent(in_engine, scratch).sets

    @contextmanager
    def _shown(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        with self._in_engine.asking() as scratch:
            held = self._spent(self._in_engine, scratch)
            items = ItemsInEngine(held.sets.values.numbered, self._table.items, scratch)
            yield shown_amounts(held, items, wants, draws, self._public)


def _by(names: object, table: SensitiveTable, *, may_fetch: bool) -> RowsInTable:
    """Rows of a table with further columns, the first of an item's."""
    grouped = table.by(names)
    by = tuple(grouped.items)[: len(grouped.items) - len(table.items)]
    return RowsInTable(grouped, None, by, may_fetch=may_fetch)


def _in_engine(table: SensitiveTable) -> TableInEngine:
    """The rows that count, of which the columns are read that are named."""
    named = [*table.columns, *(() if table.where is None else table.where.columns)]
    named += [] if table.amounts is None else [table.amounts.column]
    in_engine = table_in_engine(table.parts[0].held, list(dict.fromkeys(named)))
    return in_engine if table.where is None else filtered(in_engine, table.where)


def _is_fetched(wants: Wants) -> bool:
    """Whether the rows come into memory, and users are bounded there."""
    return issubclass(wants.kind, Contributions | PairsOfItems)
