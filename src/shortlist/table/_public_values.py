"""Public items that are no table but values: a list, an array, a series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from shortlist.errors import InputError, shown, written
from shortlist.table._objects import text_of, whole
from shortlist.table.key_types import kind_of
from shortlist.table.part import attempt

if TYPE_CHECKING:
    import polars as pl

__all__ = ["from_values", "is_by_hand", "no_fit", "other_type", "quoted"]


def is_by_hand(public_items: object) -> bool:
    """Whether a message may show one of them, which is no column of some table."""
    return isinstance(public_items, list | tuple)


def from_values(public_items: object, wanted: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """The values as the columns that are wanted, of their types.

    Raises:
        InputError: These are no values, or one is a null or of another type.
    """
    import polars as pl

    values, by_hand = _values(public_items), is_by_hand(public_items)
    if len(wanted) == 1:
        return pl.DataFrame(
            [_series(name, values, dtype, by_hand=by_hand) for name, dtype in wanted.items()]
        )
    for value in values:
        if not isinstance(value, tuple | list) or len(value) != len(wanted):
            columns = ", ".join(map(shown, wanted))
            found = _found(value, by_hand=by_hand)
            size = len(wanted)
            raise InputError(
                "{public_items=} holds {found}",
                "an item is a tuple of {size} values: {columns}",
                given={"public_items": ...},
                found=found,
                size=size,
                columns=columns,
            )
    return pl.DataFrame(
        [
            _series(name, [value[position] for value in values], dtype, by_hand=by_hand)
            for position, (name, dtype) in enumerate(wanted.items())
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


def _series(name: str, values: list[Any], dtype: pl.DataType, *, by_hand: bool) -> pl.Series:
    import polars as pl

    values = [_as_read(value, dtype) for value in values]
    for value in values:
        if value is None:
            raise InputError(
                "{public_items=} holds a null (None)", "omit it", given={"public_items": ...}
            )
        if not _is_of(value, dtype):
            raise other_type(name, _found(value, by_hand=by_hand), dtype)
    refusal = no_fit(name, dtype)
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
    return f"{quoted(value)}, of type {kind}" if by_hand else f"a value of type {kind}"


def quoted(value: object) -> str:
    """A value written by hand, if it is small.

    >>> quoted("a"), quoted(("a", 7)), quoted(["a"])
    ("'a'", "('a', 7)", 'a value of type list')
    """
    if isinstance(value, tuple):
        return f"({', '.join(map(quoted, value[:9]))})"
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


def other_type(name: str, found: str, dtype: pl.DataType) -> InputError:
    """What to raise of a value of another type than its column."""
    return InputError(
        '{public_items=} holds {found}, and the column "{column}" is of type {dtype}',
        "give {kind}, of the column's type",
        given={"public_items": ...},
        found=found,
        column=shown(name),
        dtype=dtype,
        kind=kind_of(dtype),
    )


def no_fit(name: str, dtype: pl.DataType) -> InputError:
    """What to raise of a value that would not be the same in the column."""
    return InputError(
        '{public_items=} holds a value that the type {dtype} of the column "{column}" cannot hold '
        "exactly",
        "leave it out or correct it",
        given={"public_items": ...},
        column=shown(name),
        dtype=dtype,
    )
