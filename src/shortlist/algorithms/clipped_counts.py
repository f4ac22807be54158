"""Counts of items that everybody may know, of which each user's part is clipped.

A user who holds d of the items adds min(1, sqrt(bound / d)) to each: ℓ2 norm at most sqrt(bound),
whatever the user holds beside. Proof note: `docs/proofs/adaptive-top-k.md`, part E.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from shortlist.algorithms.rounding_grids import BITS_OF_WEIGHTS, UNIT_OF_WEIGHTS, fine_grid
from shortlist.draws import Draws, Floats, Ints, RoundingGrid
from shortlist.draws.noise import Normal
from shortlist.draws.reals import ExponentialWeights
from shortlist.evidence import UserSets
from shortlist.privacy import round_up

__all__ = ["ClippedCounts", "clipped_weights", "sd_of_counts"]

# A user's whole part, in the unit of weights.
_ONE = 1 << BITS_OF_WEIGHTS
# For ranking noise weighs more: what is left out of all counts alike changes no order.
_OF_RANKS = 5.0


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
    grid: Callable[[float], RoundingGrid] = fine_grid
    noise_weight: float = _OF_RANKS
    most: int | None = None

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
        per_unit = epsilon * UNIT_OF_WEIGHTS  # exact
        return ExponentialWeights.of_ways(-lost, factors, per_unit).pick_way(draws)

    @property
    def _most(self) -> int:
        """How many of the items one user can hold."""
        return max(self.held.n_items if self.most is None else self.most, 1)

    @property
    def _noise_weight(self) -> float:
        """That of the noise beside what is left out over as many items."""
        return self.noise_weight * max(self.held.n_items, 1) / self._most

    def _lost(self, bound: int) -> int:
        """What clipping leaves out of all counts, over what one user can hold: 0 to _ONE of a user.

        Of a user who holds d of at most n items it is d (1 - w) / n in units, rounded down.
        """
        sizes = np.arange(len(self._users_of_size))
        lost = sizes * (_ONE - self._weights(bound)) // self._most
        return int(self._users_of_size @ lost)

    @cached_property
    def _users_of_size(self) -> Ints:
        """How many users hold so many of the items."""
        return self.held.users_of_size()

    def _weights(self, bound: int) -> Ints:
        """What a user adds to each item, by how many are held."""
        return clipped_weights(bound, len(self._users_of_size) - 1)


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
    squares = bound * _ONE * _ONE // sizes  # below 2^53
    weights: Ints = np.minimum(np.sqrt(squares).astype(np.int64), _ONE)
    return weights
