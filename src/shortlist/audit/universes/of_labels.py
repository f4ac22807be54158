"""Universes of users with one of two labels, and the items that they hold."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from shortlist.audit.universes.small_universe import Data, Universe, classes_of
from shortlist.evidence import LabelledCounts

_MANY = 1000


class OfLabels(Universe):
    """An entry for each item is (holders among cases, among controls); the last one, both sizes."""

    evidence = LabelledCounts
    sizes: ClassVar[dict[int, int]] = {1: 3, 2: 2}
    quick_sizes: ClassVar[dict[int, int]] = {1: 2, 2: 1}

    def families(self) -> Iterator[list[Data]]:
        """Up to so many users of either label, who hold the items in all ways.

        Of many users, no edges are near the scores and the numbers of holders alike.
        """
        for n_items, most in self._sizes.items():
            sizes = itertools.product(range(most + 1), range(most + 1))
            yield [data for of in sizes for data in self._holding(n_items, of)]

    def _holding(self, n_items: int, sizes: tuple[int, int]) -> Iterator[Data]:
        entries = list(itertools.product(*(range(n + 1) for n in sizes)))
        for held in itertools.combinations_with_replacement(entries[::-1], n_items):
            yield (*held, sizes)

    def changes(self, n_items: int) -> list[Data]:
        """A case who holds any of the items, or none of them; or a control."""
        both = []
        for held in self.ways((0, 1), n_items):
            both.append(tuple((x, 0) for x in (*held, 1)))
            both.append(tuple((0, x) for x in (*held, 1)))
        return both

    def changed(self, data: Data, change: Data) -> Data:
        return tuple((a + x, b + y) for (a, b), (x, y) in zip(data, change, strict=True))

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        """The data set with more or fewer holders among cases; or with more or fewer of these."""
        moved = [(a + step * (i == item), b) for i, (a, b) in enumerate(data)]
        *held, (n_cases, _) = moved
        return tuple(moved) if all(0 <= a <= n_cases for a, _ in held) else None

    def n_items(self, data: Data) -> int:
        return len(data) - 1

    def permuted(self, data: Data, order: Sequence[int]) -> Data:
        return (*super().permuted(data, order), data[-1])

    def falling(self, data: Data) -> Sequence[int]:
        return super().falling(data[:-1])

    def edges(self, n_items: int) -> tuple[float, ...]:
        return (0.5, 2.5) if n_items == 1 else (1.5,)

    def level(self, family: Sequence[Data]) -> float:
        return float(min(a + b for *held, _ in family for a, b in held))

    def sampled_pairs(self, n_items: int) -> Iterator[tuple[tuple[Data, Data], tuple[int, ...]]]:
        """Many users who hold every item as often; one case more, who holds half of the items."""
        half = n_items // 2
        data = ((_MANY, _MANY),) * n_items + ((2 * _MANY, 2 * _MANY),)
        change = ((1, 0),) * half + ((0, 0),) * (n_items - half) + ((1, 0),)
        yield (data, self.changed(data, change)), classes_of(change[:-1])

    def evidence_of(self, data: Data) -> LabelledCounts:
        *held, (n_cases, n_controls) = data
        cases, controls = np.array(held, np.int64).reshape(-1, 2).T.copy()
        return LabelledCounts(cases, controls, n_cases, n_controls)

    def written(self, data: Data) -> str:
        *held, (n_cases, n_controls) = data
        each = ", ".join(f"{a} + {b}" for a, b in held)
        return f"({each}) of {n_cases} + {n_controls}"
