"""Histograms that users fill one after another, each looking at what those before have added.

Whatever a user adds depends on the items that are still below a cutoff, so that no weight is spent
on items that have enough. One user more or less still changes the whole by hardly more than the
user's own share: `docs/proofs/policy-gaussian.md`, `docs/proofs/policy-greedy.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from shortlist import kernels
from shortlist.draws import Draws, Ints
from shortlist.evidence.buckets import MOST_USERS, Codes
from shortlist.evidence.contributions import Contributions

MOST_ITEMS = 2**19
"""Of one user: the sums of the squares of so many gaps are exact in `kernels.descend`."""


@dataclass(frozen=True)
class FixedPoint:
    """The fixed-point numbers of `descend`: multiples of 2^-bits, less than 2^62 of them.

    Attributes:
        bits: How many binary places they have.
    """

    bits: int

    @classmethod
    def reaching(cls, largest: float) -> FixedPoint:
        """The finest on which numbers up to twice the largest, which is at least 1, fit."""
        return cls(62 - math.frexp(2 * largest)[1])

    @property
    def unit(self) -> float:
        """The distance of neighbouring numbers."""
        return 2.0**-self.bits

    def up(self, number: float) -> int:
        """The number in units, rounded up."""
        return math.ceil(number * 2.0**self.bits)

    def holds(self, number: float) -> bool:
        """Whether there is room for it, and for the unit that rounding up may add."""
        return self.up(number) + 1 < 2**62

    def drift(self, max_items_per_user: int) -> float:
        """How far the roundings of all users together can drive two neighbours apart, rounded up.

        Each step falls short by less than a unit in every item, and by a share below 2^-48 of what
        it adds, which has norm at most 1.
        """
        step = math.sqrt(max_items_per_user) * self.unit + 2.0**-47
        return MOST_USERS * step * (1 + 2.0**-50)


def descend(
    held: Contributions,
    order: Codes,
    *,
    cutoff: int,
    grid: FixedPoint,
    start: Ints | None = None,
) -> Ints:
    """The weights after each user in turn has moved the items held towards the cutoff.

    With g the gaps to the cutoff, the user adds g if its ℓ2 norm is at most 1, and else g divided
    by its norm, rounded down. What one user adds has norm at most 1, exactly.

    Args:
        held: Sets of at most `MOST_ITEMS` items.
        order: Users in turn.
        cutoff: In units of the grid, from 1 to 2^62 - 1.
        grid: The grid of the weights.
        start: Weights to begin with, at most the cutoff, shape (n_items,); 0, if None.

    Source: Gopi et al. (2020), the ℓ2-descent of policy Gaussian.
    """
    weights = np.zeros(held.n_items, np.int64) if start is None else start.copy()
    one = 2**grid.bits
    kernels.descend(held.starts, held.sizes, held.items, order, cutoff, one, weights)
    return weights


def count_units(
    held: Contributions, order: Codes, ranks: Codes, *, cutoff: int, start: Ints
) -> Ints:
    """The counts after each user in turn has added 1 to one of the items held.

    It is the first in rank of those whose count is below the cutoff; or of all, if none is.

    Args:
        held: Sets of items.
        order: Users in turn.
        ranks: Of each item, all different, shape (n_items,).
        cutoff: At least 1.
        start: Counts to begin with, at most the cutoff, shape (n_items,).

    Source: Carvalho et al. (2022), policy greedy, with a cutoff that is a whole number.
    """
    counts = start.copy()
    kernels.count_units(held.starts, held.sizes, held.items, order, ranks, cutoff, counts)
    return counts


def users_shuffled(held: Contributions, draws: Draws) -> Codes:
    """The users who hold anything, in a uniformly random order."""
    users = np.flatnonzero(held.sizes).astype(np.uint32)
    return users[shuffled(len(users), draws)]


def shuffled_known_first(n: int, known: Ints, draws: Draws) -> Codes:
    """The ranks of n items: the known ones come first; these, and the others, in random order."""
    if not len(known):
        return shuffled(n, draws)
    ranks = np.empty(n, np.uint32)
    others = np.ones(n, np.bool_)
    others[known] = False
    ranks[known] = shuffled(len(known), draws)
    ranks[others] = shuffled(n - len(known), draws) + np.uint32(len(known))
    return ranks


def shuffled(n: int, draws: Draws) -> Codes:
    """The numbers 0 .. n - 1 in a uniformly random order, n below 2^32."""
    numbers = np.arange(n, dtype=np.uint32)
    choices = draws.integer(np.arange(n, 1, -1))
    kernels.pick_subsets(np.zeros(1, np.int64), np.array([len(choices)]), choices, numbers)
    return numbers
