"""The rows of a table in PostgreSQL, in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist.draws import Ints
from shortlist.errors import InputError, spending
from shortlist.stores._names import Names, quoted
from shortlist.stores._postgres_catalog import select
from shortlist.stores._postgres_table import PostgresTable
from shortlist.stores.faults import guarded
from shortlist.stores.score_store import StoredRows

if TYPE_CHECKING:
    import polars as pl
    import psycopg

__all__ = ["PostgresRows"]


class PostgresRows(StoredRows):
    """The rows in one transaction, which begins here: it reads only, and sees no later change."""

    def __init__(
        self,
        connection: psycopg.Connection[Any],
        names: Names,
        complaint: Callable[[Exception], InputError],
    ) -> None:
        self.origin = names.counts
        self._connection = connection
        self._names = names
        self._complaint = complaint
        connection.execute(b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._table = table = PostgresTable(connection, names)
        with spending():
            ids = guarded(table.ids, complaint)
        table.require_index(ids.column)
        self.size = ids.size
        self._first = ids.first
        self._id = quoted(ids.column)
        self._last: tuple[int, int] | None = None

    def following(self, n: int) -> tuple[Ints, ArrayLike]:
        """As `Rows`. Reads on in the index behind the last row, without passing over others."""
        key = f"{self._table.count}, {self._id}"
        after = "" if self._last is None else f"WHERE ({key}) < ($2::int8, $3::int8)"
        query = (
            f"SELECT {key} FROM {self._table.name} {after} "
            f"ORDER BY {self._table.count} DESC, {self._id} DESC LIMIT $1"
        )
        read = select(self._connection, query, n, *(self._last or ()))
        if read:
            self._last = read[-1]
        ids = np.array([row for _, row in read], np.int64) - self._first
        return ids, [count for count, _ in read]

    def find(self, ids: Ints) -> tuple[Ints, ArrayLike]:
        """As `Rows`."""
        read = self._look_up(self._table.count, ids)
        return np.array(list(read), np.int64), list(read.values())

    def items(self, ids: Ints) -> pl.DataFrame:
        """As `Rows`."""
        import polars as pl

        read = self._look_up(self._table.item, ids)
        types = {"text": pl.String(), "integers": pl.Int64(), "dates": pl.Date()}
        items = [read[i] for i in ids.tolist()]
        return pl.DataFrame(pl.Series(self._names.item, items, types[self._table.item_type]))

    def complaint(self, error: Exception) -> InputError:
        """As `Rows`."""
        return self._complaint(error)

    def close(self) -> None:
        """As `Rows`."""
        with suppress(Exception):
            self._connection.close()

    def _look_up(self, column: str, ids: Ints) -> dict[int, Any]:
        """The value of each id that exists."""
        query = (
            f"SELECT {self._id}, {column} FROM {self._table.name} "
            f"WHERE {self._id} = ANY($1::int8[])"
        )
        read = select(self._connection, query, (ids + self._first).tolist())
        return {number - self._first: value for number, value in read}
