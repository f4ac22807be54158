"""Keys as dense codes: what identifies a row becomes an integer that indexes an array.

The coding is Polars' work; here it is decided which of its ways fits a column, and kept what is
needed to turn codes back into values.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import numpy as np

from shortlist.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

_LIMIT = 2**32  # codes are uint32
_PIECE = 4_000_000  # rows looked up at once: what bounds the memory of a look-up
_LOOK_UP = Lock()  # a look-up uses every core by itself; two at once would only double the memory


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
    """

    codes: NDArray[np.uint32]
    size: int
    coding: Coding = field(repr=False)

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """The values of codes, as one row each, columns under their own names.

        Args:
            codes: Shape (n,), each in 0 .. size - 1, in any order, repeated or not.

        >>> import polars as pl
        >>> keys = code([pl.Series("page", ["b", "a", "b"])])
        >>> keys.take(keys.codes)["page"].to_list()
        ['b', 'a', 'b']
        """
        return self.coding.take(codes)

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """The code of each row of values, and -1 where it has none.

        A value that no row holds may still have a code, an unused one: its count is zero.

        Args:
            values: The columns of the keys, under the same names and of the same types.

        >>> import polars as pl
        >>> keys = code([pl.Series("page", ["b", "a", "b"])])
        >>> bool(keys.find(pl.DataFrame({"page": ["z"]}))[0] == -1)
        True
        """
        return self.coding.find(values)


def code(columns: Sequence[pl.Series]) -> Keys:
    """Codes of the rows of one or several columns of one length.

    Args:
        columns: Strings, integers, dates or datetimes without nulls, each under its own name.

    Raises:
        InputError: The keys need 2^32 codes or more.

    >>> import polars as pl
    >>> keys = code([pl.Series("country", ["fr", "fr", "ch"]), pl.Series("page", [7, 8, 7])])
    >>> len(set(keys.codes.tolist()))
    3
    """
    return reduce(join, map(_code_column, columns))


def code_pairs(user: pl.Series, items: list[pl.Series]) -> tuple[Keys, Keys]:
    """Codes of users and of items, worked out at the same time.

    Args:
        user: A column as in `code`; it is freed once coded, if the caller does not hold it.
        items: One or several such columns of the same length.

    Raises:
        InputError: As in `code`.
    """
    with ThreadPoolExecutor(2) as pool:
        users = pool.submit(code, [user])
        del user
        others = pool.submit(code, items)
        return users.result(), others.result()


def _code_column(column: pl.Series) -> Keys:
    import polars as pl

    if column.is_empty():
        return Keys(np.empty(0, np.uint32), 0, _Distinct(column))
    if column.dtype == pl.String:
        return _code_text(column)
    return _code_offsets(column) or _code_distinct(column)


def _code_text(column: pl.Series) -> Keys:
    coded = column.cast(_categories())
    distinct = coded.unique()
    numbers = distinct.to_physical().to_numpy()
    order = np.argsort(numbers)
    codes = coded.to_physical().to_numpy(writable=True)
    if numbers[order[-1]] != len(order) - 1:  # numbered together with other data
        position = np.empty(int(numbers[order[-1]]) + 1, np.uint32)
        position[numbers[order]] = np.arange(len(order), dtype=np.uint32)
        codes = position[codes]
    return _checked(codes, len(order), _Distinct(distinct.gather(order).cast(column.dtype)))


def _categories() -> pl.Categorical:
    """A categorical type of its own: the usual one is numbered across the whole process."""
    import polars as pl

    if hasattr(pl, "Categories"):
        return pl.Categorical(pl.Categories.random())
    return pl.Categorical()  # until Polars 1.31, each column is numbered by itself


def _code_offsets(column: pl.Series) -> Keys | None:
    """Codes that are distances from the smallest value, if the largest is near enough."""
    numbers = column.to_physical()
    if not fits_numpy(numbers.dtype):
        return None
    coder = OffsetCoder(column.clear(), len(column))
    return coder.keys() if coder.append(numbers) else None


class OffsetCoder:
    """Codes that are distances from the smallest value, of integers that come piece by piece.

    Until all have come, the last 32 bits of each are kept, the smallest and the largest value.
    """

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        """Take an empty column of the name and type, and how many rows will come at most."""
        self._like = like
        self._bits = np.empty(n_rows, np.uint32)
        self._end = 0
        self._low, self._high = 2**64, -(2**64)  # beyond all values

    def append(self, numbers: pl.Series) -> bool:
        """Take more integers, none null; False if all so far lie too far apart."""
        for chunk in numbers.get_chunks():
            values = chunk.to_numpy()
            if not len(values):
                continue
            self._low = min(self._low, int(values.min()))
            self._high = max(self._high, int(values.max()))
            # An array over all values between is no waste for so many rows.
            if self._high - self._low >= min(max(4 * len(self._bits), 2**20), 2**30):
                return False
            bits = self._bits[self._end : self._end + len(values)]
            np.copyto(bits, values, casting="unsafe")
            self._end += len(values)
        return True

    def keys(self) -> Keys:
        """The keys of all that came."""
        codes = self._bits[: self._end]
        if not self._end:
            return Keys(codes, 0, Offsets(self._like, 0, 0))
        # Modulo 2^32 this is exact whatever the width of the type, as all distances are less.
        codes -= np.uint32(self._low % _LIMIT)
        size = self._high - self._low + 1
        return Keys(codes, size, Offsets(self._like, self._low, size))


def fits_numpy(dtype: pl.DataType) -> bool:
    """Whether NumPy has this integer type."""
    import polars as pl

    return dtype in (
        *(pl.Int8, pl.Int16, pl.Int32, pl.Int64),
        *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    )


def _code_distinct(column: pl.Series) -> Keys:
    """Codes that are positions among the distinct values, found piece by piece."""
    import polars as pl

    pieces = [column.slice(start, _PIECE) for start in range(0, len(column), _PIECE)]
    codes = np.empty(len(column), np.uint32)
    with _LOOK_UP:
        distinct = pl.concat([piece.unique() for piece in pieces]).unique()
        positions = pl.int_range(len(distinct), dtype=pl.UInt32, eager=True)
        start = 0
        for piece in pieces:
            found = piece.replace_strict(distinct, positions)
            codes[start : start + len(piece)] = found.to_numpy()
            start += len(piece)
    return _checked(codes, len(distinct), _Distinct(distinct))


def _checked(codes: NDArray[np.uint32], size: int, coding: Coding) -> Keys:
    if size >= _LIMIT:
        raise InputError("a column holds 2^32 different values or more", "split the table")
    return Keys(codes, size, coding)


def join(left: Keys, right: Keys) -> Keys:
    """Keys of several columns: codes of pairs of codes, row by row."""
    import polars as pl

    # Two sizes below 2^32 multiply within 64 bits.
    numbers = left.codes * np.uint64(right.size)
    numbers += right.codes
    pairs = _code_column(pl.Series("pair", numbers))
    return Keys(
        pairs.codes, pairs.size, _Joint(left.coding, right.coding, right.size, pairs.coding)
    )


@dataclass(frozen=True)
class Offsets:
    """Code c is the value low + c; `like` is an empty column that gives name and type."""

    like: pl.Series
    low: int
    size: int

    def take(self, codes: NDArray[np.integer]) -> pl.DataFrame:
        """As `Coding`."""
        import polars as pl

        physical = self.like.to_physical().dtype
        base = np.uint64 if physical.is_unsigned_integer() else np.int64
        numbers = pl.Series(self.like.name, codes.astype(base) + base(self.low))
        return numbers.cast(physical).cast(self.like.dtype).to_frame()

    def find(self, values: pl.DataFrame) -> NDArray[np.int64]:
        """As `Coding`."""
        numbers = values[self.like.name].to_physical().to_numpy()
        known = (numbers >= self.low) & (numbers <= self.low + self.size - 1)
        found = np.full(len(numbers), -1, np.int64)
        shift = np.uint32(self.low % _LIMIT)
        found[known] = np.subtract(numbers[known], shift, dtype=np.uint32, casting="unsafe")
        return found


@dataclass(frozen=True)
class _Distinct:
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
class _Joint:
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
