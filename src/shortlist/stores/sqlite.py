"""A store in an SQLite file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist.databases.faults import Fault, fault_of_code, guarded
from shortlist.databases.quoting import quoted
from shortlist.databases.sqlite import DAMAGED, UNFINISHED, code_of, connect
from shortlist.draws import Ints
from shortlist.errors import InputError, Words, named, nearest, shown, spending
from shortlist.parameters import MOST_ITEMS
from shortlist.stores._database import DatabaseRows, DatabaseStore, TableAndColumns
from shortlist.stores.score_store import PRIVATE
from shortlist.table.identity import identity_of_database

if TYPE_CHECKING:
    import sqlite3

    import polars as pl


class SqliteTable:
    """A table whose columns are known to be there, and whose rows have numbers.

    Attributes:
        name: As SQL writes it; `item` and `count`, too.
        row: The name of the rows' number, which is none of the columns.

    Raises:
        InputError: There is no such table or column, or its rows have no numbers.
    """

    def __init__(self, connection: sqlite3.Connection, names: TableAndColumns) -> None:
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


class SqliteRows(DatabaseRows):
    """Rows of a table, as the threshold algorithm reads them."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        names: TableAndColumns,
        complaint: Callable[[Exception], InputError],
    ) -> None:
        super().__init__(connection, names, complaint)
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
        # The statement stands where it ended, so that nothing is sought again.
        read = self._falling.fetchmany(n)
        ids = np.array([row for row, _ in read], np.int64) - self._first
        return ids, [count for _, count in read]

    def find(self, ids: Ints) -> tuple[Ints, ArrayLike]:
        read = self._look_up(self._table.count, ids)
        return ids[[place for place, _ in read]], [count for _, count in read]

    def items(self, ids: Ints) -> pl.DataFrame:
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

    def close(self) -> None:
        # A statement that was not read to its end would keep the file locked.
        with suppress(Exception):
            self._falling.close()
        super().close()

    def _look_up(self, column: str, ids: Ints) -> list[tuple[int, Any]]:
        """The value of each id that exists, beside its place among the ids.

        A table of the file may be called json_each; among the temporary ones there is none.
        """
        numbers = json.dumps((ids + self._first).tolist())
        query = (
            f"SELECT wanted.key, t.{column} FROM temp.json_each(?) AS wanted "
            f"CROSS JOIN {self._table.name} AS t ON t.{self._table.row} = wanted.value"
        )
        read: list[tuple[int, Any]] = self._connection.execute(query, [numbers]).fetchall()
        return read


class SqliteStore(DatabaseStore):
    """A table in an SQLite file, with one row per item: the item, and how many users hold it.

    The file is opened for reading only, anew for each question, in one transaction. The id of
    an item is the number that SQLite gives to its row, the rowid.

    Args:
        path: The file.
        table: The table, by its name as it is written in the file.
        item: The column of items: text or integers, of one type, each in one row.
        count: The column of counts: integers from 0 to 2^62. A count is checked when it is read.

    Raises:
        InputError: There is no such file, table or column, it may not be read, or its rows
            have no numbers.
    """

    table_of, rows_of = SqliteTable, SqliteRows
    costs = (1.0, 6.0)

    def __init__(self, path: str | os.PathLike[str], *, table: str, item: str, count: str) -> None:
        if not isinstance(path, str | os.PathLike):
            raise InputError("must be the path of a file", given={"path": path})
        super().__init__(TableAndColumns(table, item, count))
        self._path = Path(path).absolute()  # the folder may change
        self._url = named("url", Words('"sqlite:///{path}"', path=_shown(os.fspath(path))))
        self._ask(SqliteTable)

    def identity(self) -> object:
        """Its file, and what lies beside that and is not in it yet."""
        return identity_of_database(self._path, "-wal", "-journal")

    def prepare(self) -> None:
        """Create an index by count, where there is none; until it is done nobody else can write.

        Raises:
            InputError: The file may not be written.
        """
        self._ask(lambda *found: SqliteTable(*found).prepare(), writes=True)

    def _connect(self, *, writes: bool = False) -> sqlite3.Connection:
        if not self._path.exists():
            raise InputError(
                "{url} does not exist",
                "check the path. sqlite:///items.db is a file of the working folder and "
                "sqlite:////data/items.db has an absolute path, without escapes",
                url=self._url,
            )
        if not self._path.is_file():
            raise InputError("{url} is not a file", "name the file of the database", url=self._url)
        return connect(self._path, "rw" if writes else "ro", isolation_level=None)

    def _complaint(self, error: Exception) -> InputError:
        fault = fault_of_code(code_of(error), _COMPLAINTS)
        return fault.of(self._url) if fault else _UNKNOWN.of(self._names.origin)


def _shown(path: str | bytes) -> str:
    """The path without what other libraries take for a query, or all of what looks like a host.

    Both are taken as parts of the name of a file, but where there is none, a key may be in them.
    """
    name, mark, _ = os.fsdecode(path).partition("?")
    return "…" if "@" in name or "://" in name else shown(name) + ("?…" if mark else "")


_UNKNOWN = Fault(
    "cannot be read: a text in it is not UTF-8, or a query fails", "{private}", private=PRIVATE
)
_UNFINISHED = Fault(
    "was left in the middle of a change by a program that ended",
    "open it once where it may be written, such as by sqlite3 and a SELECT, which undoes that "
    "change",
)
_PERMISSIONS = "check the permissions of the file and of its folder"
_COMPLAINTS = {
    **dict.fromkeys(UNFINISHED, _UNFINISHED),
    **DAMAGED,
    "SQLITE_BUSY": Fault("is locked by another program", "wait until that has finished"),
    "SQLITE_NOTADB": Fault("is not an SQLite database"),
    "SQLITE_CANTOPEN": Fault("may not be opened", "{permissions}", permissions=_PERMISSIONS),
    "SQLITE_PERM": Fault("may not be opened", "{permissions}", permissions=_PERMISSIONS),
    "SQLITE_READONLY": Fault("may not be written", "{permissions}", permissions=_PERMISSIONS),
    "SQLITE_IOERR": Fault("cannot be read or written: the disk fails"),
    "SQLITE_FULL": Fault("cannot be written: the disk is full"),
}
