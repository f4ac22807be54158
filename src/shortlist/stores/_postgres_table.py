"""Whether a table in PostgreSQL can be a store, and by which of its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.errors import InputError
from shortlist.parameters import MOST_ITEMS
from shortlist.stores._names import Names, quoted
from shortlist.stores._postgres_catalog import columns_of, indexes_of, select
from shortlist.stores._postgres_find import find_table

if TYPE_CHECKING:
    import psycopg

__all__ = ["Ids", "PostgresTable"]

_WHOLE = ("int2", "int4", "int8")
_CAST = ("text", "varchar", "bpchar", "numeric", "float4", "float8")  # to bigint, if need be


class Ids(NamedTuple):
    """The column of ids, the smallest of them, and how many there are from it to the largest."""

    column: str
    first: int
    size: int


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

    def __init__(self, connection: psycopg.Connection[Any], names: Names) -> None:
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
        if column.base not in _CAST:
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
        """The column of ids: one with the index by count, if there is one, and few gaps.

        Raises:
            InputError: All span too much.
        """
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

    def require_any_index(self) -> None:
        """Refuse, without reading a row, a table of which sorted access would read all."""
        self.require_index(next(filter(self.is_indexed, self._id_columns), self._id_columns[0]))

    def require_index(self, column: str) -> None:
        """The same where these are the ids."""
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
