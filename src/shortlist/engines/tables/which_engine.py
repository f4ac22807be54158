"""Which tables lie in an engine that can add up; and how one is opened by the URL of a database."""

from __future__ import annotations

import sys
from collections.abc import Collection
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from shortlist.databases.urls import scheme_of
from shortlist.errors import InputError, Words, named, shown
from shortlist.table.formats import is_of_file
from shortlist.table.part import attempt

if TYPE_CHECKING:
    from shortlist.engines.tables._dialect import Dialect, TableInEngine
    from shortlist.engines.tables._expressions import Expression


@cache
def _dialects() -> tuple[type[Dialect], ...]:
    # Most tables are files or frames, for which no engine need be known.
    from shortlist.engines.tables._duckdb import DuckDB
    from shortlist.engines.tables._postgres import Postgres
    from shortlist.engines.tables._spark import Spark
    from shortlist.engines.tables._sqlite import SQLite

    return DuckDB, Postgres, SQLite, Spark


def is_in_engine(data: object | None) -> bool:
    """Whether this is a table in an engine, which need not come here to be added up."""
    if data is None:  # a file
        return False
    return _is_of("ibis", "Table", data) or _native_dialect(data) is not None


def table_in_engine(data: Any, columns: Collection[str]) -> TableInEngine:
    """Such a table, of which these columns are read, and how its engine is spoken to.

    Raises:
        InputError: A column is of a type for which that engine has no words.
    """
    from shortlist.engines.tables._dialect import Dialect, TableInEngine
    from shortlist.engines.tables._sets_from_rows import identified

    if (native := _native_dialect(data)) is not None:
        found = native.open_native(data, columns)
    else:
        connection = data.get_backend()
        kinds = (kind for kind in _dialects() if kind.backend == connection.name)
        found = TableInEngine(data, next(kinds, Dialect).of_connection(connection), data)
    identified(found.rows.select(*columns), found.dialect)  # refused before a row is read
    return found


def _native_dialect(data: object) -> type[Dialect] | None:
    """Who speaks to the engine from whose own library a table is."""
    return next(
        (
            kind
            for kind in _dialects()
            if any(_is_of(module, name, data) for module, name in kind.native.items())
        ),
        None,
    )


def _is_of(module: str, name: str, data: object) -> bool:
    """Whether data is of a type of a module; before that was imported, there is no such object."""
    loaded = sys.modules.get(module)
    return loaded is not None and isinstance(data, getattr(loaded, name))


def is_url(data: object) -> bool:
    """Whether this is the URL of a database."""
    return isinstance(data, str) and scheme_of(data) is not None and not is_of_file(data)


def connected(url: str, table: str) -> Expression:
    """The table of that name, of which nothing is read; nothing of the URL is ever shown.

    Args:
        url: As Ibis takes it; of DuckDB, a file that is there.
        table: The name of a table or a view, or schema.table.

    Raises:
        InputError: There is no such database or table, or Ibis does not connect to it.
    """
    from shortlist.engines.tables._dialect import Dialect

    scheme = scheme_of(url) or ""
    # No more of the URL than its kind, since a password may be anywhere in it.
    kind_of_url = Words('"{scheme}://…"', scheme=shown(url.partition("://")[0]))
    origin = Words("{data=}", given={"data": kind_of_url})
    require_ibis(origin)
    dialect = next((kind for kind in _dialects() if scheme in kind.schemes), Dialect)
    connection = attempt(
        lambda: _connection(dialect, url, scheme, origin), dialect.unopened.of(origin)
    )
    refusal = InputError(
        "{named} is not a table of this database, or may not be read",
        "check its name; in a schema, write schema.table",
        named=named("table", table),
    )
    return attempt(lambda: _table(connection, table), refusal)


def require_ibis(origin: Words, extra: str = "ibis") -> None:
    """Refuse what Ibis is needed for, where it is not installed."""
    if find_spec("ibis") is None:
        raise InputError(
            "{origin} is added up where it lies by Ibis, which is not installed",
            'run pip install "shortlist[{extra}]"',
            origin=origin,
            extra=extra,
        )


def _connection(dialect: type[Dialect], url: str, scheme: str, origin: Words) -> Expression:
    try:
        return dialect.open_url(url, origin)
    except ImportError as error:
        missing = error.name or scheme
    raise InputError(
        "{origin} needs the package {missing}, which is not installed",
        'run pip install "ibis-framework[{scheme}]"',
        origin=origin,
        missing=shown(missing),
        scheme=shown(scheme),
    )


def _table(connection: Expression, name: str) -> Expression:
    """By the whole name; where there is none, by what stands before and behind its last dot."""
    try:
        return connection.table(name)
    except Exception:
        schema, dot, last = name.rpartition(".")
        if not dot:
            raise
        return connection.table(last, database=schema)
