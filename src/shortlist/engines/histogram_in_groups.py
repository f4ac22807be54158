"""A histogram of items in groups in this process's memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines._once import Once
from shortlist.engines.engine import ShownEvidence
from shortlist.engines.histogram_in_memory import HistogramInMemory
from shortlist.evidence import GroupedCounts, PrivateCounts, PublicCounts, Wants
from shortlist.table import SensitiveTable
from shortlist.table.coding import code
from shortlist.table.public_items import InTable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["HistogramInGroups"]


class HistogramInGroups(HistogramInMemory):
    """Counts of items in groups, read once."""

    def __init__(
        self,
        table: SensitiveTable,
        n_by: int,
        public: pl.DataFrame | InTable | None,
        promised: int | None,
        most_groups: int,
        n_items: int | None,
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a group, an item and its count a row.
            n_by: How many of the columns of items say the group: the first.
            public: What everybody knows: every item of every group, or that this is in the table;
                None where it is nothing.
            promised: In how many counts a user is at most, as the caller says; None if in any.
            most_groups: In how many groups, likewise.
            n_items: How many items each group has, where a list says it.
        """
        super().__init__(table, public, promised)
        self.by = tuple(table.items)[:n_by]
        self.can_show = (*self.can_show, GroupedCounts)
        self.n_items = n_items
        self._most_groups = most_groups
        self._side_by_side = Once(self._grouped)

    def about(self) -> dict[str, object]:
        """As `Engine`, and which columns say the group."""
        return {**super().about(), "by": list(self.by)}

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - nothing is drawn
        """As `Engine.show`: the counts group by group, with the bounds that were promised."""
        items, held, groups = self._side_by_side()
        evidence = GroupedCounts.of_rows(
            held,
            groups,
            PublicCounts if self.items_are_public else PrivateCounts,
            max_items_per_user=self._promised,
            max_groups_per_user=self._most_groups,
        )
        yield ShownEvidence(evidence, items.__getitem__)

    def _grouped(self) -> tuple[pl.DataFrame, Ints, Ints]:
        """The items, their counts, and the number of the group of each: rising."""
        items, held = self._held()
        groups = code([items[name] for name in self.by]).codes
        order = np.argsort(groups, kind="stable")
        return items[order], held[order], groups[order].astype(np.int64)
