"""What is read once and then kept."""

from __future__ import annotations

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

    def __init__(self, find: Callable[[], _T]) -> None:
        self._find = find
        self._found: list[_T] = []
        self._finding = Lock()

    @property
    def is_found(self) -> bool:
        """Whether there is a value by now."""
        return bool(self._found)

    def __call__(self) -> _T:
        """The value; where finding it fails, it is tried anew at the next call."""
        with self._finding:
            if not self._found:
                self._found.append(self._find())
            return self._found[0]
