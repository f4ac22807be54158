"""Which kinds the values of a filter are of, by those of its columns; the rest is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from shortlist.errors import InputError, in_quotes, shown
from shortlist.table.row_values import (
    OPERATORS,
    PARTS_OF_DAYS,
    Computed,
    Function,
    Kind,
    Literal,
    RowColumn,
    Value,
    number_of,
)

LITERALS = {
    Kind.TEXT: "a text, such as 'NO'; if it holds whole numbers, write TRY_CAST(column AS BIGINT), "
    "if other numbers, AS DOUBLE, if days, AS DATE",
    Kind.WHOLE: "a whole number of 64 bits, such as 18",
    Kind.NUMBER: "a number, such as 0.5",
    Kind.DATE: "a date, such as DATE '2026-11-01'",
    Kind.TIMESTAMP: "a date, or a time such as TIMESTAMP '2026-11-01 06:30:00'",
    Kind.TRUTH: "TRUE or FALSE, by = or <>",
}
"""What may stand beside a value of a kind."""

_NUMBER = "a number; of a text, write TRY_CAST(column AS BIGINT), or AS DOUBLE"
_PLACES = "whole numbers that are written out: the first place, counted from 1, and how many"
_DAY = "a column of dates or timestamps, or TRY_CAST(column AS DATE)"
_SAME = "values of one kind, of which a day in a text is none"
_LONGEST = 1_000_000


@dataclass(frozen=True)
class KindsOfValues:
    """What must hold of the kinds of values.

    Attributes:
        given: The filter as the caller wrote it.
        kinds: Of the columns.
    """

    given: str
    kinds: Mapping[str, Kind]

    def known(self, value: RowColumn | Computed) -> RowColumn | Computed:
        """The same value, of a kind that is known."""
        return self._column(value) if isinstance(value, RowColumn) else self._made(value)

    def required(self, value: RowColumn | Computed, kind: Kind) -> RowColumn | Computed:
        """The same value, which must be of this kind."""
        found = self.known(value)
        if found.kind is not kind:
            raise self.unlike(value, found, str(kind))
        return found

    def require(self, piece: object, value: RowColumn | Computed, literal: Literal) -> None:
        """Refuse a literal that cannot stand beside a value."""
        kind = value.kind or Kind.TEXT
        if literal.of(kind) is None:
            raise self.unlike(piece, value, LITERALS[kind])

    def unlike(self, piece: object, value: Value, takes: str) -> InputError:
        """The refusal of a value where another kind is taken."""
        return InputError(
            '"{piece}": {value} is {kind}',
            "what stands there must be {takes}",
            given={"where": in_quotes(self.given)},
            piece=shown(str(piece)),
            value=shown(str(value)),
            kind=str(value.kind),
            takes=takes,
        )

    def _column(self, column: RowColumn) -> RowColumn:
        held = self.kinds[column.name]
        is_day = column.cast is Kind.DATE and held in (Kind.DATE, Kind.TIMESTAMP)
        if column.cast and held is not Kind.TEXT and not is_day:
            bare = replace(column, cast=None, kind=held)
            raise self.unlike(bare, bare, str(Kind.TEXT))
        return replace(column, kind=column.cast or held, held=held)

    def _made(self, value: Computed) -> Computed:
        if value.function in OPERATORS:
            return self._number(value)
        if value.function is Function.COALESCE:
            return self._first(value)
        column, *places = value.values
        first = self._any(column)
        kind = first.kind
        if value.function is Function.ABS:
            self._require(value, first, _NUMBER, is_so=kind in (Kind.WHOLE, Kind.NUMBER))
        elif value.function in PARTS_OF_DAYS:
            is_day = isinstance(first, RowColumn) and kind in (Kind.DATE, Kind.TIMESTAMP)
            self._require(value, first, _DAY, is_so=is_day)
            kind = Kind.WHOLE
        else:
            self._require(value, first, str(Kind.TEXT), is_so=kind is Kind.TEXT)
            kind = Kind.WHOLE if value.function is Function.LENGTH else Kind.TEXT
        for place, least in zip(places, (1, 0), strict=False):
            is_place = least <= number_of(place) <= _LONGEST
            self._require(value, self._any(place), _PLACES, is_so=is_place)
        return Computed(value.function, (first, *places), kind)

    def _number(self, value: Computed) -> Computed:
        values = tuple(map(self._any, value.values))
        for each in values:
            self._require(value, each, _NUMBER, is_so=each.kind in (Kind.WHOLE, Kind.NUMBER))
        is_quotient = value.function is Function.DIVIDE
        is_whole = not is_quotient and all(each.kind is Kind.WHOLE for each in values)
        if is_quotient and isinstance(values[1], Literal) and not values[1].value:
            raise self.unlike(value, values[1], "another number than 0: a quotient by 0 is null")
        return Computed(value.function, values, Kind.WHOLE if is_whole else Kind.NUMBER)

    def _first(self, value: Computed) -> Computed:
        found = [self._any(each) for each in value.values]
        kinds = (each.kind for each in found if not isinstance(each, Literal))
        kind = next(kinds) or Kind.TEXT
        for each in found:
            fits = each.of(kind) is not None if isinstance(each, Literal) else each.kind is kind
            is_day = isinstance(each, RowColumn) and each.is_written_day
            self._require(value, each, _SAME, is_so=fits and not is_day)
        same = (replace(v, kind=kind) if isinstance(v, Literal) else v for v in found)
        return Computed(value.function, tuple(same), kind)

    def _any(self, value: Value) -> Value:
        return value.by_itself() if isinstance(value, Literal) else self.known(value)

    def _require(self, piece: Computed, value: Value, takes: str, *, is_so: bool) -> None:
        if not is_so:
            raise self.unlike(piece, value, takes)
