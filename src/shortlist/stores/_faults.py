"""What a database's own errors become: they may quote rows, addresses and passwords."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from shortlist.errors import InputError

__all__ = ["PRIVATE", "guarded"]

PRIVATE = "The row is private and not shown."

_T = TypeVar("_T")


def guarded(action: Callable[[], _T], complaint: Callable[[Exception], str]) -> _T:
    """What the action returns; where a driver fails, a complaint instead of its error.

    Args:
        action: Something that a driver does.
        complaint: What to say of its error, of which nothing but codes may be repeated.

    Raises:
        InputError: With that complaint, once the driver's error is gone: it is no context.

    >>> guarded(lambda: 1 // 0, lambda error: type(error).__name__)
    Traceback (most recent call last):
    shortlist.errors.InputError: ZeroDivisionError
    """
    try:
        return action()
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - of whatever kind, it might quote
        message = complaint(error)
    raise InputError(message)
