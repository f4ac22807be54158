"""Universes of items in two groups: users' whole sets of them, or their counts.

Pair i is the item i // 2 in the group i % 2. A data set is one of users' sets of pairs, or has the
count of each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from shortlist.audit.universes.universe import Data, Universe
from shortlist.audit.universes.users import OfContributions
from shortlist.evidence import GroupedCounts, PrivateCounts, PublicCounts
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.evidence.user_sets import UserGroups
from shortlist.mechanisms.mechanism import Adjacency, Mechanism

__all__ = ["OfGroupedCounts", "OfGroupedSets"]

_GROUPS = 2
_MOST_CHOICES = 4  # of the groups that count of all users


class OfGroupedSets(OfContributions):
    """Users who hold any sets of a few pairs of a group and an item.

    Class attributes:
        branched_sizes: As for users' sets: 1 item in one group, or in two.
    """

    evidence = UserGroups  # type: ignore[assignment]
    exchangeable: ClassVar[bool] = False  # pairs of one group are no others'
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 3}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 2}
    branched_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 1}

    def __init__(self, mechanism: Mechanism, *, quick: bool = False) -> None:
        """As any universe; two groups, of which a user counts in one or in both."""
        super().__init__(mechanism, quick=quick)
        self._most_groups = self._hints.most_groups or _GROUPS

    def large(self) -> Iterator[list[Data]]:
        """Many users who are in one group."""
        yield from ([(n,)] for n in self.large_sizes[-1 if self._quick else 0 :])

    def wide(self) -> Iterator[list[Data]]:
        """None: many pairs are many branches."""
        return iter(())

    def _near(self) -> list[int]:
        """Numbers of users at each threshold, where they are few."""
        near = {math.ceil(at) for at in self._hints.thresholds if at <= self.large_sizes[0]}
        return [] if self._quick else sorted(near)

    def _is_small(self, data: Data) -> bool:
        """Whether there are few ways to bound the users' groups."""
        ways = 1
        for held, n in enumerate(data, start=1):
            groups = len({pair % _GROUPS for pair in range(held.bit_length()) if held >> pair & 1})
            ways *= math.comb(groups, min(groups, self._most_groups)) ** n
        return ways <= _MOST_CHOICES

    def held(self, data: Data) -> Sequence[int]:
        """The places of all items in both groups, the first group's first."""
        items = -(-self.n_items(data) // _GROUPS)
        return [item * _GROUPS + group for group in range(_GROUPS) for item in range(items)]

    def evidence_of(self, data: Data) -> GroupedSets:  # type: ignore[override]
        """The users' sets of pairs."""
        n_pairs = self.n_items(data)
        codes = np.arange(n_pairs, dtype=np.uint32)
        pairs = self._sets_of(data, range(n_pairs))
        items = -(-n_pairs // _GROUPS)
        return GroupedSets.of_pairs(pairs, codes % _GROUPS, codes // _GROUPS, _GROUPS, items)


class OfGroupedCounts(Universe):
    """How many users hold each item in each of two groups."""

    evidence = GroupedCounts
    exchangeable: ClassVar[bool] = False  # pairs of one group are no others'
    adjacencies = tuple(kind.value for kind in Adjacency)
    sizes: ClassVar[dict[int, int]] = {1: 6, 2: 3, 3: 2, 4: 1}
    quick_sizes: ClassVar[dict[int, int]] = {1: 4, 2: 2, 3: 1, 4: 1}

    def __init__(self, mechanism: Mechanism, *, quick: bool = False) -> None:
        """As any universe; two groups, of which a user is in one or in both."""
        super().__init__(mechanism, quick=quick)
        self._sizes = self.quick_sizes if quick else self.sizes
        self._most_groups = self._hints.most_groups or _GROUPS
        private = mechanism.names_private_items
        self._kind: type[PrivateCounts | PublicCounts] = PrivateCounts if private else PublicCounts

    def families(self) -> Iterator[list[Data]]:
        """All small counts, whichever is in which group; and large ones."""
        for n_pairs, most in self._sizes.items():
            near = self._near() if n_pairs <= _GROUPS else []
            entries = [*range(most + 1), *(x for x in near if x > most)]
            yield list(itertools.product(entries, repeat=n_pairs))
        yield from self.large()

    def changes(self, n_items: int) -> list[Data]:
        """All that one user may change, who is in so many groups: before, and after."""
        return [change for change in super().changes(n_items) if self._is_within(change)]

    def _is_within(self, change: Data) -> bool:
        groups = [
            len({pair % _GROUPS for pair, by in enumerate(change) if by == step})
            for step in (1, -1)
        ]
        return max(groups) <= self._most_groups

    def held(self, data: Data) -> Sequence[int]:
        """All pairs that the evidence knows of, those of the first group first."""
        pairs = sorted(range(len(data)), key=lambda pair: pair % _GROUPS)
        return [pair for pair in pairs if data[pair] or self._kind is PublicCounts]

    def evidence_of(self, data: Data) -> GroupedCounts:
        """The counts with their bounds."""
        held = self.held(data)
        return GroupedCounts.of_rows(
            np.array([data[pair] for pair in held], np.int64),
            np.array([pair % _GROUPS for pair in held], np.int64),
            self._kind,
            max_items_per_user=self._bound,
            max_groups_per_user=self._most_groups,
        )
