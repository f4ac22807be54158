"""Stores: histograms that answer sorted and random access, in memory and in databases.

A database's library loads when a store of its kind is built.
"""

from shortlist.databases.postgres import address_of
from shortlist.databases.sqlite import sqlite_path
from shortlist.databases.urls import scheme_of
from shortlist.errors import InputError, in_quotes, nearest
from shortlist.evidence.view import View
from shortlist.stores.memory_store import MemoryStore
from shortlist.stores.postgres import PostgresStore
from shortlist.stores.score_store import Accesses, ScoreStore, Snapshot, StoredRows
from shortlist.stores.sqlite import SqliteStore

__all__ = [
    "Accesses",
    "MemoryStore",
    "PostgresStore",
    "ScoreStore",
    "Snapshot",
    "SqliteStore",
    "StoredRows",
    "View",
    "open_store",
]

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
    if (path := sqlite_path(url)) is not None:
        return SqliteStore(path, table=table, item=item, count=count)
    if (address := address_of(url)) is not None:
        return PostgresStore(address, table=table, item=item, count=count)
    scheme = scheme_of(url)
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
