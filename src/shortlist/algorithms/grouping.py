"""Items of equal count, as one: what a mechanism does depends on an item through its count only."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from shortlist import kernels
from shortlist.draws import Draws, Ints

# Counts further apart than so many times their number are sorted, not tallied,
_SPARSE = 4
# unless the tally has no more entries than these.
_SMALL = 2**14


@dataclass(frozen=True)
class EqualCounts:
    """The distinct counts, falling, and how many items have each.

    Attributes:
        values: The distinct counts, shape (n_groups,), falling.
        sizes: How many items have each, shape (n_groups,), at least 1.
        counts: The counts themselves, shape (n_items,).
    """

    values: Ints
    sizes: Ints
    counts: Ints

    @classmethod
    def of(cls, counts: Ints) -> EqualCounts:
        """Group the items of equal count, in one pass where the counts are dense.

        Counts far above most others are sorted; the rest is tallied.
        """
        if not len(counts):
            return cls(counts[:0], counts[:0], counts)
        counts = np.require(counts, requirements=["C", "W"])  # what kernels are compiled for
        low = int(counts.min())
        span = min(int(counts.max()) - low + 1, _SPARSE * len(counts) + _SMALL)
        tallied, beyond = np.zeros(span, np.int64), np.zeros(1, np.int64)
        kernels.tally(counts, low, tallied, beyond)
        values = np.flatnonzero(tallied)
        sizes = tallied[values]
        values += low
        if beyond[0]:
            far, how_many = np.unique(counts[counts >= low + span], return_counts=True)
            values, sizes = np.append(values, far), np.append(sizes, how_many)
        return cls(values[::-1].copy(), sizes[::-1].copy(), counts)

    @cached_property
    def ends(self) -> Ints:
        """How many items have at least each value, shape (n_groups,)."""
        return np.cumsum(self.sizes)

    def positions(self, groups: Ints, places: Ints) -> Ints:
        """Where the members number `places[j]` of the groups `groups[j]` stand in `counts`.

        Args:
            groups: Group numbers, shape (n,).
            places: From 0 to the size of the group, without it; no member is asked for twice.
        """
        if not len(groups):
            return np.empty(0, np.int64)
        order = np.lexsort((places, -groups))  # by rising value, then by place
        wanted, firsts = np.unique(-groups[order], return_index=True)
        found = np.empty(len(groups), np.int64)
        firsts = np.append(firsts, len(groups))
        kernels.find_members(
            self.counts,
            self.values[-wanted],
            firsts,
            firsts.copy(),
            places[order],
            np.zeros(len(wanted), np.int64),
            found,
        )
        result = np.empty_like(found)
        result[order] = found
        return result

    def draw_members(self, groups: Ints, draws: Draws) -> Ints:
        """Positions of uniformly random items of these groups, one for each, none twice.

        Args:
            groups: Group numbers in the order picked, each at most as often as it has items.
            draws: The exact draws.
        """
        before = _times_before(groups)
        choices = draws.integer(self.sizes[groups] - before)
        shuffles = defaultdict[int, Shuffle](Shuffle)
        places = [
            shuffles[group].deal(step, step + choice)
            for group, step, choice in zip(
                groups.tolist(), before.tolist(), choices.tolist(), strict=True
            )
        ]
        return self.positions(groups, np.array(places, np.int64))


class Shuffle:
    """A Fisher-Yates shuffle of 0, 1, 2, … of which only the entries that moved are kept.

    After steps 0 .. s - 1 those not dealt stand at s, s + 1, …: below any n, if all that was dealt
    is below n.
    """

    def __init__(self) -> None:
        self._moved: dict[int, int] = {}

    def deal(self, step: int, place: int) -> int:
        """What stands at `place` >= `step`; what stood at `step` moves there."""
        dealt = self._moved.get(place, place)
        self._moved[place] = self._moved.get(step, step)
        return dealt


def sample(n: int, size: int, draws: Draws) -> Ints:
    """So many of 0 .. n - 1, none twice, in a uniformly random order."""
    shuffle = Shuffle()
    choices = draws.integer(np.arange(n, n - size, -1))
    dealt = [shuffle.deal(step, step + choice) for step, choice in enumerate(choices.tolist())]
    return np.array(dealt, np.int64)


def _times_before(groups: Ints) -> Ints:
    """How often each entry occurs before its own place.

    >>> _times_before(np.array([5, 7, 5, 5]))
    array([0, 0, 1, 2])
    """
    order = np.argsort(groups, kind="stable")
    in_order = groups[order]
    before = np.empty_like(order)
    before[order] = np.arange(len(groups)) - np.searchsorted(in_order, in_order)
    return before
