"""Kinds of values by which users and items are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["fits_numpy", "is_same_kind", "kind_of"]


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


def fits_numpy(dtype: pl.DataType) -> bool:
    """Whether NumPy has this integer type."""
    import polars as pl

    return dtype in (
        *(pl.Int8, pl.Int16, pl.Int32, pl.Int64),
        *(pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64),
    )
