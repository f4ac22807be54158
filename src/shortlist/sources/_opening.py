"""The sensitive table, wherever it is, and whether it is added up there or here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from shortlist.engines.tables import connected, is_lying, is_url, require_ibis
from shortlist.errors import InputError, in_quotes
from shortlist.table import Table, open_table

__all__ = ["Opened", "opened"]


class Opened(NamedTuple):
    """A table that was checked by its schema.

    Attributes:
        table: The table.
        lies: Whether its rows stay where they are.
    """

    table: Table
    lies: bool


def opened(
    data: object,
    *,
    items: str | Sequence[str],
    table: str | None,
    pull: bool,
    separator: str | None,
    **first: object,
) -> Opened:
    """Check a table by its schema.

    Args:
        data: As in `shortlist.pairs`.
        items: The column or columns of the item.
        table: With a URL, the table.
        pull: Whether the rows of a table in an engine are fetched.
        separator: As in `shortlist.pairs`.
        first: The one other column by its role, as in `open_table`.

    Raises:
        InputError: There is no such table, or it has no such columns.
    """
    if not isinstance(pull, bool):
        raise InputError("must be True or False", given={"pull": pull})
    if is_url(data):
        data = _connected(data, table)
    elif table is not None:
        raise InputError(
            "goes with the URL of a database, and {data} is none",
            "omit it",
            given={"table": in_quotes(table)},
        )
    checked = open_table(data, items=items, separator=separator, **first)
    origin, held = checked.parts[0].origin, checked.parts[0].held
    lies = is_lying(held)
    if pull and not lies:
        raise InputError(
            "it is for a table in an engine, such as DuckDB, and these rows are read here anyway",
            "omit it",
            given={"pull": pull},
        )
    if lies and not pull:
        require_ibis(origin)
    return Opened(checked, lies and not pull)


def _connected(url: object, table: object) -> object:
    """The table; the frames of an error's trace do not hold the URL, nor does its context."""
    if not isinstance(table, str):
        raise InputError(
            "must be the name of a table, since {data} is the URL of a database",
            given={"table": table},
        )
    try:
        return connected(str(url), table)
    except InputError as error:
        refused = error.with_traceback(None)
    del url
    raise refused
