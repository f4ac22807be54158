"""PostgreSQL: how it is connected to and spoken to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from functools import cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any
from weakref import finalize

from shortlist.databases.connections import remember_reopening
from shortlist.databases.faults import Fault, fault_of_code, guarded
from shortlist.databases.postgres import LOST, code_of, why
from shortlist.databases.quoting import literal, quoted
from shortlist.engines.tables._dialect import SqlDialect
from shortlist.engines.tables._expressions import (
    HOLDERS,
    SIZE,
    USER,
    VALUE,
    Arrow,
    Expression,
    Key,
    aggregate,
    as_text,
    call,
    listed,
    names_tables_alone,
)
from shortlist.engines.tables._postgres_steering import SteeringInArrays
from shortlist.engines.tables._sets_from_rows import NumberedItems, SetsRead
from shortlist.errors import Words
from shortlist.evidence.user_sets import Steering
from shortlist.runtime.phases import phase

if TYPE_CHECKING:
    from shortlist.engines.tables._scratch import Scratch

_LOST = Fault("has lost the connection", "open it anew, when the server runs")
_FAULTS = {
    **dict.fromkeys(LOST, _LOST),
    "25006": Fault(
        "only reads here, and users are counted in temporary tables",
        "name the primary server, in a session that may write, or give {pull=True}",
    ),
    "42501": Fault(
        "does not let this user read the table, or make temporary tables",
        "its owners can run GRANT SELECT ON the table and GRANT TEMP ON the database. With "
        "{pull=True} no temporary tables are made",
    ),
    "42P01": Fault("has no such table any more", "open it again"),
    "42703": Fault("has no such column any more", "open the table again"),
    "53": Fault("has no room left, in memory, on disk or for connections"),
}
_WITHIN = """
SELECT oid::text, current_schemas(false)::text, current_user::text, current_setting('TimeZone')
FROM pg_database WHERE datname = current_database()
"""
_TABLE = """
WITH RECURSIVE parts(part) AS (
    SELECT {name}::oid UNION SELECT inhrelid FROM pg_inherits JOIN parts ON inhparent = part
)
SELECT relpersistence::text || relkind::text, part::text, pg_relation_filenode(part)::text,
    (SELECT string_agg(attnum || ' ' || quote_ident(attname), ',' ORDER BY attnum)
        FROM pg_attribute WHERE attrelid = part AND attnum > 0 AND NOT attisdropped)
FROM parts JOIN pg_class ON pg_class.oid = part ORDER BY part
"""
_ALL = 2**62  # rows: more than there are
_STATISTICS = 10  # for 3,000 rows that are looked at: sizes are told well enough by these
_PAIR = "pair"  # of a user and the last column of an item, as one integer
_KEPT = {"pr", "pp", "pm", "ur", "up"}
"""Tables, those in partitions and materialized views, logged or not."""


class Postgres(SqlDialect):
    """PostgreSQL, by a connection of Ibis, which has one of psycopg."""

    backend, schemes = "postgres", ("postgres", "postgresql")
    name, hash = "PostgreSQL", "md5(key, user, item)"
    computes_as_memory = True
    shows_changes = False  # rows that are added are in the file that was there

    @classmethod
    def open_url(cls, url: str, origin: Words) -> Expression:
        """A connection that is opened anew where it was lost."""
        import ibis
        import psycopg

        def connect() -> Any:
            return guarded(
                lambda: psycopg.connect(url, autocommit=True), lambda error: why(error).of(origin)
            )

        def reopen() -> None:
            connection.con = connect()
            finalize(connection, connection.con.close)
            connection._post_connect()  # noqa: SLF001 - as Ibis does

        connection = ibis.postgres.from_connection(connect())
        finalize(connection, connection.con.close)
        remember_reopening(connection, lambda: bool(connection.con.closed), reopen)
        return connection

    def key(self, column: Expression) -> Expression:
        """Texts as their bytes, which no collation compares.

        What Ibis takes for text, or does not know, may be an enum, a domain, or a type that an
        extension brings. Each is cast to text; that of CHAR(n) ends before the padding.
        """
        dtype = column.type()
        if not (dtype.is_string() or dtype.is_uuid() or dtype.is_unknown()):
            return column
        return call("convert_to", "binary", as_text(column), _text("UTF8"))

    def plain_text(self, column: Expression) -> Expression:
        return call("convert_from", "string", self.key(column), _text("UTF8"))

    def digits(self, column: Expression) -> Expression:
        return call("encode", "string", column, _text("hex"))

    def hashed(self, key: Key, user: Expression, items: Sequence[Expression]) -> Expression:
        # Bytes are digits in a text, so that no key holds the bar.
        parts = [_text("|"), _text(f"{key[0]}.{key[1]}"), *map(_written, [user, *items])]
        return call("md5", "string", call("concat_ws", "string", *parts))

    def looked_up(self, rows: Expression, each: Expression, key: str) -> Expression:
        # In an array, which is made once for a query: a join of all rows takes half as long again.
        def array(name: str) -> Expression:
            return each.agg(array=each[name].collect(order_by=each[key])).as_scalar()

        others = (name for name in each.columns if name != key)
        found = rows.mutate(**{name: array(name)[rows[key]] for name in others})
        # Once for a row that has arrays, and not for each value in these: a limit sees to that.
        has_arrays = any(dtype.is_array() for dtype in rows.schema().values())
        return found.limit(_ALL) if has_arrays else found

    def whole(self, keys: Expression, scratch: Scratch) -> SetsRead:
        rows, names = _RowsOnce(self, keys, scratch), keys.columns[1:]

        def known() -> Expression:
            return rows.by_user.mutate(**{USER: rows.by_user[VALUE]})

        whole = SetsRead(
            NumberedItems(rows.holders, names, scratch),
            find_sets=lambda: (known(),),
            find_pairs=lambda: whole.coded(listed(known())),
            find_users=(lambda: rows.by_user.select(VALUE, SIZE)) if _are_short(keys) else None,
        )
        return whole

    def steering(self, held: SetsRead, scratch: Scratch, n_items: int) -> Steering:
        return SteeringInArrays(held, scratch, n_items, self)

    def counted(self, rows: Expression, scratch: Scratch) -> tuple[Expression, Expression]:
        if not _are_short(rows):
            return super().counted(rows, scratch)
        return _sized(scratch.keep(_gathered(rows.drop(VALUE), USER)))  # VALUE is the user too

    def some_of(
        self, rows: Expression, whole: SetsRead | None, names: Sequence[str], scratch: Scratch
    ) -> tuple[Expression, Expression]:
        part = None if whole is None else whole.parts[0]
        if part is None or len(names) > 1 or not part[names[0]].type().is_array():
            return super().some_of(rows, whole, names, scratch)
        # Array by array. Most often all values are the same one, of which no set need be made.
        (name,), sets = names, part.select(USER, *names)
        words = (
            f'SELECT "{USER}", CASE WHEN "{name}"[1] = ALL ("{name}") THEN "{name}"[1:1] '  # noqa: S608 - names of ours
            f'ELSE ARRAY(SELECT DISTINCT unnest("{name}")) END AS "{name}" FROM ({{rows}}) AS held'
        )
        return _sized(self._made(words, sets, sets.schema(), scratch))

    def made(self, words: str, types: Mapping[str, str], scratch: Scratch) -> Expression:
        """A temporary table of a statement, of which no plan hangs on what it holds."""
        import ibis

        return scratch.made(
            ibis.schema(types), lambda name: self._run(f'CREATE TEMP TABLE "{name}" AS {words}')
        )

    def _made(
        self, words: str, rows: Expression, schema: Mapping[str, Any], scratch: Scratch
    ) -> Expression:
        """A temporary table of what words say of `{rows}`."""

        def make(name: str) -> None:
            self._create(name, rows, words)
            self._analyze(name, schema)

        return scratch.made(schema, make)

    def keep(self, name: str, query: Expression, by: str | None = None) -> None:
        super().keep(name, query, by)
        self._analyze(name, query.schema())

    def _analyze(self, name: str, schema: Mapping[str, Any]) -> None:
        """Let the planner know how many rows there are; what arrays hold would take it long."""
        plain = [f'"{column}"' for column, dtype in schema.items() if not dtype.is_array()]
        looked_at = plain if len(plain) == len(schema) else plain[:1]
        few = ", ".join(f"ALTER {column} SET STATISTICS {_STATISTICS}" for column in looked_at)
        self._run(f'ALTER TABLE "{name}" {few}; ANALYZE "{name}" ({", ".join(looked_at)})')

    def sql(self, query: Expression) -> str:
        return str(self._connection.compile(query))

    def give(self, name: str, rows: Arrow) -> None:
        # As CSV, which PyArrow writes and PostgreSQL reads fastest.
        import ibis
        from pyarrow import BufferOutputStream, csv

        schema = ibis.Schema.from_pyarrow(rows.schema)
        self._connection.create_table(name, schema=schema, temp=True)
        written = BufferOutputStream()
        csv.write_csv(rows, written, csv.WriteOptions(include_header=False))
        into = f'COPY "{name}" FROM STDIN (FORMAT csv)'
        with self._connection.con.cursor() as cursor, cursor.copy(into) as copy:
            copy.write(written.getvalue().to_pybytes())
        self._analyze(name, schema)

    def fault(self, error: Exception) -> Fault | None:
        # By the server's code; without one, the connection is lost.
        code = code_of(error)
        if not code and self._connection.con.closed:
            return _LOST
        return fault_of_code(code, _FAULTS)

    def place(self, rows: Expression, query: str) -> object:  # noqa: ARG002 - the rows say it
        """Server, database, user, search path; each table's file and columns.

        A table that is made anew, or emptied and filled, has another file. Rows that are added do
        not show. A view, a foreign or temporary table, and what is not committed are not known
        again.
        """
        from ibis.expr.operations import DatabaseTable

        server = self._connection.con.info
        if server.transaction_status or not names_tables_alone(rows):
            return self._unknown
        within = self._asked(_WITHIN)
        tables = []
        for name in sorted({_regclass(node) for node in rows.op().find(DatabaseTable)}):
            tables += self._asked(_TABLE.format(name=name))
        if not tables or any(kind not in _KEPT for kind, *_ in tables):
            return self._unknown
        return [server.host, server.port, server.dbname, within, tables]

    def _asked(self, statement: str) -> list[tuple[str | None, ...]]:
        with closing(self._connection.raw_sql(statement)) as cursor:
            found: list[tuple[str | None, ...]] = cursor.fetchall()
        return found

    def cancel(self) -> None:
        self._connection.con.cancel_safe()

    def _run(self, statement: str) -> None:
        self._connection.raw_sql(statement).close()


def _regclass(node: Any) -> str:
    """The name of a table, as a literal that PostgreSQL takes for the table."""
    names = [name for name in (node.namespace.database, node.name) if name]
    return f"{literal('.'.join(map(quoted, names)))}::regclass"


def _are_short(rows: Expression) -> bool:
    """Whether no user can have so many rows that an array is too large: 1 GB, as all values."""
    return all(dtype.is_integer() or dtype.is_temporal() for dtype in rows.schema().values())


def _gathered(rows: Expression, key: str) -> Expression:
    """One row for each value of the key; what the other columns hold there, as arrays.

    The rows are sorted first, so that one array at a time is made.
    """
    rows = rows.order_by(key)
    columns = {name: rows[name] for name in rows.columns if name != key}
    arrays = {n: aggregate("array_agg", f"array<{c.type()}>", c) for n, c in columns.items()}
    return rows.group_by(key).agg(**arrays)


def _sized(arrays: Expression) -> tuple[Expression, Expression]:
    """Users' arrays with how long they are; and users with that."""
    array = next(name for name, dtype in arrays.schema().items() if dtype.is_array())
    users = arrays.mutate(**{SIZE: arrays[array].length().cast("int32"), VALUE: arrays[USER]})
    return users, users.select(USER, SIZE)


class _RowsOnce:
    """Distinct rows: sorted by user once, and each user's gathered, or counted, as they come.

    Who asks first how many users hold each item has plain rows counted, which are gathered if that
    is asked for, too.
    """

    def __init__(self, dialect: Postgres, keys: Expression, scratch: Scratch) -> None:
        self._dialect, self._keys, self._scratch = dialect, keys, scratch
        self._user, *self._others, self._item = keys.columns
        self._rows: Expression | None = None

    def holders(self) -> Expression:
        """How many users hold each item: the columns of one, `HOLDERS`."""
        if "by_user" in vars(self):
            return self._counted(listed(self.by_user))
        types = {name: self._types[name] for name in self._others}
        packed = {_PAIR: "int64", **types} if self._are_packed else self._types
        self._rows = self._made(self._once("{rows}"), packed)
        if not self._are_packed:
            return self._counted(self._rows)
        low = self._rows[_PAIR] & (2**32 - 1)
        counted = self._counted(self._rows.mutate(**{self._item: low}))
        # Unpacked once for an item, and not for each row.
        return counted.mutate(**{self._item: (counted[self._item] - 2**31).cast("int32")})

    def _counted(self, rows: Expression) -> Expression:
        return rows.group_by(self._keys.columns[1:]).agg(**{HOLDERS: rows.count()})

    @cached_property
    def by_user(self) -> Expression:
        """Each user's distinct items: `VALUE`, the columns of an item or arrays of them, `SIZE`."""
        once = self._once("{rows}") if self._rows is None else "{rows}"
        rows, types = self._unpacked(f"({once}) AS once"), self._types
        counted = f'CAST(count(*){{}} AS int) AS "{SIZE}"'
        if _are_short(self._keys):
            names = self._keys.columns[1:]
            arrays = ", ".join(f'array_agg("{name}") AS "{name}"' for name in names)
            words = (
                f'SELECT "{VALUE}", {arrays}, {counted.format("")} '  # noqa: S608 - names of ours
                f'FROM ({rows} ORDER BY "{VALUE}") AS whole GROUP BY "{VALUE}"'
            )
            types = types | {name: f"array<{types[name]}>" for name in names}
        else:
            sized = counted.format(f' OVER (PARTITION BY "{VALUE}")')
            words = f"SELECT *, {sized} FROM ({rows}) AS whole"  # noqa: S608 - likewise
        return self._made(words, {**types, SIZE: "int32"})

    @cached_property
    def _are_packed(self) -> bool:
        with self._reading():
            return _are_short(self._keys) and _fit_together(self._keys, self._scratch)

    @cached_property
    def _types(self) -> dict[str, str]:
        types = {name: str(dtype) for name, dtype in self._keys.schema().items()}
        return types | {self._user: "int32", self._item: "int32"} if self._are_packed else types

    def _made(self, words: str, types: Mapping[str, str]) -> Expression:
        import ibis

        rows = self._keys if self._rows is None else self._rows
        with self._reading():
            return self._dialect._made(words, rows, ibis.schema(types), self._scratch)  # noqa: SLF001 - a part of it

    def _reading(self) -> AbstractContextManager[None]:
        """While the rows are read, which happens only once the selection asks for them."""
        return phase("reading rows in {engine}", engine=self._dialect.name)

    def _once(self, rows: str) -> str:
        """The distinct ones, in order. DISTINCT without ON would group them, and sort them then."""
        held, names = f"({rows}) AS held", self._keys.columns
        if self._are_packed:  # what does not fit is an error
            names = [_PAIR, *self._others]
            pair = f'"{self._user}" * {2**32} + (CAST("{self._item}" AS int) + {2**31})'
            columns = [f'{pair} AS "{_PAIR}"', *self._others]
            held = f"(SELECT {', '.join(columns)} FROM {held}) AS packed"  # noqa: S608 - likewise
        key = ", ".join(f'"{name}"' for name in names)
        return f"SELECT DISTINCT ON ({key}) * FROM {held} ORDER BY {key}"  # noqa: S608 - likewise

    def _unpacked(self, rows: str) -> str:
        columns = [f'"{name}"' for name in self._keys.columns]
        if self._are_packed:
            columns[0] = f'CAST("{_PAIR}" >> 32 AS int) AS "{self._user}"'
            columns[-1] = f'CAST(("{_PAIR}" & {2**32 - 1}) - {2**31} AS int) AS "{self._item}"'
        return f"SELECT {', '.join(columns)} FROM {rows}"  # noqa: S608 - likewise


def _fit_together(keys: Expression, scratch: Scratch) -> bool:
    """Whether user and item fit into one integer, 32 bits each, which is sorted far faster."""
    ends = [keys[name] for name in (keys.columns[0], keys.columns[-1])]
    if not all(end.type().is_integer() for end in ends):
        return False
    wide = [end for end in ends if end.type().nbytes > 4]
    if not wide:
        return True
    beyond = keys.filter(reduce(or_, (~column.between(-(2**31), 2**31 - 1) for column in wide)))
    return not scratch.fetch(beyond.limit(1).agg(n=beyond.limit(1).count()))["n"][0]


def _text(value: str) -> Expression:
    import ibis

    return ibis.literal(value)


def _written(key: Expression) -> Expression:
    """Bytes as digits, however `bytea_output` would write them."""
    return call("encode", "string", key, _text("hex")) if key.type().is_binary() else key
