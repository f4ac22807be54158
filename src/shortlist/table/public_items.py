"""The list of items that everybody knows, checked against the columns of the items."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from shortlist.errors import InputError, Words, in_quotes, reference, shown, written
from shortlist.table._arrow import is_arrow
from shortlist.table._column_roles import types_of
from shortlist.table._paths import exists, is_list_of_paths
from shortlist.table.formats import Writing, has_known_suffix
from shortlist.table.identity import refuse_same, refuse_taken_out
from shortlist.table.key_types import kind_of, text_of, whole
from shortlist.table.part import TablePart, attempt
from shortlist.table.reading import open_parts, require_dates, rows_of, unreadable

if TYPE_CHECKING:
    import polars as pl

KNOWN_IN_TABLE = Words("if everybody knows which items the table has, give {sl.IN_TABLE}")
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
    table: list[TablePart] | None = None,
    otherwise: Words = _LIST,
) -> pl.DataFrame:
    """The list of items that everybody knows, checked against the columns of the items.

    Args:
        public_items: Values (tuples of values where there are several item columns), or a table
            in a form that `open_table` takes, with the item columns or with a single one.
        types: The type of each item column, as in `Table.columns`.
        also: Further names that the single column of a CSV file may have.
        table: What the sensitive table is read from. A list in a text file is written as that is,
            or in UTF-8.
        otherwise: What to do instead if the list is read from there, or to be, too.

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
    parts = _as_parts(public_items, table[0].writing if table else None, otherwise)
    if parts is None:
        refuse_taken_out(public_items, table or [], otherwise)
        frame = _from_values(public_items, wanted)
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


def open_public_groups(
    public_groups: object,
    types: Mapping[str, pl.DataType],
    *,
    table: list[TablePart],
    otherwise: Words,
) -> pl.DataFrame:
    """The list of groups that everybody knows, likewise."""
    try:
        return open_public_items(public_groups, types, table=table, otherwise=otherwise)
    except InputError as error:
        raise error.renamed("public_items", "public_groups") from None


def _as_parts(
    public_items: object, writing: Writing | None, otherwise: Words
) -> list[TablePart] | None:
    """The parts of a table, or None if this is no table but values."""
    import narwhals as nw

    if isinstance(public_items, str) and not _names_file(public_items):
        is_name = public_items.upper().replace("-", "_") == IN_TABLE.name
        raise InputError(
            "{public_items=} is text and no existing file",
            otherwise if is_name else "give a list of items or the path of a table",
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
    parts: list[TablePart], wanted: dict[str, pl.DataType], also: Collection[str]
) -> pl.DataFrame:
    import polars as pl

    first = parts[0]
    names = list(wanted)
    if len(wanted) == 1 and len(first.schema) == 1:
        for part in parts:
            _require_header(part, *wanted, *also)
        names = list(first.schema)
    found = types_of(parts, dict.fromkeys(names, "item"))
    frame = attempt(lambda: rows_of(parts, found).collect(), partial(unreadable, parts))
    columns = zip(frame.get_columns(), wanted.items(), strict=True)
    return pl.DataFrame(
        [
            _conform(column.alias(name), dtype, parse=first.is_text)
            for column, (name, dtype) in columns
        ]
    )


def _require_header(part: TablePart, name: str, *others: str) -> None:
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
        raise _other_type(column.name, str(column.dtype), dtype)
    refusal = _no_fit(column.name, dtype)
    dates = parsed and dtype == pl.Date
    cast = attempt(lambda: column.str.to_date("%F") if dates else column.cast(dtype), refusal)
    if not (cast.cast(column.dtype) == column).all():
        raise refusal
    return cast


def _from_values(public_items: object, wanted: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The values as the columns that are wanted, of their types."""
    import polars as pl

    values, n = _values(public_items), len(wanted)
    # A message may show one of them, if they were written by hand, and are no column.
    found = partial(_found, by_hand=isinstance(public_items, list | tuple))
    for value in values if n > 1 else ():
        if not isinstance(value, tuple | list) or len(value) != n:
            raise InputError(
                "{public_items=} holds {found}",
                "an item is a tuple of {size} values: {columns}",
                given={"public_items": ...},
                found=found(value),
                size=n,
                columns=", ".join(map(shown, wanted)),
            )
    columns = [[value[i] for value in values] for i in range(n)] if n > 1 else [values]
    return pl.DataFrame(
        [
            _series(name, column, dtype, found)
            for column, (name, dtype) in zip(columns, wanted.items(), strict=True)
        ]
    )


def _values(public_items: object) -> list[Any]:
    import narwhals as nw

    native: Any = nw.from_native(public_items, allow_series=True, pass_through=True)
    if isinstance(native, nw.Series):
        return native.to_list()
    if isinstance(native, np.ndarray):
        return list(native.tolist())
    if isinstance(native, Iterable) and not isinstance(native, bytes | Mapping):
        return list(native)
    raise InputError(
        "{public_items=} is of type {kind}",
        "give a list of items, a table or a path",
        given={"public_items": ...},
        kind=type(public_items),
    )


def _series(
    name: str, values: list[Any], dtype: pl.DataType, found: Callable[[object], str]
) -> pl.Series:
    import polars as pl

    values = [_as_read(value, dtype) for value in values]
    for value in values:
        if value is None:
            raise InputError(
                "{public_items=} holds a null (None)", "omit it", given={"public_items": ...}
            )
        if not _is_of(value, dtype):
            raise _other_type(name, found(value), dtype)
    refusal = _no_fit(name, dtype)
    series = attempt(lambda: pl.Series(name, values, dtype=dtype, strict=True), refusal)
    if series.to_list() != values:
        raise refusal
    return series


def _as_read(value: object, dtype: pl.DataType) -> object:
    """The value as it would be read from a table, where that has another type than is written."""
    import polars as pl

    if dtype == pl.String and isinstance(value, date | UUID | bool | bytes):
        return value if isinstance(value, datetime) else text_of(value)
    if dtype.is_integer() and isinstance(value, float | Decimal):
        with suppress(TypeError):
            return whole(value)
    return value


def _found(value: object, *, by_hand: bool) -> str:
    kind = shown(type(value).__name__)
    return f"{_quoted(value)}, of type {kind}" if by_hand else f"a value of type {kind}"


def _quoted(value: object) -> str:
    """A value written by hand, if it is small.

    >>> _quoted("a"), _quoted(("a", 7)), _quoted(["a"])
    ("'a'", "('a', 7)", 'a value of type list')
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(_quoted, value[:9]))})"
    return shown(repr(value)) if isinstance(value, date) else written(value)


def _is_of(value: object, dtype: pl.DataType) -> bool:
    match kind_of(dtype):
        case "text":
            return isinstance(value, str)
        case "integers":
            return isinstance(value, int | np.integer) and not isinstance(value, bool)
        case "dates":
            return isinstance(value, date) and not isinstance(value, datetime)
        case kind:
            zoned = kind == "datetimes with a time zone"
            return isinstance(value, datetime) and (value.tzinfo is not None) == zoned


def _other_type(name: str, found: str, dtype: pl.DataType) -> InputError:
    return InputError(
        '{public_items=} holds {found}, and the column "{column}" is of type {dtype}',
        "give {kind}, of the column's type",
        given={"public_items": ...},
        found=found,
        column=shown(name),
        dtype=dtype,
        kind=kind_of(dtype),
    )


def _no_fit(name: str, dtype: pl.DataType) -> InputError:
    return InputError(
        '{public_items=} holds a value that the type {dtype} of the column "{column}" cannot hold '
        "exactly",
        "leave it out or correct it",
        given={"public_items": ...},
        column=shown(name),
        dtype=dtype,
    )
