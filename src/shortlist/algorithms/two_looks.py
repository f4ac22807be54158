"""The best of items that everybody may know: a first look at all, a second at the undecided.

All that is decided here follows from noisy counts that were released. Proof note:
`docs/proofs/adaptive-top-k.md`, part E.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.clipped_counts import ClippedCounts
from shortlist.algorithms.rounding_grids import fine_grid
from shortlist.draws import Draws, Floats, Ints, RoundingGrid
from shortlist.evidence import UserSets

__all__ = ["Ranked", "TwoLooks", "best_first"]

Mask: TypeAlias = NDArray[np.bool_]

_DECIDED = 1.3  # standard deviations from the last place that is still named
_OF_BOTH = math.sqrt(1 / 2)  # of the noise of a look: that of the mean of two


class Ranked(NamedTuple):
    """Items, best first, as they were released.

    Attributes:
        items: Their positions.
        counts: The noisy count of each; of users who hold many of the items it holds a part.
        sds: The standard deviation of the noise in each.
    """

    items: Ints
    counts: Floats
    sds: Floats


class _Look(NamedTuple):
    """Noisy counts, and the standard deviation of the noise in each."""

    counts: Floats
    sd: float


@dataclass(frozen=True)
class TwoLooks:
    """Two noisy counts of what may be known, the second of what the first left open.

    Attributes:
        bounds: The squared norms of one user's part to choose from.
        sds: The standard deviation of a look's noise for each of these.
        epsilon: The range of the choice, of which there is one for each look.
        grid: What noisy counts are rounded down to, given the standard deviation of the noise.
    """

    bounds: tuple[int, ...]
    sds: tuple[float, ...]
    epsilon: float
    grid: Callable[[float], RoundingGrid] = fine_grid

    def best(self, held: UserSets, k: int, draws: Draws) -> Ranked:
        """The k items of the largest counts (all, if there are fewer).

        Args:
            held: Users' whole sets, of no items but those that may be known.
            k: At least 1.
            draws: The exact draws.
        """
        if not held.n_items:
            return Ranked(np.empty(0, np.int64), np.empty(0), np.empty(0))
        first = self._look(held, _OF_BOTH, draws)
        is_in, is_open = _decided(first, k)
        undecided = np.flatnonzero(is_open)
        second = self._look(held.among(undecided), 1.0, draws)
        counts, sds = first.counts.copy(), np.full(held.n_items, first.sd)
        counts[undecided], sds[undecided] = _mean(first, second, undecided)
        named = best_first(counts[undecided], draws)[: k - np.count_nonzero(is_in)]
        items = np.append(np.flatnonzero(is_in), undecided[named])
        items = items[best_first(counts[items], draws)]
        return Ranked(items, counts[items], sds[items])

    def _look(self, held: UserSets, share: float, draws: Draws) -> _Look:
        """Noisy counts at a bound that suits a share of their noise: what is left after all."""
        clipped = ClippedCounts(held, self.grid)
        sds = [share * sd for sd in self.sds]
        chosen = clipped.pick(self.bounds, sds, self.epsilon, draws)
        sd = self.sds[chosen]
        return _Look(clipped.noisy(self.bounds[chosen], sd, draws), sd)


def _decided(look: _Look, k: int) -> tuple[Mask, Mask]:
    """Which items are among the k best for certain, and for which that is open.

    The item at the last place is among the open ones. Where all are named, all are.
    """
    if k >= len(look.counts):
        return np.zeros(len(look.counts), np.bool_), np.ones(len(look.counts), np.bool_)
    ahead = look.counts - np.partition(look.counts, -k)[-k]
    far = _DECIDED * look.sd
    return ahead > far, np.abs(ahead) <= far


def _mean(first: _Look, second: _Look, items: Ints) -> tuple[Floats, float]:
    """Both counts of these items as one, weighted by precision, and its standard deviation."""
    share = second.sd**2 / (first.sd**2 + second.sd**2)
    counts = share * first.counts[items] + (1 - share) * second.counts
    return counts, math.hypot(share * first.sd, (1 - share) * second.sd)


def best_first(values: Floats, draws: Draws) -> Ints:
    """The order of falling values; equal ones, which rounding may have made so, in random order.

    The order in which items stand says something of the rows that they were read from.
    """
    order = np.argsort(-values, kind="stable")
    ends = np.searchsorted(-values[order], -values[order], side="right")
    left = ends - np.arange(len(values))
    tied = np.flatnonzero(left > 1)
    steps = draws.integer(left[tied]) if len(tied) else tied
    for here, there in zip(tied.tolist(), (tied + steps).tolist(), strict=True):
        order[here], order[there] = order[there], order[here]
    return order
