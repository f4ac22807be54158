"""The users that no picked item has reached yet, in an engine, by anti-joins."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Ints
from shortlist.engines.tables._names import CODE, SUM, USER
from shortlist.evidence.user_sets import Unreached

if TYPE_CHECKING:
    from shortlist.engines.tables.sets import SetsInTable

__all__ = ["UnreachedInTable"]


@dataclass
class UnreachedInTable(Unreached):
    """By the sets among the domain, of which a pick asks only for those whom it reaches anew.

    Nothing is changed in the engine: who was reached is who holds an item picked before.

    Attributes:
        counts: As in `Unreached`.
    """

    counts: Ints
    _held: SetsInTable
    _is_left: NDArray[np.bool_]
    _picked: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, held: SetsInTable) -> UnreachedInTable:
        """All users, by their sets of nothing but the domain."""
        counts = held.recount().counts
        return cls(counts, held, np.ones(len(counts), np.bool_))

    def reach(self, place: int) -> None:
        """As `Unreached.reach`."""
        pairs = self._held.pairs
        holders = pairs.filter(pairs[CODE] == place).select(USER)
        if self._picked:
            before = pairs.filter(pairs[CODE].isin(self._picked)).select(USER)
            holders = holders.anti_join(before, USER)
        reached = pairs.semi_join(holders, USER)
        anew = reached.group_by(CODE).agg(**{SUM: reached.count()})
        self.counts = self.counts - self._held.fetched(anew)
        self._picked.append(place)

    def leave_out(self, place: int) -> None:
        """As `Unreached.leave_out`."""
        self._is_left[place] = False

    def groups(self) -> tuple[Ints, Ints]:
        """As `Unreached.groups`."""
        counts, sizes = np.unique(self.counts[self._is_left], return_counts=True)
        return counts[::-1].copy(), sizes[::-1].copy()

    def members(self, count: int) -> Ints:
        """As `Unreached.members`."""
        return np.flatnonzero(self._is_left & (self.counts == count))
