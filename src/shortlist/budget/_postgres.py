"""Ledgers in a PostgreSQL database, for many machines.

All tables of a ledger are in one schema, which is found out once. A `search_path` in which another
table of one of their names comes first, for some user or on some day, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from shortlist.databases.faults import Fault, fault_of_code
from shortlist.databases.postgres import LOST, code_of, connector
from shortlist.databases.sqlite_file import Execute
from shortlist.errors import InputError, Words, shown

if TYPE_CHECKING:
    import psycopg


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
        self._schema: str | None = None

    identity = "postgresql"  # which database it is, an address does not tell for good

    def require_new(self, require_none: Callable[[Execute], None]) -> None:
        """Look at the ledgers that are there, if their tables are."""
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._transaction(begin, creates=True) as execute:
            if execute("SELECT to_regclass('shortlist_budgets')") != [(None,)]:
                require_none(execute)

    def create(self, fill: Callable[[Execute], None]) -> None:
        """Make room beside other ledgers, if there are any."""
        with self._transaction(*_WRITING, writes=True, creates=True) as execute:
            execute("SELECT pg_advisory_xact_lock(7264951203)")  # two would make the same tables
            fill(execute)

    def writing(self) -> AbstractContextManager[Execute]:
        return self._transaction(*_WRITING, writes=True)

    def reading(self) -> AbstractContextManager[Execute]:
        return self._transaction("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")

    @contextmanager
    def _transaction(
        self, *first: str, writes: bool = False, creates: bool = False
    ) -> Iterator[Execute]:
        import psycopg
        from psycopg.sql import Identifier

        connection = self._connect()
        try:
            execute = _executing(connection)
            if writes and execute("SELECT pg_catalog.pg_is_in_recovery()") == [(True,)]:
                raise _STANDBY.of(self.shown)
            if self._schema is None:
                self._schema = self._found(execute, creates=creates)
            schema = Identifier(self._schema).as_string(connection)
            begin = [*first, f"SET LOCAL search_path = {schema}, pg_temp"]
            connection.execute("; ".join(begin).encode())
            yield execute
            connection.execute(b"COMMIT")
        except psycopg.Error as error:
            refusal = self._refusal(error)
        else:
            return
        finally:
            connection.close()  # which undoes what was not committed
        raise refusal

    def _found(self, execute: Execute, *, creates: bool) -> str:
        """The schema of the ledgers, or the one in which a first ledger is created."""
        ((schemas, usual),) = execute(_SCHEMAS)
        if len(schemas) > 1:
            raise InputError(
                "{place} has budgets in several schemas of the search path: {schemas}",
                "name one of them behind the address: {example}",
                place=self.shown,
                schemas=", ".join(f'"{shown(schema)}"' for schema in schemas),
                example=f"?options=-csearch_path%3D{shown(schemas[0])}",
            )
        if schemas:
            return str(schemas[0])
        if not creates:
            raise _NONE.of(self.shown)
        if usual is None:
            raise _NO_SCHEMA.of(self.shown)
        return str(usual)

    def _refusal(self, error: psycopg.Error) -> InputError:
        code = code_of(error)
        if not code or code.startswith(LOST):
            return LostConnectionError(
                "{place}: the connection to the server is lost",
                "ask again when it runs",
                place=self.shown,
            )
        return (fault_of_code(code, _FAULTS) or _FAILED).of(self.shown)


def _executing(connection: psycopg.Connection[Any]) -> Execute:
    def execute(statement: str, *values: object) -> list[Any]:
        done = connection.execute(statement.encode(), values)
        return done.fetchall() if done.description else []

    return execute


_WRITING = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    "SET LOCAL synchronous_commit = on",
    "SET LOCAL lock_timeout = '60s'",
)
_SCHEMAS = """SELECT ARRAY(
    SELECT space.nspname::text FROM pg_catalog.pg_class AS held
    JOIN pg_catalog.pg_namespace AS space ON space.oid = held.relnamespace
    WHERE held.relname = 'shortlist_budgets' AND held.relkind IN ('r', 'p')
    AND space.nspname = ANY (pg_catalog.current_schemas(false)) ORDER BY space.nspname
), pg_catalog.current_schema()::text"""
_GRANTS = (
    "GRANT SELECT, INSERT ON shortlist_entries, shortlist_releases TO it; "
    "GRANT SELECT, UPDATE ON shortlist_budgets TO it;"
)
_FAILED = Fault("cannot be read or written: the server refuses a query", "look at its log")
_NONE = Fault("has no budget", "create one by {sl.Budget.create}")
_NO_SCHEMA = Fault(
    "has no schema in which this user may create tables",
    "ask its owner for one, and name it in the search path",
)
_STANDBY = Fault(
    "is a standby server, which only reads, so that nothing can be charged",
    "name the primary server",
)
_FAULTS = {
    "42P01": _NONE,
    "42501": Fault(
        "is not open to this user",
        "its owner can create the budget, and run {grants}",
        grants=_GRANTS,
    ),
    "25006": Fault("only reads, so that nothing can be charged", "name the primary server"),
    "53100": Fault(
        "cannot be written: the disk is full, so that nothing can be charged",
        "make room and ask again",
    ),
    "55P03": Fault("is locked by another program for a long time", "ask again later"),
    "40": Fault("has ended the transaction", "ask again"),
}
