"""Whether a table in PostgreSQL can be a store, and by which of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.databases.quoting import quoted
from shortlist.errors import InputError, Words, nearest
from shortlist.parameters import MOST_ITEMS
from shortlist.stores._database import TableAndColumns

if TYPE_CHECKING:
    import psycopg

_WHOLE = ("int2", "int4", "int8")
_CASTABLE = ("text", "varchar", "bpchar", "numeric", "float4", "float8")
_OF_THE_SYSTEM = ("pg_catalog", "information_schema", "pg_toast")


class Ids(NamedTuple):
    column: str
    first: int
    size: int  # from the first to the last, gaps included


class PostgresTable:
    """A table whose columns are there, of types that will do, and may be read.

    Attributes:
        name: As SQL writes it; `count`, too.
        item: The items, as SQL selects them.
        item_type: Their type: "text", "integers" or "dates".

    Raises:
        InputError: There is no such table or column, a type is wrong, it may not be read, or no
            column has ids.
    """

    def __init__(self, connection: psycopg.Connection[Any], names: TableAndColumns) -> None:
        self._connection = connection
        self._names = names
        self._table = table = find_table(connection, names)
        self.name = quoted(table.name)
        if not table.is_visible:
            self.name = f"{quoted(table.schema)}.{self.name}"
        self._columns = columns_of(connection, table.number)
        names.require_columns(self._columns)
        self.count = quoted(names.count)
        self._require_whole_counts()
        self.item, self.item_type = self._items()
        self._require_readable(names.item, names.count)
        self._indexes = indexes_of(connection, table.number, self._columns)
        self._id_columns = self._find_ids()

    def _require_whole_counts(self) -> None:
        column = self._columns[self._names.count]
        if column.base in _WHOLE:
            return
        if column.base not in _CASTABLE:
            remedy = "name a column of integers"
        elif self._table.kind == "r":
            remedy = (
                f"run ALTER TABLE {self.name} ALTER COLUMN {self.count} TYPE bigint USING "
                f"{self.count}::bigint;"
            )
        else:
            remedy = self._make_a_table
        raise InputError(
            "{counts} is of type {dtype}, and counts are whole numbers",
            "{remedy}",
            counts=self._names.counts,
            dtype=column.shown,
            remedy=remedy,
        )

    def _items(self) -> tuple[str, str]:
        column, item = self._columns[self._names.item], quoted(self._names.item)
        if column.base in _WHOLE:
            return item, "integers"
        if column.base == "date":
            return item, "dates"
        if column.base == "uuid" or column.category in "SE":  # strings and enums
            self._require_known_encoding()
            return f"{item}::text", "text"
        raise InputError(
            "{items} is of type {dtype}, which identifies no item",
            "name a column of text, integers or dates",
            items=self._names.items,
            dtype=column.shown,
        )

    def _require_known_encoding(self) -> None:
        """Refuse texts in whatever encoding: that some cannot be read would show too late."""
        if self._connection.info.parameter_status("server_encoding") == "SQL_ASCII":
            raise InputError(
                "{origin} is in a database of encoding SQL_ASCII, where the server does not know "
                "what its texts mean",
                "copy it into one of encoding UTF8, or name a column of integers or dates",
                origin=self._names.origin,
            )

    def ids(self) -> Ids:
        """The column of ids: one with the index by count, if there is one, and few gaps."""
        found = [self._span(column) for column in self._id_columns]
        best = min(
            found,
            key=lambda ids: (ids.size > MOST_ITEMS, not self.is_indexed(ids.column), ids.size),
        )
        if best.size > MOST_ITEMS:
            raise InputError(
                "{origin} has ids that span more than 2^32",
                "{add_ids}",
                origin=self._names.origin,
                add_ids=self._add_ids,
            )
        return best

    def _require_readable(self, *columns: str) -> None:
        if not all(self._columns[name].is_readable for name in columns):
            listed = ", ".join(map(quoted, columns))
            raise InputError(
                "{origin} may not be read by this user",
                "its owner can run GRANT SELECT ({listed}) ON {table} TO it;",
                origin=self._names.origin,
                listed=listed,
                table=self.name,
            )

    def _find_ids(self) -> list[str]:
        """The columns by which a row can be found."""
        unique = [index.columns for index in self._indexes if index.is_unique]
        found = [
            name
            for name, column in self._columns.items()
            if [name] in unique and column.base in _WHOLE and column.is_required
        ]
        if not found:
            raise InputError(
                "{origin} has no ids: no integer column that is NOT NULL and has a unique index",
                "{add_ids}",
                origin=self._names.origin,
                add_ids=self._add_ids,
            )
        readable = [name for name in found if self._columns[name].is_readable]
        self._require_readable(*readable[:1] or found)
        return readable

    def _span(self, column: str) -> Ids:
        name = quoted(column)
        query = f"SELECT min({name}), max({name}) FROM {self.name}"
        first, last = select(self._connection, query)[0]
        return Ids(column, first or 0, 0 if last is None else last - first + 1)

    @property
    def _add_ids(self) -> str:
        """How to get ids. Of a partitioned table they would have to hold the key of partitions."""
        if self._table.kind != "r":
            return self._make_a_table
        name = "id" if "id" not in self._columns else "shortlist_id"
        has_key = any(index.is_primary for index in self._indexes)
        key = "UNIQUE" if has_key else "PRIMARY KEY"
        return (
            f"run ALTER TABLE {self.name} ADD COLUMN {name} bigint GENERATED ALWAYS AS IDENTITY "
            f"{key};"
        )

    @property
    def _make_a_table(self) -> str:
        """What to do where nothing can be added to a table, or to its key."""
        new, key = quoted(f"{self._table.name}_numbered"), "id"
        if key in (self._names.item, self._names.count):
            key = "shortlist_id"
        return (
            f"name the table that this makes: CREATE TABLE {new} AS SELECT row_number() OVER () "
            f"AS {key}, {quoted(self._names.item)}, {self.count}::bigint AS {self.count} "
            f"FROM {self.name}; ALTER TABLE {new} ADD PRIMARY KEY ({key});"
        )

    def create_index(self, column: str) -> str:
        """The statement that makes sorted access cheap, with these ids."""
        return f"CREATE INDEX ON {self.name} ({self.count}, {quoted(column)});"

    def is_indexed(self, column: str) -> bool:
        """Whether there is an index by count and this id, both rising or both falling."""
        wanted = [self._names.count, column]
        return any(
            index.columns[:2] == wanted and index.options[:2] in (["0", "0"], ["3", "3"])
            for index in self._indexes
        )

    def require_index(self, column: str | None = None) -> None:
        """Refuse a table of which sorted access would read all; by default, for any ids."""
        if column is None:
            column = next(filter(self.is_indexed, self._id_columns), self._id_columns[0])
        if not self.is_indexed(column):
            raise InputError(
                "{counts} has no index that answers by falling count",
                "{or_prepare}run {create_index}",
                counts=self._names.counts,
                create_index=self.create_index(column),
            )

    def prepare(self) -> None:
        """Create the index, if there is none."""
        column = self.ids().column
        if not self.is_indexed(column):
            self._connection.execute(self.create_index(column).encode())


class NamedTable(NamedTuple):
    """A table, a view or the like."""

    number: int
    schema: str
    name: str
    kind: str  # "r" for a table, "p" for one with partitions, "m" for a materialised view
    is_visible: bool  # by its name alone
    is_open: bool  # to this user, by its schema
    has_children: bool  # tables that inherit from it


def find_table(connection: psycopg.Connection[Any], names: TableAndColumns) -> NamedTable:
    """The one table of that name, of a kind that an index can cover."""
    found, origin = _tables_called(connection, names.table), names.origin
    if not found:
        raise InputError(
            "{origin} is not a table of this database",
            "one that is outside the search path is given as schema.table.{hint}",
            origin=origin,
            hint=nearest(names.table, _visible_tables(connection)),
        )
    if len(found) > 1:
        raise InputError(
            "{origin} names two tables, by the one or the other of its dots",
            "put the schema that is meant into the search path, and give the table's own name",
            origin=origin,
        )
    _require_usable(found[0], origin)
    return found[0]


def _require_usable(table: NamedTable, origin: Words) -> None:
    if not table.is_open:
        raise InputError(
            "{origin} is in a schema that is not open to this user", "ask its owner", origin=origin
        )
    if table.schema in _OF_THE_SYSTEM:
        raise InputError("{origin} is the server's own", "name a table of yours", origin=origin)
    if table.kind not in "rpm":  # tables, partitioned ones, materialised views
        raise InputError(
            "{origin} is a view or a foreign table, which has no index",
            "name the table",
            origin=origin,
        )
    if table.has_children:  # whose rows no index of its own covers
        raise InputError(
            "{origin} has tables that inherit from it, and ids may stand in several",
            "name one that has none, or a partitioned table",
            origin=origin,
        )


def _tables_called(connection: psycopg.Connection[Any], whole: str) -> list[NamedTable]:
    """All that may be meant by a name, or by a schema and a name with a dot in between.

    The server cuts long names off, and so what it finds is compared with what was asked for.
    """
    rests = [whole, *(whole[i + 1 :] for i, letter in enumerate(whole) if letter == ".")]
    query = """
        SELECT c.oid::int8, n.nspname::text, c.relname::text, c.relkind::text,
            pg_table_is_visible(c.oid), has_schema_privilege(n.oid, 'USAGE'),
            c.relkind = 'r' AND EXISTS (SELECT FROM pg_inherits WHERE inhparent = c.oid)
        FROM pg_class c
        JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname = ANY($1::text[]::name[]) AND c.relkind IN ('r', 'p', 'm', 'v', 'f')"""
    found = [NamedTable(*row) for row in select(connection, query, rests)]
    visible = [table for table in found if table.is_visible and table.name == whole]
    return visible or [table for table in found if f"{table.schema}.{table.name}" == whole]


def _visible_tables(connection: psycopg.Connection[Any]) -> list[str]:
    query = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'm') AND "
    return [name for (name,) in select(connection, query + "pg_table_is_visible(oid)")]


class Column(NamedTuple):
    number: int
    base: str  # the name of its type; of a domain, of the type below all domains
    category: str  # of types: "S" for strings, "E" for enums
    shown: str  # the type as SQL writes it
    is_required: bool
    is_readable: bool


class Index(NamedTuple):
    is_unique: bool
    is_primary: bool
    columns: list[str]
    options: list[str]  # of each column: "0" if it rises with nulls last, "3" if it falls


def select(connection: psycopg.Connection[Any], query: str, *values: object) -> list[Any]:
    """All rows of a query, whose values it calls $1, $2 and so on."""
    return connection.execute(query.encode(), values).fetchall()


def columns_of(connection: psycopg.Connection[Any], table: int) -> dict[str, Column]:
    """The columns of the table of that number, by name."""
    query = """
        WITH RECURSIVE base (own, below) AS (
            SELECT DISTINCT atttypid, atttypid FROM pg_attribute WHERE attrelid = $1::int8::oid
            UNION ALL
            SELECT own, typbasetype FROM base JOIN pg_type ON oid = below WHERE typtype = 'd'
        )
        SELECT a.attname, a.attnum::int4, t.typname, t.typcategory::text,
            format_type(a.atttypid, NULL), a.attnotnull,
            has_column_privilege(a.attrelid, a.attnum, 'SELECT')
        FROM pg_attribute a
        JOIN base ON base.own = a.atttypid
        JOIN pg_type t ON t.oid = base.below AND t.typtype <> 'd'
        WHERE a.attrelid = $1::int8::oid AND a.attnum > 0 AND NOT a.attisdropped
        ORDER BY a.attnum"""
    return {name: Column(*rest) for name, *rest in select(connection, query, table)}


def indexes_of(
    connection: psycopg.Connection[Any], table: int, columns: dict[str, Column]
) -> list[Index]:
    """The indexes of the table that sort every row by columns."""
    query = """
        SELECT i.indisunique, i.indisprimary, i.indnkeyatts::int4, i.indkey::text,
            i.indoption::text
        FROM pg_index i
        JOIN pg_class c ON c.oid = i.indexrelid
        JOIN pg_am m ON m.oid = c.relam
        WHERE i.indrelid = $1::int8::oid AND m.amname = 'btree' AND i.indisvalid
            AND i.indisready AND i.indpred IS NULL AND i.indexprs IS NULL"""
    by_number = {str(column.number): name for name, column in columns.items()}
    return [
        Index(
            unique, primary, [by_number.get(key, "") for key in keys.split()[:n]], options.split()
        )
        for unique, primary, n, keys, options in select(connection, query, table)
    ]
