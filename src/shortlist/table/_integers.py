"""Columns that come piece by piece, and what becomes of them: keys as numbers.

A coder takes the pieces of one column, none with a null, and keeps what is needed to tell its
values apart. So whole columns are never in memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from shortlist.table._codings import Distinct, Offsets, values_of
from shortlist.table._growing import Growing
from shortlist.table._hash_table import HashTable
from shortlist.table.keys import Keys, RawKeys

if TYPE_CHECKING:
    import polars as pl

__all__ = ["IntegerCoder", "UserCoder"]

_NEAR = 2**30  # the most codes of integers that are coded by distance


class _NearCoder:
    """Codes that are distances from the smallest value.

    Until all have come, the last 32 bits of each are kept, the smallest and the largest value.
    """

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        self._like, self._n_rows = like, n_rows
        self._bits = Growing(np.uint32, n_rows)
        self._low, self._high = 2**64, -(2**64)  # beyond all values

    def append(self, integers: NDArray[np.integer]) -> bool:
        """Take more integers; False, and none is taken, if all so far lie too far apart."""
        if not len(integers):
            return True
        low, high = min(self._low, int(integers.min())), max(self._high, int(integers.max()))
        # An array over all values between is no waste for so many rows.
        if high - low >= min(max(4 * self._n_rows, 2**20), _NEAR):
            return False
        self._low, self._high = low, high
        np.copyto(self._bits.room(len(integers)), integers, casting="unsafe")
        return True

    def keys(self) -> Keys:
        size = max(self._high - self._low + 1, 0)
        return Keys(self._codes(), size, Offsets(self._like, self._low if size else 0, size))

    def numbers(self) -> NDArray[np.uint64]:
        """All that came, as 64 bits; nothing else can be had any more."""
        numbers: NDArray[np.uint64] = self._codes() + np.uint64(self._low % 2**64)
        return numbers

    def _codes(self) -> NDArray[np.uint32]:
        """The distances; modulo 2^32 these are exact, as all are less."""
        codes = self._bits.filled
        codes -= np.uint32(self._low % 2**32)
        return codes


class _Far(Protocol):
    """What takes integers that may lie anywhere, as 64 bits."""

    def __init__(self, like: pl.Series, n_rows: int) -> None: ...

    def append(self, numbers: NDArray[np.uint64]) -> None: ...

    def keys(self) -> Any: ...


class _FarCoder:
    """Codes by a hash table."""

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        self._like, self._table = like, HashTable()
        self._codes = Growing(np.uint32, n_rows)

    def append(self, numbers: NDArray[np.uint64]) -> None:
        self._table.look_up(numbers, self._codes.room(len(numbers)))

    def keys(self) -> Keys:
        values = values_of(self._like, self._table.keys)
        return Keys(self._codes.filled, len(self._table), Distinct(values))


class _Kept:
    """The numbers themselves."""

    def __init__(self, like: pl.Series, n_rows: int) -> None:  # noqa: ARG002 - as `_FarCoder`
        self._numbers = Growing(np.uint64, n_rows)

    def append(self, numbers: NDArray[np.uint64]) -> None:
        self._numbers.room(len(numbers))[:] = numbers

    def keys(self) -> RawKeys:
        return RawKeys(self._numbers.filled)


class IntegerCoder:
    """Codes of integers or times: distances as long as all are near each other."""

    _far_kind: type[_Far] = _FarCoder

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        """Take an empty column of the name and type, and how many rows may be expected."""
        self._near = _NearCoder(like, n_rows)
        self._far: _Far | None = None
        self._expected = like, n_rows

    def append(self, values: pl.Series) -> None:
        """Take more values, none null."""
        for chunk in values.to_physical().get_chunks():
            integers = chunk.to_numpy()
            if self._far is None and not self._near.append(integers):
                self._far = self._far_kind(*self._expected)
                self._far.append(self._near.numbers())
                del self._near
            if self._far is not None:
                self._far.append(_as_64_bits(integers))

    def keys(self) -> Any:
        """The keys of all that came."""
        return self._near.keys() if self._far is None else self._far.keys()


class UserCoder(IntegerCoder):
    """Codes of users who are near each other, and else their numbers: no user is ever shown."""

    _far_kind = _Kept


def _as_64_bits(integers: NDArray[np.integer]) -> NDArray[np.uint64]:
    wide = np.int64 if integers.dtype.kind == "i" else np.uint64
    return np.ascontiguousarray(integers, wide).view(np.uint64)
