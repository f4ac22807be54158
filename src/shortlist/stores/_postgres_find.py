"""Which table in PostgreSQL a name means, and whether it is of a kind that can be a store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.errors import InputError, Words, nearest
from shortlist.stores._names import Names
from shortlist.stores._postgres_catalog import select

if TYPE_CHECKING:
    import psycopg

__all__ = ["Found", "find_table"]

_OF_THE_SYSTEM = ("pg_catalog", "information_schema", "pg_toast")


class Found(NamedTuple):
    """A table, a view or the like.

    Attributes:
        number: Its own.
        schema: The name of its schema.
        name: Its name in there.
        kind: "r" for a table, "p" for one with partitions, "m" for a materialised view.
        is_visible: Whether its name alone means it.
        is_open: Whether the user may use its schema.
        has_children: Whether tables inherit from it.
    """

    number: int
    schema: str
    name: str
    kind: str
    is_visible: bool
    is_open: bool
    has_children: bool


def find_table(connection: psycopg.Connection[Any], names: Names) -> Found:
    """The table, of a kind that an index can cover.

    Raises:
        InputError: There is none, or several, or one that cannot be a store.
    """
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


def _require_usable(table: Found, origin: Words) -> None:
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


def _tables_called(connection: psycopg.Connection[Any], whole: str) -> list[Found]:
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
    found = [Found(*row) for row in select(connection, query, rests)]
    visible = [table for table in found if table.is_visible and table.name == whole]
    return visible or [table for table in found if f"{table.schema}.{table.name}" == whole]


def _visible_tables(connection: psycopg.Connection[Any]) -> list[str]:
    query = "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'm') AND "
    return [name for (name,) in select(connection, query + "pg_table_is_visible(oid)")]
