"""Comparisons in this process's memory: which of two items did better."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws
from shortlist.engines._described import Origin, described
from shortlist.engines._once import Once
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.evidence import Outcomes, Wants, Wins
from shortlist.evidence.contributions import Contributions
from shortlist.table.comparison_rows import ComparisonRows, ComparisonTable
from shortlist.table.part import origin_of
from shortlist.table.public_items import IN_TABLE, InTable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ComparisonsInMemory"]


class ComparisonsInMemory(Engine):
    """Winners and losers, read once from a table of comparisons."""

    can_show = (Wins, Outcomes)
    items_are_public = True

    def __init__(self, table: ComparisonTable, public: pl.DataFrame | InTable) -> None:
        """Read nothing yet.

        Args:
            table: With a winner and a loser a row, and perhaps who compared them.
            public: What everybody knows: a list, or the table's items.
        """
        self._table, self._public = table, public
        self.columns, self.origin = table.columns, origin_of(table.parts)
        self.n_items = None if public is IN_TABLE else len(public)
        self._held = Once(self._read, Origin(table))

    @property
    def unit(self) -> str:
        """As `Engine`: the column of users, if there is one; else each comparison by itself."""
        *_, user = (*self._table.columns, "comparison")[:3]
        return user

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
        """As `Engine.show`: of each user at most `wants.bound` comparisons, if there is one."""
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
