"""Which table is asked: in a file or in a database, of users or of counts. One of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shortlist.cli._common_options import FORMATS
from shortlist.errors import InputError, Words, in_quotes, named, nearest, reference

if TYPE_CHECKING:
    from shortlist.cli.request import Request

__all__ = ["require_input_format", "require_one_table"]


def require_one_table(request: Request) -> None:
    """Refuse options that do not go together, and the lack of those that must.

    Raises:
        InputError: It names the options as they are written in a shell.
    """
    if request.store is not None:
        _require_store(request)
    else:
        _require_file(request)
        _require_one_kind(request)
    _require_groups(request)


def require_input_format(request: Request) -> None:
    """Refuse a format that is not known, or for a file, whose name says it.

    Raises:
        InputError: It names the options as they are written in a shell.
    """
    given = request.input_format
    if given is not None and given not in FORMATS:
        raise InputError(
            "must be one of {listed}",
            "{hint}",
            given={"input_format": in_quotes(given)},
            listed=", ".join(FORMATS),
            hint=nearest(given, FORMATS),
        )
    if given is not None and request.file != "-":
        raise InputError(
            "{input_format=} goes with - for {data}",
            "the suffix of a file tells its format",
            given={"input_format": ...},
        )


def _require_groups(request: Request) -> None:
    """Refuse groups of a store, and options of groups where there are none."""
    if request.by and request.store is not None:
        raise InputError(
            "{by} does not go with {store}: its index has one order, of all items",
            "omit it, or give the table as a file",
        )
    if request.by:
        return
    for name in ("max_groups_per_user", "public_groups"):
        if getattr(request, name) is not None:
            raise InputError(
                "{option} goes with {by}",
                "name the columns of groups, or omit it",
                option=reference(name),
            )


def _require_store(request: Request) -> None:
    """Refuse what a store has no use for, and the lack of what it needs."""
    useless = {
        "data": request.file,
        "user": request.user,
        "max_items_per_user": request.max_items_per_user,
        "public_items": request.public_items,
        "public_items_in_table": request.public_items_in_table or None,
        "count_share": request.count_share,
        "separator": request.separator,
        "encoding": request.encoding,
        "pull": request.pull or None,
    }
    for name, value in useless.items():
        if value is not None:
            raise InputError(
                "{option} does not go with {store}: its table has one row for each item that "
                "everybody knows, with its count",
                "omit it",
                option=reference(name),
            )
    needed = {Words("{table=...}"): request.table, Words("{count=...}"): request.count}
    for option, value in needed.items():
        if value is None:
            raise InputError(
                "{store} goes with {table}, {item} and {count}",
                "add {option}",
                option=option,
            )
    if request.show_accesses and request.dry_run:
        raise InputError(
            "{show_accesses=}: with {dry_run} nothing is read, and how much an answer would read "
            "depends on the data",
            "omit one of the two",
            given={"show_accesses": ...},
        )
    if len(request.item) > 1:
        raise InputError("a store has one column of items", "name it once", given={"item": ...})


def _require_file(request: Request) -> None:
    """Refuse what only a store has use for, and a table that is nowhere."""
    table = request.table is not None and not request.in_database
    if table or request.show_accesses:
        option = (
            reference("show_accesses") if request.table is None else named("table", request.table)
        )
        raise InputError(
            "{option} goes with a database",
            "omit it, or name the database by its URL, such as duckdb:///plays.db",
            option=option,
        )
    if request.file is None:
        raise InputError(
            "one of {data} and {store} is needed: {data} for a table in a file, {store=...} for "
            "one in a "
            "database"
        )


def _require_one_kind(request: Request) -> None:
    """Refuse a table that is of two kinds, or of none."""
    if request.user is None and request.count is None:
        raise InputError(
            "one of {user} and {count} is needed: {user=...} if each row is of a user and an item, "
            "{count=...} if each row is of an item and the number of its users"
        )
    if request.user is not None and request.count is not None:
        raise InputError(
            "{user=} and {count=}: a table has rows of users and items, or of items and their "
            "counts",
            "give the one that it has",
            given={"user": in_quotes(request.user), "count": in_quotes(request.count)},
        )
    if not request.public_items_in_table:
        return
    if request.public_items is not None:
        raise InputError(
            "{public_items} and {public_items_in_table}: what everybody knows is in a file of its "
            "own or in the table",
            "give one of the two",
        )
    if request.user is not None:
        raise InputError(
            "{public_items_in_table} goes with {count}: in rows of users and items, one more user "
            "can add an item",
            "give what everybody knows by {public_items}",
        )
