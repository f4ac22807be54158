"""A store by the URL of its database."""

from __future__ import annotations

import re

from shortlist.errors import InputError, Words, in_quotes, nearest
from shortlist.stores.postgres import PostgresStore
from shortlist.stores.score_store import ScoreStore
from shortlist.stores.sqlite import SqliteStore

__all__ = ["open_store", "sqlite_path"]

_KINDS = "sqlite:///items.db or postgresql://user@host:5432/database"


def open_store(url: str, *, table: str, item: str, count: str) -> ScoreStore:
    """The store of that URL. Nothing but the schema is read.

    Args:
        url: sqlite:/// and a path, or postgresql://, as libpq takes it. No more than that is
            ever repeated of the latter, since a password may be anywhere in it.
        table: The table.
        item: Its column of items.
        count: Its column of counts.

    Raises:
        InputError: There is no such kind of database, or as its store.
    """
    path, scheme = sqlite_path(url), _scheme(url)
    if path is not None:
        return SqliteStore(path, table=table, item=item, count=count)
    if scheme in ("postgresql", "postgres"):
        address = scheme + url[len(scheme) :]  # libpq knows it by small letters only
        return PostgresStore(address, table=table, item=item, count=count)
    if scheme is None:
        raise InputError(
            "must be the URL of a database", "write {kinds}", given={"url": ...}, kinds=_KINDS
        )
    hint = nearest(scheme.partition("+")[0], ["sqlite", "postgresql"])
    raise InputError(
        "must be the URL of an SQLite or a PostgreSQL database",
        "write {kinds}.{hint}",
        given={"url": in_quotes("://")},
        kinds=_KINDS,
        hint=hint,
    )


def sqlite_path(url: str) -> str | None:
    """The path of a database file as it stands, unescaped; None if the URL is of another kind.

    >>> sqlite_path("sqlite:///items.db"), sqlite_path("sqlite:////data/my%20items.db")
    ('items.db', '/data/my%20items.db')
    """
    if _scheme(url) != "sqlite":
        return None
    path = url[len("sqlite://") :]
    if not path.startswith("/") or path in ("/", "/:memory:"):
        raise InputError(
            "names no file",
            "write sqlite:///items.db, or, for an absolute path, sqlite:////data/items.db",
            given={"url": Words('"sqlite://…"')},
        )
    return path[1:]


def _scheme(url: str) -> str | None:
    found = re.match(r"([A-Za-z][A-Za-z0-9+]*)://", url)
    return found and found[1].lower()
