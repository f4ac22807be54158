"""Small universes of data, a class for each kind of evidence: what is held, and one user more.

A data set is a tuple with an entry for each item, and a change a tuple of what it adds to each. A
new kind of evidence is one more class here, found by the mechanism's `evidence`.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from shortlist.audit.views import Listed
from shortlist.contributions import unit_weight
from shortlist.errors import InputError
from shortlist.histogram import Counts, PrivateCounts, WeightedHistogram
from shortlist.mechanisms.base import ADD_OR_REMOVE, Mechanism
from shortlist.reals import UNIT
from shortlist.stores.contract import View

__all__ = ["Data", "Universe", "universe_of"]

Data = tuple[Any, ...]


class Universe(ABC):
    """Data sets of up to `most_items` items.

    Attributes:
        evidence: The kind of evidence that they become.
        mechanism: The one that looks at it.
        sizes: How many items there are, and up to which entry all data sets are looked at.
    """

    evidence: ClassVar[type]
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 6, 3: 5, 4: 4}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 4, 3: 3}

    def __init__(self, mechanism: Mechanism, *, quick: bool = False) -> None:
        """For a mechanism.

        Args:
            mechanism: It looks at evidence of this kind.
            quick: With fewer and smaller data sets.
        """
        self.mechanism = mechanism
        self._sizes = self.quick_sizes if quick else self.sizes

    def families(self) -> Iterator[list[Data]]:
        """Data sets of as many items each, in one order of their items."""
        for n_items, most in self._sizes.items():
            entries = [*range(most + 1), *(x for x in self._near() if x > most)]
            yield list(itertools.combinations_with_replacement(entries[::-1], n_items))

    def _near(self) -> list[int]:
        """Counts at which the mechanism begins to name items, where they are few."""
        at = getattr(self.mechanism, "lead", None) or getattr(self.mechanism, "switch_at", None)
        return [] if at is None or at > 10_000 else [math.ceil(at) - 1, math.ceil(at) + 1]

    def changes(self, n_items: int) -> list[Data]:
        """All that one user may change; of two opposite changes, one."""
        bound = getattr(self.mechanism, "max_items_per_user", None) or n_items
        if self.mechanism.adjacency == ADD_OR_REMOVE:
            ways = itertools.product((0, 1), repeat=n_items)
            return [way for way in ways if 0 < sum(way) <= bound]
        ways = itertools.product((-1, 0, 1), repeat=n_items)
        return [w for w in ways if w > (0,) * n_items and max(w.count(1), w.count(-1)) <= bound]

    def sampled_change(self, n_items: int) -> Data:
        """One of half of the items; where counts move both ways, the other half moves back."""
        half, back = n_items // 2, 0 if self.mechanism.adjacency == ADD_OR_REMOVE else -1
        changes = self.changes(n_items)
        wanted = (1,) * half + (back,) * (n_items - half)
        return wanted if wanted in changes else max(changes, key=lambda change: -_rest(change))

    def changed(self, data: Data, change: Data) -> Data | None:
        """The neighbour, or None where there is none."""
        result = tuple(a + b for a, b in zip(data, change, strict=True))
        return None if min(result) < 0 else result

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        """The data set with one entry larger or smaller, or None where there is none."""
        moved = (*data[:item], data[item] + step, *data[item + 1 :])
        return None if moved[item] < 0 else moved

    def enumerable(self) -> Mechanism:
        """The mechanism, or one of the same code with fewer branches."""
        return self.mechanism

    def edges(self, n_items: int) -> tuple[float, ...]:
        """Where scores are cut into cells, for data sets of as many items."""
        return (-0.5, 0.5, 1.5, 3.5) if n_items < 3 else ()

    def sampled(self, alone: list[Data]) -> list[Any]:
        """Entries of items that samples are drawn of: where all are known, no other tells more."""
        return [max(alone)[0]]

    @abstractmethod
    def evidence_of(self, data: Data) -> Any:  # noqa: ANN401 - of the kind `evidence`
        """What the mechanism is shown."""

    def written(self, data: Data) -> str:
        """For a report."""
        return "(" + ", ".join(map(str, data)) + ")"


def _rest(change: Data) -> int:
    """How far it is from changing half of the items."""
    return abs(sum(bool(np.any(entry)) for entry in change) - max(1, len(change) // 2))


class OfCounts(Universe):
    """How many users hold each item, which everybody knows."""

    evidence = Counts

    def evidence_of(self, data: Data) -> Counts:
        """The counts."""
        bound = getattr(self.mechanism, "max_items_per_user", None)
        return Counts(np.array(data, np.int64), bound)


class OfPrivateCounts(Universe):
    """How many users hold each item, which only the table knows; 0 is as good as no item."""

    evidence = PrivateCounts

    def sampled(self, alone: list[Data]) -> list[Any]:
        """The largest entry, and that of an item which nobody holds."""
        return [max(alone)[0], min(alone)[0]]

    def evidence_of(self, data: Data) -> PrivateCounts:
        """The counts with their bound."""
        bound = getattr(self.mechanism, "max_items_per_user", None)
        return PrivateCounts(np.array(data, np.int64), bound)


class OfViews(Universe):
    """Scores by id in a store."""

    evidence = View
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 20, 3: 2}
    quick_sizes: ClassVar[dict[int, int]] = {1: 3, 2: 6}

    def enumerable(self) -> Mechanism:
        """With one leading bit of each number instead of 62: more would be too many branches."""
        kind = type(self.mechanism)
        fields = {name: getattr(self.mechanism, name) for name in kind.fields()}
        coarse: Any = type(kind.__name__, (kind,), {"_bits": 1})
        built: Mechanism = coarse(**fields)
        return built

    def evidence_of(self, data: Data) -> Listed:
        """All in memory."""
        return Listed(data)


class OfWeights(Universe):
    """Weights and counts: an entry is (weight in units, count).

    Data sets have weights as users of one or two items add them up, from nothing to beyond the
    thresholds, and counts that may be larger, by users whose other items were kept.
    """

    evidence = WeightedHistogram
    sizes: ClassVar[dict[int, int]] = {1: 13, 2: 13, 3: 1}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 3}

    def families(self) -> Iterator[list[Data]]:
        """Weights near 0 and near the threshold, with the least counts or some more."""
        for n_items, most in self._sizes.items():
            entries = self._entries(most)
            yield list(itertools.combinations_with_replacement(entries, n_items))

    def _entries(self, most: int) -> list[tuple[int, int]]:
        """As many of each kind: weights near 0, and near the threshold, with some counts."""
        one, two = unit_weight(1), unit_weight(2)
        needed = max(1, round(self._threshold()))
        few = [(one, 1), (two, 1), (0, 0), (one, 2), (two, 2), (one, 4), (one + two, 2)]
        few += [(weight, count) for count in (3, 5) for weight in (one, two, one + two)]
        many = [(n * one, n + more) for more in (0, 1, 3, 6, 2, 4) for n in (needed, needed + 1)]
        return list(dict.fromkeys([*many[:most], *few[:most]]))

    def _threshold(self) -> float:
        names = ("mean_threshold", "threshold")
        return float(next(getattr(self.mechanism, n) for n in names if hasattr(self.mechanism, n)))

    def changes(self, n_items: int) -> list[Data]:
        """Each item: kept, of t that are kept; held and not kept, if t is the bound; not held."""
        bound = int(getattr(self.mechanism, "max_items_per_user", n_items))
        found = []
        for states in itertools.product((0, 1, 2), repeat=n_items):
            kept, dropped = states.count(2), states.count(1)
            if 0 < kept <= bound and (dropped == 0 or kept == bound):
                entry = {0: (0, 0), 1: (0, 1), 2: (unit_weight(kept), 1)}
                found.append(tuple(entry[state] for state in states))
        return found

    def changed(self, data: Data, change: Data) -> Data:
        """Weights and counts added."""
        return tuple((w + v, c + d) for (w, c), (v, d) in zip(data, change, strict=True))

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        """With as many users more who hold that item alone."""
        weight, count = data[item][0] + step * unit_weight(1), data[item][1] + step
        if min(weight, count) < 0 or (weight == 0) != (count == 0):
            return None
        return (*data[:item], (weight, count), *data[item + 1 :])

    def edges(self, n_items: int) -> tuple[float, ...]:
        """Beyond the threshold."""
        at = self._threshold()
        return (at + 0.5, at + 2.0) if n_items < 2 else ()

    def sampled(self, alone: list[Data]) -> list[Any]:
        """The largest entry, and that of an item which nobody holds."""
        return [max(alone)[0], min(alone)[0]]

    def evidence_of(self, data: Data) -> WeightedHistogram:
        """The histogram, with the bound that the mechanism accounts for."""
        weights, counts = (np.array(column, np.int64) for column in zip(*data, strict=True))
        bound = int(getattr(self.mechanism, "max_items_per_user", len(data)))
        return WeightedHistogram(weights, counts, bound)

    def written(self, data: Data) -> str:
        """Weights as they are, and counts."""
        return "(" + ", ".join(f"{w * UNIT:.4g} of {c}" for w, c in data) + ")"


_UNIVERSES: tuple[type[Universe], ...] = (OfCounts, OfPrivateCounts, OfViews, OfWeights)


def universe_of(mechanism: Mechanism, *, quick: bool = False) -> Universe:
    """The small universes of the evidence that a mechanism looks at."""
    for kind in _UNIVERSES:
        if kind.evidence is mechanism.evidence:
            return kind(mechanism, quick=quick)
    raise InputError(
        f"{type(mechanism).__name__}: no universe is known of {mechanism.evidence.__name__}."
    )
