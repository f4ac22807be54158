"""A table that nobody has: users who each draw items by Zipf's law."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Ints
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.errors import InputError
from shortlist.table import open_table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ZipfTable"]

_MOST_ROWS = 20_000_000
_SEED = 1  # the same table each time


class ZipfTable:
    """A table that nobody has: users who each draw items by Zipf's law."""

    def __init__(self, users: int, items: int, exponent: float, each: int) -> None:
        if users * each > _MOST_ROWS or items > _MOST_ROWS:
            raise InputError(
                "a table of {rows} rows is too large to be invented",
                "give less: noise does not grow with the table, so a smaller one tells as much",
                given={"users": users},
                rows=f"{users * each:,}",
            )
        self.users, self.items, self.exponent, self.each = users, items, exponent, each
        self._drawn = self._draw()
        self._by_count = self._order()

    def _draw(self) -> Ints:
        """The item of each draw, shape (users * each,): item i has odds of 1/(i + 1)^exponent."""
        shares = np.cumsum(np.arange(1, self.items + 1, dtype=np.float64) ** -self.exponent)
        generator = np.random.default_rng(_SEED)
        at = generator.random(self.users * self.each) * shares[-1]
        drawn: Ints = np.searchsorted(shares, at, side="right").clip(max=self.items - 1)
        return drawn

    def _order(self) -> Ints:
        """The rank of each item by the number of users who hold it, from 0."""
        whose = np.arange(self.users).repeat(self.each)
        pairs = np.unique(whose * self.items + self._drawn)
        counts = np.bincount(pairs % self.items, minlength=self.items)
        ranks = np.empty(self.items, np.int64)
        ranks[np.argsort(-counts, kind="stable")] = np.arange(self.items)
        return ranks

    def engine(self, *, public: bool) -> RowsInMemory:
        """What shows it to a mechanism."""
        import polars as pl

        whose = np.arange(self.users).repeat(self.each)
        frame = pl.DataFrame({"user": whose, "item": self._drawn})
        known = pl.DataFrame({"item": np.arange(self.items)}) if public else None
        return RowsInMemory(open_table(frame, user="user", items=["item"]), known)

    def ranks(self, items: pl.Series) -> Ints:
        """Of these items."""
        ranks: Ints = self._by_count[np.asarray(items, np.int64)]
        return ranks

    def __str__(self) -> str:
        return (
            f"{self.users:,} users who each draw {self.each:,} of {self.items:,} items, Zipf "
            f"exponent {self.exponent:g}"
        )
