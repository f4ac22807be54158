"""Numbers as they are written in a shell."""

import contextlib
import re

from shortlist.errors import shown

__all__ = ["number", "whole"]

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
    """A number, as `whole`; what has no finite value is refused where the rule is known.

    Raises:
        ValueError: It is none; the message quotes it.
    """
    if _DECIMALS.fullmatch(text):
        return float(text)
    raise ValueError(f'"{shown(text)}" is not a number. Write it in digits, as 0.5 or 1e-6.')
