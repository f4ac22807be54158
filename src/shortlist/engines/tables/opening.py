"""Which tables lie in an engine that can add up, and in which."""

from __future__ import annotations

import secrets
import sys
from typing import Any, NamedTuple

from shortlist.engines.tables._dialect import Dialect, Expression
from shortlist.engines.tables._duckdb import DuckDB, DuckDBRelation
from shortlist.engines.tables._plain import Plain

__all__ = ["Lying", "is_lying", "lying"]

_DIALECTS: dict[str, type[Plain]] = {"duckdb": DuckDB}


class Lying(NamedTuple):
    """Rows that lie in an engine.

    Attributes:
        rows: A table of Ibis.
        dialect: How the engine that has it is spoken to.
    """

    rows: Expression
    dialect: Dialect


def is_lying(data: object) -> bool:
    """Whether this is a table in an engine, which need not come here to be added up."""
    return isinstance(data, _types("ibis", "Table") + _types("duckdb", "DuckDBPyRelation"))


def lying(data: Any) -> Lying:  # noqa: ANN401 - of several libraries
    """The rows of such a table, and how its engine is spoken to."""
    if isinstance(data, _types("duckdb", "DuckDBPyRelation")):
        return _relation(data)
    connection = data.get_backend()
    return Lying(data, _DIALECTS.get(connection.name, Plain)(connection))


def _relation(relation: Any) -> Lying:  # noqa: ANN401 - DuckDB is not required
    """A relation, which queries call by a name of ours."""
    import ibis
    from ibis.backends.sql.datatypes import DuckDBType

    name = f"shortlist_{secrets.token_hex(8)}"
    types = zip(relation.columns, relation.types, strict=True)
    schema = {column: DuckDBType.from_string(str(dtype)) for column, dtype in types}
    return Lying(ibis.table(schema, name=name), DuckDBRelation(relation, name))


def _types(module: str, name: str) -> tuple[type, ...]:
    """A type of a library, once that was imported: before, there is no such object."""
    loaded = sys.modules.get(module)
    return (getattr(loaded, name),) if loaded else ()
