"""What a small universe of data is: data sets, and what one user more changes in them.

A data set is a tuple with an entry for each item, and a change a tuple of what it adds to each,
unless a kind of evidence says otherwise.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from shortlist.errors import InputError
from shortlist.mechanisms.base import ADD_OR_REMOVE, Mechanism

__all__ = ["Data", "Universe", "kinds_of"]

_MANY = 4  # items: all of their data sets are more than enough

Data = tuple[Any, ...]


class Universe(ABC):
    """Data sets of a few items.

    Attributes:
        evidence: The kind of evidence that they become.
        mechanism: The one that looks at it.
        sizes: How many items there are, and up to which entry all data sets are looked at.
        exchangeable: Whether an exchange of items must exchange them in the law, digit by digit.
        adjacencies: Which neighbours its changes lead to.
        bound_name: The mechanism's parameter that says how much of one user counts.
    """

    evidence: ClassVar[type]
    adjacencies: ClassVar[tuple[str, ...]] = (ADD_OR_REMOVE,)
    bound_name: ClassVar[str] = "max_items_per_user"
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 6, 3: 5, 4: 4}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 4, 3: 3}
    exchangeable: ClassVar[bool] = True

    def __init__(self, mechanism: Mechanism, *, quick: bool = False) -> None:
        """For a mechanism.

        Args:
            mechanism: It looks at evidence of this kind.
            quick: With fewer and smaller data sets.

        Raises:
            InputError: No universe knows these neighbours.
        """
        if mechanism.adjacency not in self.adjacencies:
            raise InputError(
                f'{type(mechanism).__name__}: the audit knows no neighbours by "'
                f'{mechanism.adjacency}" of {self.evidence.__name__}.'
            )
        self.mechanism = mechanism
        self._bound: int | None = getattr(mechanism, self.bound_name, None)
        self._quick = quick
        self._sizes = self.quick_sizes if quick else self.sizes

    def families(self) -> Iterator[list[Data]]:
        """Data sets of as many items each, in one order of their items."""
        for n_items, most in self._sizes.items():
            near = self._near() if n_items < _MANY else []
            entries = [*range(most + 1), *(x for x in near if x > most)]
            yield list(itertools.combinations_with_replacement(entries[::-1], n_items))

    def _near(self) -> list[int]:
        """Counts at which the mechanism begins to name items, where they are few."""
        at = getattr(self.mechanism, "lead", None) or getattr(self.mechanism, "switch_at", None)
        return [] if at is None or at > 10_000 else [math.ceil(at) - 1, math.ceil(at) + 1]

    def _threshold(self) -> float | None:
        """The least noisy weight to be named, or the least mean of two; None if there is none."""
        names = ("threshold", "mean_threshold")
        known = (getattr(self.mechanism, name, None) for name in names)
        return next((at for at in known if at is not None), None)

    def changes(self, n_items: int) -> list[Data]:
        """All that one user may change. Data sets come in one order of items, so both ways."""
        bound = self._bound or n_items
        if self.mechanism.adjacency == ADD_OR_REMOVE:
            ways = itertools.product((0, 1), repeat=n_items)
            return [way for way in ways if 0 < sum(way) <= bound]
        ways = itertools.product((-1, 0, 1), repeat=n_items)
        return [way for way in ways if 0 < max(way.count(1), way.count(-1)) <= bound]

    def changed(self, data: Data, change: Data) -> Data | None:
        """The neighbour, or None where there is none."""
        result = tuple(a + b for a, b in zip(data, change, strict=True))
        return None if min(result) < 0 else result

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        """The data set with one entry larger or smaller, or None where there is none."""
        moved = (*data[:item], data[item] + step, *data[item + 1 :])
        return None if moved[item] < 0 else moved

    def n_items(self, data: Data) -> int:
        """How many items there are."""
        return len(data)

    def permuted(self, data: Data, order: Sequence[int]) -> Data:
        """The data set in which the item order[i] is item i."""
        return tuple(data[i] for i in order)

    def falling(self, data: Data) -> Sequence[int]:
        """The order of items in which one data set stands for all of its orders."""
        return sorted(range(len(data)), key=data.__getitem__, reverse=True)

    def enumerable(self) -> Mechanism:
        """The mechanism, or one of the same code with fewer branches."""
        return self.mechanism

    def edges(self, n_items: int) -> tuple[float, ...]:
        """Where scores are cut into cells, for data sets of as many items."""
        return (-0.5, 0.5, 1.5, 3.5) if n_items < 3 else (1.5,)

    def sampled_pairs(self, n_items: int) -> Iterator[tuple[tuple[Data, Data], tuple[int, ...]]]:
        """Neighbours of equal entries that samples are drawn of, and a kind for each item.

        Items that the entry and the change do not tell apart are of one kind.
        """
        for entry in dict.fromkeys(self.sampled(next(iter(self.families())))):
            data, change = (entry,) * n_items, self.sampled_change(n_items)
            other = self.changed(data, change)
            if other is not None:
                yield (data, other), kinds_of(change)

    def sampled(self, alone: list[Data]) -> list[Any]:
        """Entries of items that samples are drawn of: where all are known, no other tells more."""
        return [max(alone)[0]]

    def sampled_change(self, n_items: int) -> Data:
        """One of half of the items; where counts move both ways, the other half moves back."""
        half, back = n_items // 2, 0 if self.mechanism.adjacency == ADD_OR_REMOVE else -1
        changes = self.changes(n_items)
        wanted = (1,) * half + (back,) * (n_items - half)
        return wanted if wanted in changes else max(changes, key=lambda change: -_rest(change))

    def held(self, data: Data) -> Sequence[int]:
        """The items that the evidence knows of, in its order: all that everybody knows."""
        return range(self.n_items(data))

    @abstractmethod
    def evidence_of(self, data: Data) -> Any:  # noqa: ANN401 - of the kind `evidence`
        """What the mechanism is shown."""

    def written(self, data: Data) -> str:
        """For a report."""
        return "(" + ", ".join(map(str, data)) + ")"


def _rest(change: Data) -> int:
    """How far it is from changing half of the items."""
    return abs(sum(bool(np.any(entry)) for entry in change) - max(1, len(change) // 2))


def kinds_of(told: Sequence[Any]) -> tuple[int, ...]:
    """A number for each, the same for equal ones."""
    return tuple(told.index(entry) for entry in told)
