"""Universes of numbers of items: how many users hold each, or by how much they weigh it; wins."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from shortlist.audit.universes.small_universe import N_GROUPS, Data, Universe
from shortlist.draws import UNIT, Ints
from shortlist.evidence import (
    GroupedCounts,
    PrivateCounts,
    PublicCounts,
    PublicScores,
    WeightedHistogram,
    Wins,
)
from shortlist.evidence.user_sets import unit_weight
from shortlist.evidence.view import View
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE, Adjacency, Mechanism
from shortlist.mechanisms.wrappers import OfScores
from shortlist.parameters import Direction


class OfCounts(Universe):
    """How many users hold each item, which everybody knows."""

    evidence = PublicCounts
    adjacencies = tuple(kind.value for kind in Adjacency)

    def evidence_of(self, data: Data) -> PublicCounts:
        return PublicCounts(np.array(data, np.int64), self._bound)


class OfCountsAndUsers(OfCounts):
    """The same beside the number of all users, which is the first entry: a user is always in it."""

    adjacencies = (ADD_OR_REMOVE,)
    exchangeable: ClassVar[bool] = False

    def changes(self, n_items: int) -> list[Data]:
        """All that one user may hold, and the user."""
        bound = self._bound or n_items
        ways = self.ways((0, 1), n_items)
        return [way for way in ways if way[0] and sum(way) <= bound + 1]

    def evidence_of(self, data: Data) -> PublicCounts:
        users, *counts = data
        return PublicCounts(np.array(counts, np.int64), self._bound, users)


class OfPrivateCounts(Universe):
    """How many users hold each item; of what nobody holds, the table knows nothing."""

    evidence = PrivateCounts

    def many(self, n: int) -> int:
        return max(n, 1)

    def sampled(self, alone: list[Data]) -> list[Any]:
        """Also the entry of an item which nobody holds."""
        return [*super().sampled(alone), min(alone)[0]]

    def held(self, data: Data) -> Sequence[int]:
        return [i for i, count in enumerate(data) if count]

    def evidence_of(self, data: Data) -> PrivateCounts:
        return PrivateCounts(np.array([count for count in data if count], np.int64), self._bound)


class OfStatedScores(Universe):
    """Scores of items that everybody knows: an entry is a number of halves of the sensitivity.

    So a user moves scores by a whole step of the code, or by a half, from wherever they stand.
    """

    mechanism: OfScores
    evidence = PublicScores
    adjacencies = tuple(kind.value for kind in Adjacency)
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 6, 3: 3}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 5}
    wide_sizes: ClassVar[dict[int, tuple[int, ...]]] = {}
    quick_wide_sizes = wide_sizes

    def changes(self, n_items: int) -> list[Data]:
        """All that one user may move."""
        one = self.mechanism.direction is Direction.ONE
        steps = (0, 1, 2) if one else (-2, -1, 0, 2)
        return [way for way in self.ways(steps, n_items) if any(way)]

    def sampled_change(self, n_items: int) -> Data:
        """A whole step of half of the items; the others move back, if any may."""
        back = 0 if self.mechanism.direction is Direction.ONE else -2
        half = n_items // 2
        return (2,) * half + (back,) * (n_items - half)

    def level(self, family: Sequence[Data]) -> float:
        return self._steps(super().level(family))

    def evidence_of(self, data: Data) -> PublicScores:
        stated = self.mechanism.sensitivity, self.mechanism.direction
        return PublicScores(np.array(list(map(self._steps, data))) * stated[0], *stated)

    def written(self, data: Data) -> str:
        return super().written(tuple(map(self._steps, data)))

    def _steps(self, entry: float) -> float:
        """The score in steps of the sensitivity; half of them are below 0."""
        return (entry - 3) / 2


class OfAmounts(OfCounts):
    """Sums of what users spent on each item, of which one user adds up to 2."""

    wide_sizes: ClassVar[dict[int, tuple[int, ...]]] = {}
    quick_wide_sizes = wide_sizes
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 3}
    step = 2

    def level(self, family: Sequence[Data]) -> float:
        return super().level(family) / self.step

    def evidence_of(self, data: Data) -> PublicCounts:
        return replace(super().evidence_of(data), unit=1 / self.step)


class OfPrivateAmounts(OfPrivateCounts):
    """The same of items of which only the table knows."""

    wide_sizes = quick_wide_sizes = OfAmounts.wide_sizes
    quick_sizes = OfAmounts.quick_sizes
    step = OfAmounts.step

    def level(self, family: Sequence[Data]) -> float:
        return super().level(family) / self.step

    def evidence_of(self, data: Data) -> PrivateCounts:
        return replace(super().evidence_of(data), unit=1 / self.step)


class OfViews(Universe):
    """Scores by id in a store."""

    evidence = View
    bounded_by_engine = False
    wide_sizes: ClassVar[dict[int, tuple[int, ...]]] = {}  # many ways to draw
    quick_wide_sizes = wide_sizes
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 18, 3: 2}
    quick_sizes: ClassVar[dict[int, int]] = {1: 3, 2: 6}

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        """Leave out data sets of which there are many ways to draw."""
        return super().moved(data, item, step) if len(data) < 3 else None

    def sampled(self, alone: list[Data]) -> list[Any]:
        """The largest entry only: what is read of a store takes long."""
        return [max(alone)[0]]

    def evidence_of(self, data: Data) -> ScoresInMemory:
        return ScoresInMemory(data)


class OfWeights(Universe):
    """Weights and counts: an entry is (weight in units, count).

    Data sets have weights as users of one or two items add them up, from nothing to beyond the
    thresholds, and counts that may be larger, by users whose other items were kept.
    """

    evidence = WeightedHistogram
    large_sizes: ClassVar[tuple[int, ...]] = (30, 1000)
    sizes: ClassVar[dict[int, int]] = {1: 13, 2: 10, 3: 1}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 3}

    def families(self) -> Iterator[list[Data]]:
        """Weights near 0 and near the threshold, with the least counts or some more."""
        for n_items, most in self._sizes.items():
            entries = self._entries(most)
            yield list(itertools.combinations_with_replacement(entries, n_items))
        yield from self.large()
        yield from self.wide()

    def wide(self) -> Iterator[list[Data]]:
        """Items that nobody holds, as many as one user may bring at once."""
        if self._bound and self._bound > max(self._sizes):
            yield [((0, 0),) * self._bound]

    def many(self, n: int) -> tuple[int, int]:
        return max(n, 1) * unit_weight(1), max(n, 1)

    def _entries(self, most: int) -> list[tuple[int, int]]:
        """As many of each kind: weights near 0, and near the least threshold, with some counts.

        Where there is time for all of them, near the other thresholds too.
        """
        one, two = unit_weight(1), unit_weight(2)
        few = [(one, 1), (two, 1), (0, 0), (one, 2), (two, 2), (one, 4), (one + two, 2)]
        few += [(weight, count) for count in (3, 5) for weight in (one, two, one + two)]
        needed = [max(1, round(at)) for at in sorted(self._hints.thresholds)] or [1]
        near = [(n, n + 1) for n in needed]
        many = [(n * one, n + more) for more in (0, 1, 3, 6, 2, 4) for n in near[0]]
        others = [(n * one, n) for both in near[1:] for n in both] if most >= len(few) else []
        return list(dict.fromkeys([*many[:most], *few[:most], *others]))

    @property
    def _least(self) -> float:
        return self._threshold() or 1.0

    def changes(self, n_items: int) -> list[Data]:
        """Each item: kept, of t that are kept; held and not kept, if t is the bound; not held."""
        bound = self._bound or n_items
        found = []
        for states in self.ways((0, 1, 2), n_items):
            kept, dropped = states.count(2), states.count(1)
            if 0 < kept <= bound and (dropped == 0 or kept == bound):
                entry = {0: (0, 0), 1: (0, 1), 2: (unit_weight(kept), 1)}
                found.append(tuple(entry[state] for state in states))
        return found

    def changed(self, data: Data, change: Data) -> Data:
        return tuple((w + v, c + d) for (w, c), (v, d) in zip(data, change, strict=True))

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        weight, count = data[item][0] + step * unit_weight(1), data[item][1] + step
        if min(weight, count) < 0 or (weight == 0) != (count == 0):
            return None
        return (*data[:item], (weight, count), *data[item + 1 :])

    def edges(self, n_items: int) -> tuple[float, ...]:
        at = self._least
        if n_items == 1:
            return (at + 0.5, at + 2.0)
        return (at + 0.5,) if self._quick else ()

    def level(self, family: Sequence[Data]) -> float:
        return float(min(weight for data in family for weight, _ in data) * UNIT)

    def sampled(self, alone: list[Data]) -> list[Any]:
        """Those of items which about as many users hold as the threshold, one, nobody, and many."""
        del alone
        held = (max(1, round(self._least)), 1, 0, *self.large_sizes[-1:])
        return [(n * unit_weight(1), n) for n in held]

    def held(self, data: Data) -> Sequence[int]:
        return [i for i, (_, count) in enumerate(data) if count]

    def evidence_of(self, data: Data) -> WeightedHistogram:
        held = [data[i] for i in self.held(data)]
        weights, counts = np.array(held, np.int64).reshape(-1, 2).T.copy()
        return WeightedHistogram(weights, counts, self._bound or len(data))

    def written(self, data: Data) -> str:
        return "(" + ", ".join(f"{w * UNIT:.4g} of {c}" for w, c in data) + ")"


class OfWins(Universe):
    """How many comparisons each item won."""

    evidence = Wins
    adjacencies = ("add or remove one comparison", ADD_OR_REMOVE)
    sizes: ClassVar[dict[int, int]] = {1: 10, 2: 20, 3: 7}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 3}

    def changes(self, n_items: int) -> list[Data]:
        """All ways in which one user wins at most as many comparisons as count, or one."""
        most = self._bound or 1
        ways = self.ways(range(most + 1), n_items)
        return [way for way in ways if 0 < sum(way) <= most]

    def evidence_of(self, data: Data) -> Wins:
        return Wins(np.array(data, np.int64), self._bound)


class OfGroupedCounts(Universe):
    """How many users hold each item in each of two groups."""

    evidence = GroupedCounts
    exchangeable: ClassVar[bool] = False  # pairs of one group are no others'
    adjacencies = tuple(kind.value for kind in Adjacency)
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 3, 3: 2, 4: 1}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 2, 3: 1, 4: 1}

    def __init__(self, mechanism: Mechanism, *, quick: bool = False) -> None:
        super().__init__(mechanism, quick=quick)
        self._sizes = self.quick_sizes if quick else self.sizes
        private = mechanism.names_private_items
        self._kind: type[PrivateCounts | PublicCounts] = PrivateCounts if private else PublicCounts

    def families(self) -> Iterator[list[Data]]:
        """All small counts, whichever is in which group; and large ones."""
        for n_pairs, most in self._sizes.items():
            near = self._near() if n_pairs <= N_GROUPS else []
            entries = [*range(most + 1), *(x for x in near if x > most)]
            yield list(itertools.product(entries, repeat=n_pairs))
        yield from self.large()

    def changes(self, n_items: int) -> list[Data]:
        """All that one user may change, who is in so many groups: before, and after."""
        return [change for change in super().changes(n_items) if self._is_within(change)]

    def _is_within(self, change: Data) -> bool:
        groups = [
            len({pair % N_GROUPS for pair, by in enumerate(change) if by * sign > 0})
            for sign in (1, -1)
        ]
        return max(groups) <= self._most_groups

    def held(self, data: Data) -> Sequence[int]:
        """All pairs that the evidence knows of, those of the first group first."""
        pairs = sorted(range(len(data)), key=lambda pair: pair % N_GROUPS)
        return [pair for pair in pairs if data[pair] or self._kind is PublicCounts]

    def evidence_of(self, data: Data) -> GroupedCounts:
        held = self.held(data)
        return GroupedCounts.of_rows(
            np.array([data[pair] for pair in held], np.int64),
            np.array([pair % N_GROUPS for pair in held], np.int64),
            self._kind,
            max_items_per_user=self._bound,
            max_groups_per_user=self._most_groups,
        )


class OfGroupedAmounts(OfGroupedCounts):
    """Sums of what users spent on each item in each of two groups, of which one user adds up to 2.

    A user has a sum in each group: what is spent in both counts twice, if both groups do.
    """

    sizes: ClassVar[dict[int, int]] = {1: 4, 2: 3, 4: 2}
    quick_sizes: ClassVar[dict[int, int]] = {1: 3, 2: 2, 4: 1}
    step = OfAmounts.step

    def level(self, family: Sequence[Data]) -> float:
        return super().level(family) / self.step

    def evidence_of(self, data: Data) -> GroupedCounts:
        return replace(super().evidence_of(data), unit=1 / self.step)


class ScoresInMemory:
    """Scores by id, of which -1 stands for an id that does not exist; counts its accesses.

    Attributes:
        size: How many ids there are.
        costs: Of a sorted and of a random access.
        n_sorted: How many scores were read in falling order.
        n_random: How many were read by id.
    """

    def __init__(
        self, scores: Sequence[int] | Ints, costs: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        self.scores = np.array(scores)
        self.size, self.costs = len(self.scores), costs
        self._order = np.argsort(-self.scores, kind="stable")[: np.count_nonzero(self.scores >= 0)]
        self.n_sorted = self.n_random = 0

    @property
    def accesses(self) -> int:
        return self.n_sorted + self.n_random

    def sorted_access(self, start: int, n: int) -> tuple[Ints, Ints]:
        ids = self._order[start : start + n]
        self.n_sorted += len(ids)
        return ids, self.scores[ids]

    def random_access(self, ids: Ints) -> Ints:
        self.n_random += len(ids)
        found: Ints = self.scores[ids]
        return found
