"""Kinds of values by which users and items are told apart, and how other values become such.

What is neither text nor a whole number nor a date is written as one of these, by a map that looks
at one value at a time. The same map holds wherever a table lies, so that an item is shown alike
whatever engine it comes from:

- a UUID is text in lower case, a boolean is `true` or `false`, and binary values are hexadecimal
  digits in lower case;
- a decimal without digits behind the point is an integer, of 64 bits if it has up to 18 digits;
- a float is an integer of 64 bits if it is whole and its type can hold its neighbours, too: up to
  2^53 for one of 64 bits. Every other float identifies nothing, and the table is refused.

A column of Python objects declares no type, so each of its values is written as text, by itself. A
type found by looking at all values could be decided by a single user: whether a column of dates is
one of dates, where nobody else has any, or whether 7 is written as 7.0, where one other value is
missing. By a map that looks at one value at a time, all other rows of two tables that differ by one
user are written alike.
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

DIGITS = 18
"""All decimals of so many digits are integers of 64 bits."""

# Up to 2^bits, a float's whole numbers have neighbours that it can hold, too.
_BITS = {"Float16": 11, "Float32": 24, "Float64": 53}
# Cast to an integer, it fails.
_NO_KEY = 1e300
# Years 1 and 9999, in days from 1970 on.
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
_A_DAY = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def kind_of(dtype: pl.DataType) -> str | None:
    """Which of the accepted kinds of values a type holds; values of two kinds never agree."""
    import polars as pl

    if dtype == pl.String:
        return "text"
    if dtype.is_integer():
        return "integers"
    if dtype == pl.Date:
        return "dates"
    if isinstance(dtype, pl.Datetime):
        return "datetimes with a time zone" if dtype.time_zone else "datetimes"
    return None


def key_type(dtype: pl.DataType) -> pl.DataType | None:
    """The type as which values of a type are read; None if they identify nothing.

    >>> import polars as pl
    >>> key_type(pl.Float64()), key_type(pl.Boolean()), key_type(pl.Decimal(9, 2))
    (Int64, String, None)
    """
    import polars as pl

    if kind_of(dtype) is not None:
        return dtype
    if dtype in (pl.Boolean, pl.Binary):
        return pl.String()
    if str(dtype) in _BITS:
        return pl.Int64()
    if isinstance(dtype, pl.Decimal) and dtype.scale == 0:
        return pl.Int64() if dtype.precision <= DIGITS else pl.Int128()
    return None


def as_keys(name: str, found: pl.DataType, dtype: pl.DataType) -> pl.Expr:
    """The column as keys; reading it fails where a float identifies nothing.

    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": [7.0, -0.0, None]})
    >>> frame.select(as_keys("user", pl.Float64(), pl.Int64()))["user"].to_list()
    [7, 0, None]
    """
    import polars as pl

    column = pl.col(name)
    if found == pl.Binary and dtype == pl.String:
        return column.bin.encode("hex")
    if (bits := _BITS.get(str(found))) and dtype == pl.Int64:
        column = column.cast(pl.Float64)
        is_key = (column.abs() <= 2**bits) & (column == column.floor())
        # The number that fails stands for whichever it was, of which no error tells anything.
        column = pl.when(is_key | column.is_null()).then(column).otherwise(_NO_KEY)
    return column.cast(dtype).alias(name)


def is_same_kind(found: pl.DataType, declared: pl.DataType) -> bool:
    """Whether values of the type that was found are also values of the declared one.

    >>> import polars as pl
    >>> is_same_kind(pl.Int8(), pl.Int64()), is_same_kind(pl.Float64(), pl.String())
    (True, False)
    """
    import polars as pl

    if found == pl.Null or (declared == pl.String and is_of_categories(found)):
        return True
    if declared.is_float():  # of scores: no key is read as one
        return found.is_float()
    read_as = key_type(found)
    return read_as is not None and kind_of(read_as) == kind_of(declared)


def is_of_categories(dtype: pl.DataType) -> bool:
    """Whether values are numbers of texts."""
    import polars as pl

    return dtype.base_type() in (pl.Categorical, pl.Enum)


def is_numbered_once(dtype: pl.DataType) -> bool:
    """Whether a text has one number wherever it stands in columns of these categories.

    Before Polars had `Categories`, it had another in each piece of a file, and two in a column if
    Arrow's dictionary held it twice.
    """
    import polars as pl

    return dtype == pl.Enum or hasattr(pl, "Categories")


def is_datable(column: pl.Series) -> bool:
    """Whether Python has every date or time of a column: it has those of the years 1 to 9999.

    DuckDB and PostgreSQL have others, and infinity, and Polars panics where it is to write them.

    >>> import polars as pl
    >>> is_datable(pl.Series([2_932_896, None], dtype=pl.Int32).cast(pl.Date))
    True
    >>> is_datable(pl.Series([2_932_897], dtype=pl.Int32).cast(pl.Date))
    False
    """
    import polars as pl

    if not column.dtype.is_temporal() or column.null_count() == len(column):
        return True
    first, last, a_day = _FIRST_DAY, _LAST_DAY + 1, 1
    if isinstance(column.dtype, pl.Datetime):
        a_day = _A_DAY[column.dtype.time_unit]
        if column.dtype.time_zone:  # the year of which may begin a day before or after
            first, last = first + 1, last - 1
    moments = column.to_physical()
    low, high = int(moments.min()), int(moments.max())  # type: ignore[arg-type]  # of Polars' types
    infinity = 2**63 - 1  # as DuckDB has it; in nanoseconds, no year beyond fits in 64 bits
    return max(first * a_day, 1 - infinity) <= low and high < min(last * a_day, infinity)


def fits_numpy(dtype: pl.DataType) -> bool:
    """Whether NumPy has this integer type."""
    import polars as pl

    return dtype in (
        *(pl.Int8, pl.Int16, pl.Int32, pl.Int64),
        *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    )


def as_text(column: pl.Series, refusal: InputError) -> pl.Series:
    """Objects, or what a library made of them, as text: as `text_of` writes them; or the refusal.

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
    if isinstance(value, float) and value.is_integer() and abs(value) <= 2 ** _BITS["Float64"]:
        return int(value)
    raise TypeError
