"""DuckDB: how it is opened and spoken to, and which files its queries read."""

from __future__ import annotations

import glob
import json
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from shortlist.databases import duckdb
from shortlist.databases.connections import interruptible
from shortlist.databases.faults import Fault
from shortlist.databases.quoting import literal
from shortlist.databases.urls import path_of, require_file
from shortlist.engines.tables._dialect import SqlDialect, TableInEngine, written
from shortlist.engines.tables._expressions import Arrow, Expression, Key, call
from shortlist.engines.tables._sets_from_rows import SetsRead, read_by_joins
from shortlist.errors import Words
from shortlist.table.identity import identity_of_database, identity_of_file

if TYPE_CHECKING:
    from shortlist.engines.tables._scratch import Scratch

_T = TypeVar("_T")
_Catalog = Mapping[str, str | None]
_VIEW = re.compile(r"CREATE VIEW .*? AS ", re.DOTALL)
_READERS = {"read_parquet", "parquet_scan", "read_csv", "read_csv_auto", "read_json", "read_ndjson"}
_PLAIN = {
    *("list_value", "struct_pack", "lower", "upper", "trim", "concat", "length", "replace"),
    *("substring", "year", "month", "day", "date_trunc", "hash", "round", "floor", "ceil", "abs"),
    *("count", "count_star", "sum", "min", "max", "avg", "row_number", "~~", "!~~", "between"),
}
"""Functions whose result hangs on their arguments alone, unless someone makes others so called."""
_MOMENTS = {"current_date", "current_timestamp", "current_time", "localtime", "localtimestamp"}
_OPAQUE = {"SHOW_REF", "COLUMN_DATA"}
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


class _Hash(NamedTuple):
    """By what users are bounded.

    Attributes:
        name: As a guarantee names it.
        of: A function of the key, the user and the item alone.
    """

    name: str
    of: Callable[[Key, Expression, Sequence[Expression]], Expression]


def _mixed(key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
    # DuckDB's hash of several values joins them by exclusive or, which leaves the order of two
    # items in the hands of single bits. So the key goes in between two hashes.
    import ibis

    def with_part(known: Expression, part: int) -> Expression:
        flipped = call("xor", "uint64", known, ibis.literal(part, type="uint64"))
        return call("hash", "uint64", flipped)

    return reduce(with_part, key, call("hash", "uint64", user, *items))


def _digest(key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
    return written(key, user, items).hexdigest("sha256")


_FAST = _Hash("hash(hash(user, item) xor key)", _mixed)
_LIKE_RANDOM_BITS = _Hash("SHA-256 of (key, user, item)", _digest)


class DuckDB(SqlDialect):
    """DuckDB, by a connection of Ibis."""

    backend, schemes = "duckdb", ("duckdb",)
    native = MappingProxyType({"duckdb": "DuckDBPyRelation"})
    unopened = Fault(
        "cannot be opened",
        "check that the file is of DuckDB, may be read, and is not being written",
    )
    name, hash = "DuckDB", _FAST.name
    is_in_process = computes_as_memory = True
    _called: str | None = None
    _hash = _FAST
    _tells_share = True

    @classmethod
    def open_url(cls, url: str, origin: Words) -> Expression:
        path = path_of(url)
        if not duckdb.lies_elsewhere(path):
            require_file(url, origin, never=" (a DuckDB file is never created)")
        return duckdb.connect(path)

    @classmethod
    def open_native(cls, data: Any, columns: Collection[str]) -> TableInEngine:
        """A relation, which queries call by a name of ours."""
        import ibis
        from ibis.backends.sql.datatypes import DuckDBType

        name = f"shortlist_{secrets.token_hex(8)}"
        types = dict(zip(data.columns, data.types, strict=True))
        schema = {column: DuckDBType.from_string(str(types[column])) for column in columns}
        rows = ibis.table(schema, name=name)
        return TableInEngine(rows, DuckDBRelation(data, name), data, data.sql_query())

    def key(self, column: Expression) -> Expression:
        # Texts as their bytes, which no collation compares.
        return call("encode", "binary", column) if column.type().is_string() else column

    def plain_text(self, column: Expression) -> Expression:
        return call("decode", "string", self.key(column))

    def digits(self, column: Expression) -> Expression:
        return call("lower", "string", call("hex", "string", column))

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        return self._hash.of(key, user, items)

    def beside_memory(self) -> DuckDB:
        other = copy(self)
        other._hash, other.hash = _LIKE_RANDOM_BITS, _LIKE_RANDOM_BITS.name  # noqa: SLF001 - a copy of this one
        other._tells_share = False  # noqa: SLF001 - likewise: it would tell which way is taken
        return other

    def whole(self, keys: Expression, scratch: Scratch) -> SetsRead:
        # Numbers are sorted, which is faster than grouping them. It takes longer for texts, and
        # where each row repeats many times.
        if not all(dtype.is_integer() or dtype.is_temporal() for dtype in keys.schema().values()):
            return super().whole(keys, scratch)
        words = in_order_once(keys.columns)
        distinct = scratch.made(keys.schema(), lambda name: self._create(name, keys, words))
        return read_by_joins(distinct, scratch, is_by_user=True)

    def give(self, name: str, rows: Arrow) -> None:
        native = self._connection.con
        view = f"{name}_rows"
        native.register(view, rows)
        try:
            self._run(f'CREATE TEMP TABLE "{name}" AS FROM "{view}"')
        finally:
            native.unregister(view)

    def fetch(self, query: Expression) -> Arrow:
        # Ibis would copy the rows once more.
        return self._relation_of(query).to_arrow_table()

    def fetch_within(self, query: Expression, room: int) -> Arrow | None:
        # As a stream, so that no more than there is room for is ever held.
        import pyarrow as pa

        ((limit,),) = self._asked("SELECT current_setting('memory_limit')")
        room = min(room, duckdb.bytes_of(str(limit)) // 2)
        batches = []
        with pa.RecordBatchReader.from_stream(self._relation_of(query)) as reader:
            for batch in reader:
                room -= batch.nbytes
                if room < 0:
                    return None
                batches.append(batch)
            return pa.Table.from_batches(batches, reader.schema)

    def place(self, rows: Expression, query: str) -> object:  # noqa: ARG002 - the query says it
        """The files of its databases, and those that the query reads.

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
        ((parsed,),) = self._asked(f"SELECT json_serialize_sql({literal(query)})::VARCHAR")
        return str(parsed)

    def quiet(self) -> AbstractContextManager[None]:
        def ask(statement: str) -> Any:
            return self.wait(lambda: self._ask(statement))

        return duckdb.without_bar(ask, measured=self._tells_share)

    def share_done(self) -> float | None:
        done = self._connection.con.query_progress() if self._tells_share else -1
        return None if done < 0 else done / 100

    def wait(self, action: Callable[[], _T]) -> _T:
        # In another thread: DuckDB hears no Ctrl-C for long, and then takes it for an error.
        return interruptible(action, self._interrupt)

    @property
    def _interrupt(self) -> Callable[[], None] | None:
        interrupt: Callable[[], None] = self._connection.con.interrupt
        return interrupt

    def _run(self, statement: str) -> None:
        self._ask(statement)

    def _ask(self, statement: str) -> Expression:
        return self._connection.con.execute(statement)

    def _asked(self, statement: str) -> list[tuple[str | None, ...]]:
        found: list[tuple[str | None, ...]] = self._ask(statement).fetchall()
        return found

    def _relation_of(self, query: Expression) -> Any:
        return self._connection.con.sql(self.sql(query))

    def sql(self, query: Expression) -> str:
        import ibis

        return str(ibis.to_sql(query, dialect="duckdb"))


class DuckDBRelation(DuckDB):
    """DuckDB, by a relation: its own connection is where it can be read, and nobody else has that.

    What is run goes through the relation, under whose name DuckDB knows it for so long.
    """

    def __init__(self, relation: Expression, name: str) -> None:
        """Take a relation, and the name by which queries call it."""
        self._relation, self._called = relation, name
        self._tells_share = False  # it may not even tell its connection

    def give(self, name: str, rows: Arrow) -> None:
        # DuckDB finds the rows by the name of the variable, if it may. A table of that name would
        # come first.
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

    @property
    def _interrupt(self) -> Callable[[], None] | None:
        return duckdb.interrupt_of(self._relation)

    def _ask(self, statement: str) -> Expression:
        return self._relation.query(self._called, statement)

    def _relation_of(self, query: Expression) -> Any:
        return self._ask(self.sql(query))

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


class UntoldError(Exception):
    """A part of a query is none that could be known again."""


def files_read(query: str, catalog: _Catalog, parsed: Callable[[str], str]) -> list[object]:
    """The identities of all files outside of the databases that a query reads.

    Args:
        query: A SELECT.
        catalog: Tables and views of databases in files, with the statement of each view.
        parsed: Parses a SELECT into JSON, as DuckDB's `json_serialize_sql` does.

    Raises:
        UntoldError: It reads something else, or calls what may answer otherwise the next time.
    """
    found: list[object] = []
    waiting = [query]
    seen: set[str] = set()
    while waiting:
        nodes = list(_nodes(json.loads(parsed(waiting.pop()))))
        for name in sorted(_names(nodes) - seen):
            seen.add(name)
            if name not in catalog:
                found += _files(name)
            elif (view := catalog[name]) is not None:
                waiting.append(_VIEW.sub("", view, count=1))
    return found


def _names(nodes: list[dict[str, Any]]) -> set[str]:
    """The names of tables, views and files that are read."""
    within = {
        entry["key"] for node in nodes if "cte_map" in node for entry in node["cte_map"]["map"]
    }
    names: set[str] = set()
    for node in nodes:
        kind = node.get("type")
        if node.get("error") or kind in _OPAQUE or _MOMENTS & set(node.get("column_names", ())):
            raise UntoldError
        if kind == "BASE_TABLE" and (node["table_name"] not in within or node["schema_name"]):
            names.add(node["table_name"])
        if kind == "TABLE_FUNCTION":
            names |= _arguments(node["function"])
        elif "function_name" in node and not _is_plain(node):
            raise UntoldError
    return names


def _is_plain(node: dict[str, Any]) -> bool:
    return bool(node.get("is_operator")) or node["function_name"] in _PLAIN | _READERS


def _arguments(function: dict[str, Any]) -> set[str]:
    """The paths that a reader of files is given, all of which are constants."""
    if function["function_name"] not in _READERS:
        raise UntoldError
    first = list(_nodes(function["arguments"][:1]))
    paths = {n["text"] for n in first if n.get("kind") == "STRING"}
    told = {"VALUE_CONSTANT", "FUNCTION", "ORDER_MODIFIER", None}
    if not paths or any(n.get("type") not in told for n in first):
        raise UntoldError
    return paths


def _files(name: str) -> list[object]:
    found = glob.glob(name, recursive=True)  # noqa: PTH207 - as they are read
    if not found:
        raise UntoldError
    return [identity_of_file(file) for file in sorted(found)]


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
    for part in tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ():
        yield from _nodes(part)
