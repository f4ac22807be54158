"""Values of a row: columns, literals, and what arithmetic and a few functions make of them.

Each has the same value on every engine, and fails at no row. So what goes into an operation is
bounded first: what is beyond is null, and what comes out of the operation needs no luck. Whole
numbers are exact, of at most `MOST` in magnitude. Floating-point numbers are IEEE doubles; those
that arithmetic takes are below `_LARGEST`, and in products and quotients above `_SMALLEST`, or 0:
beyond the range of doubles some engines fail where others give infinity, or 0.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol, TypeAlias

MOST = 2**63 - 1
"""The magnitude of the largest whole number that functions take and give."""

YEARS = datetime.min, datetime.max  # noqa: DTZ901 - of no time zone, as what lies between
"""The first and the last moment of the years that functions know."""

DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
"""How a day is written, as a regular expression."""

DOUBLE = "-?[0-9]{1,18}([.][0-9]{1,18})?([eE][-+]?[0-9]{1,2})?"
"""How a text is written that is cast to a double: such that it is within their range."""

_SMALLEST, _LARGEST = 1e-100, 1e100


class Kind(StrEnum):
    """What values are, as far as a filter tells them apart."""

    TEXT = "text"
    WHOLE = "a whole number"
    NUMBER = "a floating-point number"
    DATE = "a date"
    TIMESTAMP = "a timestamp without a time zone"
    TRUTH = "true or false"


class Function(StrEnum):
    """What makes one value of others; null where one of them is, except for the first not null."""

    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    ABS = "ABS"
    LENGTH = "LENGTH"
    SUBSTRING = "SUBSTRING"
    COALESCE = "COALESCE"
    YEAR = "YEAR"
    MONTH = "MONTH"
    DAY = "DAY"


OPERATORS: dict[Function, Callable[[Any, Any], Any]] = {
    Function.ADD: operator.add,
    Function.SUBTRACT: operator.sub,
    Function.MULTIPLY: operator.mul,
    Function.DIVIDE: operator.truediv,
}
PARTS_OF_DAYS = Function.YEAR, Function.MONTH, Function.DAY

_CASTS = {Kind.WHOLE: "BIGINT", Kind.NUMBER: "DOUBLE", Kind.DATE: "DATE"}


@dataclass(frozen=True)
class RowColumn:
    """A column by its name, to the letter.

    Attributes:
        name: Of the column.
        kind: What it is for the filter, once that is known.
        cast: What it is read as: a text as a number, where it is written as one; a text that begins
            with a day, or a timestamp, as that day. None if as it is.
        is_quoted: Whether its name was written in double quotes.
        held: What the column itself holds, once that is known.
    """

    name: str
    kind: Kind | None = None
    cast: Kind | None = None
    is_quoted: bool = False
    held: Kind | None = None

    def __str__(self) -> str:
        name = '"' + self.name.replace('"', '""') + '"' if self.is_quoted else self.name
        return f"TRY_CAST({name} AS {_CASTS[self.cast]})" if self.cast else name

    @property
    def is_written_day(self) -> bool:
        """Whether it is the day that a text begins with, as the whole number of its digits."""
        return self.cast is Kind.DATE and self.held is Kind.TEXT


@dataclass(frozen=True)
class Literal:
    """A value that is written out.

    Attributes:
        value: As it was written.
        kind: What it is taken for, once what stands beside it is known.
    """

    value: str | Decimal | date | bool
    kind: Kind | None = None

    def __str__(self) -> str:
        match self.value:
            case bool():
                return str(self.value).upper()
            case datetime():
                return f"TIMESTAMP '{self.value}'"
            case date():
                return f"DATE '{self.value}'"
            case str():
                return "'" + self.value.replace("'", "''") + "'"
        return str(self.value)

    def of(self, kind: Kind) -> object:
        """The value as one of a kind; None where it is none."""
        value = self.value
        if isinstance(value, Decimal):
            if kind is Kind.WHOLE and value == value.to_integral_value() and abs(value) <= MOST:
                return int(value)
            found = float(value)
            return found if kind is Kind.NUMBER and abs(found) < float("inf") else None
        if kind is Kind.TIMESTAMP and type(value) is date:
            return datetime.combine(value, time())
        return value if _KINDS[type(value)] is kind else None

    def by_itself(self) -> Literal:
        """Of the kind that its own writing says: 1 is a whole number, 1.0 is not."""
        if not isinstance(self.value, Decimal):
            return replace(self, kind=_KINDS[type(self.value)])
        is_whole = self.value.as_tuple().exponent == 0 and abs(self.value) <= MOST
        return replace(self, kind=Kind.WHOLE if is_whole else Kind.NUMBER)


_KINDS = {
    str: Kind.TEXT,
    bool: Kind.TRUTH,
    date: Kind.DATE,
    datetime: Kind.TIMESTAMP,
}


@dataclass(frozen=True)
class Computed:
    """What a function, or an operator between two, makes of values."""

    function: Function
    values: tuple[Value, ...]
    kind: Kind | None = None

    def __str__(self) -> str:
        if self.function not in OPERATORS:
            return f"{self.function}({', '.join(map(str, self.values))})"
        return f" {self.function} ".join(map(_operand, self.values))


def _operand(value: Value) -> str:
    is_operation = isinstance(value, Computed) and value.function in OPERATORS
    return f"({value})" if is_operation else str(value)


Value: TypeAlias = RowColumn | Literal | Computed


def columns_of(value: Value) -> Iterator[RowColumn]:
    """The columns that a value is made of."""
    match value:
        case RowColumn():
            yield value
        case Computed():
            for each in value.values:
                yield from columns_of(each)


def depth_of(value: Value) -> int:
    """How many functions stand within each other."""
    return 1 + max(map(depth_of, value.values)) if isinstance(value, Computed) else 0


class FilterTerms(Protocol):
    """How an engine writes what a filter is made of; all else are operators of its expressions.

    A column is given as its kind says: NaN as null, a text that is to be cast as a number, and the
    day that a text begins with as the whole number of its digits.
    """

    def column(self, column: RowColumn) -> Any:
        """The values of a column, to be compared."""

    def literal(self, value: object, like: Value) -> Any:
        """A value, to be compared with such a one."""

    def text(self, text: RowColumn | str) -> Any:
        """A text whose letters can be counted."""

    def as_compared(self, text: Any) -> Any:
        """Such a text, to be compared."""

    def is_among(self, found: Any, values: list[Any], like: Value) -> Any:
        """Whether what is compared is one of these."""

    def is_like(self, text: Any, pattern: str) -> Any:
        """Whether a text is written so: % stands for any characters, _ for one."""

    def is_null(self, found: Any) -> Any:
        """Whether there is no value."""

    def null_unless(self, condition: Any, found: Any) -> Any:
        """The value where a condition is true; else null."""

    def wide(self, whole: Any) -> Any:
        """A whole number of 64 bits, whose product with another is exact."""

    def narrow(self, whole: Any) -> Any:
        """A whole number that fits 64 bits, in these."""

    def number(self, found: Any) -> Any:
        """A number as the nearest double."""

    def quotient(self, number: Any, divisor: Any) -> Any:
        """The double next to the quotient of two doubles."""

    def coalesce(self, values: list[Any]) -> Any:
        """The first that is not null."""

    def length(self, text: Any) -> Any:
        """How many code points it has."""

    def substring(self, text: Any, start: int, count: int) -> Any:
        """So many code points, the first of which is at `start`, counted from 1."""

    def part_of_day(self, part: Function, column: RowColumn) -> Any:
        """Year, month or day of a column; null beyond the years 1 to 9999."""


def compared(value: RowColumn | Computed, terms: FilterTerms) -> Any:
    """A value as an expression of an engine, to be compared."""
    if isinstance(value, RowColumn):
        return terms.column(value)
    found = expression(value, terms)
    return terms.as_compared(found) if value.kind is Kind.TEXT else found


def expression(value: Value, terms: FilterTerms) -> Any:
    """A value as an expression that functions take."""
    match value:
        case RowColumn(kind=Kind.TEXT):
            return terms.text(value)
        case RowColumn(kind=Kind.WHOLE):
            return _whole(terms.column(value), terms)
        case RowColumn():
            return terms.column(value)
        case Literal(text) if isinstance(text, str):
            return terms.text(text)
        case Literal():
            return terms.literal(value.of(value.kind or Kind.TEXT), value)
        case Computed():
            return _made(value, terms)


def _made(value: Computed, terms: FilterTerms) -> Any:
    first, *others = value.values
    if value.function in PARTS_OF_DAYS and isinstance(first, RowColumn):
        return terms.part_of_day(value.function, first)
    if value.function is Function.SUBSTRING:
        return terms.substring(expression(first, terms), *map(number_of, others))
    values = [expression(each, terms) for each in value.values]
    match value.function:
        case Function.COALESCE:
            return terms.coalesce(values)
        case Function.LENGTH:
            return terms.length(*values)
        case Function.ABS:
            return values[0].abs()
    return (_exactly if value.kind is Kind.WHOLE else _in_doubles)(value.function, values, terms)


def part_of_digits(part: Function, digits: Any) -> Any:
    """Year, month or day of a day that is the whole number of its digits."""
    match part:
        case Function.YEAR:
            return digits // 10_000
        case Function.MONTH:
            return digits // 100 % 100
    return digits % 100


def number_of(value: Value) -> int:
    """A number that is written out and whole; -1 where it is none."""
    found = value.of(Kind.WHOLE) if isinstance(value, Literal) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else -1


def _whole(found: Any, terms: FilterTerms) -> Any:
    return terms.narrow(terms.null_unless((found >= -MOST) & (found <= MOST), found))


def _exactly(function: Function, values: list[Any], terms: FilterTerms) -> Any:
    return _whole(OPERATORS[function](*map(terms.wide, values)), terms)


def _in_doubles(function: Function, values: list[Any], terms: FilterTerms) -> Any:
    numbers = map(terms.number, values)
    fits = zip(_FITS[function], numbers, strict=True)
    one, other = (terms.null_unless(fit(each), each) for fit, each in fits)
    if function is Function.DIVIDE:
        return terms.quotient(one, other)
    return OPERATORS[function](one, other)


def _is_term(number: Any) -> Any:
    return number.abs() <= _LARGEST


def _is_divisor(number: Any) -> Any:
    return _is_term(number) & (number.abs() >= _SMALLEST)


def _is_factor(number: Any) -> Any:
    return _is_divisor(number) | (number == 0)


_FITS = {
    Function.ADD: (_is_term, _is_term),
    Function.SUBTRACT: (_is_term, _is_term),
    Function.MULTIPLY: (_is_factor, _is_factor),
    Function.DIVIDE: (_is_factor, _is_divisor),
}
"""What each of the two must be, so that the outcome is within the range of doubles."""
