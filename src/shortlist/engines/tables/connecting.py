"""A table in a database, by the URL of the database."""

from __future__ import annotations

import re
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from weakref import finalize

from shortlist.engines.tables._dialect import Expression
from shortlist.errors import InputError, Words, named, shown
from shortlist.runtime.processes import private_folder
from shortlist.stores.connecting import why
from shortlist.stores.faults import Fault, guarded
from shortlist.table.connections import opened
from shortlist.table.formats import is_of_file
from shortlist.table.part import attempt

__all__ = ["connected", "is_url", "require_ibis"]

_ROOT = "a path from the root has one slash more, as in {kind}:////data/plays.db"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def is_url(data: object) -> bool:
    """Whether this is the URL of a database."""
    return isinstance(data, str) and _SCHEME.match(data) is not None and not is_of_file(data)


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
    kind = _kind(url)
    if kind in ("duckdb", "sqlite"):
        _require_file(kind, _path(url), origin)
    unreadable = _UNREADABLE.get(kind)
    refusal = unreadable.of(origin) if unreadable else _unreached(origin)
    connection = attempt(lambda: _connection(url, origin), refusal)
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

    scheme = _kind(url)
    try:
        if scheme == "duckdb":
            return _duckdb(_path(url))
        if scheme == "sqlite":
            return _sqlite(_path(url))
        if scheme in ("postgres", "postgresql"):
            return _postgres(url, origin)
        connection = ibis.connect(url)
        # Whether such a connection was lost, nobody can tell: it is opened anew where it fails.
        opened(connection, lambda: True, connection.reconnect)
        return connection  # noqa: TRY300 - what may be missing is imported above
    except ImportError as error:
        missing = error.name or scheme
    raise InputError(
        "{origin} needs the package {missing}, which is not installed",
        'run pip install "ibis-framework[{scheme}]"',
        origin=origin,
        missing=shown(missing),
        scheme=shown(scheme),
    )


def _sqlite(path: str) -> Expression:
    """A file of SQLite that is only read; Ibis would make one, and from the root of all files."""
    import sqlite3

    import ibis

    where = f"{Path(path).absolute().as_uri()}?mode=ro"
    # Another thread reads, while this one waits for Ctrl-C.
    native = sqlite3.connect(where, uri=True, check_same_thread=False)
    connection = ibis.sqlite.from_connection(native)
    finalize(connection, native.close)
    return connection


def _postgres(url: str, origin: Words) -> Expression:
    """A connection that is opened anew where it was lost."""
    import ibis
    import psycopg

    def connect() -> Any:
        return guarded(
            lambda: psycopg.connect(url, autocommit=True), lambda error: why(error).of(origin)
        )

    def open_anew() -> None:
        connection.con = connect()
        finalize(connection, connection.con.close)
        connection._post_connect()  # noqa: SLF001 - as Ibis does

    connection = ibis.postgres.from_connection(connect())
    finalize(connection, connection.con.close)
    opened(connection, lambda: bool(connection.con.closed), open_anew)
    return connection


def _duckdb(path: str) -> Expression:
    """A file that is only read: temporary tables are none of it.

    What does not fit into memory is spilled into a folder that nobody else may look into; but
    where this process has the file open already, with a folder of its choice, into that.
    """
    import ibis

    if path and not _is_elsewhere(path):
        path = str(Path(path).absolute())  # by which the file is known when the folder has changed
    connection = ibis.duckdb.connect(path, read_only=True)
    native = connection.con
    ((folder,),) = native.execute("SELECT current_setting('temp_directory')").fetchall()
    if folder in ("", ".tmp", f"{path}.tmp"):  # by default, beside the file, for all to read
        private = str(private_folder()).replace("'", "''")
        with suppress(Exception):  # it was used already
            native.execute(f"SET temp_directory = '{private}'")
    return connection


def _unreached(origin: Words) -> InputError:
    return InputError(
        "{origin} cannot be connected to",
        "check that the database is there, and its path, or its host, port, name, user and "
        "password",
        origin=origin,
    )


_UNREADABLE = {
    "duckdb": Fault(
        Words("cannot be opened"),
        Words("check that the file is of DuckDB, may be read, and is not being written"),
    ),
    "sqlite": Fault(
        Words("cannot be opened"), Words("check that the file is of SQLite, and may be read")
    ),
}


def _kind(url: str) -> str:
    return url.partition("://")[0].lower()


def _path(url: str) -> str:
    """Of a file of DuckDB or SQLite: four slashes are for the root."""
    return url.partition("://")[2].removeprefix("/")


def _is_elsewhere(path: str) -> bool:
    return path.startswith((":memory:", "md:", "motherduck:"))


def _require_file(kind: str, path: str, origin: Words) -> None:
    """Refuse a file that is not there: it is never made, and its path is not shown."""
    if (kind == "duckdb" and _is_elsewhere(path)) or not path or Path(path).is_file():
        return
    raise InputError(
        "{origin}: there is no such file{where}{never}",
        "{remedy}",
        origin=origin,
        where="" if "/" in path else " in this folder",
        never=" (a DuckDB file is never created)" if kind == "duckdb" else "",
        remedy="check its path" if path.startswith("/") else _ROOT.format(kind=kind),
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
