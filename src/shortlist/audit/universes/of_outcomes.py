"""Universes of outcomes of public numbers of comparisons."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from shortlist.audit.universes.small_universe import Data, Universe, classes_of
from shortlist.evidence import Outcomes

_MANY = 4  # items


class OfOutcomes(Universe):
    """Every two of some items were compared: an entry is (times, wins of the first) of each pair.

    Where every pair was compared, the walk's ergodicity coefficient is at most 1 - 1/d whatever
    the outcomes, for d others, so that any promise of so much is kept. Where one was not, no
    promise is: two items that won all they took part in are never left, so it is 1.
    """

    evidence = Outcomes
    adjacencies = (
        "change the outcome of one comparison",
        "change the outcomes of one user's comparisons",
    )
    exchangeable: ClassVar[bool] = False  # shares are found to a precision, in the order of items
    large_sizes: ClassVar[tuple[int, ...]] = (30, 1000)
    wide_sizes: ClassVar[dict[int, tuple[int, ...]]] = {4: (), 5: ()}
    quick_wide_sizes: ClassVar[dict[int, tuple[int, ...]]] = {4: ()}
    sizes: ClassVar[dict[int, int]] = {2: 8, 3: 4}
    quick_sizes: ClassVar[dict[int, int]] = {2: 3, 3: 1}

    def families(self) -> Iterator[list[Data]]:
        """All outcomes of up to so many comparisons of each pair, and of three unlike numbers."""
        for n_items, most in self._sizes.items():
            n_pairs = math.comb(n_items, 2)
            alike = [(times,) * n_pairs for times in range(1, most + 1)]
            others = [] if n_items < 3 or most < 4 else [(1, 2, 3)]
            for times in (*alike, *others):
                each = [[(n, wins) for wins in range(n + 1)] for n in times]
                yield list(itertools.product(*each))
        yield from self.large()
        yield from self.wide()

    def large(self) -> Iterator[list[Data]]:
        """Two items that were compared often."""
        yield [((n, wins),) for n in self.large_sizes for wins in (n, n // 2)]

    def wide(self) -> Iterator[list[Data]]:
        """More items, of which each wins against all that follow, or every second time."""
        for n_items in self.quick_wide_sizes if self._quick else self.wide_sizes:
            n_pairs = math.comb(n_items, 2)
            yield [((1, 1),) * n_pairs, ((2, 1),) * n_pairs]

    def changes(self, n_items: int) -> list[Data]:
        """Wins of the first more or less, of as many comparisons as are protected."""
        most = self._bound or 1
        n_pairs = math.comb(n_items, 2)
        ways = itertools.product(range(-most, most + 1), repeat=n_pairs)
        return [w for w in ways if w > (0,) * n_pairs and sum(map(abs, w)) <= most]

    def changed(self, data: Data, change: Data) -> Data | None:
        result = [(n, wins + c) for (n, wins), c in zip(data, change, strict=True)]
        return tuple(result) if all(0 <= wins <= n for n, wins in result) else None

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        return self.changed(data, tuple(step * (item == i) for i in range(len(data))))

    def n_items(self, data: Data) -> int:
        return (1 + math.isqrt(1 + 8 * len(data))) // 2

    def edges(self, n_items: int) -> tuple[float, ...]:
        if n_items == 2:
            return (-0.2, 0.3, 0.5, 0.9)
        return (0.3,) if self._quick else ()

    def edges_for(self, family: Sequence[Data]) -> tuple[float, ...]:
        n_items = self.n_items(family[0])
        return self.edges(n_items) if n_items < _MANY else ()

    def sampled_pairs(self, n_items: int) -> Iterator[tuple[tuple[Data, Data], tuple[int, ...]]]:
        """All pairs compared twice, with one win each, or the first item winning one more."""
        even = ((2, 1),) * math.comb(n_items, 2)
        more = self.changed(even, tuple(int(i == 0) for i in range(len(even))))
        if more is not None:
            yield (even, more), classes_of([min(i, 2) for i in range(n_items)])

    def evidence_of(self, data: Data) -> Outcomes:
        n_items = self.n_items(data)
        first, second = np.array(list(itertools.combinations(range(n_items), 2)), np.int64).T
        times, wins = np.array(data, np.int64).T
        return Outcomes(first, second, times, wins, n_items, self._bound)

    def written(self, data: Data) -> str:
        return "(" + ", ".join(f"{wins} of {n}" for n, wins in data) + ")"
