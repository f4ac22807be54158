"""Rows of users, groups and items in an engine of their own, which adds up where they lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Draws, Ints
from shortlist.engines._described import Origin, described
from shortlist.engines.engine import Engine, ShownEvidence
from shortlist.engines.tables import GroupsInTable, Items, Lying, read, rehearse
from shortlist.errors import Words
from shortlist.evidence import UserGroups, Wants
from shortlist.table import SensitiveTable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["GroupedTable"]


class GroupedTable(Engine):
    """Who holds what, in which group: read anew for each question, once."""

    can_show = (UserGroups,)
    items_are_public = False

    def __init__(
        self,
        table: SensitiveTable,
        by: tuple[str, ...],
        lying: Lying,
        public: pl.DataFrame | None,
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user, a group and an item a row: the first item columns say the group.
            by: These columns.
            lying: Where the rows are.
            public: The groups that everybody knows, one row each; None where they are private.
        """
        self._table, self._lying, self._public = table, lying, public
        self.by, self.columns, self._origin = by, table.columns, Origin(table)
        self.origin = Words("rows in {engine}", engine=lying.dialect.name)

    @property
    def unit(self) -> str:
        """As `Engine`."""
        return next(iter(self.columns))

    def about(self) -> dict[str, object]:
        """As `Engine`, with a digest of the query that the rows are."""
        known = described(self._table, self._public)
        return {**known, "by": list(self.by), "query": self._lying.digest()}

    def identity(self) -> object:
        """As `Engine`: where the table lies."""
        return self._origin()

    def assumes(self, wants: Wants) -> tuple[str, ...]:  # noqa: ARG002 - whatever is wanted
        """As `Engine.assumes`: where users are bounded, and by what."""
        return (self._lying.bounding,)

    def check(self, wants: Wants) -> None:  # noqa: ARG002 - users are bounded, whatever is wanted
        """As `Engine.check`: the question is asked of no rows."""
        rehearse(self._lying, self._table.columns, bounds=True)

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:  # noqa: ARG002 - see `wants`
        """As `Engine.show`: whole sets, which the mechanism bounds. Others' groups are left out."""
        user, *names = self.columns
        with self._lying.asking() as scratch:
            pairs = read(self._lying.rows, user, names, scratch)
            sets = GroupsInTable.of(pairs, len(self.by), scratch)
            types = self._table.items
            by = {name: types[name] for name in self.by}
            groups = Items(sets.groups.values.numbered, by, scratch)
            items = Items(sets.known, {n: t for n, t in types.items() if n not in by}, scratch)
            public = self._public
            if public is not None:
                sets = sets.within(groups.find(public))

            def named(positions: Ints) -> pl.DataFrame:
                of_groups, of_items = np.divmod(positions, max(sets.n_items, 1))
                found = groups.take(of_groups) if public is None else public[of_groups]
                return found.hstack(items.take(of_items))

            yield ShownEvidence(sets, named)
