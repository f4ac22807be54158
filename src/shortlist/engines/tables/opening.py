"""Which tables lie in an engine that can add up, and in which."""

from __future__ import annotations

import hashlib
import secrets
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from shortlist.engines.tables._dialect import Dialect, Expression
from shortlist.engines.tables._duckdb import DuckDB, DuckDBRelation
from shortlist.engines.tables._identifying import identified
from shortlist.engines.tables._plain import Plain
from shortlist.engines.tables._postgres import Postgres
from shortlist.engines.tables._pyspark import Spark
from shortlist.engines.tables.scratch import Scratch
from shortlist.table.connections import lock_of

__all__ = ["Lying", "is_lying", "lying"]

_DIALECTS: dict[str, Callable[[Expression], Dialect]] = {
    "duckdb": DuckDB,
    "postgres": Postgres,
    "pyspark": lambda connection: Spark(connection._session),  # noqa: SLF001 - it has no other name
}
_KINDS = {
    "ibis": "Table",
    "duckdb": "DuckDBPyRelation",
    "pyspark.sql.classic.dataframe": "DataFrame",
    "pyspark.sql.connect.dataframe": "DataFrame",
}
"""Tables that lie in an engine, by the modules that have their types."""


class Lying(NamedTuple):
    """Rows that lie in an engine.

    Attributes:
        rows: A table of Ibis.
        dialect: How the engine that has it is spoken to.
        held: What the caller gave.
        query: What the rows are, where they stand under a name of ours; None where they do not.
    """

    rows: Expression
    dialect: Dialect
    held: object
    query: str | None = None

    @contextmanager
    def asking(self) -> Iterator[Scratch]:
        """Temporary tables for one question, while no other is asked on the same connection."""
        with lock_of(self.held), Scratch(self.dialect) as scratch:
            yield scratch

    @property
    def bounding(self) -> str:
        """How users are bounded, as a guarantee says it."""
        dialect = self.dialect
        return f"users are bounded in {dialect.name}, by {dialect.hash} of a fresh key"

    def digest(self) -> str:
        """What tells one query from another, and not what it says: values may be in it."""
        import ibis

        query = self.query or str(ibis.to_sql(self.rows))
        return hashlib.sha256(query.encode()).hexdigest()

    def identity(self) -> list[object]:
        """What tells the rows from all others, and the connection where they lie from others."""
        import ibis

        query = self.query or str(ibis.to_sql(self.rows))
        with lock_of(self.held):
            return [query, self.dialect.place(self.rows, query)]


def is_lying(data: object) -> bool:
    """Whether this is a table in an engine, which need not come here to be added up."""
    return any(isinstance(data, _type(module)) for module in _KINDS)


def lying(data: Any, columns: Collection[str]) -> Lying:
    """Such a table, of which these columns are read, and how its engine is spoken to.

    Raises:
        InputError: A column is of a type for which that engine has no words.
    """
    found = _found(data, columns)
    identified(found.rows.select(*columns), found.dialect)  # refused before a row is read
    return found


def _found(data: Any, columns: Collection[str]) -> Lying:
    if isinstance(data, _type("duckdb")):
        return _relation(data, columns)
    if not isinstance(data, _type("ibis")):
        return _frame(data, columns)
    rows: Expression = data
    connection = rows.get_backend()
    return Lying(rows, _DIALECTS.get(connection.name, Plain)(connection), rows)


def _relation(relation: Any, columns: Collection[str]) -> Lying:
    """A relation, which queries call by a name of ours."""
    import ibis
    from ibis.backends.sql.datatypes import DuckDBType

    name = f"shortlist_{secrets.token_hex(8)}"
    types = dict(zip(relation.columns, relation.types, strict=True))
    schema = {column: DuckDBType.from_string(str(types[column])) for column in columns}
    rows = ibis.table(schema, name=name)
    return Lying(rows, DuckDBRelation(relation, name), relation, relation.sql_query())


def _frame(frame: Any, columns: Collection[str]) -> Lying:
    """A data frame of PySpark, likewise."""
    import ibis
    from ibis.backends.pyspark.datatypes import PySparkType

    name = f"shortlist_{secrets.token_hex(8)}"
    fields = [field for field in frame.schema.fields if field.name in columns]
    schema = {field.name: PySparkType.to_ibis(field.dataType) for field in fields}
    return Lying(ibis.table(schema, name=name), Spark(frame.sparkSession, frame, name), frame)


def _type(module: str) -> tuple[type, ...]:
    """The type that a module has, once that was imported: before, there is no such object."""
    loaded = sys.modules.get(module)
    return (getattr(loaded, _KINDS[module]),) if loaded else ()
