"""Text, and whatever else is no number of 64 bits, coded piece by piece."""

from __future__ import annotations

import secrets
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.table._codings import Distinct
from shortlist.table._growing import Growing
from shortlist.table._hash_table import HashTable
from shortlist.table.keys import Keys

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ValueCoder"]

_PIECE = 2**17  # rows that are coded at once, at least; they fit the processor's caches


class ValueCoder:
    """Codes of values by their hashes, of which Polars makes 64 bits each.

    Two values are one where they are equal, not where their hashes are: each is compared with the
    first of its hash, and where that is another, its code is sought by a second hash, and so on.
    The seeds of the hashes are drawn anew, so that nobody can choose values that all have one.
    """

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        """Take an empty column of the name and type, and how many rows may be expected."""
        self._values = like
        self._codes = Growing(np.uint32, n_rows)
        self._table = HashTable()
        self._seeds: list[int] = []
        self._waiting = [like]

    def append(self, values: pl.Series) -> None:
        """Take more values, none null."""
        self._waiting.append(values)
        # To hold new values, all are copied: that is worth while for a share of as many rows.
        if sum(map(len, self._waiting)) >= max(_PIECE, len(self._values) // 2):
            self._code()

    def keys(self) -> Keys:
        """The keys of all that came."""
        self._code()
        return Keys(self._codes.filled, len(self._values), Distinct(self._values))

    def _code(self) -> None:
        """Code what waits."""
        import polars as pl

        values = pl.concat(self._waiting)
        self._waiting = [values.clear()]
        codes, rows = self._codes.room(len(values)), pl.arange(len(values), eager=True)
        for turn in count():
            found = self._first_of_hash(values, turn)
            codes[rows.to_numpy()] = found
            others = (self._values.gather(found) != values).arg_true()
            if others.is_empty():
                return
            values, rows = values.gather(others), rows.gather(others)

    def _first_of_hash(self, values: pl.Series, turn: int) -> pl.Series:
        """For each value the code of the first that had its hash."""
        import polars as pl

        known = len(self._table)
        codes = np.empty(len(values), np.uint32)
        self._table.look_up(self._hashes(values, turn), codes)
        new = np.flatnonzero(codes >= known)
        # New codes rise: each stands for the value where it is the largest so far.
        largest = np.maximum.accumulate(codes[new].astype(np.int64))
        first = new[np.diff(largest, prepend=known - 1) > 0]
        self._values = pl.concat([self._values, _apart(values.gather(first))], rechunk=True)
        return pl.Series(codes)

    def _hashes(self, values: pl.Series, turn: int) -> NDArray[np.uint64]:
        if turn == len(self._seeds):
            self._seeds.append(secrets.randbits(64))
        return values.hash(self._seeds[turn]).to_numpy()


def _apart(values: pl.Series) -> pl.Series:
    """The same text in memory of its own: else all text of the piece it is from would be kept."""
    import polars as pl

    if values.dtype != pl.String:
        return values
    return values.cast(pl.Binary).cast(pl.List(pl.UInt8)).cast(pl.Binary).cast(pl.String)
