"""A hash table of 64-bit keys, which numbers them in the order in which they first come."""

from __future__ import annotations

import secrets

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.errors import InputError

__all__ = ["HashTable"]

_LIMIT = 2**32  # codes are uint32
_FIRST = 1024  # slots; there are always twice as many as keys, or more


class HashTable:
    """Keys and their codes.

    Where a key stands depends on numbers that are drawn anew for each table by the operating
    system: nobody can choose keys that all meet at one place, so that each takes long to find.
    """

    def __init__(self) -> None:
        self._odd = np.array([secrets.randbits(64) | 1 for _ in range(2)], np.uint64)
        self._slots = np.zeros(_FIRST, np.uint32)
        self._held = np.empty(_FIRST // 2, np.uint64)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def keys(self) -> NDArray[np.uint64]:
        """The key of each code."""
        return self._held[: self._n]

    def look_up(self, keys: NDArray[np.uint64], codes: NDArray[np.uint32]) -> None:
        """Write the code of each key; one that comes for the first time gets the next.

        Args:
            keys: Shape (n,), C-contiguous.
            codes: To be written; shape (n,).

        Raises:
            InputError: There are 2^32 different keys or more.
        """
        done = 0
        while True:
            table = self._odd, self._slots, self._held
            done, self._n = kernels.look_up(keys, *table, self._n, done, codes)
            if self._n >= _LIMIT:
                raise InputError("a column holds 2^32 different values or more", "split the table")
            if done == len(keys):
                return
            self._grow()

    def _grow(self) -> None:
        self._held = np.concatenate([self._held, np.empty_like(self._held)])
        self._slots = np.zeros(2 * len(self._held), np.uint32)
        kernels.fill(self._held, self._odd, self._n, self._slots)
