"""An array that is filled from its start."""

from __future__ import annotations

from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = ["Growing"]

_T = TypeVar("_T", bound=np.generic)


class Growing(Generic[_T]):
    """An array of which the first entries are filled.

    >>> numbers = Growing(np.int64, 1)
    >>> numbers.room(2)[:] = 7
    >>> numbers.filled
    array([7, 7])
    """

    def __init__(self, dtype: type[_T], length: int) -> None:
        """Take memory for so many entries, which costs nothing until they are filled."""
        self._array: NDArray[_T] = np.empty(length, dtype)
        self._end = 0

    def room(self, n: int) -> NDArray[_T]:
        """The next n entries, to be filled."""
        if self._end + n > len(self._array):
            longer = np.empty(max(2 * len(self._array), self._end + n), self._array.dtype)
            longer[: self._end] = self.filled
            self._array = longer
        self._end += n
        return self._array[self._end - n : self._end]

    @property
    def filled(self) -> NDArray[_T]:
        """All entries that were given out."""
        return self._array[: self._end]
