"""Where a ledger can be: an SQLite file, or a PostgreSQL database for many machines."""

from __future__ import annotations

from pathlib import Path

from shortlist.databases.postgres_database import DatabaseWords, PostgresDatabase
from shortlist.databases.sqlite_file import FileWords, SqliteFile
from shortlist.errors import Words

_WORDS = FileWords(
    noun="budget",
    kept="what was spent",
    create=Words("create it by {sl.Budget.create}; it is never created automatically"),
    harm="two questions could be paid by one charge",
    undone="nothing can be charged",
    step="charge",
    busy="is locked by another program for a long time",
    later="ask again later",
    failed=Words("See what it holds by {sl.Budget.verify}"),
    on_a_network="Keep it on a local disk, or take postgresql:// for several machines",
)

_IN_DATABASE = DatabaseWords(
    table="shortlist_budgets",
    noun="budget",
    create=Words("create one by {sl.Budget.create}"),
    undone="nothing can be charged",
    grants="GRANT SELECT, INSERT ON shortlist_entries, shortlist_releases TO it; "
    "GRANT SELECT, UPDATE ON shortlist_budgets TO it;",
    busy="is locked by another program for a long time",
    later="ask again later",
)


def ledger_file(path: Path) -> SqliteFile:
    """The file of a ledger, whether there is one or not."""
    return SqliteFile(path, _WORDS)


def ledger_database(url: str) -> PostgresDatabase:
    """The database that has ledgers, or may have."""
    return PostgresDatabase(url, _IN_DATABASE)
