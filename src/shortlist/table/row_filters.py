"""Filters of rows: conditions in SQL over the columns of one row, which are public.

The language is a closed list, so that a filter keeps the same rows wherever they lie and fails at
none: no function but a cast that gives null, no arithmetic, no look at another row, at the clock or
at chance. `_filters_in_sql.py` reads it.

A value that is not known is null, and so is NaN, on which engines disagree. A comparison with null
is neither true nor false, as in SQL, and only rows for which the whole is true are kept.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from functools import reduce
from typing import Any, Protocol, TypeAlias

from shortlist.errors import InputError, in_quotes, shown


class Kind(StrEnum):
    """What values are, as far as a filter tells them apart."""

    TEXT = "text"
    WHOLE = "a whole number"
    NUMBER = "a floating-point number"
    DATE = "a date"
    TIMESTAMP = "a timestamp without a time zone"
    TRUTH = "true or false"


_LITERALS = {
    Kind.TEXT: "a text, such as 'NO'; if it holds numbers, write TRY_CAST(column AS BIGINT), if "
    "days, TRY_CAST(column AS DATE)",
    Kind.WHOLE: "a whole number of 64 bits, such as 18",
    Kind.NUMBER: "a number, such as 0.5",
    Kind.DATE: "a date, such as DATE '2026-11-01'",
    Kind.TIMESTAMP: "a date, or a time such as TIMESTAMP '2026-11-01 06:30:00'",
    Kind.TRUTH: "TRUE or FALSE, by = or <>",
}


DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
"""How a day is written, as a regular expression."""


class Terms(Protocol):
    """How an engine writes what a filter is made of; all else are operators of its expressions.

    A column is given as its kind says: NaN as null, a text that is to be cast as a number, and the
    day that a text begins with as the whole number of its digits.
    """

    def column(self, column: RowColumn) -> Any:
        """The values of a column."""

    def literal(self, value: object, like: RowColumn) -> Any:
        """A value, to be compared with that column."""

    def is_among(self, column: RowColumn, values: list[Any]) -> Any:
        """Whether the column is one of these."""

    def is_like(self, column: RowColumn, pattern: str) -> Any:
        """Whether a text is written so: % stands for any characters, _ for one."""

    def is_null(self, column: RowColumn) -> Any:
        """Whether there is no value."""


# What a filter is made of; the text of each is SQL.


_CASTS = {Kind.WHOLE: "BIGINT", Kind.DATE: "DATE"}


@dataclass(frozen=True)
class RowColumn:
    """A column by its name, to the letter.

    Attributes:
        name: Of the column.
        kind: What it holds, once that is known.
        cast: What it is read as: a text as a whole number, where it is written as one; a text that
            begins with a day, or a timestamp, as that day. None if as it is.
        is_quoted: Whether its name was written in double quotes.
    """

    name: str
    kind: Kind | None = None
    cast: Kind | None = None
    is_quoted: bool = False

    def __str__(self) -> str:
        name = '"' + self.name.replace('"', '""') + '"' if self.is_quoted else self.name
        return f"TRY_CAST({name} AS {_CASTS[self.cast]})" if self.cast else name


@dataclass(frozen=True)
class Literal:
    """A value that is written out."""

    value: str | Decimal | date | bool

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
            if kind is Kind.WHOLE and value == value.to_integral_value() and abs(value) < 2**63:
                return int(value)
            found = float(value)
            return found if kind is Kind.NUMBER and abs(found) < float("inf") else None
        if kind is Kind.TIMESTAMP and type(value) is date:
            return datetime.combine(value, time())
        return value if _KINDS[type(value)] is kind else None


_KINDS = {
    str: Kind.TEXT,
    bool: Kind.TRUTH,
    date: Kind.DATE,
    datetime: Kind.TIMESTAMP,
}


@dataclass(frozen=True)
class Comparison:
    """A column beside a literal, or beside another column."""

    column: RowColumn
    sign: str
    other: RowColumn | Literal

    def __str__(self) -> str:
        return f"{self.column} {self.sign} {self.other}"


@dataclass(frozen=True)
class Among:
    """A column in a list of literals."""

    column: RowColumn
    literals: tuple[Literal, ...]

    def __str__(self) -> str:
        return f"{self.column} IN ({', '.join(map(str, self.literals))})"


@dataclass(frozen=True)
class Like:
    """A text that is written by a pattern."""

    column: RowColumn
    pattern: Literal

    def __str__(self) -> str:
        return f"{self.column} LIKE {self.pattern}"


@dataclass(frozen=True)
class Null:
    """A column without a value."""

    column: RowColumn

    def __str__(self) -> str:
        return f"{self.column} IS NULL"


@dataclass(frozen=True)
class Not:
    """What is not so."""

    condition: Condition

    def __str__(self) -> str:
        return f"NOT {_within(self.condition)}"


@dataclass(frozen=True)
class Joined:
    """Several conditions, by AND or by OR."""

    word: str
    conditions: tuple[Condition, ...]

    def __str__(self) -> str:
        return f" {self.word} ".join(map(_within, self.conditions))


def _within(condition: Condition) -> str:
    return f"({condition})" if isinstance(condition, Joined) else str(condition)


Condition: TypeAlias = RowColumn | Comparison | Among | Like | Null | Not | Joined

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class RowFilter:
    """A condition by which rows are kept; its text is SQL, written one way.

    >>> from shortlist.table._filters_in_sql import parsed
    >>> print(parsed("day>=date '2026-11-01' and not country in ('NO')"))
    day >= DATE '2026-11-01' AND NOT country IN ('NO')
    """

    given: str
    condition: Condition

    def __str__(self) -> str:
        return str(self.condition)

    @property
    def columns(self) -> list[str]:
        """The names of the columns that it looks at, each once."""
        return list(dict.fromkeys(column.name for column in _columns(self.condition)))

    def of(self, kinds: Mapping[str, Kind]) -> RowFilter:
        """The same, whose columns are of these kinds.

        Raises:
            InputError: A column is compared with what it cannot be.
        """
        return replace(self, condition=_Typing(self.given, kinds).typed(self.condition))

    def and_also(self, other: RowFilter) -> RowFilter:
        """The rows that both keep."""
        both = Joined("AND", (*_all_of(self.condition), *_all_of(other.condition)))
        return RowFilter(str(both), both)

    def written(self, terms: Terms) -> Any:
        """The condition as an expression of an engine."""
        return _written(self.condition, terms)


def _all_of(condition: Condition) -> tuple[Condition, ...]:
    """What must be true together."""
    if isinstance(condition, Joined) and condition.word == "AND":
        return condition.conditions
    return (condition,)


def _columns(condition: Condition | Literal) -> Iterator[RowColumn]:
    match condition:
        case RowColumn():
            yield condition
        case Comparison():
            yield from (condition.column, *_columns(condition.other))
        case Not():
            yield from _columns(condition.condition)
        case Joined():
            for each in condition.conditions:
                yield from _columns(each)
        case Among() | Like() | Null():
            yield condition.column


def _written(condition: Condition, terms: Terms) -> Any:  # noqa: PLR0911 - one for each kind
    match condition:
        case RowColumn():
            return terms.column(condition)
        case Comparison(column, sign, other):
            left = terms.column(column)
            if isinstance(other, RowColumn):
                return _COMPARE[sign](left, terms.column(other))
            return _COMPARE[sign](left, terms.literal(_value(other, column), column))
        case Among(column, literals):
            return terms.is_among(column, [_value(literal, column) for literal in literals])
        case Like(column, pattern):
            return terms.is_like(column, str(pattern.value))
        case Null(column):
            return terms.is_null(column)
        case Not(inner):
            return ~_written(inner, terms)
        case Joined(word, conditions):
            join = operator.and_ if word == "AND" else operator.or_
            return reduce(join, (_written(each, terms) for each in conditions))


def _value(literal: Literal, column: RowColumn) -> Any:
    if column.cast is Kind.DATE and column.kind is Kind.WHOLE:
        day: Any = literal.of(Kind.DATE)
        return int(f"{day:%Y%m%d}")
    return literal.of(column.kind or Kind.TEXT)


@dataclass(frozen=True)
class _Typing:
    """What must hold of the kinds of columns."""

    given: str
    kinds: Mapping[str, Kind]

    def typed(self, condition: Condition) -> Condition:  # noqa: PLR0911 - one for each kind
        match condition:
            case RowColumn():
                return self._of(condition, Kind.TRUTH)
            case Comparison(column, sign, other):
                return self._compared(condition, self._column(column), sign, other)
            case Among(column, literals):
                found = self._column(column)
                for literal in literals:
                    self._require(condition, found, literal)
                return Among(found, literals)
            case Like(column, pattern):
                return Like(self._of(column, Kind.TEXT), pattern)
            case Null(column):
                return Null(self._column(column))
            case Not(inner):
                return Not(self.typed(inner))
            case Joined(word, conditions):
                return Joined(word, tuple(map(self.typed, conditions)))

    def _column(self, column: RowColumn) -> RowColumn:
        kind = self.kinds[column.name]
        if column.cast is Kind.DATE and kind in (Kind.DATE, Kind.TIMESTAMP):
            return replace(column, kind=Kind.DATE)
        if column.cast:
            self._of(replace(column, cast=None), Kind.TEXT)
            return replace(column, kind=Kind.WHOLE)
        return replace(column, kind=kind)

    def _of(self, column: RowColumn, kind: Kind) -> RowColumn:
        found = self._column(column)
        if found.kind is not kind:
            raise self._unlike(column, found, str(kind))
        return found

    def _compared(
        self, condition: Comparison, column: RowColumn, sign: str, other: RowColumn | Literal
    ) -> Comparison:
        if Kind.DATE in (column.cast, getattr(other, "cast", None)) and isinstance(
            other, RowColumn
        ):
            raise self._unlike(condition, column, _LITERALS[Kind.DATE])
        if isinstance(other, RowColumn):
            other = self._of(other, column.kind or Kind.TEXT)
        else:
            self._require(condition, column, other)
        if column.kind is Kind.TRUTH and sign not in ("=", "<>"):
            raise self._unlike(condition, column, _LITERALS[Kind.TRUTH])
        return Comparison(column, sign, other)

    def _require(self, piece: Condition, column: RowColumn, literal: Literal) -> None:
        kind = column.cast or column.kind or Kind.TEXT
        if literal.of(kind) is None:
            raise self._unlike(piece, column, _LITERALS[kind])

    def _unlike(self, piece: Condition, column: RowColumn, takes: str) -> InputError:
        return InputError(
            '"{piece}": {column} is {kind}',
            "what stands there must be {takes}",
            given={"where": in_quotes(self.given)},
            piece=shown(str(piece)),
            column=shown(str(column)),
            kind=str(column.cast or column.kind),
            takes=takes,
        )


def days(
    column: str, first_day: date | str | None = None, last_day: date | str | None = None
) -> str:
    """The condition that a column lies in a span of days, for `where` of `shortlist.pairs`.

    Args:
        column: Of dates, of timestamps without a time zone, or of texts that begin as 2026-11-01.
        first_day: The first day that counts, as a date or as "2026-11-01"; None for all days before
            the last.
        last_day: The last day that counts, to its end, also of timestamps; None for all days after
            the first.

    Raises:
        InputError: Neither is given, one is no date, or the first is after the last.

    >>> print(days("day", "2026-11-01", "2026-11-30"))
    TRY_CAST("day" AS DATE) >= DATE '2026-11-01' AND TRY_CAST("day" AS DATE) <= DATE '2026-11-30'
    """
    begin, end = _day("first_day", first_day), _day("last_day", last_day)
    if begin is None and end is None:
        raise InputError(
            "{first_day} and {last_day}: there is no day", "give one of the two, or both"
        )
    if begin and end and begin > end:
        raise InputError(
            "is after {last_day=}",
            "exchange the two",
            given={"first_day": in_quotes(str(begin)), "last_day": in_quotes(str(end))},
        )
    named = RowColumn(column, cast=Kind.DATE, is_quoted=True)
    ends = [(">=", begin), ("<=", end)]
    return " AND ".join(
        str(Comparison(named, sign, Literal(day))) for sign, day in ends if day is not None
    )


def _day(name: str, given: date | str | None) -> date | None:
    if given is None or type(given) is date:
        return given
    if isinstance(given, str):
        with suppress(ValueError):
            return date.fromisoformat(given)
    raise InputError(
        "must be a day",
        'write it as "2026-11-01", without a time',
        given={name: in_quotes(given) if isinstance(given, str) else given},
    )
