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
    Kind.TEXT: "a text, such as 'NO'; if it holds numbers, write TRY_CAST(column AS BIGINT)",
    Kind.WHOLE: "a whole number of 64 bits, such as 18",
    Kind.NUMBER: "a number, such as 0.5",
    Kind.DATE: "a date, such as DATE '2026-11-01'",
    Kind.TIMESTAMP: "a date, or a time such as TIMESTAMP '2026-11-01 06:30:00'",
    Kind.TRUTH: "TRUE or FALSE, by = or <>",
}


class Terms(Protocol):
    """How an engine writes what a filter is made of; all else are operators of its expressions.

    A column is given as its kind says: NaN as null, and a text that is to be cast as a number.
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


@dataclass(frozen=True)
class RowColumn:
    """A column by its name, to the letter.

    Attributes:
        name: Of the column.
        kind: What it holds, once that is known.
        cast: Whether it is a text that is read as a whole number, where it is written as one.
        is_quoted: Whether its name was written in double quotes.
    """

    name: str
    kind: Kind | None = None
    cast: bool = False
    is_quoted: bool = False

    def __str__(self) -> str:
        name = '"' + self.name.replace('"', '""') + '"' if self.is_quoted else self.name
        return f"TRY_CAST({name} AS BIGINT)" if self.cast else name


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

    def written(self, terms: Terms) -> Any:
        """The condition as an expression of an engine."""
        return _written(self.condition, terms)


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
        if column.cast:
            self._of(replace(column, cast=False), Kind.TEXT)
            return replace(column, kind=Kind.WHOLE)
        return replace(column, kind=self.kinds[column.name])

    def _of(self, column: RowColumn, kind: Kind) -> RowColumn:
        found = self._column(column)
        if found.kind is not kind:
            raise self._unlike(column, found, str(kind))
        return found

    def _compared(
        self, condition: Comparison, column: RowColumn, sign: str, other: RowColumn | Literal
    ) -> Comparison:
        if isinstance(other, RowColumn):
            other = self._of(other, column.kind or Kind.TEXT)
        else:
            self._require(condition, column, other)
        if column.kind is Kind.TRUTH and sign not in ("=", "<>"):
            raise self._unlike(condition, column, _LITERALS[Kind.TRUTH])
        return Comparison(column, sign, other)

    def _require(self, piece: Condition, column: RowColumn, literal: Literal) -> None:
        kind = column.kind or Kind.TEXT
        if literal.of(kind) is None:
            raise self._unlike(piece, column, _LITERALS[kind])

    def _unlike(self, piece: Condition, column: RowColumn, takes: str) -> InputError:
        return InputError(
            '"{piece}": {column} is {kind}',
            "what stands there must be {takes}",
            given={"where": in_quotes(self.given)},
            piece=shown(str(piece)),
            column=shown(str(column)),
            kind=str(column.kind),
            takes=takes,
        )
