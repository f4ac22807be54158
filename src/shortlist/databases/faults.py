"""What a database's own errors become: they may quote rows, addresses and passwords."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from shortlist.errors import InputError, Words

_T = TypeVar("_T")


class Fault:
    """What is wrong with a table or a database, and what to do: templates, as of `Words`."""

    def __init__(self, rule: str, remedy: str | None = None, **values: Words | str) -> None:
        self._rule, self._remedy, self._values = rule, remedy, values

    def of(self, subject: Words) -> InputError:
        """The refusal that says so of this one."""
        rule = Words(self._rule, given=None, **self._values)
        if self._remedy is None:
            return InputError("{subject} {rule}", subject=subject, rule=rule)
        remedy = Words(self._remedy, given=None, **self._values)
        return InputError("{subject} {rule}", "{remedy}", subject=subject, rule=rule, remedy=remedy)


def fault_of_code(code: str, faults: Mapping[str, Fault]) -> Fault | None:
    """The first fault whose key a driver's code begins with; None if there is none."""
    return next((fault for start, fault in faults.items() if code.startswith(start)), None)


def guarded(action: Callable[[], _T], complaint: Callable[[Exception], InputError]) -> _T:
    """What the action returns; where a driver fails, a complaint instead of its error.

    Of that, nothing but codes may be repeated, and it is gone when the complaint is raised.

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
