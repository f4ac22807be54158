"""Keys as numbers: what identifies a row becomes a code, and codes become values again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl


class Coding(Protocol):
    """What codes stand for."""

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """The values of these codes, in their order."""
        ...

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """The code of each row of values, -1 where it has none."""
        ...


@dataclass(frozen=True, eq=False)
class Keys:
    """The keys of rows (of one column or several), coded as 0 .. size - 1.

    Equal keys have equal codes and different keys different ones. Some codes may be unused: they
    stand for values that no row holds. Which code a key gets depends on the other rows and on
    nothing that is worth keeping.

    Attributes:
        codes: The code of each row: shape (rows,), C-contiguous and writable.
        size: One more than the largest possible code, below 2^32.
        coding: What the codes stand for.

    >>> import polars as pl
    >>> from shortlist.table.coding import code
    >>> keys = code([pl.Series("page", ["b", "a", "b"])])
    >>> keys.take(keys.codes)["page"].to_list(), keys.find(pl.DataFrame({"page": ["z"]}))
    (['b', 'a', 'b'], array([-1]))
    """

    codes: NDArray[np.uint32]
    size: int
    coding: Coding = field(repr=False)

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """The values of codes, each below `size`, repeated or not: a row each."""
        return self.coding.take(codes)

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """The code of each row of values, of the keys' names and types, and -1 where it has none.

        A value that no row holds may still have a code, an unused one: its count is zero.
        """
        return self.coding.find(values)


@dataclass(frozen=True, eq=False)
class RawKeys:
    """The keys of rows as any numbers of 64 bits, equal where the keys are; else as `Keys`."""

    codes: NDArray[np.uint64]
    size: None = field(init=False, default=None)


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
        numbers = codes.astype(np.uint64) + np.uint64(self.low % 2**64)
        return values_of(self.like, numbers).to_frame()

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
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
        return self.values.gather(codes).to_frame()

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        known = self.values.to_frame("key").with_row_index("code")
        asked = values.select(key=self.values.name)
        found = asked.join(known, on="key", how="left", maintain_order="left")["code"]
        return found.cast(int).fill_null(-1).to_numpy(writable=True)


@dataclass(frozen=True)
class DistinctTexts:
    """As `Distinct`, of categories, which become texts when these are asked for.

    Those of users never do.

    Attributes:
        parts: Columns of categories, which together hold each text once.
    """

    parts: Sequence[pl.Series]

    @cached_property
    def values(self) -> pl.Series:
        import polars as pl

        return pl.concat([part.cast(pl.String) for part in self.parts], rechunk=True)

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        return Distinct(self.values).take(codes)

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        return Distinct(self.values).find(values)


@dataclass(frozen=True)
class Extended:
    """Another coding, but of some codes, new ones among them, it is given what they stand for.

    These are called as they are given, whether the other has a name for them or not.

    Attributes:
        coding: The other.
        codes: All different, shape (n,).
        rows: What they stand for, n rows.
    """

    coding: Coding
    codes: NDArray[np.int64]
    rows: pl.DataFrame

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        import polars as pl

        rising = np.argsort(self.codes)
        places = np.searchsorted(self.codes, codes, sorter=rising).clip(max=len(rising) - 1)
        given = rising[places]
        is_given = self.codes[given] == codes
        rows: pl.DataFrame = self.rows[given[is_given]]
        named = pl.concat([self.coding.take(codes[~is_given]), rows])
        places = np.argsort(np.argsort(is_given, kind="stable"), kind="stable")
        return named[places]

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        of_rows = Distinct(self.rows.to_struct("row")).find(values.to_struct("row").to_frame())
        return np.where(of_rows >= 0, self.codes[of_rows], self.coding.find(values))


@dataclass(frozen=True)
class CodedPairs:
    """Code c is a pair of codes, packed as left * width + right and coded in turn."""

    left: Coding
    right: Coding
    width: int
    pairs: Coding

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        numbers = self.pairs.take(codes)["pair"].to_numpy()
        left, right = np.divmod(numbers, np.uint64(max(self.width, 1)))
        return self.left.take(left).hstack(self.right.take(right))

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        import polars as pl

        left, right = self.left.find(values), self.right.find(values)
        known = (left >= 0) & (right >= 0)
        numbers = left.astype(np.uint64) * np.uint64(self.width) + right.astype(np.uint64)
        found = self.pairs.find(pl.DataFrame({"pair": numbers}))
        return np.where(known, found, -1)
