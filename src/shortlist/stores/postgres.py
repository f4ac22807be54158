"""A store in a PostgreSQL database."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from shortlist.errors import InputError, Words, named
from shortlist.stores._faults import PRIVATE, Fault, guarded
from shortlist.stores._names import Names
from shortlist.stores._postgres_rows import PostgresRows
from shortlist.stores._postgres_table import PostgresTable
from shortlist.stores.base import ScoreStore, StoredRows

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
        self._connect = _connector(url)
        del url  # whoever prints the variables of an error's trace would show it
        self._names = Names(table, item, count)
        self.count = count
        self._ask(PostgresTable)

    def __repr__(self) -> str:
        return f"<PostgresStore: {self._names}>"

    def prepare(self) -> None:
        """Create an index by count and id, where there is none.

        Until it is done nobody can write to the table. Where that is too long, run the statement
        of the refusal yourself, with CONCURRENTLY.

        Raises:
            InputError: There is no column of ids, or the index may not be created.
        """
        self._ask(lambda connection, names: PostgresTable(connection, names).prepare())

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


def _connector(url: str) -> Callable[[], psycopg.Connection[Any]]:
    """How to connect. The address is known to the function alone, and no attribute shows it."""

    def connect() -> psycopg.Connection[Any]:
        import psycopg

        return psycopg.connect(
            url,
            autocommit=True,  # transactions begin where they are written
            prepare_threshold=None,  # a pool of connections may be in between
            cursor_factory=psycopg.RawCursor,
            client_encoding="UTF8",
            fallback_application_name="shortlist",
        )

    return lambda: guarded(connect, _not_connected)


def _not_connected(error: Exception) -> InputError:
    if isinstance(error, ImportError):
        return _NOT_INSTALLED.of(_URL)
    from psycopg import OperationalError

    if not isinstance(error, OperationalError):
        return _MISWRITTEN.of(_URL)
    # A server gives a code only once a connection stands; before, there are words alone.
    words = f"{type(error).__name__} {getattr(error, 'sqlstate', None) or ''} {error}"
    for pattern, fault in _NOT_CONNECTED.items():
        if re.search(pattern, words, re.IGNORECASE):
            return fault.of(_URL)
    return _UNREACHED.of(_URL)


_NOT_INSTALLED = Fault(
    Words("is read by psycopg, which is not installed"),
    Words('run pip install "psycopg[binary]"'),
)
_MISWRITTEN = Fault(
    Words("cannot be taken apart"),
    Words(
        "write postgresql://user@host:5432/database, with special characters of user and password "
        "as %40 for @"
    ),
)
_UNREACHED = Fault(
    Words("cannot be connected to"),
    Words("check that the server runs, and its host, port, database, user and password"),
)
_NOT_CONNECTED = {
    r"connection refused|no such file or directory": Fault(
        Words("cannot be connected to: the connection was refused"),
        Words("check that the server runs, and its port"),
    ),
    r"resolve host|translate host name|name or service not known|getaddrinfo": Fault(
        Words("cannot be connected to: the host was not found"), Words("check its name")
    ),
    r"ConnectionTimeout|timed? ?out|timeout expired|no route|unreachable": Fault(
        Words("cannot be connected to: the host did not answer in time"),
        Words("check its name, its port and the network"),
    ),
    r"3D000|database .* does not exist": Fault(
        Words("cannot be connected to: there is no such database"), Words("check its name")
    ),
    r"28P01|28000|password|authentication|role .* does not exist|no pg_hba\.conf entry": Fault(
        Words("cannot be connected to: the server refuses this user or password"),
        Words("check both, and whether the user may connect"),
    ),
    r"53300|too many (clients|connections)|remaining connection slots": Fault(
        Words("cannot be connected to: the server has too many connections"),
        Words("try again later"),
    ),
    r"ssl|certificate": Fault(
        Words("cannot be connected to: an encrypted connection failed"),
        Words("check sslmode and the certificates"),
    ),
}
