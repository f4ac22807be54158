"""What is written after an option: from text to a value, and which words there are."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from fractions import Fraction
from typing import Any, NamedTuple

import typer

from shortlist.cli.completing import columns, mechanisms, one_of
from shortlist.errors import InputError, joined, nearest, shown


def _parsed(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    """Let the parser of the command line quote what is refused; defaults come here, too."""

    def parsed(text: object) -> Any:
        try:
            return parse(str(text))
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None

    return parsed


_DIGITS = re.compile(r"[+-]?[0-9]+")
_DECIMALS = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?|[+-]?(inf|nan)", re.IGNORECASE | re.ASCII
)


def whole(text: str) -> int:
    """A whole number. Python would take 1_0 and the digits of any script.

    Raises:
        ValueError: It is none; the message quotes it.
    """
    with contextlib.suppress(ValueError):  # of so many digits that none is meant
        if _DIGITS.fullmatch(text):
            return int(text)
    raise ValueError(f'"{shown(text)}" is not a whole number. Write it in digits, such as 20.')


def number(text: str) -> float:
    """A number; one without a finite value is refused where the rule is known.

    Raises:
        ValueError: It is none; the message quotes it.
    """
    if _DECIMALS.fullmatch(text):
        return float(text)
    raise ValueError(f'"{shown(text)}" is not a number. Write it in digits, as 0.5 or 1e-6.')


def caps(text: str) -> float | tuple[float, ...]:
    """A number, or several with commas between them.

    Raises:
        ValueError: One is none; the message quotes it.
    """
    one, *more = [number(each.strip()) for each in text.split(",")]
    return (one, *more) if more else one


def part(text: str) -> Fraction:
    """A part of a whole, exactly.

    Raises:
        ValueError: It is none; the message quotes it.
    """
    from shortlist.parameters import require_part  # which loads what help does not need

    try:
        return require_part("share", text)
    except InputError:
        said = f'"{shown(text)}" is no part of a whole, above 0 and at most 1'
        raise ValueError(f"{said}. Write it as 1/52 or 0.25.") from None


class ValueKind(NamedTuple):
    """What is written after an option.

    Attributes:
        metavar: What help calls it.
        made: The type that the command gets.
        in_file: The types that it may have in shortlist.toml.
        described: What refusals of other types call these.
        parser: From text to that type; None to leave that to Typer.
        complete: What a shell may offer.
    """

    metavar: str
    made: type
    in_file: tuple[type, ...] = (str,)
    described: str = "a text in quotes"
    parser: Callable[[Any], Any] | None = None
    complete: Callable[..., Sequence[str]] | None = None


def choice(words: Sequence[str], metavar: str = "NAME", made: type = str) -> ValueKind:
    """One of these words."""

    def parsed(text: str) -> Any:
        if text in words:
            return made(text)
        hint = nearest(text, words)
        raise ValueError(f'"{shown(text)}" is not known. It must be {joined(words)}.{hint}')

    return ValueKind(metavar, made, parser=_parsed(parsed), complete=one_of(*words))


class Form(StrEnum):
    TABLE = "table"
    CSV = "csv"
    JSON = "json"
    MARKDOWN = "markdown"


class ItemsOfGroups(StrEnum):
    SHARED = "shared"
    OWN = "own"
    UNKNOWN = "unknown"


class Shares(StrEnum):
    STATED = "stated"
    COUNTED = "counted"


class Moves(StrEnum):
    ONE = "one"
    ANY = "any"


class ListsOf(StrEnum):
    SO_FAR = "so-far"
    PERIOD = "period"


class MoreCommonAmong(StrEnum):
    CASES = "cases"
    CONTROLS = "controls"
    BOTH = "both"


class BudgetForm(StrEnum):
    CSV = "csv"
    JSON = "json"


TEXT = ValueKind("NAME", str)
PATH = ValueKind("FILE", str, described="a path in quotes")
COLUMN = ValueKind("COLUMN", str, complete=columns)
MECHANISM = ValueKind("NAME", str, complete=mechanisms)
GROUP_ITEMS = choice(list(ItemsOfGroups), "KIND", ItemsOfGroups)
SHARES = choice(list(Shares), "KIND", Shares)
DIRECTION = choice(list(Moves), "WAY", Moves)
KIND_OF_SERIES = choice(list(ListsOf), "KIND", ListsOf)
SIDE = choice(list(MoreCommonAmong), "SIDE", MoreCommonAmong)
WHOLE = ValueKind("N", int, (int,), "a whole number", _parsed(whole))
NUMBER = ValueKind("NUMBER", float, (int, float), "a number", _parsed(number))
CAPS = ValueKind("AMOUNT", float, (int, float, str), "a number, or a text in quotes", _parsed(caps))
PART = ValueKind("PART", Fraction, (str,), 'a part in quotes, such as "1/52"', _parsed(part))
DAY = ValueKind("DAY", str)
ALLOWANCE = ValueKind("PERIOD PART", tuple[str, str])
FLAG = ValueKind("", bool, (bool,), "true or false")
SEPARATOR = ValueKind(
    "CHARACTER", str, parser=lambda text: {r"\t": "\t", "tab": "\t"}.get(text, text)
)
