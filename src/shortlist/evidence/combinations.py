"""What users hold together: all pairs, or triples, of their items."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import Ints
from shortlist.evidence.contributions import Contributions

_AT_ONCE = 2**20
"""Combinations of a piece: few beside all, unless one user holds more."""


def numbers_of_combinations(sizes: Ints, of: int) -> Ints:
    """How many combinations there are of so many items each.

    >>> numbers_of_combinations(np.array([1, 2, 60]), 2).tolist()
    [0, 1, 1770]
    """
    by_size = [math.comb(size, of) for size in range(int(sizes.max(initial=0)) + 1)]
    return np.array(by_size, np.int64)[sizes]


def combined(held: Contributions, of: int) -> Iterator[NDArray[np.uint32]]:
    """All combinations of their items that users hold, a piece at a time, in the order of users.

    Args:
        held: The items of users.
        of: How many items make up a combination.

    Yields:
        Item codes, shape (of, n): those of a column are of one user, and rise.
    """
    ends = np.cumsum(numbers_of_combinations(held.sizes, of))
    first, done = 0, 0
    while first < len(ends):
        last = max(int(np.searchsorted(ends, done + _AT_ONCE, "right")), first + 1)
        out = np.empty((of, int(ends[last - 1]) - done), np.uint32)
        kernels.combine(held.starts, held.sizes, held.items, first, last, out)
        yield out
        first, done = last, int(ends[last - 1])
