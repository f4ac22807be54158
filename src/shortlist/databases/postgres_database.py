"""A PostgreSQL database that must never lose what it was told, for many machines.

All tables are in one schema, which is found out once. A `search_path` in which another table of one
of their names comes first, for some user or on some day, changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from shortlist.databases.faults import Fault, fault_of_code
from shortlist.databases.postgres import LOST, code_of, connector
from shortlist.databases.sqlite_file import Execute
from shortlist.errors import InputError, Words, shown

if TYPE_CHECKING:
    import psycopg


class LostConnectionError(InputError):
    """The connection broke, so that nobody knows whether a transaction has ended well."""


@dataclass(frozen=True, kw_only=True)
class DatabaseWords:
    """What messages say of what a database holds.

    Attributes:
        table: The table by which its schema is found.
        noun: What it is, such as "budget".
        create: How one is created.
        undone: What cannot be done where nothing can be written.
        grants: What the owner of the tables can run, so that "it" can use them.
        busy: That another holds its lock.
        later: What to do then.
    """

    table: str
    noun: str
    create: Words
    undone: str
    grants: str
    busy: str
    later: str

    @cached_property
    def exists(self) -> Fault:
        return Fault(
            "has a {noun}, and what it holds is never overwritten",
            "use it, or name another schema in the search path",
            noun=self.noun,
        )

    @cached_property
    def is_none(self) -> Fault:
        return Fault("has no {noun}", "{create}", noun=self.noun, create=self.create)

    @cached_property
    def standby(self) -> Fault:
        return Fault(
            "is a standby server, which only reads, so that {undone}",
            "name the primary server",
            undone=self.undone,
        )

    @cached_property
    def by_code(self) -> dict[str, Fault]:
        """By how the codes of the server's errors begin."""
        return {
            "42P01": self.is_none,
            "42P07": self.exists,
            "42501": Fault(
                "is not open to this user",
                "its owner can create the {noun}, and run {grants}",
                noun=self.noun,
                grants=self.grants,
            ),
            "25006": Fault(
                "only reads, so that {undone}", "name the primary server", undone=self.undone
            ),
            "53100": Fault(
                "cannot be written: the disk is full, so that {undone}",
                "make room and ask again",
                undone=self.undone,
            ),
            "55P03": Fault("{busy}", "{later}", busy=self.busy, later=self.later),
            "40": Fault("has ended the transaction", "ask again"),
        }


class PostgresDatabase:
    """A database that is connected to anew for each transaction, so that forks share nothing.

    A transaction that locks a row is on the server's disk when it ends, even if the server is set
    to answer sooner.
    """

    lock = " FOR UPDATE"

    def __init__(self, url: str, words: DatabaseWords) -> None:
        """Connect to nothing yet. The address is known to a function alone."""
        self._words = words
        self.shown = Words('"postgresql://…"')
        self._connect = connector(url, self.shown)
        self._schema: str | None = None

    identity = "postgresql"  # which database it is, an address does not tell for good

    def require_new(self, require_none: Callable[[Execute], None]) -> None:
        """Look at what is there, if its tables are."""
        with self._transaction(_READING, creates=True) as execute:
            if self.has_tables(execute):
                require_none(execute)

    def has_tables(self, execute: Execute) -> bool:
        return execute("SELECT to_regclass($1::text)", self._words.table) != [(None,)]

    def create(self, fill: Callable[[Execute], None]) -> None:
        """Make room beside others, if there are any."""
        with self._transaction(*_WRITING, writes=True, creates=True) as execute:
            execute("SELECT pg_advisory_xact_lock(7264951203)")  # two would make the same tables
            fill(execute)

    def writing(self) -> AbstractContextManager[Execute]:
        return self._transaction(*_WRITING, writes=True)

    def reading(self) -> AbstractContextManager[Execute]:
        return self._transaction(_READING)

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
                raise self._words.standby.of(self.shown)
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
        """The schema of the tables, or the one in which first ones are created."""
        ((schemas, usual),) = execute(_SCHEMAS, self._words.table)
        if len(schemas) > 1:
            raise InputError(
                "{place} has {noun}s in several schemas of the search path: {schemas}",
                "name one of them behind the address: {example}",
                place=self.shown,
                noun=self._words.noun,
                schemas=", ".join(f'"{shown(schema)}"' for schema in schemas),
                example=f"?options=-csearch_path%3D{shown(schemas[0])}",
            )
        if schemas:
            return str(schemas[0])
        if not creates:
            raise self._words.is_none.of(self.shown)
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
        return (fault_of_code(code, self._words.by_code) or _FAILED).of(self.shown)


def _executing(connection: psycopg.Connection[Any]) -> Execute:
    def execute(statement: str, *values: object) -> list[Any]:
        done = connection.execute(statement.encode(), values)
        return done.fetchall() if done.description else []

    return execute


_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITING = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    "SET LOCAL synchronous_commit = on",
    "SET LOCAL lock_timeout = '60s'",
)
_SCHEMAS = """SELECT ARRAY(
    SELECT space.nspname::text FROM pg_catalog.pg_class AS held
    JOIN pg_catalog.pg_namespace AS space ON space.oid = held.relnamespace
    WHERE held.relname = $1::text AND held.relkind IN ('r', 'p')
    AND space.nspname = ANY (pg_catalog.current_schemas(false)) ORDER BY space.nspname
), pg_catalog.current_schema()::text"""
_FAILED = Fault("cannot be read or written: the server refuses a query", "look at its log")
_NO_SCHEMA = Fault(
    "has no schema in which this user may create tables",
    "ask its owner for one, and name it in the search path",
)
