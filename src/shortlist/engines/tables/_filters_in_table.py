"""Filters of rows in an engine: the same conditions as in memory, of expressions of Ibis."""

from __future__ import annotations

from typing import Any

from shortlist.engines.tables._dialect import TableInEngine
from shortlist.engines.tables._expressions import Expression
from shortlist.errors import InputError, in_quotes, shown
from shortlist.table.key_types import DIGITS
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

_MICROSECONDS = 6


def filtered(table: TableInEngine, where: RowFilter) -> TableInEngine:
    """The rows that a filter keeps, with all columns.

    Raises:
        InputError: What the filter says may mean something else in that engine.
    """
    if not table.dialect.computes_as_memory:
        raise InputError(
            "whether {engine} would keep the same rows is not known here",
            "add {pull=True}; or filter in the query that makes the table, and omit {where}",
            given={"where": in_quotes(where.given)},
            engine=table.dialect.name,
        )
    for name in where.columns:
        dtype = table.rows[name].type()
        if dtype.is_timestamp() and dtype.scale not in (None, _MICROSECONDS):
            raise InputError(
                '"{name}" holds times of another precision than microseconds',
                "cast it to TIMESTAMP in the query that makes the table, or add {pull=True}",
                given={"where": in_quotes(where.given)},
                name=shown(name),
            )
    table.dialect.require(table.rows.select(*where.columns))
    return table._replace(rows=table.rows.filter(where.written(_InIbis(table))))


class _InIbis:
    """Terms of Ibis: texts that are compared as their bytes, which no collation compares."""

    def __init__(self, table: TableInEngine) -> None:
        self._rows, self._dialect = table.rows, table.dialect

    def column(self, column: RowColumn) -> Expression:
        found = self._rows[column.name]
        if column.cast is Kind.DATE:
            return self._written_day(found) if column.is_written_day else self._day(column)
        if column.cast:
            return self._cast(self._dialect.plain_text(found), column.cast)
        match column.kind:
            case Kind.TEXT:
                return self._dialect.key(found)
            case Kind.NUMBER:
                number = found.cast("float64")
                return self.null_unless(~number.isnan(), number)
            case Kind.WHOLE if found.type().is_decimal():
                return found.cast("int64")
        return found

    def _cast(self, text: Expression, kind: Kind) -> Expression:
        """A text as a number, if it is written as one, in words that mean the same everywhere."""
        if kind is Kind.NUMBER:  # in some engines "$" is also before the last end of a line
            is_plain = ~text.re_search("[^-+.0-9eE]") & text.re_search(f"^{DOUBLE}$")
            return self.null_unless(is_plain, text).cast("float64")
        odd = text.re_search("[^0-9-]") | text.re_search("[0-9-]-")
        digits = text.replace("-", "").length()
        is_plain = ~odd & (digits >= 1) & (digits <= DIGITS)
        return self.null_unless(is_plain, text).cast("int64")

    def _day(self, column: RowColumn) -> Expression:
        """The day of a date, or of a timestamp of the years that memory has."""
        found = self._rows[column.name]
        if column.held is Kind.DATE:
            return found
        first, last = map(self._dialect.moment, YEARS)
        return self.null_unless((found >= first) & (found <= last), found).cast("date")

    def _written_day(self, column: Expression) -> Expression:
        """The digits of the day that a text begins with."""
        text = self._dialect.plain_text(column)
        digits = text.substr(0, 10).replace("-", "")
        return self.null_unless(text.re_search(f"^{DAY}"), digits).cast("int64")

    def literal(self, value: Any, like: Value) -> Expression:
        import ibis

        match like.kind:
            case Kind.TEXT:
                return self._dialect.key(ibis.literal(value))
            case Kind.TIMESTAMP:
                return self._dialect.moment(value)
            case Kind.WHOLE:
                return ibis.literal(value, "int64")
            case Kind.NUMBER:  # written out, DuckDB takes it for a decimal, and rounds that
                return ibis.literal(repr(value)).cast("float64")
        return ibis.literal(value)

    def text(self, text: RowColumn | str) -> Expression:
        import ibis

        if isinstance(text, str):
            return ibis.literal(text)
        return self._dialect.plain_text(self._rows[text.name])

    def as_compared(self, text: Expression) -> Expression:
        return self._dialect.key(text)

    def is_among(self, found: Expression, values: list[Any], like: Value) -> Expression:
        return found.isin([self.literal(value, like) for value in values])

    def is_like(self, text: Expression, pattern: str) -> Expression:
        return text.like(pattern)

    def is_null(self, found: Expression) -> Expression:
        return found.isnull()

    def null_unless(self, condition: Expression, found: Expression) -> Expression:
        import ibis

        return ibis.ifelse(condition, found, ibis.null(found.type()))

    def wide(self, whole: Expression) -> Expression:
        return whole.cast("decimal(19, 0)")

    def narrow(self, whole: Expression) -> Expression:
        return whole.cast("int64")

    def number(self, found: Expression) -> Expression:
        return found.cast("float64")

    def quotient(self, number: Expression, divisor: Expression) -> Expression:
        return number / divisor

    def coalesce(self, values: list[Expression]) -> Expression:
        import ibis

        return ibis.coalesce(*values)

    def length(self, text: Expression) -> Expression:
        return text.length().cast("int64")

    def substring(self, text: Expression, start: int, count: int) -> Expression:
        return text.substr(start - 1, count)

    def part_of_day(self, part: Function, column: RowColumn) -> Expression:
        import ibis

        if column.is_written_day:
            return part_of_digits(part, self.column(column))
        day = self._day(column)
        first, last = (ibis.literal(moment.date()) for moment in YEARS)
        known = self.null_unless((day >= first) & (day <= last), day)
        parts = {Function.YEAR: known.year, Function.MONTH: known.month, Function.DAY: known.day}
        return parts[part]().cast("int64")
