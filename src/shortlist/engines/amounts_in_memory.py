"""Rows of users, items and what they spent, in this process's memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines._table_engine import Once, UsersInMemory
from shortlist.engines.engine import ShownEvidence
from shortlist.engines.rows_in_memory import InGroups, RowsInGroups
from shortlist.evidence import (
    AmountsAtCaps,
    GroupedAmounts,
    PrivateCounts,
    PublicCounts,
    UserAmounts,
    UserSets,
    Wants,
)
from shortlist.table import SensitiveTable
from shortlist.table.amounts import MOST
from shortlist.table.keys import Coding

if TYPE_CHECKING:
    import polars as pl

    from shortlist.engines.tables._amounts_in_table import AmountsInTable


class AmountsInMemory(UsersInMemory):
    """Sums of what users spent on items, of rows that are read once."""

    def __init__(
        self,
        table: SensitiveTable,
        public: pl.DataFrame | None,
        held: Once[tuple[UserAmounts, Coding]] | None = None,
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user, an item and an amount a row.
            public: What everybody knows, one row an item; None where items are private.
            held: What was read, where several engines share it.
        """
        super().__init__(table, public, held)
        self.amounts = table.amounts
        self.n_items = None if public is None else public.height
        self.can_show = (UserSets, PrivateCounts) if public is None else (PublicCounts,)

    def grouped_by(self, names: object) -> AmountsInGroups:
        """The rows with further columns, which say groups; read anew for them.

        Raises:
            InputError: A column is unknown, named twice, or of no usable type.
        """
        table = self._table.by(names)
        return AmountsInGroups(table, len(table.items) - len(self._table.items))

    @property
    def listed(self) -> pl.DataFrame | None:
        """The items that everybody knows, of which no others count; None where they are private."""
        public: pl.DataFrame | None = self._public
        return public

    def of_items(self, public: pl.DataFrame) -> AmountsInMemory:
        """The same rows, read once for both, where everybody knows the items that count."""
        return AmountsInMemory(self._table, public, self._held)

    @property
    def table(self) -> SensitiveTable:
        """What the rows are read from."""
        table: SensitiveTable = self._table
        return table

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show sums over all users; of each at most `wants.bound` items, if there is a bound."""
        held, items = self._held()
        yield shown_amounts(held, items, wants, draws, self._public)

    def _read(self) -> tuple[UserAmounts, Coding]:
        """What each user spent on each item."""
        users, items, steps = self._table.with_amounts()
        held = UserAmounts.of_rows(
            *(users.codes, items.codes, steps),
            n_items=items.size,
            most=MOST,
        )
        return held, items.coding


class AmountsInGroups(RowsInGroups):
    """A table of users, groups, items and amounts, read once for all questions."""

    def _read(self) -> InGroups:
        users, groups, items, steps = self.table.grouped_amounts(len(self.by))
        held = GroupedAmounts.of_rows(
            *(users.codes, groups.codes, items.codes, steps),
            n_groups=groups.size,
            n_items=items.size,
            most=MOST,
        )
        return InGroups(held, groups.coding, items.coding)


def shown_amounts(
    held: UserAmounts | AmountsInTable,
    items: Coding,
    wants: Wants,
    draws: Draws,
    public: pl.DataFrame | None,
) -> ShownEvidence:
    """What users spent as what is wanted: who holds what, or sums.

    Args:
        held: What each user spent on each item.
        items: What the codes of items stand for.
        wants: The evidence that a mechanism wants.
        draws: What each user's random subset is drawn from, where users are bounded.
        public: What everybody knows, one row an item; None where items are private.
    """
    codes = None if public is None else items.find(public)

    def at(place: int) -> Any:
        return _evidence(held.capped(wants.caps[place]), codes, wants, draws)

    evidence = (
        AmountsAtCaps(partial(held.above, wants.caps), at)
        if wants.caps
        else _evidence(held, codes, wants, draws)
    )
    if public is None:
        return ShownEvidence(evidence, items.take)
    return ShownEvidence(evidence, public.__getitem__, public.height)


def _evidence(
    held: UserAmounts | AmountsInTable, codes: Ints | None, wants: Wants, draws: Draws
) -> UserSets | PrivateCounts | PublicCounts:
    """Who holds what, or sums: of private items, or of the public ones that have these codes."""
    if wants.kind is UserSets:
        return held.sets
    sums, unit = held.sums(wants.bound, draws), held.sets.unit
    if codes is None:
        return PrivateCounts(sums, wants.bound, unit)
    # Code -1, of public items that nobody holds, is the sum appended at the end.
    return PublicCounts(np.append(sums, 0)[codes], wants.bound, unit=unit)
