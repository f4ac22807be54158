"""A table in a database, by the URL of the database."""

from __future__ import annotations

import re
from importlib.util import find_spec
from weakref import finalize

from shortlist.engines.tables._dialect import Expression
from shortlist.errors import InputError, Words, named, shown
from shortlist.table.part import attempt

__all__ = ["connected", "is_url", "require_ibis"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def is_url(data: object) -> bool:
    """Whether this is the URL of a database."""
    return isinstance(data, str) and _SCHEME.match(data) is not None


def connected(url: str, table: str) -> Expression:
    """The table of that name, of which nothing is read; nothing of the URL is ever shown.

    Args:
        url: As Ibis takes it; of DuckDB, a file that is there.
        table: The name of a table or a view, or schema.table.

    Raises:
        InputError: There is no such database or table, or Ibis does not connect to it.
    """
    origin = _origin(url)
    require_ibis(origin)
    connection = attempt(lambda: _connection(url, origin), _unreached(origin))
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


def _origin(url: str) -> Words:
    """The URL in a message: no more than its kind, since a password may be anywhere in it."""
    found = _SCHEME.match(url)
    scheme = shown(found[1]) if found else ""
    return Words("{data=}", given={"data": Words('"{scheme}://…"', scheme=scheme)})


def _connection(url: str, origin: Words) -> Expression:
    import ibis

    scheme = url.partition("://")[0].lower()
    try:
        if scheme == "duckdb":
            path = url.partition("://")[2].removeprefix("/")  # as of SQLite: four for the root
            return ibis.duckdb.connect(path, read_only=True)  # temporary tables are none of it
        if scheme in ("postgres", "postgresql"):
            import psycopg

            native = psycopg.connect(url, autocommit=True)
            connection = ibis.postgres.from_connection(native)
            finalize(connection, native.close)
            return connection
        return ibis.connect(url)
    except ImportError as error:
        missing = error.name or scheme
    raise InputError(
        "{origin} needs the package {missing}, which is not installed",
        'run pip install "ibis-framework[{scheme}]"',
        origin=origin,
        missing=shown(missing),
        scheme=shown(scheme),
    )


def _unreached(origin: Words) -> InputError:
    return InputError(
        "{origin} cannot be connected to",
        "check that the database is there, its path (duckdb:///plays.db is in this folder, "
        "duckdb:////data/plays.db is not), or its host, port, name, user and password",
        origin=origin,
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
