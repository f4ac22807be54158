"""What users hold together: all pairs, or triples, of their items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import Ints
from shortlist.evidence.contributions import Contributions
from shortlist.runtime.threads import parts, share, total, zeros

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


@dataclass(frozen=True)
class PairsOfItems:
    """How many users hold which pairs of items, asked of few items at a time.

    The position of a pair is the code of its first item times the number of items, and the code of
    its second.

    Attributes:
        sets: Users' sets of single items: whole, and of memory.
    """

    sets: Contributions

    def held_together(self, codes: Ints) -> Ints:
        """How many users hold each pair of these items, which may be nobody.

        Args:
            codes: The items, rising, shape (n,).

        Returns:
            Counts, shape (n (n - 1) / 2,): that of `codes` i < j stands at j (j - 1) / 2 + i.
        """
        among, n = self.sets.among(codes), math.comb(len(codes), 2)
        work = among.sizes * among.sizes
        kernel = partial(kernels.count_pairs, among.starts, among.sizes, among.items)
        ranges = parts(int(work.sum()), np.cumsum(work))
        return total(share(ranges, kernel, lambda: [zeros(n)]), n)

    def pairs_of(self, codes: Ints, places: Ints) -> Ints:
        """The positions of pairs, by their places in what `held_together` counts."""
        before = np.arange(len(codes)) * (np.arange(len(codes)) - 1) // 2
        second = np.searchsorted(before, places, side="right") - 1
        return codes[places - before[second]] * self.sets.n_items + codes[second]

    def items_of(self, positions: Ints) -> tuple[Ints, Ints]:
        """The codes of the first and of the second item of each pair."""
        return np.divmod(positions, self.sets.n_items)
