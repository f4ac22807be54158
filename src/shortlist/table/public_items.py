"""The list of items that everybody knows, checked against the columns of the items."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from shortlist.errors import InputError, Words, in_quotes, reference, shown
from shortlist.table._arrow import is_arrow
from shortlist.table._files import exists, is_list_of_paths
from shortlist.table._public_values import from_values, no_fit, other_type
from shortlist.table._sameness import refuse_same, refuse_taken_out
from shortlist.table.columns import check_columns, column_type
from shortlist.table.formats import Writing, has_known_suffix
from shortlist.table.key_types import kind_of
from shortlist.table.part import Part, attempt
from shortlist.table.reading import open_parts, require_dates, rows_of, unreadable

if TYPE_CHECKING:
    import polars as pl

__all__ = ["IN_TABLE", "KNOWN_IN_TABLE", "InTable", "open_public_items"]

KNOWN_IN_TABLE = Words("if everybody knows which items it has, give {sl.IN_TABLE}")
"""What to do instead of giving the table as its own list."""


_LIST = Words("give a list that holds what everybody knows")


class InTable(Enum):
    """The type of `IN_TABLE`."""

    IN_TABLE = "the items are those of the table"

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


IN_TABLE = InTable.IN_TABLE
"""For `public_items` of `shortlist.counts`: the item column of the table is public itself."""


def open_public_items(
    public_items: object,
    types: Mapping[str, pl.DataType],
    *,
    also: Collection[str] = (),
    table: list[Part] | None = None,
    otherwise: Words = _LIST,
    writing: Writing | None = None,
) -> pl.DataFrame:
    """The list of items that everybody knows, checked against the columns of the items.

    Args:
        public_items: Values (tuples of values where there are several item columns), or a table
            in a form that `open_table` takes, with the item columns or with a single one.
        types: The type of each item column, as in `Table.columns`.
        also: Further names that the single column of a CSV file may have.
        table: What the sensitive table is read from.
        otherwise: What to do instead if the list is read from there, too.
        writing: Of the sensitive table's text files; a list in such a file is written likewise, or
            in UTF-8.

    Returns:
        The item columns under their names and of their types, one row an item, in the given order.

    Raises:
        InputError: The list is empty, holds a null or a duplicate, is of another type, or is read
            from the sensitive table. No item is quoted: it may be such a table's, by mistake.

    >>> import polars as pl
    >>> open_public_items(["b", "a"], {"page": pl.String()})["page"].to_list()
    ['b', 'a']
    """
    wanted = dict(types)
    parts = _as_parts(public_items, writing)
    if parts is None:
        refuse_taken_out(public_items, table or [], otherwise)
        frame = from_values(public_items, wanted)
    else:
        refuse_same(parts, table or [], otherwise)
        frame = _from_table(parts, wanted, also)
    if frame.is_empty():
        raise InputError(
            "{public_items=} is empty",
            "give at least one item that everybody knows",
            given={"public_items": ...},
        )
    twice = frame.is_duplicated()
    if twice.any():
        raise InputError(
            "{public_items=} holds an item twice",
            "give every item once. It is not shown, since it may be private by mistake",
            given={"public_items": ...},
        )
    return require_dates(frame, reference("public_items"))


def _as_parts(public_items: object, writing: Writing | None) -> list[Part] | None:
    """The parts of a table, or None if this is no table but values."""
    import narwhals as nw

    if isinstance(public_items, str) and not _names_file(public_items):
        raise InputError(
            "{public_items=} is text and no existing file",
            "give a list of items or the path of a table",
            given={"public_items": in_quotes(public_items)},
        )
    if isinstance(public_items, str | os.PathLike) or is_list_of_paths(public_items, os.PathLike):
        return open_parts(public_items, "public_items", writing)
    native = nw.from_native(public_items, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.LazyFrame) or is_arrow(native):
        return open_parts(public_items, "public_items")
    return None


def _names_file(text: str) -> bool:
    return text != "" and (has_known_suffix(text) or exists(text))


def _from_table(
    parts: list[Part], wanted: dict[str, pl.DataType], also: Collection[str]
) -> pl.DataFrame:
    import polars as pl

    first = parts[0]
    names = list(wanted)
    if len(wanted) == 1 and len(first.schema) == 1:
        for part in parts:
            _require_header(part, *wanted, *also)
        names = list(first.schema)
    roles = dict.fromkeys(names, "item")
    for part in parts:
        check_columns(part, roles)
    found = {name: column_type(parts, name, "item") for name in names}
    frame = attempt(lambda: rows_of(parts, found).collect(), partial(unreadable, parts))
    columns = zip(frame.get_columns(), wanted.items(), strict=True)
    return pl.DataFrame(
        [
            _conform(column.alias(name), dtype, parse=first.is_text)
            for column, (name, dtype) in columns
        ]
    )


def _require_header(part: Part, name: str, *others: str) -> None:
    """Refuse a CSV file without a line of names: its first item would be lost."""
    if part.kind == "CSV" and not {name, *others}.intersection(part.schema):
        raise InputError(
            '{origin}: its first line is taken for the name of the column and must be "{column}", '
            "as in the table",
            "write it above the items",
            origin=part.origin,
            column=shown(name),
        )


def _conform(column: pl.Series, dtype: pl.DataType, *, parse: bool) -> pl.Series:
    """The column in the type of the table's column, if not one value changes by that."""
    import polars as pl

    if column.null_count():
        raise InputError(
            'the column "{column}" holds a null',
            "omit it",
            given={"public_items": ...},
            column=shown(column.name),
        )
    kind, needed = kind_of(column.dtype), kind_of(dtype)
    if (kind, needed) == ("dates", "text"):  # as in a column of Python objects
        return column.cast(dtype)
    parsed = parse and needed in {"integers", "dates"}
    if kind != needed and not parsed and column.len():
        raise other_type(column.name, str(column.dtype), dtype)
    refusal = no_fit(column.name, dtype)
    dates = parsed and dtype == pl.Date
    cast = attempt(lambda: column.str.to_date("%F") if dates else column.cast(dtype), refusal)
    if not (cast.cast(column.dtype) == column).all():
        raise refusal
    return cast
