"""Counts of items that everybody may know, of which each user's part is clipped.

A user who holds d of the items adds min(1, sqrt(bound / d)) to each: ℓ2 norm at most sqrt(bound),
whatever the user holds beside. To find the best, all are measured in noise, and again those of
which that left it open, as follows from what was released. Proof note:
`docs/proofs/adaptive-top-k.md`, part E.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.likely_least import likely_least
from shortlist.algorithms.rounding_grids import (
    UNIT_OF_WEIGHTS,
    WHOLE_WEIGHT,
    GridOfCounts,
    fine_grid,
)
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.noise import Normal
from shortlist.evidence import UserSets
from shortlist.privacy import round_up

Mask: TypeAlias = NDArray[np.bool_]

# For ranking noise weighs more: what is left out of all counts alike changes no order.
_OF_RANKS = 5.0
# Standard deviations from the last place that is still named.
_DECIDED = 1.3
# Of the noise of a measurement: that of the mean of two.
_OF_BOTH = math.sqrt(1 / 2)


class Measured(NamedTuple):
    """Noisy counts, and the standard deviation of the noise in each."""

    counts: Floats
    sd: float


@dataclass(frozen=True)
class ClippedCounts:
    """Users' sets among items that were released, or are public.

    Attributes:
        held: Each user's items: whole sets, of nothing but these items.
        grid: What noisy counts are rounded down to, given the standard deviation of the noise.
        noise_weight: How much the noise's standard deviation counts beside what is left out of a
            count, in the mean, when a bound is picked: as for ranking, unless it is given.
        most: How many of the items one user can hold, whatever the rows; None for all of them.
    """

    held: UserSets
    grid: GridOfCounts = fine_grid
    noise_weight: float = _OF_RANKS
    most: int | None = None

    def measured(
        self,
        bounds: Sequence[int],
        sds: Sequence[float],
        epsilon: float,
        draws: Draws,
        share_of_noise: float = 1.0,
    ) -> Measured:
        """The noisy counts at a bound that is picked.

        Args:
            bounds: To pick from.
            sds: The standard deviation of the noise at each.
            epsilon: The range of the choice.
            draws: The exact draws.
            share_of_noise: How much of it is left after all measurements, which the choice suits.
        """
        chosen = self.pick(bounds, [share_of_noise * sd for sd in sds], epsilon, draws)
        return Measured(self.noisy(bounds[chosen], sds[chosen], draws), sds[chosen])

    def noisy(self, bound: int, sd: float, draws: Draws) -> Floats:
        """The counts clipped to a bound in normal noise, rounded down to a public grid.

        Args:
            bound: Of the squared norm of one user's part, at least 1.
            sd: Of the noise.
            draws: The exact draws.
        """
        grid = self.grid(sd)
        multiples = draws.rounded_down(self.clipped(bound), Normal(sd), grid, unit=UNIT_OF_WEIGHTS)
        return np.multiply(multiples, grid.step * UNIT_OF_WEIGHTS, dtype=np.float64)

    def clipped(self, bound: int) -> Ints:
        """The counts clipped to a bound, in multiples of 2^-20: private."""
        return self.held.added_by_size(self._weights(bound))

    def pick(
        self, bounds: Sequence[int], sds: Sequence[float], epsilon: float, draws: Draws
    ) -> int:
        """The bound that is likely to leave the least error: its place.

        Clipping to a bound leaves out part of the counts of users who hold more items, and the
        noise grows with the bound. What is left out, over the number of items that one user can
        hold, grows by a number from 0 to 1 with each user: an exponential mechanism of range
        epsilon.

        Args:
            bounds: To pick from.
            sds: The standard deviation of the noise at each.
            epsilon: The range.
            draws: The exact draws.
        """
        lost = np.array([self._lost(bound) for bound in bounds], np.int64)
        noise = np.array(sds) - min(sds)
        factors = np.exp(-epsilon * self._noise_weight * noise)  # public: rounded in any way
        return likely_least(lost, epsilon, draws, factors)

    @property
    def _most(self) -> int:
        return max(self.held.n_items if self.most is None else self.most, 1)

    @property
    def _noise_weight(self) -> float:
        """That of the noise beside what is left out over as many items."""
        return self.noise_weight * max(self.held.n_items, 1) / self._most

    def _lost(self, bound: int) -> int:
        """What clipping leaves out of all counts, over what one user can hold: 0 to 1 of a user.

        Of a user who holds d of at most n items it is d (1 - w) / n in units, rounded down.
        """
        sizes = np.arange(len(self._users_of_size))
        lost = sizes * (WHOLE_WEIGHT - self._weights(bound)) // self._most
        return int(self._users_of_size @ lost)

    @cached_property
    def _users_of_size(self) -> Ints:
        return self.held.users_of_size()

    def _weights(self, bound: int) -> Ints:
        """What a user adds to each item, by how many are held."""
        return clipped_weights(bound, len(self._users_of_size) - 1)


class RankedItems(NamedTuple):
    """Items, best first, as they were released.

    Attributes:
        items: Their positions.
        counts: The noisy count of each; of users who hold many of the items it holds a part.
        sds: The standard deviation of the noise in each.
    """

    items: Ints
    counts: Floats
    sds: Floats


@dataclass(frozen=True)
class TwoMeasurements:
    """Two noisy counts of what may be known, the second of what the first left open.

    Attributes:
        bounds: The squared norms of one user's part to choose from.
        sds: The standard deviation of a measurement's noise for each of these.
        epsilon: The range of the choice, of which there is one for each measurement.
        grid: What noisy counts are rounded down to, given the standard deviation of the noise.
    """

    bounds: tuple[int, ...]
    sds: tuple[float, ...]
    epsilon: float
    grid: GridOfCounts = fine_grid

    def best(self, held: UserSets, k: int, draws: Draws) -> RankedItems:
        """The k items of the largest counts (all, if there are fewer).

        Args:
            held: Users' whole sets, of no items but those that may be known.
            k: At least 1.
            draws: The exact draws.
        """
        if not held.n_items:
            return RankedItems(np.empty(0, np.int64), np.empty(0), np.empty(0))
        first = self._measured(held, _OF_BOTH, draws)
        is_in, is_open = _decided(first, k)
        undecided = np.flatnonzero(is_open)
        second = self._measured(held.among(undecided), 1.0, draws)
        counts, sds = first.counts.copy(), np.full(held.n_items, first.sd)
        counts[undecided], sds[undecided] = _mean(first, second, undecided)
        named = best_first(counts[undecided], draws)[: k - np.count_nonzero(is_in)]
        items = np.append(np.flatnonzero(is_in), undecided[named])
        items = items[best_first(counts[items], draws)]
        return RankedItems(items, counts[items], sds[items])

    def _measured(self, held: UserSets, share_of_noise: float, draws: Draws) -> Measured:
        clipped = ClippedCounts(held, self.grid)
        return clipped.measured(self.bounds, self.sds, self.epsilon, draws, share_of_noise)


def _decided(first: Measured, k: int) -> tuple[Mask, Mask]:
    """Which items are among the k best for certain, and for which that is open.

    The item at the last place is among the open ones. Where all are named, all are.
    """
    if k >= len(first.counts):
        return np.zeros(len(first.counts), np.bool_), np.ones(len(first.counts), np.bool_)
    ahead = first.counts - np.partition(first.counts, -k)[-k]
    far = _DECIDED * first.sd
    return ahead > far, np.abs(ahead) <= far


def _mean(first: Measured, second: Measured, items: Ints) -> tuple[Floats, float]:
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


def sd_of_counts(bound: int, rho: float) -> float:
    """Of the noise of counts of which one user's part has at most this squared norm: rounded up."""
    return round_up(Fraction(math.sqrt(bound / rho / 2)) * (1 + Fraction(1, 2**50)))


def clipped_weights(bound: int, largest: int) -> Ints:
    """The largest w up to 1 with size · w² <= bound, in multiples of 2^-20, for sizes 0 .. largest.

    Args:
        bound: At most 2^12, so that roots of floats, rounded down, are those of integers.
        largest: Of the sizes.

    >>> (clipped_weights(4, 100)[[1, 4, 16, 100]] / 2**20).tolist()
    [1.0, 1.0, 0.5, 0.19999980926513672]
    """
    sizes = np.maximum(np.arange(largest + 1), 1)
    squares = bound * WHOLE_WEIGHT * WHOLE_WEIGHT // sizes  # below 2^53
    weights: Ints = np.minimum(np.sqrt(squares).astype(np.int64), WHOLE_WEIGHT)
    return weights
