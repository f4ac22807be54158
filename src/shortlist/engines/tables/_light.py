"""Items of little weight, which stay in an engine but for the few that are asked for by rank."""

from __future__ import annotations

from dataclasses import dataclass

from shortlist.draws import Ints
from shortlist.engines.tables._dialect import Expression
from shortlist.engines.tables.reading import CODE, HOLDERS, SUM
from shortlist.engines.tables.scratch import Scratch
from shortlist.evidence import LightItems, WeighedItems

__all__ = ["LightInTable", "weighed"]

_RANK = "rank"


@dataclass(frozen=True)
class LightInTable(LightItems):
    """Light items as a temporary table: `CODE`, `SUM`, `HOLDERS` and a rank.

    Attributes:
        table: The table.
        scratch: Where temporary tables are made.
        n: As in `LightItems`; `below` too.
    """

    table: Expression
    scratch: Scratch
    n: int
    below: int

    @classmethod
    def of(cls, sums: Expression, below: int, scratch: Scratch) -> LightInTable:
        """Of all items, those below."""
        light = scratch.dialect.numbered(sums.filter(sums[SUM] < below), _RANK)
        table = scratch.keep(light)
        n = int(scratch.fetch(table.agg(n=table.count()))["n"][0])
        return cls(table, scratch, n, below)

    def fetch(self, ranks: Ints) -> WeighedItems:
        """As `LightItems.fetch`."""
        asked = self.scratch.give({_RANK: ranks})
        found = weighed(asked.join(self.table, _RANK), self.scratch)
        self.scratch.forget(asked)
        return found


def weighed(items: Expression, scratch: Scratch) -> WeighedItems:
    """Items with their weights and holders."""
    rows = scratch.fetch(items.select(CODE, SUM, HOLDERS))
    return WeighedItems(rows[CODE], rows[SUM], rows[HOLDERS])
