"""Universes of users' whole sets of items in two groups.

A data set is one of users' sets of pairs: pair i is the item i // 2 in the group i % 2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np

from shortlist.audit.universes.base import Data
from shortlist.audit.universes.users import OfContributions
from shortlist.evidence.grouped import GroupedSets
from shortlist.mechanisms.base import Mechanism

__all__ = ["OfGroupedSets"]

_GROUPS = 2
_MOST_CHOICES = 4  # of the groups that count of all users


class OfGroupedSets(OfContributions):
    """Users who hold any sets of a few pairs of a group and an item.

    Class attributes:
        branched_sizes: As for users' sets: 1 item in one group, or in two.
    """

    evidence = GroupedSets  # type: ignore[assignment]
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
