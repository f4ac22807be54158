"""Where a ledger is, by what a caller wrote: a file, or a database of another machine."""

from __future__ import annotations

import os
from pathlib import Path

from shortlist.budget._places import Place
from shortlist.budget._postgres import PostgresDatabase
from shortlist.budget._sqlite import SqliteFile
from shortlist.errors import InputError

__all__ = ["place_at"]


def place_at(url_or_path: object) -> Place:
    """Where a ledger is.

    Raises:
        InputError: It can be nowhere.
    """
    if not isinstance(url_or_path, str | os.PathLike):
        raise InputError(
            "must be a path, or postgresql://user@host:5432/database",
            given={"url_or_path": url_or_path},
        )
    text = os.fspath(url_or_path)
    scheme, mark, _ = text.partition("://")
    if not mark:
        return SqliteFile(Path(url_or_path))
    if scheme.lower() not in ("postgresql", "postgres"):
        raise InputError(
            "must be the path of an SQLite file, or a URL that begins with postgresql://",
            given={"url_or_path": ...},
        )
    return PostgresDatabase(scheme.lower() + text[len(scheme) :])
