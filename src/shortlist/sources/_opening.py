"""The sensitive table, wherever it is, and whether it stays there."""

from __future__ import annotations

from shortlist.engines.tables import connected, is_lying, is_url, require_ibis
from shortlist.errors import InputError, in_quotes
from shortlist.progress import phase
from shortlist.table import Table

__all__ = ["in_database", "stays"]


def in_database(data: object, table: object) -> object:
    """The table of a database, where the data is its URL; otherwise the data, as it is.

    Raises:
        InputError: There is no such database or table, or a table is named where none is needed.
    """
    if is_url(data):
        return _connected(data, table)
    if table is not None:
        raise InputError(
            "goes with the URL of a database, and {data} is none",
            "omit it",
            given={"table": in_quotes(table)},
        )
    return data


def stays(table: Table, *, pull: object) -> bool:
    """Whether the rows of a table stay where they are, in an engine that adds them up.

    Args:
        table: Checked by its schema.
        pull: Whether they are to be fetched.

    Raises:
        InputError: They are here, so that nothing is to be fetched; or Ibis is missing.
    """
    if not isinstance(pull, bool):
        raise InputError("must be True or False", given={"pull": pull})
    lies = is_lying(table.parts[0].held)
    if pull and not lies:
        raise InputError(
            "it is for a table in an engine, such as DuckDB, and these rows are read here anyway",
            "omit it",
            given={"pull": pull},
        )
    if lies and not pull:
        require_ibis(table.parts[0].origin)
    return lies and not pull


def _connected(url: object, table: object) -> object:
    if not isinstance(table, str):
        raise InputError(
            "{data} is the URL of a database, of which one table is read",
            "name it by {table=...}",
            given={"table": ...},
        )
    with phase("Connecting to the database"):
        return connected(str(url), table)
