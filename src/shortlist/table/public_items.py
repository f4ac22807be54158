"""The list of items that everybody knows, checked against the columns of the items."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.errors import InputError
from shortlist.table.columns import check_columns, column_type, kind_of
from shortlist.table.reading import (
    SUFFIXES,
    Part,
    attempt,
    exists,
    open_frame,
    open_parts,
    rows_of,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["IN_TABLE", "InTable", "open_public_items"]


class InTable(Enum):
    """The type of `IN_TABLE`."""

    IN_TABLE = "the items are those of the table"

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


IN_TABLE = InTable.IN_TABLE
"""For `public_items` of `shortlist.counts`: the item column of the table is public itself."""


def open_public_items(public_items: object, types: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The list of items that everybody knows, checked against the columns of the items.

    Args:
        public_items: Values (tuples of values where there are several item columns), or a table
            in any form that `open_table` takes, with the item columns or with a single one.
        types: The type of each item column, as in `Table.columns`.

    Returns:
        The item columns under their names and of their types, one row an item, in the given order.

    Raises:
        InputError: The list is empty, holds a null or a duplicate, or is of another type.

    >>> import polars as pl
    >>> open_public_items(["b", "a"], {"page": pl.String()})["page"].to_list()
    ['b', 'a']
    """
    wanted = dict(types)
    parts = _as_parts(public_items)
    frame = _from_values(public_items, wanted) if parts is None else _from_table(parts, wanted)
    if frame.is_empty():
        raise InputError("public_items is empty; give at least one item that everybody knows.")
    twice = frame.is_duplicated()
    if twice.any():
        row = frame.row(int(twice.arg_max() or 0))
        example = row[0] if len(row) == 1 else row
        raise InputError(f"public_items holds {example!r} twice; give every item once.")
    return frame


def _as_parts(public_items: object) -> list[Part] | None:
    """The parts of a table, or None if this is no table but values."""
    import narwhals as nw

    if isinstance(public_items, str) and not _names_file(public_items):
        raise InputError(
            f'public_items="{public_items}" is text and no existing file; give a list of items '
            "or the path of a table."
        )
    if isinstance(public_items, str | os.PathLike):
        return open_parts(public_items, "public_items")
    native = nw.from_native(public_items, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.LazyFrame):
        return [open_frame(public_items, "public_items")]
    return None


def _names_file(text: str) -> bool:
    return text != "" and (Path(text).suffix.lower() in SUFFIXES or exists(text))


def _from_table(parts: list[Part], wanted: dict[str, pl.DataType]) -> pl.DataFrame:
    first = parts[0]
    names = list(wanted)
    if len(wanted) == 1 and len(first.schema) == 1:
        names = list(first.schema)
    roles = dict.fromkeys(names, "item")
    for part in parts:
        check_columns(part, roles)
    found = {name: column_type(parts, name, "item") for name in names}
    frame = attempt(
        lambda: rows_of(parts, found).collect(),
        f"{first.argument} cannot be read to its end: a row cannot be parsed as its column's type, "
        "or the data is damaged.",
    )
    columns = zip(frame.get_columns(), wanted.items(), strict=True)
    return _framed(
        _conform(column.alias(name), dtype, parse=first.is_text)
        for column, (name, dtype) in columns
    )


def _framed(columns: Iterable[pl.Series]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(list(columns))


def _conform(column: pl.Series, dtype: pl.DataType, *, parse: bool) -> pl.Series:
    """The column in the type of the table's column, if not one value changes by that."""
    import polars as pl

    if column.null_count():
        raise InputError(f'public_items: the column "{column.name}" holds a null; leave it out.')
    kind, needed = kind_of(column.dtype), kind_of(dtype)
    parsed = parse and needed in {"integers", "dates"}
    if kind != needed and not parsed and column.len():
        raise InputError(_other_type(column.name, str(column.dtype), dtype))
    refusal = _no_fit(column.name, dtype)
    dates = parsed and dtype == pl.Date
    cast = attempt(lambda: column.str.to_date("%F") if dates else column.cast(dtype), refusal)
    if not (cast.cast(column.dtype) == column).all():
        raise InputError(refusal)
    return cast


def _from_values(public_items: object, wanted: dict[str, pl.DataType]) -> pl.DataFrame:
    values = _values(public_items)
    if len(wanted) == 1:
        return _framed(_series(name, values, dtype) for name, dtype in wanted.items())
    for value in values:
        if not isinstance(value, tuple | list) or len(value) != len(wanted):
            columns = ", ".join(wanted)
            raise InputError(
                f"public_items holds {value!r}; an item is a tuple of {len(wanted)} values: "
                f"{columns}."
            )
    return _framed(
        _series(name, [value[position] for value in values], dtype)
        for position, (name, dtype) in enumerate(wanted.items())
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
    kind = type(public_items).__name__
    raise InputError(f"public_items is a {kind}; give a list of items, a table or a path.")


def _series(name: str, values: list[Any], dtype: pl.DataType) -> pl.Series:
    import polars as pl

    for value in values:
        if value is None:
            raise InputError("public_items holds a null (None); leave it out.")
        if not _is_of(value, dtype):
            found = f"{value!r}, a {type(value).__name__}"
            raise InputError(_other_type(name, found, dtype))
    refusal = _no_fit(name, dtype)
    series = attempt(lambda: pl.Series(name, values, dtype=dtype, strict=True), refusal)
    if series.to_list() != values:
        raise InputError(refusal)
    return series


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


def _other_type(name: str, found: str, dtype: pl.DataType) -> str:
    return (
        f'public_items holds {found}, and the column "{name}" is of type {dtype}; give '
        f"{kind_of(dtype)}, of the column's type."
    )


def _no_fit(name: str, dtype: pl.DataType) -> str:
    return (
        f'public_items holds a value that the type {dtype} of the column "{name}" cannot hold '
        "exactly; leave it out or correct it."
    )
