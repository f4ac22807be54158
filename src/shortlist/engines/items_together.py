"""Rows of users and items in this process's memory, where an item is what users hold together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Draws, Ints
from shortlist.engines._table_engine import Once, UsersInMemory
from shortlist.engines.engine import ShownEvidence
from shortlist.evidence import PrivateCounts, UserSets, Wants, WeightedHistogram
from shortlist.evidence.combinations import combined
from shortlist.evidence.contributions import Contributions
from shortlist.table import SensitiveTable
from shortlist.table.coding import join
from shortlist.table.keys import Coding, Keys

if TYPE_CHECKING:
    import polars as pl


class ItemsTogether(UsersInMemory):
    """Who holds which pairs, or triples, of items.

    Of a user who holds more than a bound, a random subset counts, drawn anew for each question, and
    what is not drawn is not looked at in any other way either.
    """

    can_show = (WeightedHistogram, PrivateCounts, UserSets, Contributions)

    def __init__(
        self, table: SensitiveTable, held: Once[tuple[Contributions, Coding]], of: int, most: int
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user and an item a row.
            held: Who holds what, as it was or will be read.
            of: How many items are together.
            most: How many of their combinations count of each user at most.
        """
        super().__init__(table, None, held)
        ((name, kind),) = table.items.items()
        self.items = {f"{name}_{place}": kind for place in range(1, of + 1)}
        self._of, self._most = of, most

    def about(self) -> dict[str, object]:
        return {**super().about(), "together": self._of, "most_together": self._most}

    @property
    def counts_in_part(self) -> bool:
        return True

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.bound` combinations, if there is a bound."""
        held, items = self._held()
        sizes, codes = combined(held, self._of, self._most, draws)
        keys = self._coded(codes, held.n_items, items)
        sets = Contributions(np.cumsum(sizes) - sizes, sizes, keys.codes, keys.size)
        if wants.bound is not None:
            sets = sets.bounded(wants.bound, draws)

        def named(positions: Ints) -> pl.DataFrame:
            return _in_order(keys.take(positions))

        yield ShownEvidence(sets.shown_as(wants), named)

    def _coded(self, codes: NDArray[np.uint32], n_items: int, items: Coding) -> Keys:
        """Codes of combinations, of those of the items that they are of."""
        columns = zip(codes, self.items, strict=True)
        return reduce(join, (Keys(of, n_items, _Called(items, name)) for of, name in columns))


@dataclass(frozen=True)
class _Called:
    """Another coding of one column, by another name of it."""

    coding: Coding
    name: str

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        found = self.coding.take(codes)
        return found.rename({found.columns[0]: self.name})

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        return self.coding.find(values)


def _in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The same, the items of each row rising: their codes may rise by the order of rows."""
    import polars as pl

    rising = pl.concat_list(pl.all()).list.sort().list.to_struct(fields=rows.columns)
    return rows.select(together=rising).unnest("together")
