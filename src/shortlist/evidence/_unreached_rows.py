"""Users that no picked item has reached yet, and how many of them hold each item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import Ints
from shortlist.evidence.user_sets import Unreached

if TYPE_CHECKING:
    from shortlist.evidence.buckets import Codes
    from shortlist.evidence.contributions import Contributions

__all__ = ["UnreachedRows"]


@dataclass(frozen=True)
class UnreachedRows(Unreached):
    """By users' rows.

    All `reach` together look at each (user, item) twice: once by the item, once by the user. Items
    stand in the order of their counts, falling: one whose count falls by 1 changes places
    with the last of those of its count, whose end moves up by one.
    """

    counts: Ints
    _held: Contributions
    _places: Ints  # of each item code in the domain, or -1
    _starts: Ints  # where each item's holders begin
    _holders: Codes
    _reached: NDArray[np.bool_]
    _at_least: Ints  # how many items have at least each count, those left out not among them
    _order: Ints  # places in the domain by falling count, and behind them those left out
    _ranks: Ints  # where in the order each place of the domain stands

    @classmethod
    def of(cls, held: Contributions, domain: Ints) -> UnreachedRows:
        """All users; the domain are item codes, none twice."""
        counts = held.recount().counts[domain]
        places = np.full(held.n_items, -1, np.int64)
        places[domain] = np.arange(len(domain))
        starts = np.append(0, np.cumsum(counts))
        holders = np.empty(starts[-1], np.uint32)
        kernels.invert(held.starts, held.sizes, held.items, places, starts[:-1].copy(), holders)
        reached = np.zeros(len(held.starts), np.bool_)
        at_least = np.bincount(counts, minlength=1)[::-1].cumsum()[::-1].copy()
        order, ranks = np.empty_like(counts), np.empty_like(counts)
        kernels.sort_falling(counts, at_least.copy(), order, ranks)
        return cls(counts, held, places, starts, holders, reached, at_least, order, ranks)

    def reach(self, place: int) -> None:
        """As `Unreached.reach`."""
        held = self._held
        kernels.reach(
            self._holders[self._starts[place] : self._starts[place + 1]],
            self._reached,
            held.starts,
            held.sizes,
            held.items,
            self._places,
            self.counts,
            self._at_least,
            self._order,
            self._ranks,
        )

    def leave_out(self, place: int) -> None:
        """As `Unreached.leave_out`."""
        kernels.lower(place, self.counts, self._at_least, self._order, self._ranks)

    def groups(self) -> tuple[Ints, Ints]:
        """As `Unreached.groups`."""
        values = np.empty(min(len(self.counts), len(self._at_least)), np.int64)
        values = values[: kernels.distinct(self.counts, self._at_least, self._order, values)]
        return values, np.diff(self._at_least[values], prepend=0)

    def members(self, count: int) -> Ints:
        """As `Unreached.members`."""
        first = self._at_least[count + 1] if count + 1 < len(self._at_least) else 0
        return self._order[first : self._at_least[count]]
