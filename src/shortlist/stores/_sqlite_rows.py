"""What is asked of an SQLite file: whether the table can be a store, and its rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist.draws import Ints
from shortlist.errors import InputError, nearest, spending
from shortlist.parameters import MOST_ITEMS
from shortlist.stores._names import Names, quoted
from shortlist.stores.faults import guarded
from shortlist.stores.score_store import StoredRows

if TYPE_CHECKING:
    import sqlite3

    import polars as pl

__all__ = ["SqliteRows", "SqliteTable"]


class SqliteTable:
    """A table whose columns are known to be there, and whose rows have numbers.

    Attributes:
        name: As SQL writes it; `item` and `count`, too.
        row: The name of the rows' number, which is none of the columns.

    Raises:
        InputError: There is no such table or column, or its rows have no numbers.
    """

    def __init__(self, connection: sqlite3.Connection, names: Names) -> None:
        self._connection = connection
        self._names = names
        self.name, self.item, self.count = map(quoted, (names.table, names.item, names.count))
        query = "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view')"
        tables = dict(connection.execute(query).fetchall())
        if tables.get(names.table) == "view":
            raise InputError(
                "{origin} is a view, which has no index", "name the table", origin=names.origin
            )
        if tables.get(names.table) != "table":
            known = [name for name, kind in tables.items() if kind == "table"]
            raise InputError(
                "{origin} is not a table of this file",
                "{hint}",
                origin=names.origin,
                hint=nearest(names.table, known),
            )
        query = "SELECT name FROM pragma_table_xinfo(?)"
        columns = [name for (name,) in connection.execute(query, [names.table])]
        names.require_columns(columns)
        self.row = self._row_number({name.lower() for name in columns})

    def _row_number(self, columns: set[str]) -> str:
        """One of SQLite's names for the row number, of which columns may take some."""
        import sqlite3

        for name in ("rowid", "_rowid_", "oid"):
            if name in columns:
                continue
            try:
                self._connection.execute(f"SELECT {name} FROM {self.name} LIMIT 0")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorname != "SQLITE_ERROR":
                    raise
            else:
                return name
        raise InputError(
            "{origin} has no row numbers: it was created WITHOUT ROWID",
            "{remedy}",
            origin=self._names.origin,
            remedy=self.remedy,
        )

    @property
    def remedy(self) -> str:
        """How to get a table whose rows are numbered without wide gaps."""
        new = quoted(f"{self._names.table}_numbered")
        columns = f"{self.item}, {self.count}"
        taken = {self._names.item.lower(), self._names.count.lower()}
        key = "shortlist_id" if "id" in taken else "id"
        return (
            f"Name the table that this makes: CREATE TABLE {new} ({key} INTEGER PRIMARY KEY, "
            f"{columns}); INSERT INTO {new} ({columns}) SELECT {columns} FROM {self.name};"
        )

    @property
    def by_count(self) -> str:
        """The query that sorted access reads from, row by row."""
        return f"SELECT {self.row}, {self.count} FROM {self.name} ORDER BY {self.count} DESC"

    @property
    def create_index(self) -> str:
        """The statement that makes sorted access cheap."""
        index = quoted(f"{self._names.table} by {self._names.count}")
        return f"CREATE INDEX {index} ON {self.name} ({self.count});"

    @property
    def is_indexed(self) -> bool:
        """Whether SQLite itself would read by an index, and not sort."""
        plan = self._connection.execute(f"EXPLAIN QUERY PLAN {self.by_count}").fetchall()
        return not any("TEMP B-TREE" in step for *_, step in plan)

    def require_index(self) -> None:
        """Refuse a table of which sorted access would read all."""
        if not self.is_indexed:
            raise InputError(
                "{counts} has no index that answers by falling count",
                "{or_prepare}run {create_index}",
                counts=self._names.counts,
                create_index=self.create_index,
            )

    def prepare(self) -> None:
        """Create the index, if there is none."""
        if not self.is_indexed:
            self._connection.execute(self.create_index)


class SqliteRows(StoredRows):
    """The rows in one transaction, which begins here."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        names: Names,
        complaint: Callable[[Exception], InputError],
    ) -> None:
        self.origin = names.counts
        self._connection = connection
        self._names = names
        self._complaint = complaint
        connection.execute("BEGIN")
        self._table = table = SqliteTable(connection, names)
        table.require_index()
        with spending():
            self._first, self.size = guarded(self._span, complaint)
            if self.size > MOST_ITEMS:
                raise InputError(
                    "{origin} has row numbers that span more than 2^32",
                    "{remedy}",
                    origin=names.origin,
                    remedy=table.remedy,
                )
        self._falling = connection.execute(table.by_count)

    def _span(self) -> tuple[int, int]:
        """The first row number, and how many there are, gaps included."""
        # Each is one look at an end of the tree; both in one SELECT would be a scan.
        row, table = self._table.row, self._table.name
        ends = (f"(SELECT {end}({row}) FROM {table})" for end in ("min", "max"))
        ((first, last),) = self._connection.execute(f"SELECT {', '.join(ends)}").fetchall()
        return first or 0, 0 if last is None else last - first + 1

    def following(self, n: int) -> tuple[Ints, ArrayLike]:
        """As `Rows`. The statement stands where it ended, so that nothing is sought again."""
        read = self._falling.fetchmany(n)
        ids = np.array([row for row, _ in read], np.int64) - self._first
        return ids, [count for _, count in read]

    def find(self, ids: Ints) -> tuple[Ints, ArrayLike]:
        """As `Rows`."""
        read = self._look_up(self._table.count, ids)
        return ids[[place for place, _ in read]], [count for _, count in read]

    def items(self, ids: Ints) -> pl.DataFrame:
        """As `Rows`."""
        import polars as pl

        read = sorted(self._look_up(self._table.item, ids), key=lambda row: row[0])
        items = [item for _, item in read]
        types = {type(item) for item in items if item is not None}
        if types - {str} and types - {int}:
            raise InputError(
                "{items} holds values that are not all text, nor all integers",
                "write them with one type",
                items=self._names.items,
            )
        dtype = pl.Int64() if int in types else pl.String()
        return pl.DataFrame({self._names.item: items}, schema={self._names.item: dtype})

    def complaint(self, error: Exception) -> InputError:
        """As `Rows`."""
        return self._complaint(error)

    def close(self) -> None:
        """As `Rows`. A statement that was not read to its end would keep the file locked."""
        with suppress(Exception):
            self._falling.close()
            self._connection.close()

    def _look_up(self, column: str, ids: Ints) -> list[tuple[int, Any]]:
        """The value of each id that exists, beside its place among the ids.

        A table of the file may be called json_each; among the temporary ones there is none.
        """
        numbers = json.dumps((ids + self._first).tolist())
        query = (
            f"SELECT wanted.key, t.{column} FROM temp.json_each(?) AS wanted "
            f"CROSS JOIN {self._table.name} AS t ON t.{self._table.row} = wanted.value"
        )
        return self._connection.execute(query, [numbers]).fetchall()
