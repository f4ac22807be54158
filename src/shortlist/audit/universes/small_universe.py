"""What a small universe of data is: data sets, and what one user more changes in them.

A data set is a tuple with an entry for each item, and a change a tuple of what it adds to each,
unless a kind of evidence says otherwise.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Protocol

import numpy as np

from shortlist.draws import Draws
from shortlist.errors import InputError
from shortlist.evidence import Wants
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE, AuditHints
from shortlist.privacy import Cost

_FEW = 3  # items to be named, at most, where all data sets of more than two are looked at
_MANY = 4  # items: all of their data sets are more than enough
_MANY_USERS = 1000  # of each item that samples are drawn of
_WIDE = 5  # items, at least, where few data sets and few changes are looked at
_SOME = 6  # items, at most, where changes of any number are looked at; of more, three numbers
_HIGH = 15  # where scores are cut into other cells
_NEARBY = (-0.5, 0.5, 1.5)
_LEAD = 100  # by which items lead
_MOST_NEAR = 10_000  # people: thresholds above are as any other number

N_GROUPS = 2
"""Of the universes of groups, where pair i is the item i // 2 in the group i % 2."""

Data = tuple[Any, ...]


class Audited(Protocol):
    """A claim, and the code that is to keep it: a mechanism, or all runs of a series."""

    @property
    def evidence(self) -> type:
        """What the code is shown."""

    @property
    def wants(self) -> Wants:
        """What it asks an engine for."""

    @property
    def adjacency(self) -> str:
        """Which data sets are neighbours."""

    @property
    def epsilon(self) -> float:
        """What is promised, with `delta`."""

    @property
    def delta(self) -> float:
        """What is promised, with `epsilon`."""

    @property
    def spent_delta(self) -> float:
        """The delta that is told."""

    @property
    def cost(self) -> Cost:
        """What is charged."""

    def audit_hints(self) -> AuditHints:
        """Where a mistake would show."""

    def select(self, evidence: Any, draws: Draws) -> Any:
        """Run the code: a `Selection`, or the lists of all runs."""


class Universe(ABC):
    """Data sets of a few items.

    Attributes:
        evidence: The kind of evidence that they become.
        mechanism: The one that looks at it, or the series.
        sizes: How many items there are, and up to which entry all data sets are looked at.
        large_sizes: How many users hold each of few items, in data sets of many users.
        wide_sizes: How many of more items lead, in data sets of as many items.
        exchangeable: Whether an exchange of items must exchange them in the law, digit by digit.
        adjacencies: Which neighbours its changes lead to.
        step: By how much one user changes an entry at most.
        bounded_by_engine: Whether an engine sees to it that a user counts no more than so much;
            else the mechanism does.
    """

    evidence: ClassVar[type]
    adjacencies: ClassVar[tuple[str, ...]] = (ADD_OR_REMOVE,)
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 6, 3: 5, 4: 4}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 4, 3: 3}
    large_sizes: ClassVar[tuple[int, ...]] = (30, 1000, 10**6)
    wide_sizes: ClassVar[dict[int, tuple[int, ...]]] = {5: (1, 4), 6: (1,)}
    quick_wide_sizes: ClassVar[dict[int, tuple[int, ...]]] = {5: (1, 4)}
    exchangeable: ClassVar[bool] = True
    step: ClassVar[int] = 1
    bounded_by_engine: ClassVar[bool] = True

    def __init__(self, mechanism: Audited, *, quick: bool = False) -> None:
        """For a mechanism.

        Args:
            mechanism: It looks at evidence of this kind.
            quick: With fewer and smaller data sets.

        Raises:
            InputError: No universe knows these neighbours.
        """
        if mechanism.adjacency not in self.adjacencies:
            raise InputError(
                '{mechanism}: the audit knows no neighbours by "{adjacency}" of {evidence}',
                mechanism=type(mechanism),
                adjacency=mechanism.adjacency,
                evidence=self.evidence,
            )
        self.mechanism: Audited = mechanism
        self._hints, self._quick = mechanism.audit_hints(), quick
        self._bound = self._hints.user_bound
        self._most_groups = self._hints.most_groups or N_GROUPS
        self._sizes = self.quick_sizes if quick else self.sizes
        if self._hints.inner is not None:  # two laws at once
            few = {n: most // n for n, most in self.quick_sizes.items()}
            self._sizes = few if quick else {**self.quick_sizes, _FEW: few.get(_FEW, 0)}
        if self.most_named > _FEW:
            self._sizes = {n: most for n, most in self._sizes.items() if n < _FEW}

    @property
    def most_named(self) -> int:
        """How many items the mechanism names at most; 1, where each is named by itself."""
        return self._hints.most_items or 1

    @property
    def steps_uphill(self) -> int:
        """How many steps a search for worse data sets takes: one where laws have many branches."""
        return 2 if self._hints.coarse is None else 1

    def asks_for_looser(self) -> bool:
        """Whether the mechanism asks an engine for evidence of another kind, or bounded less."""
        wants = self.mechanism.wants
        if wants.kind is not self.mechanism.evidence:
            return True
        if self._bound is None or not self.bounded_by_engine:
            return False
        return wants.bound is None or wants.bound > self._bound

    def families(self) -> Iterator[list[Data]]:
        """Lists of data sets, each of as many items, in one order of their items."""
        for n_items, most in self._sizes.items():
            near = self._near() if n_items < _MANY else []
            entries = [*range(most + 1), *(x for x in near if x > most)]
            yield list(itertools.combinations_with_replacement(entries[::-1], n_items))
        yield from self.large()
        yield from self.wide()

    def large(self) -> Iterator[list[Data]]:
        """Few items with entries so large that whatever depends on a total may be another."""
        for entry in map(self.many, self.large_sizes[-1 if self._quick else 0 :]):
            yield [(entry,)]
            yield [(entry,) * 2]

    def wide(self) -> Iterator[list[Data]]:
        """More items than are looked at in full: some that lead by far, and some that do not."""
        low, high = self.many(0), self.many(_LEAD)
        sizes = self.quick_wide_sizes if self._quick else self.wide_sizes
        most = _WIDE if self._hints.inner is None else _MANY
        for n_items, leading in sizes.items():
            if n_items > most and self.most_named >= _FEW:
                return  # too many orders
            yield [(high,) * n + (low,) * (n_items - n) for n in leading]
            yield [(self.many(2),) * n_items]

    def many(self, n: int) -> Any:
        """The entry of an item that as many users hold, and of the least that is looked at."""
        return n

    def _near(self) -> list[int]:
        """Counts at which the mechanism begins to name items, where they are few."""
        near = (math.ceil(at) for at in self._hints.thresholds if at <= _MOST_NEAR)
        return list(dict.fromkeys(count for at in near for count in (at - 1, at + 1)))

    def _threshold(self) -> float | None:
        return min(self._hints.thresholds, default=None)

    def changes(self, n_items: int) -> list[Data]:
        """All that one user may change. Data sets come in one order of items, so both ways."""
        bound = self._bound or n_items
        least = 0 if self.mechanism.adjacency == ADD_OR_REMOVE else -self.step
        ways = self.ways(range(least, self.step + 1), n_items)
        return [way for way in ways if 0 < max(_signs(way, 1), _signs(way, -1)) <= bound]

    def ways(self, steps: Sequence[Any], n_items: int) -> Iterable[Data]:
        """Give each item a step; of many items, one to the first of them and one to the rest."""
        if n_items < _WIDE:
            return itertools.product(steps, repeat=n_items)
        few = range(n_items) if n_items <= _SOME else (1, n_items // 2, n_items - 1)
        each = itertools.product(steps, steps, few)
        return dict.fromkeys((a,) * n + (b,) * (n_items - n) for a, b, n in each)

    def changed(self, data: Data, change: Data) -> Data | None:
        """The neighbour, or None where there is none."""
        result = tuple(a + b for a, b in zip(data, change, strict=True))
        return None if min(result) < 0 else result

    def moved(self, data: Data, item: int, step: int) -> Data | None:
        """The data set with one entry larger or smaller, or None where there is none."""
        moved = (*data[:item], data[item] + step, *data[item + 1 :])
        return None if moved[item] < 0 else moved

    def n_items(self, data: Data) -> int:
        return len(data)

    def permuted(self, data: Data, order: Sequence[int]) -> Data:
        """The data set in which the item order[i] is item i."""
        return tuple(data[i] for i in order)

    def falling(self, data: Data) -> Sequence[int]:
        """The order of items in which one data set stands for all of its orders."""
        return sorted(range(len(data)), key=data.__getitem__, reverse=True)

    def enumerable(self) -> Audited:
        """The mechanism, or one of the same code with fewer branches."""
        return self._hints.coarse or self.mechanism

    def edges(self, n_items: int) -> tuple[float, ...]:
        """Where scores are cut into cells, for data sets of as many items."""
        return (-0.5, 0.5, 1.5, 3.5) if n_items < 3 else (1.5,)

    def edges_for(self, family: Sequence[Data]) -> tuple[float, ...]:
        """Where scores are cut into cells, for all laws that are compared in this family.

        Where one item has many users, there are many cells: little of what its score tells is lost.
        """
        n_items, level = self.n_items(family[0]), self.level(family)
        if n_items >= _WIDE and any(len(set(data)) > 1 for data in family):
            return ()  # some lead by so much that their cells are known
        if level < _HIGH:
            return self.edges(n_items)
        edges = {level + edge for edge in _NEARBY[: None if n_items == 1 else 1]}
        if n_items == 1:
            steps = range(-8, 9, 2 if self._quick else 1)
            edges |= {level + n + self._score_sd * i / 2 for i in steps for n in (0, 1)}
        return tuple(sorted(edges))

    def level(self, family: Sequence[Data]) -> float:
        """About the least of all scores."""
        return float(min(map(min, family)))

    @property
    def _score_sd(self) -> float:
        """The noise in the scores; where that is not known, that of the Laplace mechanism."""
        return self._hints.score_sd or math.sqrt(2) / self.mechanism.epsilon

    def sampled_pairs(self, n_items: int) -> Iterator[tuple[tuple[Data, Data], tuple[int, ...]]]:
        """Neighbours of equal entries that samples are drawn of, and a class for each item.

        Items that the entry and the change do not tell apart are of one class.
        """
        for entry in dict.fromkeys(self.sampled(next(iter(self.families())))):
            data, change = (entry,) * n_items, self.sampled_change(n_items)
            other = self.changed(data, change)
            if other is not None:
                yield (data, other), classes_of(change)

    def sampled(self, alone: list[Data]) -> list[Any]:
        """Entries of items that samples are drawn of: some users, and many."""
        return [max(alone)[0], self.many(_MANY_USERS)]

    def sampled_change(self, n_items: int) -> Data:
        """A change of half of the items; where counts move both ways, the other half moves back."""
        half, back = n_items // 2, 0 if self.mechanism.adjacency == ADD_OR_REMOVE else -1
        changes = self.changes(n_items)
        wanted = (1,) * half + (back,) * (n_items - half)
        return wanted if wanted in changes else max(changes, key=lambda change: -_rest(change))

    def held(self, data: Data) -> Sequence[int]:
        """The items that the evidence knows of, in its order: all that everybody knows."""
        return range(self.n_items(data))

    @abstractmethod
    def evidence_of(self, data: Data) -> Any:
        """What the mechanism is shown of a data set."""

    def written(self, data: Data) -> str:
        return "(" + ", ".join(map(str, data)) + ")"


def _signs(change: Data, sign: int) -> int:
    """How many entries are raised, or lowered."""
    return sum(entry * sign > 0 for entry in change)


def _rest(change: Data) -> int:
    """How far it is from changing half of the items."""
    return abs(sum(bool(np.any(entry)) for entry in change) - max(1, len(change) // 2))


def classes_of(entries: Sequence[Any]) -> tuple[int, ...]:
    """A number for each entry, the same for equal ones."""
    return tuple(entries.index(entry) for entry in entries)
