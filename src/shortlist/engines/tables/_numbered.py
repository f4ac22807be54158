"""The items of a table by numbers, which are given when something first needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shortlist.engines.tables._dialect import Expression
from shortlist.engines.tables._names import CODE, HOLDERS
from shortlist.engines.tables.scratch import Scratch

__all__ = ["Numbered"]


@dataclass(eq=False)
class Numbered:
    """Items, with how many users hold each.

    Attributes:
        held: The items, one row each, as a query: `columns`, `HOLDERS`.
        columns: The names of the columns of an item.
        scratch: Where temporary tables are made.
        known: The items with their numbers, where these are known.
        n_known: How many numbers there are, where that is known.
    """

    held: Expression
    columns: Sequence[str]
    scratch: Scratch
    known: Expression | None = None
    n_known: int | None = None

    @property
    def table(self) -> Expression:
        """The items with their numbers, from 0 on: `CODE`, `columns`, `HOLDERS`."""
        if self.known is None:
            self.known = self.scratch.keep(self.scratch.dialect.numbered(self.held, CODE))
        return self.known

    @property
    def n(self) -> int:
        """How many numbers there are."""
        if self.n_known is None:
            self.n_known = int(self.scratch.fetch(self.table.agg(n=self.table.count()))["n"][0])
        return self.n_known

    def coded(self, items: Expression, place: str) -> Expression:
        """All items of a temporary table with their numbers.

        Where none are known yet they are the places, so that rows are grouped by item only once.

        Args:
            items: All items, one row each: `columns`, `HOLDERS` and more.
            place: A column of it: different whole numbers from 0 on.
        """
        if self.known is None:
            self.known = items.select(*self.columns, HOLDERS, **{CODE: items[place]})
            return items.mutate(**{CODE: items[place]})
        return items.join(self.known.select(CODE, *self.columns), self.columns)
