"""From SQL to filters of rows: SQLGlot parses it, and what is not in the language is refused."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import reduce
from typing import Any, NoReturn

from shortlist.errors import InputError, in_quotes, shown
from shortlist.table.row_filters import (
    Among,
    Comparison,
    Condition,
    Joined,
    Like,
    Not,
    Null,
    RowFilter,
)
from shortlist.table.row_values import (
    DAY,
    Computed,
    Function,
    Kind,
    Literal,
    RowColumn,
    Value,
    columns_of,
    depth_of,
)

_LONGEST = 2_000
_DEEPEST = 4
"""How many functions stand within each other: engines are told each several times as often."""
_ALLOWED = (
    "A filter has columns, literals, =, <>, <, <=, >, >=, AND, OR, NOT, IN (…), BETWEEN, LIKE, "
    "IS NULL, +, -, *, /, ABS, COALESCE, LENGTH, SUBSTRING(text, 1, 3), STARTS_WITH(text, 'NO'), "
    "YEAR, MONTH, DAY, TRY_CAST(column AS BIGINT), or DOUBLE, of a text, and "
    "TRY_CAST(column AS DATE)"
)
_IN_THE_QUERY = "make a column of it in the query that makes the table"
_WITH_PLACES = 3
_MIRRORED = {"=": "=", "<>": "<>", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def parsed(where: object) -> RowFilter:
    """A filter as it was written, whose columns are not looked up yet.

    Args:
        where: A condition, or several of which all must be true.

    Raises:
        InputError: It is no condition of the language: the message quotes the piece.
    """
    if isinstance(where, list | tuple) and where:
        return reduce(RowFilter.and_also, map(parsed, where))
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError

    if not isinstance(where, str) or len(where) > _LONGEST:
        raise InputError(
            "a filter is a condition in SQL, of at most {longest} characters",
            "write it as in {where=\"country = 'NO'\"}",
            given={"where": where},
            longest=f"{_LONGEST:,}",
        )
    with suppress(SqlglotError, RecursionError):  # whose words are for those who know the parser
        found = RowFilter(where, _Reader(where).condition(parse_one(where, into=exp.Condition)))
        if str(found).isprintable():
            return found
    raise InputError(
        "cannot be read as a condition in SQL, or holds characters that cannot be seen",
        "{allowed}. Put odd names of columns in double quotes, and texts in single ones",
        given={"where": in_quotes(where)},
        allowed=_ALLOWED,
    )


class _Reader:
    """From trees of SQLGlot to conditions; what is not known here is refused."""

    def __init__(self, given: str) -> None:
        self._given = given

    def condition(self, node: Any) -> Condition:  # noqa: PLR0911 - one for each kind
        from sqlglot import exp

        node = node.unnest()
        if isinstance(node, exp.And | exp.Or):
            word = "AND" if isinstance(node, exp.And) else "OR"
            return Joined(word, tuple(map(self.condition, node.flatten())))
        if isinstance(node, exp.Not):
            return Not(self.condition(node.this))
        signs = _signs()
        if type(node) in signs:
            self._require_only(node, "this", "expression")
            return self._comparison(node, signs[type(node)])
        if isinstance(node, exp.Like):
            self._require_only(node, "this", "expression", "negate")
            like = Like(self._value(node.this), self._pattern(node.expression))
            return Not(like) if node.args.get("negate") else like
        if isinstance(node, exp.StartsWith):
            return self._begins(node)
        if not isinstance(node, exp.Between | exp.In | exp.Is):
            return self._value(node)
        self._require_only(node, "this", "expression", "expressions", "low", "high")
        if isinstance(node, exp.Between):
            ends = ((">=", "low"), ("<=", "high"))
            low, high = (self._beside(node, sign, node.args[end]) for sign, end in ends)
            return Joined("AND", (low, high))
        if isinstance(node, exp.In) and node.expressions:
            return Among(self._value(node.this), tuple(map(self._literal, node.expressions)))
        if not isinstance(node.expression, exp.Null):
            self._refuse(node)
        return Null(self._value(node.this))

    def _begins(self, node: Any) -> Comparison:
        """Whether a text starts with another, in words that are there anyway."""
        self._require_only(node, "this", "expression")
        start = self._literal(node.expression)
        if not isinstance(start.value, str):
            self._refuse(node.expression)
        places = Literal(Decimal(1)), Literal(Decimal(len(start.value)))
        return Comparison(self._call(node, Function.SUBSTRING, node.this, *places), "=", start)

    def _comparison(self, node: Any, sign: str) -> Comparison:
        left, right = node.this.unnest(), node.expression.unnest()
        if _is_literal(left) and not _is_literal(right):
            return Comparison(self._value(right), _MIRRORED[sign], self._literal(left))
        return self._beside(node, sign, right)

    def _beside(self, node: Any, sign: str, other: Any) -> Comparison:
        return Comparison(self._value(node.this), sign, self._operand(other))

    def _value(self, node: Any) -> RowColumn | Computed:
        """A column, or what is made of columns."""
        from sqlglot import exp

        node = node.unnest()
        if isinstance(node, exp.Neg) and not _is_literal(node):
            return self._call(node, Function.SUBTRACT, Literal(Decimal(0)), node.this)
        if (function := _functions().get(type(node))) is None:
            return self._column(node)
        parts = "this", "expression", "expressions", "start", "length"
        self._require_only(node, *parts, "typed", "safe")
        return self._call(node, function, *node.iter_expressions())

    def _call(self, node: Any, function: Function, *values: Any) -> Computed:
        """A function of values, some of which are read already."""
        read = [v if isinstance(v, Literal) else self._operand(v) for v in values]
        made = Computed(function, tuple(read))
        if next(columns_of(made), None) is None:
            self._refuse(node, "looks at no column", "Write out what it comes to")
        if function is Function.SUBSTRING and len(read) < _WITH_PLACES:
            self._refuse(node, "does not say how many letters", "Write SUBSTRING(text, 1, 3)")
        if depth_of(made) > _DEEPEST:
            self._refuse(node, f"has functions more than {_DEEPEST} deep", _IN_THE_QUERY)
        return made

    def _operand(self, node: Any) -> Value:
        node = node.unnest()
        return self._literal(node) if _is_literal(node) else self._value(node)

    def _column(self, node: Any) -> RowColumn:
        from sqlglot import exp

        node = node.unnest()
        if isinstance(node, exp.TryCast) and (kind := _cast_to().get(node.to.this)):
            self._require_only(node, "this", "to", "safe")
            return replace(self._column(node.this), cast=kind)
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            self._refuse(node)
        self._require_only(node, "this")
        return RowColumn(node.name, is_quoted=bool(node.this.quoted))

    def _literal(self, node: Any) -> Literal:
        from sqlglot import exp

        node, negated = node.unnest(), False
        if isinstance(node, exp.Neg):
            node, negated = node.this.unnest(), True
        found: Any = None
        if isinstance(node, exp.Boolean) and not negated:
            found = node.this
        elif isinstance(node, exp.Literal) and not (node.is_string and negated):
            found = node.this if node.is_string else _number(node.this, negated=negated)
        elif _is_literal(node) and not negated:
            found = _moment(node.this.this, is_date=node.to.this is exp.DataType.Type.DATE)
        if found is None:
            self._refuse(node)
        return Literal(found)

    def _pattern(self, node: Any) -> Literal:
        """The pattern of LIKE; a backslash in it is one in some engines, and a mark in others."""
        pattern = self._literal(node)
        if not isinstance(pattern.value, str) or "\\" in pattern.value:
            self._refuse(node, "is no pattern: a text in single quotes, without backslashes")
        return pattern

    def _require_only(self, node: Any, *names: str) -> None:
        """Refuse what is said of a piece beside these."""
        if any(value for name, value in node.args.items() if name not in names):
            self._refuse(node)

    def _refuse(self, node: Any, rule: str = "", remedy: str = _ALLOWED) -> NoReturn:
        if not rule and _is_literal(node):
            rule = "is no value that there is, or stands where a column must"
        elif not rule:
            rule, remedy = _against().get(type(node), (_rule_against(node), remedy))
        raise InputError(
            '"{piece}" {rule}',
            "{remedy}",
            given={"where": in_quotes(self._given)},
            piece=shown(node.sql()),
            rule=rule,
            remedy=remedy,
        )


def _rule_against(node: Any) -> str:
    from sqlglot import exp

    if isinstance(node, exp.Query | exp.Exists | exp.Window | exp.AggFunc) or node.args.get(
        "query"
    ):
        return "looks beyond its row"
    if isinstance(node, exp.Null):
        return "equals nothing, not even itself: ask for it by IS NULL"
    if isinstance(node, exp.Column):
        return "is not the name of a column alone, or stands where a literal must"
    return "is no part of what means the same on every engine, row by row and run by run"


def _against() -> dict[type, tuple[str, str]]:
    """What is wrong with pieces that many would expect, and what to write instead."""
    from sqlglot import exp

    case = (
        "changes letters beyond A to Z in another way on each engine",
        f"Write each spelling out, as in country IN ('no', 'NO'). Or {_IN_THE_QUERY}",
    )
    remainder = "has another sign below 0 on some engines", _IN_THE_QUERY
    return {
        exp.Lower: case,
        exp.Upper: case,
        exp.ILike: case,
        exp.Mod: remainder,
        exp.Cast: (
            "would fail at a row that it cannot cast, and so tell of it",
            "Write TRY_CAST(column AS BIGINT), AS DOUBLE or AS DATE, which give null there",
        ),
        exp.CurrentDate: ("is another day on each run", "Write it out, as in DATE '2026-11-01'"),
    }


def _functions() -> dict[type, Function]:
    from sqlglot import exp

    return {
        exp.Add: Function.ADD,
        exp.Sub: Function.SUBTRACT,
        exp.Mul: Function.MULTIPLY,
        exp.Div: Function.DIVIDE,
        exp.Abs: Function.ABS,
        exp.Length: Function.LENGTH,
        exp.Substring: Function.SUBSTRING,
        exp.Coalesce: Function.COALESCE,
        exp.Year: Function.YEAR,
        exp.Month: Function.MONTH,
        exp.Day: Function.DAY,
    }


def _signs() -> dict[type, str]:
    from sqlglot import exp

    return {
        exp.EQ: "=",
        exp.NEQ: "<>",
        exp.LT: "<",
        exp.LTE: "<=",
        exp.GT: ">",
        exp.GTE: ">=",
    }


def _cast_to() -> dict[Any, Kind]:
    from sqlglot import exp

    types = exp.DataType.Type
    return {types.BIGINT: Kind.WHOLE, types.DOUBLE: Kind.NUMBER, types.DATE: Kind.DATE}


def _is_literal(node: Any) -> bool:
    """Whether it is a value, perhaps with what it is, as DATE '2026-11-01'."""
    from sqlglot import exp

    moments = exp.DataType.Type.DATE, exp.DataType.Type.TIMESTAMP
    if isinstance(node, exp.Cast) and node.to.this in moments:
        return isinstance(node.this, exp.Literal) and bool(node.this.is_string)
    if isinstance(node, exp.Neg):
        node = node.this.unnest()
    return isinstance(node, exp.Literal | exp.Boolean)


def _number(text: str, *, negated: bool) -> Decimal | None:
    if not re.fullmatch(r"[0-9]{1,40}(\.[0-9]{0,40})?([eE][+-]?[0-9]{1,3})?", text):
        return None
    return -Decimal(text) if negated else Decimal(text)


def _moment(text: str, *, is_date: bool) -> date | None:
    pattern = DAY if is_date else rf"{DAY}([ T][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]{{6}})?)?)?"
    with suppress(ValueError):  # there is no such day
        if re.fullmatch(pattern, text):
            return date.fromisoformat(text) if is_date else datetime.fromisoformat(text)
    return None
