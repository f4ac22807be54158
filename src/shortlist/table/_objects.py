"""Columns of Python objects: each value is written as text, by itself.

Such a column declares no type. One found by looking at all values could be decided by a single
user: whether a column of dates is one of dates, where nobody else has any, or whether 7 is
written as 7.0, where one other value is 0.5. So text is what they all become, by a map that looks
at one value at a time: of two tables that differ by one user, all other rows are written alike.
Where the map has no image for a value, the table is refused, as where a row cannot be parsed.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING
from uuid import UUID

from shortlist.errors import InputError
from shortlist.table.part import attempt

if TYPE_CHECKING:
    import polars as pl

__all__ = ["as_text", "text_of"]


def as_text(column: pl.Series, refusal: InputError) -> pl.Series:
    """The objects as text: strings as they are, dates as 2024-02-29, UUIDs in lower case.

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


def text_of(value: object, *, whole: bool = False) -> str | None:
    """One value as text; with `whole`, whole numbers too, which are written in digits.

    >>> text_of(date(2024, 2, 29)), text_of(7, whole=True)
    ('2024-02-29', '7')
    """
    if value is None or isinstance(value, str):
        return value
    if whole and type(value) is int:
        return str(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    raise TypeError
