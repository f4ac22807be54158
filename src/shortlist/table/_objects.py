"""Columns of Python objects: each value is written as text, by itself.

Such a column declares no type. One found by looking at all values could be decided by a single
user: whether a column of dates is one of dates, where nobody else has any, or whether 7 is
written as 7.0, where one other value is missing. So text is what they all become, by a map
that looks at one value at a time: of two tables that differ by one user, all other rows are
written alike.
Where the map has no image for a value, the table is refused, as where a row cannot be parsed.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from numbers import Integral
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from shortlist.errors import InputError
from shortlist.table.part import attempt

if TYPE_CHECKING:
    import polars as pl

__all__ = ["as_text", "text_of", "whole"]

_COUNTED = 2**53  # above it floats skip whole numbers


def as_text(column: pl.Series, refusal: InputError) -> pl.Series:
    """The objects as text: strings as they are, and others as `text_of` writes them.

    Args:
        column: The objects; or what a library made of them, if they were all of one type.
        refusal: What to raise where one of them is something else.

    >>> import polars as pl
    >>> from datetime import date
    >>> objects = pl.Series("day", ["Monday", date(2024, 2, 29), None], dtype=pl.Object)
    >>> as_text(objects, InputError("not text")).to_list()
    ['Monday', '2024-02-29', None]
    """
    import polars as pl

    if column.dtype in (pl.String, pl.Null, pl.Date):
        return column.cast(pl.String)
    values = column.to_list()
    return attempt(lambda: pl.Series(column.name, list(map(text_of, values)), pl.String), refusal)


def text_of(value: object) -> str | None:
    """One value as text: what is whole in digits, true and false, bytes in hexadecimal digits.

    >>> text_of(date(2024, 2, 29)), text_of(7), text_of(7.0), text_of(True), text_of(b"ab")
    ('2024-02-29', '7', '7', 'true', '6162')

    Raises:
        TypeError: It identifies nothing, such as 0.5 or a time.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    return str(whole(value))


def whole(value: object) -> int:
    """A whole number of whatever type; of a float, one whose neighbours are numbers, too.

    Raises:
        TypeError: It is none.
    """
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return int(value)
    if isinstance(value, float) and value.is_integer() and abs(value) <= _COUNTED:
        return int(value)
    raise TypeError
