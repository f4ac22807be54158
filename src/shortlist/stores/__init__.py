"""Stores: histograms that answer sorted and random access, in memory and in databases.

A database's library loads when a store of its kind is built.
"""

from shortlist.evidence.view import View
from shortlist.stores.memory import MemoryStore
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
]
