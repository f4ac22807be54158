"""Kinds of values by which users and items are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["fits_numpy", "is_datable", "is_same_kind", "kind_of"]

_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # of years 1 and 9999, from 1970 on
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


def is_same_kind(found: pl.DataType, declared: pl.DataType) -> bool:
    """Whether values of the type that was found are also values of the declared one.

    >>> import polars as pl
    >>> is_same_kind(pl.Int8(), pl.Int64()), is_same_kind(pl.Float64(), pl.String())
    (True, False)
    """
    import polars as pl

    if found == pl.Null or kind_of(found) == kind_of(declared):
        return True
    if declared == pl.String:
        return found in (pl.Categorical, pl.Enum)
    return declared.is_integer() and found == pl.Decimal and found.scale == 0  # type: ignore[attr-defined]


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
    return first * a_day <= low and high < last * a_day


def fits_numpy(dtype: pl.DataType) -> bool:
    """Whether NumPy has this integer type."""
    import polars as pl

    return dtype in (
        *(pl.Int8, pl.Int16, pl.Int32, pl.Int64),
        *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    )
