"""Ledgers in a PostgreSQL database, for many machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shortlist.budget._places import Execute
from shortlist.errors import InputError, Words
from shortlist.stores.connecting import connector
from shortlist.stores.faults import Fault

if TYPE_CHECKING:
    import psycopg

__all__ = ["PostgresDatabase"]


class LostConnectionError(InputError):
    """The connection broke, so that nobody knows whether a transaction has ended well."""


class PostgresDatabase:
    """A database that is connected to anew for each transaction, so that forks share nothing.

    A transaction locks the row of its ledger, and is on the server's disk when it ends, even if
    the server is set to answer sooner.
    """

    lock = " FOR UPDATE"

    def __init__(self, url: str) -> None:
        """Connect to nothing yet. The address is known to a function alone."""
        self.shown = Words('"postgresql://…"')
        self._connect = connector(url, self.shown)

    def create(self, fill: Callable[[Execute], None]) -> None:
        """As `Place`: beside other ledgers, if there are any."""
        with self.writing() as execute:
            execute("SELECT pg_advisory_xact_lock(7264951203)")  # two would make the same tables
            fill(execute)

    def writing(self) -> Any:  # noqa: ANN401 - a context manager
        """As `Place`."""
        return self._transaction(
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
            "SET LOCAL synchronous_commit = on",
            "SET LOCAL lock_timeout = '60s'",
        )

    def reading(self) -> Any:  # noqa: ANN401 - a context manager
        """As `Place`."""
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    @contextmanager
    def _transaction(self, *first: str) -> Iterator[Execute]:
        import psycopg

        connection = self._connect()
        try:
            connection.execute("; ".join(first).encode())
            yield _executing(connection)
            connection.execute(b"COMMIT")
        except psycopg.Error as error:
            refusal = self._refusal(error)
        else:
            return
        finally:
            connection.close()  # which undoes what was not committed
        raise refusal

    def _refusal(self, error: psycopg.Error) -> InputError:
        code = error.sqlstate or ""
        if not code or code.startswith(("08", "57P")):
            return LostConnectionError(
                "{place}: the connection to the server is lost",
                "ask again when it runs",
                place=self.shown,
            )
        known = (fault for start, fault in _FAULTS.items() if code.startswith(start))
        return next(known, _FAILED).of(self.shown)


def _executing(connection: psycopg.Connection[Any]) -> Execute:
    def execute(statement: str, *values: object) -> list[Any]:
        done = connection.execute(statement.encode(), values)
        return done.fetchall() if done.description else []

    return execute


_GRANTS = (
    "GRANT SELECT, INSERT ON shortlist_entries, shortlist_releases TO it; "
    "GRANT SELECT, UPDATE ON shortlist_budgets TO it;"
)
_FAILED = Fault(
    Words("cannot be read or written: the server refuses a query"), Words("look at its log")
)
_FAULTS = {
    "42P01": Fault(
        Words("has no budget"),
        Words("create one by {sl.Budget.create}"),
    ),
    "42501": Fault(
        Words("is not open to this user"),
        Words("its owner can create the budget, and run {grants}", grants=_GRANTS),
    ),
    "25006": Fault(
        Words("only reads, so that nothing can be charged"), Words("name the primary server")
    ),
    "53100": Fault(
        Words("cannot be written: the disk is full, so that nothing can be charged"),
        Words("make room and ask again"),
    ),
    "55P03": Fault(Words("is locked by another program for a long time"), Words("ask again later")),
    "40": Fault(Words("has ended the transaction"), Words("ask again")),
}
