"""What the options of the commands are built by; all say `Any`, since the library's types moved."""

from collections.abc import Callable
from typing import Any, TypeVar

import typer

from shortlist.cli import _numbers

__all__ = ["ANSWER", "HELP", "PRIVACY", "STORE", "TESTS", "flag", "number", "valued", "whole"]

PRIVACY, STORE, ANSWER, TESTS, HELP = "Privacy", "Database", "Answer", "Tests", "Help"

_Number = TypeVar("_Number", int, float)


def _parsed(parse: Callable[[str], _Number], text: object) -> _Number:
    """A number, or a default; what is none is quoted, which the parser itself does not do."""
    try:
        return parse(str(text))
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def whole(text: str | int) -> int:
    """A whole number."""
    return _parsed(_numbers.whole, text)


def number(text: str | float) -> float:
    """A number."""
    return _parsed(_numbers.number, text)


def valued(metavar: str, text: str, panel: str | None = None, *names: str, **more: Any) -> Any:
    """An option with a value."""
    how = {"metavar": metavar, "help": text, "rich_help_panel": panel, "show_default": False}
    return typer.Option(*names, **how | more)


def flag(name: str, text: str, panel: str = ANSWER) -> Any:
    """An option without a value."""
    return typer.Option(name, metavar="", help=text, rich_help_panel=panel)
