"""A store in a PostgreSQL database."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from shortlist.errors import InputError, Words, named
from shortlist.runtime.processes import even_unmade
from shortlist.stores._names import Names
from shortlist.stores._postgres_rows import PostgresRows
from shortlist.stores._postgres_table import PostgresTable
from shortlist.stores.connecting import connector
from shortlist.stores.faults import PRIVATE, Fault, guarded
from shortlist.stores.score_store import ScoreStore, StoredRows

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresStore"]

_T = TypeVar("_T")
_URL = named(
    "url", Words('"postgresql://…"')
)  # it may hold a password, anywhere where it is mistyped


class PostgresStore(ScoreStore):
    """A table in PostgreSQL, with one row per item: the item, and how many users hold it.

    Each question has a connection of its own, and one transaction, read only and repeatable read.
    The id of an item is an integer column that is not null and has a unique index: the items
    themselves, the primary key or another; of several the one whose index with the counts is
    there, and then the one with the fewest gaps.

    Args:
        url: As libpq takes it: postgresql://user@host:5432/database. A password may be in it, and
            is never shown; PGPASSWORD or a password file keep it out of sight altogether.
        table: The table, or schema.table, by its name as it is written there.
        item: The column of items: text, integers, dates, UUIDs or enums, each in one row.
        count: The column of counts: smallint, integer or bigint. A count is checked when it
            is read: from 0 to 2^62.

    Raises:
        InputError: There is no such server, table or column, its type is wrong, or it may not be
            read.
    """

    costs = (1.0, 3.0)

    def __init__(self, url: str, *, table: str, item: str, count: str) -> None:
        super().__init__()
        if not isinstance(url, str):
            raise InputError(
                "must be a text such as postgresql://user@host:5432/database", given={"url": ...}
            )
        self._connect = connector(url, _URL)
        del url  # whoever prints the variables of an error's trace would show it
        self._names = Names(table, item, count)
        self.count = count
        self._ask(PostgresTable)

    @even_unmade
    def __repr__(self) -> str:
        return f"<PostgresStore: {self._names}>"

    def identity(self) -> object:
        """As `ScoreStore`: the server, the database, and its search path."""
        return self._place

    @cached_property
    def _place(self) -> list[object]:
        return self._ask(lambda connection, _: _place_of(connection))

    def prepare(self) -> None:
        """Create an index by count and id, where there is none.

        Until it is done nobody can write to the table. Where that is too long, run the statement
        of the refusal yourself, with CONCURRENTLY.

        Raises:
            InputError: There is no column of ids, or the index may not be created.
        """
        self._ask(lambda connection, names: PostgresTable(connection, names).prepare())

    def check(self) -> None:
        """As `Store`."""
        self._ask(lambda connection, names: PostgresTable(connection, names).require_any_index())

    def rows(self) -> StoredRows:
        """As `Store`.

        Raises:
            InputError: There is no column of ids, or no index by count and id; the message has
                the statement that creates it.
        """
        connection = self._connect()
        try:
            return guarded(
                lambda: PostgresRows(connection, self._names, self._complaint), self._complaint
            )
        except BaseException:
            connection.close()
            raise

    def _ask(self, action: Callable[[psycopg.Connection[Any], Names], _T]) -> _T:
        with closing(self._connect()) as connection:
            return guarded(lambda: action(connection, self._names), self._complaint)

    def _complaint(self, error: Exception) -> InputError:
        from psycopg import InterfaceError, OperationalError

        code, origin = getattr(error, "sqlstate", None) or "", self._names.origin
        for start, fault in _COMPLAINTS.items():
            if code.startswith(start):
                return fault.of(origin)
        if not code and isinstance(error, OperationalError | InterfaceError):
            return _LOST.of(origin)
        return _UNKNOWN.of(origin)


def _place_of(connection: psycopg.Connection[Any]) -> list[object]:
    server = connection.info
    within = connection.execute(
        b"SELECT oid::text, current_schemas(false)::text FROM pg_database "
        b"WHERE datname = current_database()"
    )
    return [server.host, server.port, server.dbname, *(within.fetchone() or ())]


_UNKNOWN = Fault(
    Words("cannot be read: the server refuses a query, or a value cannot be taken over"), PRIVATE
)
_LOST = Fault(
    Words("cannot be read any more: the connection to the server is lost"),
    Words("Ask again when it runs"),
)
_COMPLAINTS = {
    "57P": _LOST,  # the server is shut down
    "08": _LOST,
    "57014": Fault(Words("cannot be read: the server ended the query, by a time limit or by hand")),
    "40": Fault(
        Words("cannot be read at one moment: the server ended the transaction"), Words("Ask again")
    ),
    "42501": Fault(
        Words("is not open to this user, or to change its indexes"), Words("ask its owner")
    ),
    "25006": Fault(
        Words("cannot be prepared where the server only reads"),
        Words("prepare it on the primary server"),
    ),
    "53": Fault(
        Words("cannot be read: the server has no room left, in memory, on disk or for connections")
    ),
}
