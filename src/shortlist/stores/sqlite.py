"""A store in an SQLite file."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from shortlist.errors import InputError, Words, named, shown
from shortlist.runtime.processes import even_unmade
from shortlist.stores._names import Names
from shortlist.stores._sqlite_rows import SqliteRows, SqliteTable
from shortlist.stores.faults import PRIVATE, Fault, guarded
from shortlist.stores.score_store import ScoreStore, StoredRows
from shortlist.table.identity import identity_of_database

if TYPE_CHECKING:
    import sqlite3

__all__ = ["SqliteStore"]

_T = TypeVar("_T")


class SqliteStore(ScoreStore):
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

    costs = (1.0, 6.0)

    def __init__(self, path: str | os.PathLike[str], *, table: str, item: str, count: str) -> None:
        super().__init__()
        if not isinstance(path, str | os.PathLike):
            raise InputError("must be the path of a file", given={"path": path})
        self._names = Names(table, item, count)
        self._path = Path(path).absolute()  # the folder may change
        self._url = named("url", Words('"sqlite:///{path}"', path=_shown(os.fspath(path))))
        self.count = count
        self._ask(SqliteTable)

    @even_unmade
    def __repr__(self) -> str:
        return f"<SqliteStore: {self._names}>"

    def identity(self) -> object:
        """As `ScoreStore`: its file, and what is not in that yet."""
        return identity_of_database(self._path, "-wal", "-journal")

    def prepare(self) -> None:
        """Create an index by count, where there is none; until it is done nobody else can write.

        Raises:
            InputError: The file may not be written.
        """
        self._ask(lambda connection, names: SqliteTable(connection, names).prepare(), mode="rw")

    def check(self) -> None:
        """As `Store`."""
        self._ask(lambda connection, names: SqliteTable(connection, names).require_index())

    def rows(self) -> StoredRows:
        """As `Store`.

        Raises:
            InputError: There is no index by count; the message has the statement that creates it.
        """
        connection = guarded(self._connect, self._complaint)
        try:
            return guarded(
                lambda: SqliteRows(connection, self._names, self._complaint), self._complaint
            )
        except BaseException:
            connection.close()
            raise

    def _ask(self, action: Callable[[sqlite3.Connection, Names], _T], mode: str = "ro") -> _T:
        def ask() -> _T:
            with closing(self._connect(mode)) as connection:
                return action(connection, self._names)

        return guarded(ask, self._complaint)

    def _connect(self, mode: str = "ro") -> sqlite3.Connection:
        import sqlite3

        if not self._path.exists():
            raise InputError(
                "{url} does not exist",
                "check the path. sqlite:///items.db is a file of the working folder and "
                "sqlite:////data/items.db has an absolute path, without escapes",
                url=self._url,
            )
        if not self._path.is_file():
            raise InputError("{url} is not a file", "name the file of the database", url=self._url)
        uri = f"{self._path.absolute().as_uri()}?mode={mode}"
        return sqlite3.connect(uri, uri=True, isolation_level=None)

    def _complaint(self, error: Exception) -> InputError:
        code = str(getattr(error, "sqlite_errorname", ""))
        for start, fault in _COMPLAINTS.items():
            if code.startswith(start):
                return fault.of(self._url)
        return _UNKNOWN.of(self._names.origin)


def _shown(path: str | bytes) -> str:
    """The path without what other libraries take for a query, or all of what looks like a host.

    Both are taken as parts of the name of a file, but where there is none, a key may be in them.
    """
    name, mark, _ = os.fsdecode(path).partition("?")
    return "…" if "@" in name or "://" in name else shown(name) + ("?…" if mark else "")


_UNKNOWN = Fault(Words("cannot be read: a text in it is not UTF-8, or a query fails"), PRIVATE)
_UNFINISHED = Fault(
    Words("was left in the middle of a change by a program that ended"),
    Words(
        "open it once where it may be written, such as by sqlite3 and a SELECT, which undoes that "
        "change"
    ),
)
_PERMISSIONS = Words("check the permissions of the file and of its folder")
_COMPLAINTS = {
    "SQLITE_READONLY_ROLLBACK": _UNFINISHED,
    "SQLITE_READONLY_RECOVERY": _UNFINISHED,
    "SQLITE_READONLY_CANTINIT": _UNFINISHED,
    "SQLITE_BUSY": Fault(
        Words("is locked by another program"), Words("wait until that has finished")
    ),
    "SQLITE_NOTADB": Fault(Words("is not an SQLite database")),
    "SQLITE_CORRUPT": Fault(Words("is damaged"), Words("restore it from a backup")),
    "SQLITE_CANTOPEN": Fault(Words("may not be opened"), _PERMISSIONS),
    "SQLITE_PERM": Fault(Words("may not be opened"), _PERMISSIONS),
    "SQLITE_READONLY": Fault(Words("may not be written"), _PERMISSIONS),
    "SQLITE_IOERR": Fault(Words("cannot be read or written: the disk fails")),
    "SQLITE_FULL": Fault(Words("cannot be written: the disk is full")),
}
