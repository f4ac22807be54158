"""Filters of rows on columns in memory: which kinds these are of, and expressions of Polars."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from shortlist.errors import InputError, in_quotes, shown
from shortlist.table._column_roles import check_columns
from shortlist.table._frames import is_typed
from shortlist.table.key_types import DIGITS, text_of
from shortlist.table.part import TablePart
from shortlist.table.row_filters import DAY, Kind, RowColumn, RowFilter

if TYPE_CHECKING:
    import polars as pl

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of no time zone, as all that is compared with it
_NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000}


def typed(where: RowFilter, parts: list[TablePart]) -> RowFilter:
    """The filter of a table, whose columns are in all its parts and of one kind.

    Raises:
        InputError: They are not, or the filter compares what cannot be compared.
    """
    for part in parts:
        check_columns(part, dict.fromkeys(where.columns, "where"))
    return where.of({name: _kind_in(parts, name, where) for name in where.columns})


def _kind_in(parts: list[TablePart], name: str, where: RowFilter) -> Kind:
    kinds = [_kind(part.schema[name]) for part in parts]
    for part, kind in zip(parts, kinds, strict=True):
        if kind is None or kind is not kinds[0]:
            raise InputError(
                '{origin}: "{name}" is of type {dtype}, of which a filter knows nothing{other}',
                "filter or cast it in the query that makes the table",
                given={"where": in_quotes(where.given)},
                origin=part.origin,
                name=shown(name),
                dtype=part.schema[name],
                other="" if kind is None else f", where {kinds[0]} is elsewhere",
            )
    return kinds[0] or Kind.TEXT


def _kind(dtype: pl.DataType) -> Kind | None:
    """What a filter takes the values of a type for; None where it takes them for nothing."""
    import polars as pl

    if dtype in (pl.String, pl.Categorical, pl.Enum, pl.Object, pl.Null):
        return Kind.TEXT
    if dtype.is_integer() or (
        isinstance(dtype, pl.Decimal) and dtype.scale == 0 and dtype.precision <= DIGITS
    ):
        return Kind.WHOLE
    if dtype.is_float():
        return Kind.NUMBER
    if isinstance(dtype, pl.Datetime):
        return None if dtype.time_zone else Kind.TIMESTAMP
    return {pl.Date: Kind.DATE, pl.Boolean: Kind.TRUTH}.get(dtype.base_type())


def as_declared(column: pl.Series, declared: pl.DataType) -> pl.Series | None:
    """A column of a filter as its kind says; None where a library read it as another.

    Of Python objects those that are no text, and cannot be written as one, are null.
    """
    import polars as pl

    if declared == pl.Object and column.dtype not in (pl.String, pl.Null, pl.Date):
        return pl.Series(column.name, [_text(value) for value in column.to_list()], pl.String)
    if declared == pl.Object or column.dtype == pl.Null:
        return column.cast(pl.String if declared == pl.Object else declared)
    return column if _kind(column.dtype) is _kind(declared) else None


def texts_of(part: TablePart, names: list[str]) -> dict[str, pl.Series]:
    """Those of the columns that are lists in a dict, which are read as text, as `as_declared`."""
    import polars as pl

    held: Any = part.held
    lists = [name for name in names if part.kind == "dict" and not is_typed(held[name])]
    return {name: pl.Series(name, list(map(_text, held[name])), pl.String) for name in lists}


def _text(value: object) -> str | None:
    try:
        return text_of(value)
    except TypeError:
        return None


def kept(where: RowFilter, schema: Mapping[str, pl.DataType]) -> pl.Expr:
    """Whether a row is kept, where columns are of these types."""
    expression: pl.Expr = where.written(_InPolars(schema))
    return expression


class _InPolars:
    """Terms of Polars."""

    def __init__(self, schema: Mapping[str, pl.DataType]) -> None:
        self._schema = schema

    def column(self, column: RowColumn) -> pl.Expr:
        import polars as pl

        found, dtype = pl.col(column.name), self._schema[column.name]
        if column.cast is Kind.DATE:
            return self._day(found) if column.kind is Kind.WHOLE else found.cast(pl.Date)
        if column.cast:
            text = found.cast(pl.String)
            plain = text.str.contains(rf"\A-?[0-9]{{1,{DIGITS}}}\z")
            return pl.when(plain).then(text).otherwise(None).cast(pl.Int64)
        match column.kind:
            case Kind.NUMBER:
                return found.cast(pl.Float64).fill_nan(None)
            case Kind.TIMESTAMP:  # of whatever unit, exactly
                moments = found.cast(pl.Int64).cast(pl.Int128)
                return moments * _NANOSECONDS[cast("pl.Datetime", dtype).time_unit]
            case Kind.TEXT | Kind.WHOLE:
                return found.cast(self._type(column))
        return found

    def _day(self, text: pl.Expr) -> pl.Expr:
        """The digits of the day that a text begins with."""
        import polars as pl

        text = text.cast(pl.String)
        begins = text.str.contains(rf"\A{DAY}")
        digits = text.str.slice(0, 10).str.replace_all("-", "", literal=True)
        return pl.when(begins).then(digits).otherwise(None).cast(pl.Int64)

    def literal(self, value: Any, like: RowColumn) -> pl.Expr:
        import polars as pl

        return pl.lit(_in_polars(value), self._type(like))

    def is_among(self, column: RowColumn, values: list[Any]) -> pl.Expr:
        import polars as pl

        among = pl.Series(list(map(_in_polars, values)), dtype=self._type(column))
        return self.column(column).is_in(among.implode())

    def is_like(self, column: RowColumn, pattern: str) -> pl.Expr:
        import polars as pl

        wild = {"%": ".*", "_": "."}
        regex = "".join(wild.get(letter) or pl.escape_regex(letter) for letter in pattern)
        return self.column(column).str.contains(rf"(?s)\A{regex}\z")

    def is_null(self, column: RowColumn) -> pl.Expr:
        return self.column(column).is_null()

    def _type(self, column: RowColumn) -> pl.DataType:
        import polars as pl

        wide = self._schema[column.name] in (pl.UInt64, pl.Int128) and not column.cast
        types = {
            Kind.TEXT: pl.String(),
            Kind.WHOLE: pl.Int128() if wide else pl.Int64(),
            Kind.NUMBER: pl.Float64(),
            Kind.DATE: pl.Date(),
            Kind.TIMESTAMP: pl.Int128(),
            Kind.TRUTH: pl.Boolean(),
        }
        return types[column.kind or Kind.TEXT]


def _in_polars(value: object) -> object:
    """A value as it is compared with columns: of a time, how many nanoseconds after 1970."""
    if isinstance(value, datetime):
        return (value - _EPOCH) // timedelta(microseconds=1) * _NANOSECONDS["us"]
    return value
