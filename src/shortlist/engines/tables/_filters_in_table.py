"""Filters of rows in an engine: the same conditions as in memory, of expressions of Ibis."""

from __future__ import annotations

from typing import Any

from shortlist.engines.tables._dialect import TableInEngine
from shortlist.engines.tables._expressions import Expression
from shortlist.errors import InputError, in_quotes, shown
from shortlist.table.key_types import DIGITS
from shortlist.table.row_filters import DAY, Kind, RowColumn, RowFilter

_MICROSECONDS = 6


def filtered(table: TableInEngine, where: RowFilter) -> TableInEngine:
    """The rows that a filter keeps, with all columns.

    Raises:
        InputError: What the filter says may mean something else in that engine.
    """
    if not table.dialect.filters_as_memory:
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
    """Terms of Ibis: texts as their bytes, which no collation compares."""

    def __init__(self, table: TableInEngine) -> None:
        self._rows, self._dialect = table.rows, table.dialect

    def column(self, column: RowColumn) -> Expression:
        import ibis

        found = self._rows[column.name]
        if column.cast is Kind.DATE:
            return self._day(found) if column.kind is Kind.WHOLE else found.cast("date")
        if column.cast:
            return self._cast(self._dialect.plain_text(found))
        match column.kind:
            case Kind.TEXT:
                return self._dialect.key(found)
            case Kind.NUMBER:
                number = found.cast("float64")
                return ibis.ifelse(number.isnan(), ibis.null("float64"), number)
            case Kind.WHOLE if found.type().is_decimal():
                return found.cast("int64")
        return found

    def _cast(self, text: Expression) -> Expression:
        """A text of up to 18 digits as a number, in words that mean the same everywhere."""
        import ibis

        odd = text.re_search("[^0-9-]") | text.re_search("[0-9-]-")
        digits = text.replace("-", "").length()
        is_plain = ~odd & (digits >= 1) & (digits <= DIGITS)
        return ibis.ifelse(is_plain, text, ibis.null("string")).cast("int64")

    def _day(self, column: Expression) -> Expression:
        """The digits of the day that a text begins with."""
        import ibis

        text = self._dialect.plain_text(column)
        digits = text.substr(0, 10).replace("-", "")
        return ibis.ifelse(text.re_search(f"^{DAY}"), digits, ibis.null("string")).cast("int64")

    def literal(self, value: Any, like: RowColumn) -> Expression:
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

    def is_among(self, column: RowColumn, values: list[Any]) -> Expression:
        return self.column(column).isin([self.literal(value, column) for value in values])

    def is_like(self, column: RowColumn, pattern: str) -> Expression:
        return self._dialect.plain_text(self._rows[column.name]).like(pattern)

    def is_null(self, column: RowColumn) -> Expression:
        if column.kind is Kind.TEXT:
            return self._rows[column.name].isnull()
        return self.column(column).isnull()
