"""Items of little weight, which stay in an engine but for the few that are asked for by rank."""

from __future__ import annotations

from dataclasses import dataclass

from shortlist.draws import Ints
from shortlist.engines.tables._dialect import Expression
from shortlist.engines.tables._names import CODE, HOLDERS, RANK, SUM
from shortlist.engines.tables.scratch import Scratch
from shortlist.evidence import ItemsBelowThreshold, WeighedItems

__all__ = ["LightInTable", "weighed"]


@dataclass(frozen=True)
class LightInTable(ItemsBelowThreshold):
    """Light items in a temporary table of all items: `CODE`, `SUM`, `HOLDERS`, `RANK` by `SUM`.

    Attributes:
        table: The table.
        scratch: Where temporary tables are made.
        first: The place of the first light item: items before it have no weight at all.
        n: As in `ItemsBelowThreshold`; `below` too.
    """

    table: Expression
    scratch: Scratch
    first: int
    n: int
    below: int

    @classmethod
    def of(cls, table: Expression, below: int, scratch: Scratch) -> LightInTable:
        """Of all items, those below."""
        weights = table[SUM]
        found = scratch.fetch(
            table.agg(none=table.count(where=weights == 0), less=table.count(where=weights < below))
        )
        first = int(found["none"][0])
        return cls(table, scratch, first, int(found["less"][0]) - first, below)

    def fetch(self, ranks: Ints) -> WeighedItems:
        """As `ItemsBelowThreshold.fetch`."""
        asked = self.scratch.give({RANK: ranks + self.first})
        found = weighed(asked.join(self.table, RANK), self.scratch)
        self.scratch.forget(asked)
        return found


def weighed(items: Expression, scratch: Scratch) -> WeighedItems:
    """Items with their weights and holders."""
    rows = scratch.fetch(items.select(CODE, SUM, HOLDERS))
    return WeighedItems(rows[CODE], rows[SUM], rows[HOLDERS])
