"""Users that no picked item has reached yet, and how many of them hold each item."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.contributions import Codes, Contributions
from shortlist.reals import Ints

__all__ = ["Unreached"]


@dataclass(frozen=True)
class Unreached:
    """The users not reached so far, by the items of a domain that they hold.

    All `reach` together look at each (user, item) twice: once by the item, once by the user.

    Attributes:
        counts: How many users not reached hold each item of the domain, shape (n,); it changes with
            every `reach`.
    """

    counts: Ints
    _held: Contributions
    _places: Ints  # of each item code in the domain, or -1
    _starts: Ints  # where each item's holders begin
    _holders: Codes
    _reached: NDArray[np.bool_]

    @classmethod
    def of(cls, held: Contributions, domain: Ints) -> Unreached:
        """All users; the domain are item codes, none twice."""
        counts = held.recount().counts[domain]
        places = np.full(held.n_items, -1, np.int64)
        places[domain] = np.arange(len(domain))
        starts = np.append(0, np.cumsum(counts))
        holders = np.empty(starts[-1], np.uint32)
        kernels.invert(held.starts, held.sizes, held.items, places, starts[:-1].copy(), holders)
        reached = np.zeros(len(held.starts), np.bool_)
        return cls(counts, held, places, starts, holders, reached)

    def reach(self, place: int) -> None:
        """All who hold the item at this place of the domain."""
        held = self._held
        kernels.reach(
            self._holders[self._starts[place] : self._starts[place + 1]],
            self._reached,
            held.starts,
            held.sizes,
            held.items,
            self._places,
            self.counts,
        )
