"""Rows of users and items in this process's memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shortlist.draws import Draws
from shortlist.engines._described import Origin, described
from shortlist.engines._once import Once
from shortlist.engines._showing import shown_of
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.engines.grouped_rows import Rows
from shortlist.evidence import PrivateCounts, PublicCounts, UserSets, Wants, WeightedHistogram
from shortlist.evidence.buckets import Buckets
from shortlist.evidence.contributions import Contributions
from shortlist.table import SensitiveTable
from shortlist.table.keys import Coding
from shortlist.table.part import origin_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["RowsInMemory"]


class RowsInMemory(Engine):
    """Who holds what, read once from a table of users and items."""

    def __init__(self, table: SensitiveTable, public: pl.DataFrame | None) -> None:
        """Read nothing yet.

        Args:
            table: With a user and an item a row.
            public: What everybody knows, one row an item; None where items are private.
        """
        self._table, self._public = table, public
        self.columns, self.origin = table.columns, origin_of(table.parts)
        self.items_are_public = public is not None
        self.n_items = None if public is None else public.height
        histograms = (
            (PublicCounts,) if self.items_are_public else (WeightedHistogram, PrivateCounts)
        )
        self.can_show = (*histograms, UserSets, Contributions)
        self._held = Once(self._read, Origin(table))
        self._grouped: dict[tuple[str, ...], Rows] = {}

    def grouped_by(self, names: object) -> Rows:
        """The rows with further columns, which say groups; they are read once, however often asked.

        Raises:
            InputError: A column is unknown, named twice, or of no usable type.
        """
        table = self._table.by(names)
        n_by = len(table.items) - len(self._table.items)
        return self._grouped.setdefault(tuple(table.items)[:n_by], Rows(table, n_by))

    @property
    def unit(self) -> str:
        """As `Engine`: the column of users."""
        return next(iter(self._table.columns))

    def about(self) -> dict[str, object]:
        """As `Engine`."""
        return described(self._table, self._public)

    def identity(self) -> object:
        """As `Engine`."""
        return self._held.identity

    def check(self, wants: Wants) -> None:  # noqa: ARG002 - whatever is wanted
        """As `Engine.check`: of what was not read yet."""
        if not self._held.is_found:
            self._table.check()

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """As `Engine.show`: of each user at most `wants.bound` items, if there is one."""
        held, items = self._held()
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
