"""Which table is asked: in a file or in a database, of users or of counts. One of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shortlist.errors import InputError, nearest, shown

if TYPE_CHECKING:
    from shortlist.cli.request import Request

__all__ = ["require_input_format", "require_one_table"]

_FORMATS = ("csv", "tsv", "ndjson", "parquet")


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


def require_input_format(request: Request) -> None:
    """Refuse a format that is not known, or for a file, whose name says it.

    Raises:
        InputError: It names the options as they are written in a shell.
    """
    given = request.input_format
    if given is not None and given not in _FORMATS:
        raise InputError(
            f'--input-format "{shown(given)}": must be one of {", ".join(_FORMATS)}.'
            f"{nearest(given, _FORMATS)}"
        )
    if given is not None and request.file != "-":
        raise InputError(
            "--input-format goes with - for FILE; the suffix of a file tells its format."
        )


def _require_store(request: Request) -> None:
    """Refuse what a store has no use for, and the lack of what it needs."""
    useless = {
        "FILE": request.file,
        "--user": request.user,
        "--max-items-per-user": request.max_items_per_user,
        "--public-items": request.public_items,
        "--public-items-in-table": request.public_items_in_table or None,
        "--count-share": request.count_share,
        "--separator": request.separator,
    }
    for option, value in useless.items():
        if value is not None:
            raise InputError(
                f"{option} does not go with --store: its table has one row for each item that "
                "everybody knows, with its count; leave it out."
            )
    for option, value in {"--table TABLE": request.table, "--count COLUMN": request.count}.items():
        if value is None:
            raise InputError(f"--store goes with --table, --item and --count; add {option} to it.")
    if request.show_accesses and request.dry_run:
        raise InputError(
            "--show-accesses: with --dry-run nothing is read, and how much an answer would read "
            "depends on the data; leave one of the two out."
        )
    if len(request.item) > 1:
        raise InputError("--item: a store has one column of items; name it once.")


def _require_file(request: Request) -> None:
    """Refuse what only a store has use for, and a table that is nowhere."""
    if request.table is not None or request.show_accesses:
        option = "--show-accesses" if request.table is None else f'--table "{shown(request.table)}"'
        raise InputError(f"{option} goes with --store; leave it out, or name the database.")
    if request.file is None:
        raise InputError(
            "one of FILE and --store is needed: FILE for a table in a file, --store URL for one in "
            "a database."
        )


def _require_one_kind(request: Request) -> None:
    """Refuse a table that is of two kinds, or of none."""
    if request.user is None and request.count is None:
        raise InputError(
            "one of --user and --count is needed: --user COLUMN if each row is of a user and "
            "an item, --count COLUMN if each row is of an item and the number of its users."
        )
    if request.user is not None and request.count is not None:
        raise InputError(
            f'--user "{shown(request.user)}" and --count "{shown(request.count)}": a table has '
            "rows of users and items, or of items and their counts; give the one that it has."
        )
    if not request.public_items_in_table:
        return
    if request.public_items is not None:
        raise InputError(
            "--public-items and --public-items-in-table: what everybody knows is in a file of "
            "its own or in the table; give one of the two."
        )
    if request.user is not None:
        raise InputError(
            "--public-items-in-table goes with --count: in rows of users and items, one more "
            "user can add an item; give what everybody knows by --public-items."
        )
