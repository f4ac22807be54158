"""Rows of users and items in an engine of their own, which adds up where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shortlist.draws import Draws
from shortlist.engines._described import Origin
from shortlist.engines._grouped_table import GroupedTable
from shortlist.engines._showing import shown_of
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.engines.tables import Items, SetsInTable, lying, read, rehearse
from shortlist.errors import Words
from shortlist.evidence import Contributions, Wants
from shortlist.table import SensitiveTable
from shortlist.table.part import TablePart

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RowsInTable"]


class RowsInTable(Engine):
    """Who holds what, of which sums over all users are fetched, and the items that are named.

    Each question reads the rows anew, once. What goes through the users one by one, which
    `Contributions` are for, has the rows fetched into memory.
    """

    def __init__(
        self,
        table: SensitiveTable,
        public: pl.DataFrame | None,
        by: tuple[str, ...] = (),
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user and an item a row, its one part in an engine.
            public: What everybody knows, one row an item; None where items are private.
            by: The first of an item's columns, where they say its group.
        """
        self._table, self._public = table, public
        self.columns, self.by = table.columns, by
        self._lying = lying(table.parts[0].held, table.columns)
        self.origin = Words("rows in {engine}", engine=self._lying.dialect.name)
        self._fetched = RowsInMemory(table, public)
        self.items_are_public = public is not None
        self.n_items = self._fetched.n_items
        self.can_show = self._fetched.can_show
        self._origin = Origin(table)

    @property
    def unit(self) -> str:
        """As `Engine`: the column of users."""
        return self._fetched.unit

    def about(self) -> dict[str, object]:
        """As `Engine`, with a digest of the query that the rows are."""
        by = {"by": list(self.by)} if self.by else {}
        return {**self._fetched.about(), **by, "query": self._lying.digest()}

    def identity(self) -> object:
        """As `Engine`: where the table lies, and where it lay when its rows were fetched."""
        return [self._origin(), self._fetched.identity()]

    def assumes(self, wants: Wants) -> tuple[str, ...]:
        """As `Engine.assumes`: where users are bounded, and by what, if it is not in memory."""
        if self.items_are_public or _is_fetched(wants):
            return ()
        return (self._lying.bounding,)

    def grouped_by(self, names: object) -> RowsInTable:
        """The rows with further columns, which say groups: the first of an item's columns.

        Raises:
            InputError: A column is unknown, named twice, or of no usable type.
        """
        table = self._table.by(names)
        n_by = len(table.items) - len(self._table.items)
        return RowsInTable(table, None, tuple(table.items)[:n_by])

    @property
    def types(self) -> dict[str, pl.DataType]:
        """Those of the columns of groups."""
        return {name: self._table.items[name] for name in self.by}

    @property
    def parts(self) -> list[TablePart]:
        """What the rows are read from."""
        return self._table.parts

    def in_groups(self, public: pl.DataFrame | None) -> GroupedTable:
        """The same rows, each item in its group; the groups that everybody knows, if they do."""
        return GroupedTable(self._table, self.by, self._lying, public)

    def as_pairs(self) -> RowsInTable:
        """The same rows, where an item is a pair of a group and an item."""
        return self

    def check(self, wants: Wants) -> None:
        """As `Engine.check`: the question is asked of no rows."""
        if _is_fetched(wants):
            self._fetched.check(wants)
        else:
            bounds = wants.bound is not None or not self.items_are_public
            rehearse(self._lying, self._table.columns, bounds=bounds)

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """As `Engine.show`: of each user at most `wants.bound` items, if there is one."""
        if _is_fetched(wants):
            with self._fetched.show(wants, draws) as shown:
                yield shown
            return
        user, *names = self._table.columns
        with self._lying.asking() as scratch:
            values = read(self._lying.rows, user, names, scratch)
            held = SetsInTable(values, scratch)
            if wants.bound is not None:
                held = held.bounded(wants.bound, draws)
            items = Items(values.numbered, self._table.items, scratch)
            yield shown_of(held, items, wants, self._public)


def _is_fetched(wants: Wants) -> bool:
    """Whether the rows come into memory, and users are bounded there."""
    return issubclass(wants.kind, Contributions)
