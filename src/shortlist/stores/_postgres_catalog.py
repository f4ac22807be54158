"""What PostgreSQL's own tables say of a table: its columns and its indexes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import psycopg

__all__ = ["Column", "Index", "columns_of", "indexes_of", "select"]


class Column(NamedTuple):
    """A column.

    Attributes:
        number: Its number in the table.
        base: The name of its type; of a domain, of the type below all domains.
        category: The kind of type: "S" for strings, "E" for enums.
        shown: The type as SQL writes it.
        is_required: Whether it is NOT NULL.
        is_readable: Whether the user may read it.
    """

    number: int
    base: str
    category: str
    shown: str
    is_required: bool
    is_readable: bool


class Index(NamedTuple):
    """An index.

    Attributes:
        is_unique: Whether no two rows agree in its columns.
        is_primary: Whether it belongs to the primary key.
        columns: The columns it sorts by.
        options: For each, "0" if it rises with nulls last, "3" if it falls with nulls first.
    """

    is_unique: bool
    is_primary: bool
    columns: list[str]
    options: list[str]


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
