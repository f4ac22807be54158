"""Picks among the largest counts, until "nobody" is picked."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from shortlist.algorithms.grouping import EqualCounts
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.reals import ExponentialWeights
from shortlist.limits import MOST
from shortlist.mechanisms.peeling import first, picks

__all__ = ["LimitedPicks"]


@dataclass(frozen=True)
class LimitedPicks:
    """Peeling of private items: of the largest counts, and "nobody", who ends it.

    Attributes:
        k: How many items are picked at most.
        looked_at: How many of the largest counts take part; None for all.
        nobody: How many items of the bar's count, one above the next count, have the odds of
            "nobody".
        local_epsilon: The parameter of each pick.
    """

    k: int
    looked_at: int | None
    nobody: float
    local_epsilon: float

    def select(self, counts: Ints, draws: Draws) -> Ints:
        """Positions of at most k items in the order picked.

        Ties at the last place looked at are broken at random.
        """
        groups = EqualCounts.of(counts)
        values, sizes, bar = self._limited(groups)
        nobody = int(np.searchsorted(-values, -bar, side="right"))
        values = np.insert(values, nobody, bar)
        sizes = np.insert(sizes.astype(np.float64), nobody, self.nobody)
        picked = picks(values, sizes, self._pick, draws)
        found = first(self.k, takewhile(lambda group: group != nobody, picked))
        return groups.draw_members(found - (found > nobody), draws)

    def _pick(self, values: Ints, left: Floats, draws: Draws) -> int:
        at_most = float(MOST) + self.nobody
        return ExponentialWeights(values, left, self.local_epsilon, at_most).pick(draws)

    def _limited(self, groups: EqualCounts) -> tuple[Ints, Ints, int]:
        """The groups looked at, with as many items of each as take part, and the bar's count.

        Of a group that takes part in part, each item is as likely to be one of these: the odds are
        those of the part, and a pick is drawn from the whole group.
        """
        held = int(np.searchsorted(-groups.values, 0))  # without the items that nobody holds
        values, sizes, ends = groups.values[:held], groups.sizes[:held], groups.ends[:held]
        if self.looked_at is None or not held or ends[-1] <= self.looked_at:
            return values, sizes, 1
        last = int(np.searchsorted(ends, self.looked_at))
        bar = values[last] if ends[last] > self.looked_at else values[last + 1]
        taking_part = sizes[: last + 1].copy()
        taking_part[last] -= ends[last] - min(ends[last], self.looked_at)
        return values[: last + 1], taking_part, int(bar) + 1
