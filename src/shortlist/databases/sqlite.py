"""Files of SQLite: how they are named and opened, and what their errors say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shortlist.databases.faults import Fault
from shortlist.databases.urls import path_of, scheme_of
from shortlist.errors import InputError, Words

if TYPE_CHECKING:
    import sqlite3

__all__ = ["DAMAGED", "UNFINISHED", "code_of", "connect", "sqlite_path"]

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
