"""Filters of rows: conditions in SQL over the columns of one row, which are public.

The language is a closed list, so that a filter keeps the same rows wherever they lie and fails at
none: no look at another row, at the clock or at chance, and of arithmetic and functions only what
`row_values.py` has. `_filters_in_sql.py` reads it.

A value that is not known is null, and so is NaN, on which engines disagree. A comparison with null
is neither true nor false, as in SQL, and only rows for which the whole is true are kept.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import reduce
from typing import Any, TypeAlias

from shortlist.errors import InputError, in_quotes
from shortlist.table._kinds_of_values import LITERALS, KindsOfValues
from shortlist.table.row_values import (
    Computed,
    FilterTerms,
    Kind,
    Literal,
    RowColumn,
    columns_of,
    compared,
    expression,
)

# What a filter is made of; the text of each is SQL.


@dataclass(frozen=True)
class Comparison:
    """A value beside a literal, or beside another value."""

    value: RowColumn | Computed
    sign: str
    other: RowColumn | Computed | Literal

    def __str__(self) -> str:
        return f"{self.value} {self.sign} {self.other}"


@dataclass(frozen=True)
class Among:
    """A value in a list of literals."""

    value: RowColumn | Computed
    literals: tuple[Literal, ...]

    def __str__(self) -> str:
        return f"{self.value} IN ({', '.join(map(str, self.literals))})"


@dataclass(frozen=True)
class Like:
    """A text that is written by a pattern."""

    value: RowColumn | Computed
    pattern: Literal

    def __str__(self) -> str:
        return f"{self.value} LIKE {self.pattern}"


@dataclass(frozen=True)
class Null:
    """What has no value."""

    value: RowColumn | Computed

    def __str__(self) -> str:
        return f"{self.value} IS NULL"


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


Condition: TypeAlias = RowColumn | Computed | Comparison | Among | Like | Null | Not | Joined

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
    >>> print(parsed("day>=date '2026-11-01' and not country in ('NO') and seconds/60>30"))
    day >= DATE '2026-11-01' AND NOT country IN ('NO') AND seconds / 60 > 30
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

    def written(self, terms: FilterTerms) -> Any:
        """The condition as an expression of an engine."""
        return _written(self.condition, terms)


def _all_of(condition: Condition) -> tuple[Condition, ...]:
    """What must be true together."""
    if isinstance(condition, Joined) and condition.word == "AND":
        return condition.conditions
    return (condition,)


def _columns(condition: Condition) -> Iterator[RowColumn]:
    match condition:
        case RowColumn() | Computed():
            yield from columns_of(condition)
        case Comparison(value, _, other):
            yield from (*columns_of(value), *columns_of(other))
        case Not(inner):
            yield from _columns(inner)
        case Joined(_, conditions):
            for each in conditions:
                yield from _columns(each)
        case Among(value) | Like(value) | Null(value):
            yield from columns_of(value)


def _written(condition: Condition, terms: FilterTerms) -> Any:  # noqa: PLR0911 - one for each kind
    match condition:
        case RowColumn() | Computed():
            return compared(condition, terms)
        case Comparison(value, sign, other):
            left = compared(value, terms)
            if isinstance(other, Literal):
                return _COMPARE[sign](left, terms.literal(_value(other, value), value))
            return _COMPARE[sign](left, compared(other, terms))
        case Among(value, literals):
            values = [_value(literal, value) for literal in literals]
            return terms.is_among(compared(value, terms), values, value)
        case Like(value, pattern):
            return terms.is_like(expression(value, terms), str(pattern.value))
        case Null(value):
            return terms.is_null(compared(value, terms))
        case Not(inner):
            return ~_written(inner, terms)
        case Joined(word, conditions):
            join = operator.and_ if word == "AND" else operator.or_
            return reduce(join, (_written(each, terms) for each in conditions))


def _value(literal: Literal, value: RowColumn | Computed) -> Any:
    found: Any = literal.of(value.kind or Kind.TEXT)
    if isinstance(value, RowColumn) and value.is_written_day:
        return int(f"{found:%Y%m%d}")
    return found


class _Typing(KindsOfValues):
    """What must hold of the kinds of columns."""

    def typed(self, condition: Condition) -> Condition:  # noqa: PLR0911 - one for each kind
        match condition:
            case RowColumn() | Computed():
                return self.required(condition, Kind.TRUTH)
            case Comparison():
                return self._compared(condition)
            case Among(value, literals):
                found = self.known(value)
                for literal in literals:
                    self.require(condition, found, literal)
                return Among(found, literals)
            case Like(value, pattern):
                return Like(self.required(value, Kind.TEXT), pattern)
            case Null(value):
                return Null(self.known(value))
            case Not(inner):
                return Not(self.typed(inner))
            case Joined(word, conditions):
                return Joined(word, tuple(map(self.typed, conditions)))

    def _compared(self, condition: Comparison) -> Comparison:
        value, other = self.known(condition.value), condition.other
        if isinstance(other, Literal):
            self.require(condition, value, other)
        elif any(getattr(each, "cast", None) is Kind.DATE for each in (value, other)):
            raise self.unlike(condition, value, LITERALS[Kind.DATE])
        else:
            other = self.required(other, value.kind or Kind.TEXT)
        if value.kind is Kind.TRUTH and condition.sign not in ("=", "<>"):
            raise self.unlike(condition, value, LITERALS[Kind.TRUTH])
        return Comparison(value, condition.sign, other)


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
