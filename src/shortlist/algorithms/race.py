"""Uniform numbers of many ids, of which only those are drawn that are asked for.

Source: Wu, Ohrimenko & Wirth (2023), Algorithm 4 and Theorem 4.4. They draw order statistics as
Beta variates between their neighbours; here the numbers are drawn page by page, from the top, by
binomials and uniform integers (`docs/proofs/threshold-top-k.md`).
"""

from __future__ import annotations

import heapq
import math

import numpy as np

from shortlist.algorithms.thinning import BinomialWeights
from shortlist.draws import Draws, Ints

BITS = 62  # as many leading bits of each number are drawn: bounds of `integer` end at 2^63


class Race:
    """Independent uniform numbers of the ids 0 to `size` - 1, by their leading bits.

    Both accesses answer with the first bits of the numbers, as whole numbers below 2^bits: a noise
    is an increasing function of the number, so they confine it (`noise.Given`). Where two ids have
    the same bits, which is the larger number is not drawn. An access takes O(1) time on average,
    and a sorted one the logarithm of a heap of those drawn so far; memory grows with what was
    asked for, never with `size`.

    What was drawn and not yet asked for belongs to an id already, and is kept with it. So it stays
    right whatever is asked for in between.
    """

    def __init__(self, size: int, draws: Draws, bits: int = BITS) -> None:
        """No draw is made yet.

        Args:
            size: How many ids there are, below 2^62.
            draws: The exact draws.
            bits: How many leading bits are drawn, 1 to 62.
        """
        self.size = size
        self._draws = draws
        self._unreached = 1 << bits  # numbers with leading bits from here on are all drawn
        self._drawn: dict[int, int] = {}
        self._hidden = _Untaken(size)
        self._waiting: list[tuple[int, int]] = []  # minus the bits, and the id: not yet in order
        self._in_order: list[int] = []

    def sorted_access(self, start: int, n: int) -> tuple[Ints, Ints]:
        """Ids and leading bits number `start` to `start + n - 1` by falling bits, shapes (n,).

        Fewer where the ids end. Those of the same bits come by rising id.
        """
        while len(self._in_order) < min(start + n, self.size):
            if self._waiting and -self._waiting[0][0] >= self._unreached:
                self._in_order.append(heapq.heappop(self._waiting)[1])
            else:
                self._advance(start + n - len(self._in_order))
        ids = self._in_order[start : start + n]
        return np.array(ids, np.int64), self._bits_of(ids)

    def random_access(self, ids: Ints) -> Ints:
        """The leading bits of each id, shapes (n,)."""
        asked = ids.tolist()
        new = [i for i in dict.fromkeys(asked) if i not in self._drawn]
        for i in new:
            self._hidden.remove(i)
        self._keep(new, self._draws.integer(np.full(len(new), self._unreached)))
        return self._bits_of(asked)

    def _bits_of(self, ids: list[int]) -> Ints:
        return np.array([self._drawn[i] for i in ids], np.int64)

    def _keep(self, ids: list[int], bits: Ints) -> None:
        for i, leading in zip(ids, bits.tolist(), strict=True):
            self._drawn[i] = leading
            heapq.heappush(self._waiting, (-leading, i))

    def _advance(self, n: int) -> None:
        """Draw all numbers in the next page, which about n or a little more hidden ids fall in."""
        left, hidden = self._unreached, self._hidden.left
        expected = n + math.isqrt(n)
        width = left if expected >= hidden else -(-left * expected // hidden)
        whole = width == left
        found = hidden if whole else BinomialWeights(hidden, width, left).draw(self._draws)
        places = self._draws.integer(hidden - np.arange(found))
        ids = [self._hidden.take(place) for place in places.tolist()]
        self._unreached -= width
        self._keep(ids, self._unreached + self._draws.integer(np.full(found, width)))


class _Untaken:
    """The ids not yet taken, in a shuffled row of which only what moved is kept.

    Attributes:
        left: How many there are.
    """

    def __init__(self, size: int) -> None:
        self.left = size
        self._at: dict[int, int] = {}
        self._place_of: dict[int, int] = {}

    def take(self, place: int) -> int:
        """What stands at this place, from 0 to `left` - 1; the last one moves there."""
        self.left -= 1
        taken, last = self._at.get(place, place), self._at.pop(self.left, self.left)
        self._place_of.pop(taken, None)
        if taken != last:
            self._at[place], self._place_of[last] = last, place
        return taken

    def remove(self, i: int) -> None:
        self.take(self._place_of.get(i, i))
