"""Comparisons in this process's memory: which of two items did better."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws
from shortlist.engines._table_engine import TableInMemory
from shortlist.engines.engine import ShownEvidence
from shortlist.evidence import Outcomes, Wants, Wins
from shortlist.evidence.contributions import Contributions
from shortlist.table.comparison_rows import ComparisonRows, ComparisonTable
from shortlist.table.public_items import IN_TABLE, InTable

if TYPE_CHECKING:
    import polars as pl


class ComparisonsInMemory(TableInMemory):
    """Winners and losers, read once from a table of comparisons."""

    can_show = (Wins, Outcomes)

    def __init__(self, table: ComparisonTable, public: pl.DataFrame | InTable) -> None:
        """Read nothing yet.

        Args:
            table: With a winner and a loser a row, and perhaps who compared them.
            public: What everybody knows: a list, or the table's items.
        """
        super().__init__(table, public)
        self.n_items = None if public is IN_TABLE else len(public)

    @property
    def unit(self) -> str:
        """The column of users, if there is one; else each comparison by itself."""
        *_, user = (*self.columns, "comparison")[:3]
        return user

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.bound` comparisons, if there is a bound."""
        rows, users = self._held()
        n_items = len(rows.items)
        winners, losers = rows.winners, rows.losers
        if users is not None and wants.bound is not None:
            counted = users.bounded(wants.bound, draws).listed()
            winners, losers = winners[counted], losers[counted]
        evidence: Wins | Outcomes = Wins(np.bincount(winners, minlength=n_items), wants.bound)
        if wants.kind is Outcomes:
            evidence = Outcomes.of_rows(winners, losers, n_items, wants.bound)
        yield ShownEvidence(evidence, rows.items.__getitem__, n_items)

    def _read(self) -> tuple[ComparisonRows, Contributions | None]:
        """The comparisons, and which rows are whose."""
        rows = self._table.rows(self._public)
        return rows, _by_user(rows)


def _by_user(rows: ComparisonRows) -> Contributions | None:
    """The rows of each user, as if they were items that nobody else holds."""
    if rows.users is None:
        return None
    numbers = np.arange(len(rows.users), dtype=np.uint32)
    return Contributions.of_rows(rows.users, numbers, n_users=rows.n_users, n_items=len(numbers))
