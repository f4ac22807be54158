"""What a database's own errors become: they may quote rows, addresses and passwords."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from shortlist.errors import InputError, Words

__all__ = ["PRIVATE", "Fault", "guarded"]

PRIVATE = Words("The row is private and not shown")

_T = TypeVar("_T")


class Fault(NamedTuple):
    """What is wrong with a table or a database, and what to do."""

    rule: Words
    remedy: Words | None = None

    def of(self, subject: Words) -> InputError:
        """The refusal that says so of this one."""
        if self.remedy is None:
            return InputError("{subject} {rule}", subject=subject, rule=self.rule)
        return InputError(
            "{subject} {rule}", "{remedy}", subject=subject, rule=self.rule, remedy=self.remedy
        )


def guarded(action: Callable[[], _T], complaint: Callable[[Exception], InputError]) -> _T:
    """What the action returns; where a driver fails, a complaint instead of its error.

    Args:
        action: Something that a driver does.
        complaint: What to raise in place of its error, of which nothing but codes may be repeated.

    Raises:
        InputError: With that complaint, once the driver's error is gone: it is no context.

    >>> guarded(lambda: 1 // 0, lambda error: InputError("{kind}", kind=type(error)))
    Traceback (most recent call last):
    shortlist.errors.InputError: ZeroDivisionError.
    """
    try:
        return action()
    except (InputError, MemoryError):
        raise
    except Exception as error:  # noqa: BLE001 - of whatever kind, it might quote
        refusal = complaint(error)
    raise refusal
