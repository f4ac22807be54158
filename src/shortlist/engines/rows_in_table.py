"""Rows of users and items in an engine of their own, which adds up where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, NoReturn

from shortlist.draws import Draws
from shortlist.engines._showing import shown_of
from shortlist.engines.base import Engine, ShownEvidence
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.engines.tables import Items, Scratch, SetsInTable, lying, read
from shortlist.errors import InputError, Words
from shortlist.evidence import Contributions, Wants
from shortlist.table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RowsInTable"]


class RowsInTable(Engine):
    """Who holds what, of which sums over all users are fetched, and the items that are named.

    Each question reads the rows anew, once. What goes through the users one by one, which
    `Contributions` are for, has the rows fetched into memory.
    """

    def __init__(self, table: Table, public: pl.DataFrame | None) -> None:
        """Read nothing yet.

        Args:
            table: With a user and an item a row, its one part in an engine.
            public: What everybody knows, one row an item; None where items are private.
        """
        self._table, self._public = table, public
        self.columns = table.columns
        self._lying = lying(table.parts[0].held, table.columns)
        self.origin = Words("rows in {engine}", engine=self._lying.dialect.name)
        self._fetched = RowsInMemory(table, public)
        self.items_are_public = public is not None
        self.n_items = self._fetched.n_items
        self.can_show = self._fetched.can_show
        self._asking = Lock()  # a connection answers one question at a time

    @property
    def unit(self) -> str:
        """As `Engine`: the column of users."""
        return self._fetched.unit

    def about(self) -> dict[str, object]:
        """As `Engine`, with a digest of the query that the rows are."""
        return {**self._fetched.about(), "query": self._lying.digest()}

    def assumes(self, wants: Wants) -> tuple[str, ...]:
        """As `Engine.assumes`: where users are bounded, and by what, if it is not in memory."""
        if self.items_are_public or _is_fetched(wants):
            return ()
        dialect = self._lying.dialect
        return (f"users are bounded in {dialect.name}, by {dialect.hash} of a fresh key",)

    def grouped_by(self, names: object) -> NoReturn:  # noqa: ARG002 - as of rows in memory
        """Refuse: groups are bounded and counted in memory.

        Raises:
            InputError: Always.
        """
        raise InputError(
            "rows in an engine are not answered by group there",
            "give {pull=True}, and they are fetched",
            given={"by": ...},
        )

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """As `Engine.show`: of each user at most `wants.bound` items, if there is one."""
        if _is_fetched(wants):
            with self._fetched.show(wants, draws) as shown:
                yield shown
            return
        user, *names = self._table.columns
        with self._asking, Scratch(self._lying.dialect) as scratch:
            values = read(self._lying.rows, user, names, scratch)
            held = SetsInTable(values, scratch)
            if wants.bound is not None:
                held = held.bounded(wants.bound, draws)
            items = Items(values.numbered, self._table.items, scratch)
            yield shown_of(held, items, wants, self._public)


def _is_fetched(wants: Wants) -> bool:
    """Whether the rows come into memory, and users are bounded there."""
    return issubclass(wants.kind, Contributions)
