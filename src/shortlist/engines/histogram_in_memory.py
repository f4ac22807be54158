"""A histogram in this process's memory: how many users hold each item, and no word of who."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from shortlist.draws import Draws, Ints
from shortlist.engines._described import Origin, described
from shortlist.engines._once import Once
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.errors import InputError
from shortlist.evidence import PrivateCounts, PublicCounts, Wants
from shortlist.table import SensitiveTable
from shortlist.table.part import origin_of
from shortlist.table.public_items import IN_TABLE, InTable
from shortlist.table.sensitive_table import align

if TYPE_CHECKING:
    import polars as pl

__all__ = ["HistogramInMemory"]


class HistogramInMemory(Engine):
    """Counts, read once from a table of items and their counts."""

    def __init__(
        self, table: SensitiveTable, public: pl.DataFrame | InTable | None, promised: int | None
    ) -> None:
        """Read nothing yet.

        Args:
            table: With an item and its count a row.
            public: What everybody knows: a list, or the table's items; None where it is nothing.
            promised: In how many counts a user is at most, as the caller says; None if in any.
        """
        self._table, self._public, self._promised = table, public, promised
        self.columns, self.origin = table.columns, origin_of(table.parts)
        self.items_are_public = public is not None
        self.n_items = None if public is None or public is IN_TABLE else len(public)
        self.can_show = (PublicCounts,) if self.items_are_public else (PrivateCounts,)
        self._held = Once(self._read, Origin(table))

    def require(self, wants: Wants) -> None:
        """Nobody can be bounded here: what is wanted must have been promised."""
        promised = self._promised
        if wants.bound is not None and (promised is None or promised > wants.bound):
            looser = "no bound" if promised is None else str(promised)
            raise InputError(
                "it needs at most {bound} items of each user, and this histogram promises {looser}",
                "give the bound to {sl.counts}, if it holds, or take another mechanism",
                given={"mechanism": ...},
                bound=wants.bound,
                looser=looser,
            )

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
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - nothing is drawn
        """As `Engine.show`: the counts with the bound that was promised."""
        items, held = self._held()
        public = self.items_are_public
        evidence = wants.kind(held, self._promised)
        yield ShownEvidence(evidence, items.__getitem__, len(items) if public else None)

    def _read(self) -> tuple[pl.DataFrame, Ints]:
        """The items, and the count of each: of those that a list says, if there is one."""
        items, held = self._table.counts()
        if self._public is None or self._public is IN_TABLE:
            return items, held
        return self._public, align(items, held, self._public)
