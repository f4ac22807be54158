"""The types of item columns by name, so that a file can say them and its reader check them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["name_of_type", "texts", "type_named", "values"]

_TYPES = (
    "String", "Date",
    "Int8", "Int16", "Int32", "Int64", "Int128",
    "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
)  # fmt: skip
_DATETIME = re.compile(r"Datetime\[(ms|us|ns)(?:, ([\w/+:-]+))?\]")


def name_of_type(dtype: pl.DataType) -> str:
    """What a file calls it.

    >>> import polars as pl
    >>> name_of_type(pl.Int64()), name_of_type(pl.Datetime("us", "Europe/Paris"))
    ('Int64', 'Datetime[us, Europe/Paris]')
    """
    import polars as pl

    if not isinstance(dtype, pl.Datetime):
        return str(dtype)
    zone = f", {dtype.time_zone}" if dtype.time_zone else ""
    return f"Datetime[{dtype.time_unit}{zone}]"


def type_named(name: str) -> pl.DataType:
    """The type of that name.

    Raises:
        ValueError: There is none that the items of a question can have.
    """
    import polars as pl

    if found := _DATETIME.fullmatch(name):
        return pl.Datetime(found[1], found[2])  # type: ignore[arg-type]  # one of the three
    if name not in _TYPES or not hasattr(pl, name):
        raise ValueError(f"no item is of type {name}.")
    dtype: pl.DataType = getattr(pl, name)()
    return dtype


def texts(times: pl.Series) -> list[str]:
    """Datetimes as ISO texts with all their digits, of which Python's own have six at most."""
    return times.dt.to_string(_format(times.dtype)).to_list()


def values(items: list[object], dtype: pl.DataType) -> pl.Series:
    """The column that `items`, JSON values of that type, stand for."""
    import polars as pl

    if not isinstance(dtype, pl.Datetime):
        if dtype == pl.Date:
            return pl.Series(items, dtype=pl.String).str.to_date("%Y-%m-%d")
        return pl.Series(items, dtype=dtype)
    unit = dtype.time_unit
    times = pl.Series(items, dtype=pl.String).str.to_datetime(_format(dtype), time_unit=unit)
    return times.dt.convert_time_zone(dtype.time_zone) if dtype.time_zone else times


def _format(dtype: pl.DataType) -> str:
    zone = "%:z" if getattr(dtype, "time_zone", None) else ""
    return f"%Y-%m-%dT%H:%M:%S%.f{zone}"
