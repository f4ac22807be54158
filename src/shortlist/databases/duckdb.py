"""DuckDB: whatever speaks to it, how its files are opened, and what it would print."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from shortlist.databases.quoting import literal
from shortlist.databases.through_ibis import is_ibis
from shortlist.runtime.processes import private_folder

_OF_BAR = "enable_progress_bar", "enable_progress_bar_print"
_UNITS = {"bytes": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


def bytes_of(size: str) -> int:
    """A size as DuckDB writes it; where it has no limit, that of all addresses.

    >>> bytes_of("1.5 GiB"), bytes_of("512 bytes")
    (1610612736, 512)
    """
    number, _, unit = size.partition(" ")
    return int(float(number) * _UNITS[unit]) if unit in _UNITS else 2**63 - 1


def lies_elsewhere(path: str) -> bool:
    """Whether what a URL names is no file, but in memory or on a server."""
    return path.startswith((":memory:", "md:", "motherduck:"))


def connect(path: str) -> Any:
    """A connection of Ibis to a file that is only read: temporary tables are none of it.

    What does not fit into memory is spilled into a folder that nobody else may look into; but
    where this process has the file open already, with a folder of its choice, into that.
    """
    import ibis

    if path and not lies_elsewhere(path):
        path = str(Path(path).absolute())  # by which the file is known when the folder has changed
    connection = ibis.duckdb.connect(path, read_only=True)
    native = connection.con
    ((folder,),) = native.execute("SELECT current_setting('temp_directory')").fetchall()
    if folder in ("", ".tmp", f"{path}.tmp"):  # by default, beside the file, for all to read
        with suppress(Exception):  # it was used already
            native.execute(f"SET temp_directory = {literal(str(private_folder()))}")
    return connection


def is_relation(data: Any) -> bool:
    """Whether this is an object of DuckDB's own library."""
    return type(data).__module__.partition(".")[0] in {"duckdb", "_duckdb"}


def connection_of(relation: Any) -> Any:
    """What a relation is read by; None in DuckDB 1, whose relations do not tell it."""
    return getattr(relation, "_con", None)


def interrupt_of(native: Any) -> Callable[[], None] | None:
    """What stops the query that DuckDB works at for a relation or a table of Ibis, if it is DuckDB.

    Relations of DuckDB 1 do not tell their connection: then DuckDB itself must hear of Ctrl-C.
    """
    connection = connection_of(native) if is_relation(native) else None
    if is_ibis(native) and (backend := native.get_backend()).name == "duckdb":
        connection = backend.con
    return getattr(connection, "interrupt", None)


@contextmanager
def without_bar(ask: Callable[[str], Any], *, measured: bool = False) -> Iterator[None]:
    """DuckDB without its bar of progress, which goes to standard output, where answers go.

    Whoever else has the connection finds the settings as they were.

    Args:
        ask: What asks DuckDB.
        measured: Whether DuckDB works out how far it is all the same.
    """
    was: list[tuple[bool, ...]] = []
    with suppress(Exception):  # a connection that is lost says so at the first query
        settings = ", ".join(f"current_setting('{name}')" for name in _OF_BAR)
        was = ask(f"SELECT {settings}").fetchall()
        ask("SET enable_progress_bar_print = false")
        ask(f"SET enable_progress_bar = {measured}")
    try:
        yield
    finally:
        with suppress(Exception):
            for name, value in [pair for row in was for pair in zip(_OF_BAR, row, strict=True)]:
                ask(f"SET {name} = {value}")


@contextmanager
def without_bar_of(native: Any, wait: Callable[[Callable[[], Any]], Any]) -> Iterator[None]:
    """DuckDB without its bar where a relation is read; Ibis has none.

    What DuckDB does is waited for by `wait`, which Ctrl-C ends: what is suppressed here is not it.
    """
    if is_relation(native):
        with without_bar(lambda said: wait(lambda: native.query("shortlist_rows", said))):
            yield
    else:
        yield
