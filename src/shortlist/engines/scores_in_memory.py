"""Scores in this process's memory: one for each item that everybody knows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws, Floats
from shortlist.engines._table_engine import TableInMemory
from shortlist.engines.engine import ShownEvidence
from shortlist.evidence import PublicCounts, PublicScores, Wants
from shortlist.parameters import Direction
from shortlist.table import SensitiveTable
from shortlist.table.public_items import IN_TABLE, InTable
from shortlist.table.sensitive_table import align

if TYPE_CHECKING:
    import polars as pl


class StatedScores(TableInMemory):
    """Scores, read once from a table of items and their scores, with what is stated of them."""

    # The first says whose mechanisms select: those of counts, as which the scores stand.
    can_show = (PublicCounts, PublicScores)

    def __init__(
        self,
        table: SensitiveTable,
        public: pl.DataFrame | InTable,
        *,
        sensitivity: float,
        direction: Direction,
        missing: float,
    ) -> None:
        """Read nothing yet.

        Args:
            table: With an item and its score a row.
            public: What everybody knows: a list, or the table's items.
            sensitivity: How far one user moves a score at most, as the caller says.
            direction: Whether one user moves all scores the same way, likewise.
            missing: The score of an item that has none.
        """
        super().__init__(table, public)
        self.n_items = None if isinstance(public, InTable) else public.height
        self._sensitivity, self._direction, self._missing = sensitivity, direction, missing

    def about(self) -> dict[str, object]:
        return {**super().about(), "missing": self._missing}

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - nothing is drawn
        """Show the scores with what is stated of them."""
        items, scores = self._held()
        evidence = PublicScores(scores, self._sensitivity, self._direction)
        yield ShownEvidence(evidence, items.__getitem__, len(items))

    def _read(self) -> tuple[pl.DataFrame, Floats]:
        """The items, and the score of each: of those that a list says, if there is one."""
        items, scores = self._table.scores()
        scores = np.where(np.isnan(scores), self._missing, scores)
        if self._public is IN_TABLE:
            return items, scores
        return self._public, align(items, scores, self._public, absent=self._missing)
