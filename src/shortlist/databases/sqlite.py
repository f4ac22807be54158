"""Files of SQLite: how they are named and opened, and what their errors say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.databases.faults import Fault
from shortlist.databases.through_ibis import Expression, as_text, call
from shortlist.databases.urls import path_of, scheme_of
from shortlist.errors import InputError, Words

if TYPE_CHECKING:
    import sqlite3

UNFINISHED = (
    "SQLITE_READONLY_ROLLBACK",
    "SQLITE_READONLY_RECOVERY",
    "SQLITE_READONLY_CANTINIT",
)
"""The codes of a change that was left in the middle, where the file may not be written."""

DAMAGED = {"SQLITE_CORRUPT": Fault("is damaged", "restore it from a backup")}


def sqlite_path(url: str) -> str | None:
    """The path of a file as it stands, unescaped; None if the URL is of another database.

    >>> sqlite_path("sqlite:///items.db"), sqlite_path("sqlite:////data/my%20items.db")
    ('items.db', '/data/my%20items.db')
    """
    if scheme_of(url) != "sqlite":
        return None
    path = path_of(url)
    if not url.partition("://")[2].startswith("/") or path in ("", ":memory:"):
        raise InputError(
            "names no file",
            "write sqlite:///items.db, or, for an absolute path, sqlite:////data/items.db",
            given={"url": Words('"sqlite://…"')},
        )
    return path


def connect(path: Path, mode: str = "ro", **options: Any) -> sqlite3.Connection:
    """Open a file that is there, for reading only or ("rw") for writing; none is ever made."""
    import sqlite3

    where = f"{path.absolute().as_uri()}?mode={mode}"
    connection: sqlite3.Connection = sqlite3.connect(where, uri=True, **options)
    return connection


def code_of(error: Exception) -> str:
    """The name of an error's code, such as SQLITE_BUSY; empty where it has none."""
    return str(getattr(error, "sqlite_errorname", None) or "")


def with_values_apart(table: Expression) -> Expression:
    """A table of Ibis in which no value is read as another, whatever the type of its column says.

    A column of SQLite holds values of any type. Ibis would read all but 0 as true, and 1.5 as 1.
    """
    import ibis

    columns = {}
    for name, dtype in table.schema().items():
        column = table[name]
        if dtype.is_boolean():
            text = as_text(column)
            columns[name] = ibis.cases((text == "0", "false"), (text == "1", "true"), else_=text)
        elif dtype.is_integer() or (dtype.is_decimal() and dtype.scale == 0):
            whole = column.typeof().isin(("integer", "null"))
            # What stands in place of another value is text, which whoever reads numbers refuses.
            text = call("quote", "int64", column)
            columns[name] = ibis.cases((whole, column.cast("int64")), else_=text)
    return table.mutate(**columns) if columns else table
