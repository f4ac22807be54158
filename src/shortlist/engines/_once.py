"""What is read once and then kept, and of what it was read."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Once"]

_T = TypeVar("_T")


class Once(Generic[_T]):
    """A value that is found at the first call; further ones, meanwhile, wait for it.

    >>> numbers = iter([7, 8])
    >>> first = Once(lambda: next(numbers))
    >>> first(), first()
    (7, 7)
    """

    def __init__(self, find: Callable[[], _T], origin: Callable[[], object] = str) -> None:
        """Find nothing yet.

        Args:
            find: What finds it.
            origin: What tells, at any time, what it would be found in.
        """
        self._find, self._origin = find, origin
        self._found: list[_T] = []
        self._found_in: object = None
        self._finding = Lock()

    @property
    def is_found(self) -> bool:
        """Whether there is a value by now."""
        return bool(self._found)

    def __call__(self) -> _T:
        """The value; where finding it fails, it is tried anew at the next call."""
        with self._finding:
            if not self._found:
                before = self._origin()
                found = self._find()
                changed = self._origin() != before
                self._found_in = secrets.token_hex(16) if changed else before  # or nobody knows
                self._found.append(found)
            return self._found[0]

    @property
    def identity(self) -> object:
        """What it was found in, as that was then; or would be found in now."""
        return self._found_in if self._found else self._origin()
