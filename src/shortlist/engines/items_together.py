"""Rows of users and items in this process's memory, where an item is what users hold together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Draws, Ints
from shortlist.engines._table_engine import Once, UsersInMemory
from shortlist.engines.engine import ShownEvidence
from shortlist.evidence import PairsOfItems, PrivateCounts, UserSets, Wants, WeightedHistogram
from shortlist.evidence.combinations import combined, numbers_of_combinations
from shortlist.evidence.contributions import Contributions
from shortlist.table import SensitiveTable
from shortlist.table.coding import join_pieces
from shortlist.table.keys import Coding, Keys

if TYPE_CHECKING:
    import polars as pl


BYTES_A_COMBINATION = 140
"""In memory, where each is held by one user alone; of few that many hold it is a tenth."""


@dataclass(frozen=True)
class Combinations:
    """What is counted of users: what they hold together.

    Attributes:
        of: How many items make up a combination.
        most_items: Of how many items of a user all combinations count. Of a user with more, of a
            random subset of so many.
    """

    of: int
    most_items: int

    @property
    def most_for_an_item(self) -> float:
        """How many combinations a user has for each item held, at most."""
        return math.comb(self.most_items, self.of) / self.most_items

    def columns(self, items: Mapping[str, pl.DataType]) -> dict[str, pl.DataType]:
        """The columns of a combination, and their types, from the one of an item."""
        ((name, kind),) = items.items()
        return {f"{name}_{place}": kind for place in range(1, self.of + 1)}

    def about(self) -> dict[str, object]:
        return {"together": self.of, "most_items": self.most_items}


class ItemsTogether(UsersInMemory):
    """Who holds which pairs, or triples, of items.

    Of a user who holds more items than count, a random subset is drawn anew for each question, and
    what is not drawn is not looked at in any other way either. `PairsOfItems` are of all items.
    """

    def __init__(
        self,
        table: SensitiveTable,
        held: Once[tuple[Contributions, Coding]],
        together: Combinations,
    ) -> None:
        """Read nothing yet.

        Args:
            table: With a user and an item a row.
            held: Who holds what, as it was or will be read.
            together: What is counted of it.
        """
        super().__init__(table, None, held)
        self.items = together.columns(table.items)
        pairs = (PairsOfItems,) if together.of == 2 else ()
        self.can_show = (WeightedHistogram, PrivateCounts, UserSets, Contributions, *pairs)
        self._together = together

    def about(self) -> dict[str, object]:
        return {**super().about(), **self._together.about()}

    @property
    def counts_in_part(self) -> bool:
        return True

    @contextmanager
    def show(self, wants: Wants, draws: Draws) -> Iterator[ShownEvidence]:
        """Show of each user at most `wants.bound` combinations, if there is a bound."""
        held, items = self._held()
        if wants.kind is PairsOfItems:
            yield self._of_single_items(PairsOfItems(held), items)
            return
        held = held.bounded(self._together.most_items, draws)
        sizes = numbers_of_combinations(held.sizes, self._together.of)
        keys = self._coded(held, items, int(sizes.sum()))
        sets = Contributions(np.cumsum(sizes) - sizes, sizes, keys.codes, keys.size)
        if wants.bound is not None:
            sets = sets.bounded(wants.bound, draws)
        yield ShownEvidence(sets.shown_as(wants), lambda places: in_order(keys.take(places)))

    def _of_single_items(self, pairs: PairsOfItems, items: Coding) -> ShownEvidence:
        import polars as pl

        codings = [_Called(items, name) for name in self.items]

        def values(positions: Ints) -> pl.DataFrame:
            each = zip(codings, pairs.items_of(positions), strict=True)
            return in_order(pl.concat([c.take(codes) for c, codes in each], how="horizontal"))

        return ShownEvidence(pairs, values)

    def _coded(self, held: Contributions, items: Coding, n: int) -> Keys:
        """Codes of combinations, of those of the items that they are of."""
        codings = [_Called(items, name) for name in self.items]
        return join_pieces(combined(held, self._together.of), codings, held.n_items, n)


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


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """The same, the items of each row rising by value, as codes need not."""
    import polars as pl

    rising = pl.concat_list(pl.all()).list.sort().list.to_struct(fields=rows.columns)
    return rows.select(together=rising).unnest("together")
