"""Which bound on a user's items: chosen privately, by how many users hold more than each.

Proof note: `docs/proofs/chosen-bound.md`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shortlist.algorithms.rounding_grids import BITS_OF_WEIGHTS, UNIT_OF_WEIGHTS
from shortlist.draws import Draws, Ints
from shortlist.draws.reals import ExponentialWeights
from shortlist.evidence import UserSets

__all__ = ["BoundChoice"]

_ONE = 1 << BITS_OF_WEIGHTS  # the whole loss of a user, in the unit of weights


@dataclass(frozen=True)
class BoundChoice:
    """An exponential mechanism over bounds; all that is in it is public.

    A user who holds more items than a bound loses 1 at it, and every other user loses what the
    bound's threshold costs. So one user more adds a number from 0 to 1 to the losses of all bounds.

    Attributes:
        bounds: To choose from, rising.
        thresholds: How noisy a weight is enough at each.
        factors: Of the odds of each, whatever users hold.
        epsilon: The range.
    """

    bounds: tuple[int, ...]
    thresholds: tuple[float, ...]
    factors: tuple[float, ...]
    epsilon: float

    def pick(self, held: UserSets, draws: Draws) -> int:
        """The bound that is likely to lose users least, of whole sets: its place."""
        lost = self._lost(held.users_of_size())
        per_unit = self.epsilon * UNIT_OF_WEIGHTS  # exact
        return ExponentialWeights.of_ways(-lost, np.array(self.factors), per_unit).pick_way(draws)

    def _lost(self, users_of_size: Ints) -> Ints:
        """What all users lose at each bound, in multiples of 2^-20."""
        everybody = int(users_of_size[1:].sum())  # who holds nothing may be left out
        beyond = np.array([users_of_size[bound + 1 :].sum() for bound in self.bounds], np.int64)
        lost: Ints = beyond * _ONE + (everybody - beyond) * self._of_others
        return lost

    @property
    def _of_others(self) -> Ints:
        """What a user loses who holds no more than a bound, by how it raises the threshold."""
        least = min(self.thresholds)
        shares = [1 - least / threshold for threshold in self.thresholds]  # public: as they may be
        of_others: Ints = np.floor(np.clip(shares, 0.0, 1.0) * _ONE).astype(np.int64)
        return of_others
