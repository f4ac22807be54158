"""A histogram in this process's memory: how many users hold each item, and no word of who.

Items may be in groups, in each of which others hold them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines._table_engine import Once, TableInMemory
from shortlist.engines.engine import ShownEvidence
from shortlist.errors import InputError
from shortlist.evidence import GroupedCounts, PrivateCounts, PublicCounts, Wants
from shortlist.table import SensitiveTable
from shortlist.table.coding import code
from shortlist.table.public_items import IN_TABLE, InTable
from shortlist.table.sensitive_table import align

if TYPE_CHECKING:
    import polars as pl


class HistogramInMemory(TableInMemory):
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
        super().__init__(table, public)
        self._promised = promised
        self.n_items = None if public is None or public is IN_TABLE else len(public)
        self.can_show = (PublicCounts,) if self.items_are_public else (PrivateCounts,)

    def require(self, wants: Wants) -> None:
        """Nobody can be bounded here: what is wanted must have been promised."""
        promised = self._promised
        if wants.users:
            raise InputError(
                "how many users there are, counts of items do not tell",
                "take {sl.ShareOfUsers.STATED}, and give the number by {users}; or give rows, by "
                "{sl.pairs}",
                given={"share_of_users": ...},
            )
        if wants.bound is not None and (promised is None or promised > wants.bound):
            looser = "no bound" if promised is None else str(promised)
            raise InputError(
                "it needs at most {bound} items of each user, and this histogram promises {looser}",
                "give the bound to {sl.counts}, if it holds, or take another mechanism",
                given={"mechanism": ...},
                bound=wants.bound,
                looser=looser,
            )

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - nothing is drawn
        """Show the counts with the bound that was promised."""
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

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - nothing is drawn
        """Show the counts group by group, with the bounds that were promised."""
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
