"""How DuckDB says it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from shortlist.engines.tables._dialect import Arrow, Expression, Key
from shortlist.engines.tables._duckdb_sources import UntoldError, files_read
from shortlist.engines.tables._functions import call, numbered
from shortlist.engines.tables._plain import Plain
from shortlist.engines.tables.reading import Read, read_by_joins
from shortlist.table.identity import identity_of_database
from shortlist.table.interrupting import interrupt_of, interruptible, without_bar

if TYPE_CHECKING:
    from shortlist.engines.tables.scratch import Scratch

__all__ = ["DuckDB", "DuckDBRelation", "in_order_once"]

_T = TypeVar("_T")
_CATALOG = """
SELECT table_name, NULL FROM duckdb_tables() WHERE NOT internal
UNION ALL SELECT view_name, sql FROM duckdb_views() WHERE NOT internal
"""
_PASSING = """
SELECT (SELECT count(*) FROM duckdb_tables() WHERE temporary)
    + (SELECT count(*) FROM duckdb_views() WHERE temporary AND NOT internal
        AND view_name != '{ours}')
    + (SELECT count(*) FROM duckdb_functions() WHERE NOT internal)
    + (SELECT count(*) FROM duckdb_variables())
"""
_SETTINGS = """
SELECT current_database(), current_setting('search_path'), current_setting('TimeZone'),
    current_setting('default_collation')
"""


class DuckDB(Plain):
    """DuckDB, by a connection of Ibis."""

    hash = "hash(hash(user, item) xor key)"
    _called: str | None = None

    def __init__(self, connection: Expression) -> None:
        """Take a connection of Ibis."""
        super().__init__(connection)
        self.name = "DuckDB"

    def require(self, keys: Expression) -> None:
        """As `Dialect.require`: every key is made binary."""

    def key(self, column: Expression) -> Expression:
        """As `Dialect.key`: texts as their bytes, which no collation compares."""
        return call("encode", "binary", column) if column.type().is_string() else column

    def digits(self, column: Expression) -> Expression:
        """As `Dialect.digits`."""
        return call("lower", "string", call("hex", "string", column))

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        """As `Dialect.hashed`.

        DuckDB's hash of several values joins them by exclusive or, which leaves the order of two
        items in the hands of single bits. So the key goes in between two hashes.
        """
        import ibis

        def mixed(known: Expression, part: int) -> Expression:
            flipped = call("xor", "uint64", known, ibis.literal(part, type="uint64"))
            return call("hash", "uint64", flipped)

        return reduce(mixed, key, call("hash", "uint64", user, *items))

    def numbered(self, rows: Expression, name: str, by: str | None = None) -> Expression:
        """As `Dialect.numbered`: in the order in which they come."""
        return numbered(rows, name, by)

    def whole(self, keys: Expression, scratch: Scratch) -> Read:
        """As `Dialect.whole`: numbers are sorted, which is faster than grouping them.

        It takes longer for texts, and where each row repeats many times.
        """
        if not all(dtype.is_integer() or dtype.is_temporal() for dtype in keys.schema().values()):
            return super().whole(keys, scratch)
        words = in_order_once(keys.columns)
        distinct = scratch.made(keys.schema(), lambda name: self._create(name, keys, words))
        return read_by_joins(distinct, scratch, is_by_user=True)

    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        """As `Dialect.keep`."""
        self._create(name, query if by is None else query.order_by(by))

    def give(self, name: str, rows: Arrow) -> None:
        """As `Dialect.give`."""
        native = self._connection.con
        view = f"{name}_rows"
        native.register(view, rows)
        try:
            self._run(f'CREATE TEMP TABLE "{name}" AS FROM "{view}"')
        finally:
            native.unregister(view)

    def fetch(self, query: Expression) -> Arrow:
        """As `Dialect.fetch`: Ibis would copy the rows once more."""
        return self._connection.con.sql(self._sql(query)).to_arrow_table()

    def drop(self, name: str) -> None:
        """As `Dialect.drop`."""
        self._run(f'DROP TABLE IF EXISTS "{name}"')

    def place(self, rows: Expression, query: str) -> object:  # noqa: ARG002 - the query says it
        """As `Dialect.place`: the files of its databases, and those that the query reads.

        It is an allow-list: what is in memory, temporary, not committed, elsewhere, or the result
        of a function that we do not know, may be anything the next time.
        """
        attached = self._asked("SELECT path, type FROM duckdb_databases() WHERE NOT internal")
        known = (path for path, kind in attached if path and kind == "duckdb")
        paths = [path for path in known if Path(path).is_absolute()]
        if len(paths) < len(attached) or self._has_passing():
            return self._unknown
        try:
            read = files_read(query, self._catalog(), self._parsed)
        except UntoldError:
            return self._unknown
        databases = [identity_of_database(path, ".wal") for path in paths]
        return [self._asked(_SETTINGS), read, databases]

    def _has_passing(self) -> bool:
        """Whether there is a transaction, or anything that only this connection has."""
        first, second = (self._asked("SELECT txid_current()") for _ in range(2))
        passing = self._asked(_PASSING.format(ours=self._called or ""))
        return first == second or any(n for (n,) in passing)

    def _catalog(self) -> dict[str, str | None]:
        rows = self._asked(_CATALOG)
        found = {str(name): view for name, view in rows}
        if len(found) < len(set(rows)):  # views in several schemas: which one is meant is not told
            raise UntoldError
        return found

    def _parsed(self, query: str) -> str:
        quoted = query.replace("'", "''")
        ((parsed,),) = self._asked(f"SELECT json_serialize_sql('{quoted}')::VARCHAR")
        return str(parsed)

    def quiet(self) -> AbstractContextManager[None]:
        """As `Dialect.quiet`."""
        return without_bar(self._ask)

    def wait(self, action: Callable[[], _T]) -> _T:
        """As `Dialect.wait`: in another thread, since DuckDB hears no Ctrl-C for long."""
        return interruptible(action, self._interrupt)

    def cancel(self) -> None:
        """As `Dialect.cancel`: nothing goes on once it was interrupted."""

    @property
    def _interrupt(self) -> Callable[[], None] | None:
        """What stops a query."""
        interrupt: Callable[[], None] = self._connection.con.interrupt
        return interrupt

    def _run(self, statement: str) -> None:
        self._ask(statement)

    def _ask(self, statement: str) -> Expression:
        return self._connection.con.execute(statement)

    def _asked(self, statement: str) -> list[tuple[str | None, ...]]:
        found: list[tuple[str | None, ...]] = self._ask(statement).fetchall()
        return found

    def _create(self, name: str, query: Expression, words: str = "{rows}") -> None:
        """A temporary table of a query's rows, or of what is said of them."""
        self._prepare(query)
        said = words.format(rows=self._sql(query))
        self._run(f'CREATE TEMP TABLE "{name}" AS {said}')

    def _prepare(self, query: Expression) -> None:
        """Let DuckDB know tables in memory that a query names."""
        self._connection._run_pre_execute_hooks(query)  # noqa: SLF001 - as Ibis does

    def _sql(self, query: Expression) -> str:
        """A query in DuckDB's words."""
        import ibis

        return str(ibis.to_sql(query, dialect="duckdb"))


class DuckDBRelation(DuckDB):
    """DuckDB, by a relation: its own connection is where it can be read, and nobody else has that.

    What is run goes through the relation, under whose name DuckDB knows it for so long.
    """

    def __init__(self, relation: Expression, name: str) -> None:
        """Take a relation, and the name by which queries call it."""
        self.name = "DuckDB"
        self._relation, self._called = relation, name

    def give(self, name: str, rows: Arrow) -> None:
        """As `Dialect.give`: DuckDB finds the rows by the name of the variable, if it may.

        A table of that name would come first.
        """
        shortlist_rows_to_give = rows  # noqa: F841 - it is used, by its name
        setting = "python_enable_replacements"
        asked = f"SELECT current_setting('{setting}')"
        ((may,),) = self._relation.query(self._called, asked).fetchall()
        self._run(f"SET {setting} = true")
        try:
            self._relation.query(
                self._called, f'CREATE TEMP TABLE "{name}" AS FROM shortlist_rows_to_give'
            )
        finally:
            self._run(f"SET {setting} = {may}")

    def fetch(self, query: Expression) -> Arrow:
        """As `Dialect.fetch`."""
        return self._relation.query(self._called, self._sql(query)).to_arrow_table()

    @property
    def _interrupt(self) -> Callable[[], None] | None:
        return interrupt_of(self._relation)

    def _ask(self, statement: str) -> Expression:
        return self._relation.query(self._called, statement)

    def _prepare(self, query: Expression) -> None:
        """It names the relation, and no other."""


def in_order_once(columns: Sequence[str]) -> str:
    """The distinct ones of `{rows}`, in order: those that are not as the one before.

    An order within a query is not promised to last. So each row is asked whether it is in order;
    where all are, equal rows have come together.
    """
    names = [f'"{name}"' for name in columns]
    former = {name: f'"former {place}"' for place, name in enumerate(names)}
    lags = ", ".join(f"lag({name}) OVER () AS {former[name]}" for name in names)
    is_less = "false"
    for name in reversed(names):
        is_less = f"({name} < {former[name]} OR ({name} = {former[name]} AND {is_less}))"
    is_other = " OR ".join(f"{name} IS DISTINCT FROM {former[name]}" for name in names)
    listed = ", ".join(names)
    return (
        f"SELECT {listed} FROM (SELECT *, {lags} FROM (FROM ({{rows}}) ORDER BY {listed})) "  # noqa: S608 - names of ours
        f"WHERE CASE WHEN {is_less} THEN error('rows are out of order') ELSE {is_other} END"
    )
