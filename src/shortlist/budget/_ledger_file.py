"""A ledger in an SQLite file."""

from __future__ import annotations

from pathlib import Path

from shortlist.databases.sqlite_file import FileWords, SqliteFile
from shortlist.errors import Words

_WORDS = FileWords(
    noun="budget",
    kept="what was spent",
    create=Words("create it by {sl.Budget.create}; it is never made by itself"),
    harm="two questions could be paid by one charge",
    undone="nothing can be charged",
    step="charge",
    busy="is locked by another program for a long time",
    later="ask again later",
    failed=Words("See what it holds by {sl.Budget.verify}"),
    on_a_network="Keep it on a local disk, or take postgresql:// for several machines",
)


def ledger_file(path: Path) -> SqliteFile:
    """The file of a ledger, whether there is one or not."""
    return SqliteFile(path, _WORDS)
