"""Filters of rows on columns in memory: which kinds these are of, and expressions of Polars."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from shortlist.errors import InputError, in_quotes, shown
from shortlist.table._column_roles import check_columns
from shortlist.table._frames import is_typed
from shortlist.table.key_types import DIGITS, is_of_categories, text_of
from shortlist.table.part import TablePart
from shortlist.table.row_filters import RowFilter
from shortlist.table.row_values import (
    DAY,
    DOUBLE,
    YEARS,
    Function,
    Kind,
    RowColumn,
    Value,
    part_of_digits,
)

if TYPE_CHECKING:
    import polars as pl

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of no time zone, as all that is compared with it
_NANOSECONDS = {"ns": 1, "us": 1_000, "ms": 1_000_000}
_NANOSECONDS_A_DAY = 24 * 3_600 * 10**9
_PLAIN = {Kind.WHOLE: rf"\A-?[0-9]{{1,{DIGITS}}}\z", Kind.NUMBER: rf"\A{DOUBLE}\z"}
"""How texts are written that are cast."""


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

    if is_of_categories(dtype) or dtype in (pl.String, pl.Object, pl.Null):
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

        found = pl.col(column.name)
        if column.cast is Kind.DATE:
            return self._written_day(found) if column.is_written_day else self._day(column)
        if column.cast:
            text = found.cast(pl.String)
            plain = text.str.contains(_PLAIN[column.cast])
            return self.null_unless(plain, text).cast(self._type(column))
        match column.kind:
            case Kind.NUMBER:
                return found.cast(pl.Float64).fill_nan(None)
            case Kind.TIMESTAMP:
                return self._moment(column)
            case Kind.TEXT | Kind.WHOLE:
                return found.cast(self._type(column))
        return found

    def _moment(self, column: RowColumn) -> pl.Expr:
        """A timestamp of whatever unit, exactly: how many nanoseconds after 1970."""
        import polars as pl

        unit = cast("pl.Datetime", self._schema[column.name]).time_unit
        return pl.col(column.name).cast(pl.Int64).cast(pl.Int128) * _NANOSECONDS[unit]

    def _day(self, column: RowColumn) -> pl.Expr:
        """The day of a date, or of a timestamp of the years that Python has."""
        import polars as pl

        if column.held is Kind.DATE:
            return pl.col(column.name)
        moment = self._moment(column)
        first, last = map(_in_polars, YEARS)
        known = self.null_unless((moment >= first) & (moment <= last), moment)
        return (known // _NANOSECONDS_A_DAY).cast(pl.Int32).cast(pl.Date)

    def _written_day(self, text: pl.Expr) -> pl.Expr:
        """The digits of the day that a text begins with."""
        import polars as pl

        text = text.cast(pl.String)
        begins = text.str.contains(rf"\A{DAY}")
        digits = text.str.slice(0, 10).str.replace_all("-", "", literal=True)
        return self.null_unless(begins, digits).cast(pl.Int64)

    def literal(self, value: Any, like: Value) -> pl.Expr:
        import polars as pl

        return pl.lit(_in_polars(value), self._type(like))

    def text(self, text: RowColumn | str) -> pl.Expr:
        import polars as pl

        return pl.lit(text) if isinstance(text, str) else self.column(text)

    def as_compared(self, text: pl.Expr) -> pl.Expr:
        return text

    def is_among(self, found: pl.Expr, values: list[Any], like: Value) -> pl.Expr:
        import polars as pl

        among = pl.Series(list(map(_in_polars, values)), dtype=self._type(like))
        return found.is_in(among.implode())

    def is_like(self, text: pl.Expr, pattern: str) -> pl.Expr:
        import polars as pl

        wild = {"%": ".*", "_": "."}
        regex = "".join(wild.get(letter) or pl.escape_regex(letter) for letter in pattern)
        return text.str.contains(rf"(?s)\A{regex}\z")

    def is_null(self, found: pl.Expr) -> pl.Expr:
        return found.is_null()

    def null_unless(self, condition: pl.Expr, found: pl.Expr) -> pl.Expr:
        import polars as pl

        return pl.when(condition).then(found).otherwise(None)

    def wide(self, whole: pl.Expr) -> pl.Expr:
        import polars as pl

        return whole.cast(pl.Int128)

    def narrow(self, whole: pl.Expr) -> pl.Expr:
        import polars as pl

        return whole.cast(pl.Int64)

    def number(self, found: pl.Expr) -> pl.Expr:
        import polars as pl

        return found.cast(pl.Float64)

    def quotient(self, number: pl.Expr, divisor: pl.Expr) -> pl.Expr:
        import polars as pl

        if not divisor.meta.root_names():
            # Polars multiplies by the reciprocal of one number, which is another double. Of a
            # column it does not.
            among = pl.col(number.meta.root_names()[0])
            divisor = pl.when(among.is_null()).then(divisor).otherwise(divisor)
        return number / divisor

    def coalesce(self, values: list[pl.Expr]) -> pl.Expr:
        import polars as pl

        return pl.coalesce(values)

    def length(self, text: pl.Expr) -> pl.Expr:
        import polars as pl

        return text.str.len_chars().cast(pl.Int64)

    def substring(self, text: pl.Expr, start: int, count: int) -> pl.Expr:
        return text.str.slice(start - 1, count)

    def part_of_day(self, part: Function, column: RowColumn) -> pl.Expr:
        import polars as pl

        if column.is_written_day:
            written: pl.Expr = part_of_digits(part, self.column(column))
            return written
        day = self._day(column)
        known = self.null_unless(day.is_between(date.min, date.max), day).dt
        parts = {Function.YEAR: known.year, Function.MONTH: known.month, Function.DAY: known.day}
        return parts[part]().cast(pl.Int64)

    def _type(self, value: Value) -> pl.DataType:
        import polars as pl

        if isinstance(value, RowColumn) and value.is_written_day:
            return pl.Int64()
        wide = isinstance(value, RowColumn) and self._schema[value.name] in (pl.UInt64, pl.Int128)
        types = {
            Kind.TEXT: pl.String(),
            Kind.WHOLE: pl.Int128() if wide else pl.Int64(),
            Kind.NUMBER: pl.Float64(),
            Kind.DATE: pl.Date(),
            Kind.TIMESTAMP: pl.Int128(),
            Kind.TRUTH: pl.Boolean(),
        }
        return types[value.kind or Kind.TEXT]


def _in_polars(value: object) -> Any:
    """A value as it is compared with columns: of a time, how many nanoseconds after 1970."""
    if isinstance(value, datetime):
        return (value - _EPOCH) // timedelta(microseconds=1) * _NANOSECONDS["us"]
    return value
