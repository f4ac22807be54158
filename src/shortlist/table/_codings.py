"""What codes stand for: the ways back from codes to values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.table.keys import Coding

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Distinct", "Joint", "Offsets", "values_of"]


def values_of(like: pl.Series, numbers: NDArray[np.uint64]) -> pl.Series:
    """The values whose bits these are, of the name and type of a column of integers or times."""
    import polars as pl

    physical = like.to_physical().dtype
    signed = numbers.view(np.uint64 if physical.is_unsigned_integer() else np.int64)
    return pl.Series(like.name, signed).cast(physical).cast(like.dtype)


@dataclass(frozen=True)
class Offsets:
    """Code c is the value low + c; `like` is an empty column that gives name and type."""

    like: pl.Series
    low: int
    size: int

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """As `Coding`."""
        numbers = codes.astype(np.uint64) + np.uint64(self.low % 2**64)
        return values_of(self.like, numbers).to_frame()

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """As `Coding`."""
        numbers = values[self.like.name].to_physical().to_numpy()
        known = (numbers >= self.low) & (numbers <= self.low + self.size - 1)
        found = np.full(len(numbers), -1, np.int64)
        shift = np.uint32(self.low % 2**32)
        found[known] = np.subtract(numbers[known], shift, dtype=np.uint32, casting="unsafe")
        return found


@dataclass(frozen=True)
class Distinct:
    """Code c is the value in position c."""

    values: pl.Series

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """As `Coding`."""
        return self.values.gather(codes).to_frame()

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """As `Coding`."""
        known = self.values.to_frame("key").with_row_index("code")
        asked = values.select(key=self.values.name)
        found = asked.join(known, on="key", how="left", maintain_order="left")["code"]
        return found.cast(int).fill_null(-1).to_numpy(writable=True)


@dataclass(frozen=True)
class Joint:
    """Code c is a pair of codes, packed as left * width + right and coded in turn."""

    left: Coding
    right: Coding
    width: int
    pairs: Coding

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """As `Coding`."""
        numbers = self.pairs.take(codes)["pair"].to_numpy()
        left, right = np.divmod(numbers, np.uint64(max(self.width, 1)))
        return self.left.take(left).hstack(self.right.take(right))

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """As `Coding`."""
        import polars as pl

        left, right = self.left.find(values), self.right.find(values)
        known = (left >= 0) & (right >= 0)
        numbers = left.astype(np.uint64) * np.uint64(self.width) + right.astype(np.uint64)
        found = self.pairs.find(pl.DataFrame({"pair": numbers}))
        return np.where(known, found, -1)
