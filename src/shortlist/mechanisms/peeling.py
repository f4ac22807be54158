"""Peeling: the exponential mechanism k times, each time without the items already picked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from shortlist.calibration import peeling_epsilon
from shortlist.exact import Draws
from shortlist.histogram import Counts
from shortlist.mechanisms.base import Mechanism, Selection
from shortlist.privacy import Pure
from shortlist.reals import ExponentialWeights, Ints

__all__ = ["Peeling", "odds", "peel"]


@dataclass(frozen=True, kw_only=True)
class Peeling(Mechanism):
    """Top-k of public items: k picks, each an item with odds exp(local_epsilon · count).

    The same law as one-shot Gumbel noise of scale 1/local_epsilon on every count.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, which moves any counts by at
    most 1, all the same way. Each pick is local_epsilon-bounded-range; k of them cost
    k local_epsilon pure and k local_epsilon²/8 zCDP, and local_epsilon is the largest that fits.

    Source: Durfee & Rogers (2019); Gillenwater et al. (2022), Lemma 4.2, with a tighter
    conversion. Proof note: `docs/proofs/peeling.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        delta: In [0, 1); with 0 the guarantee is pure.

    Raises:
        InputError: A parameter is out of range.

    >>> round(Peeling(k=20, epsilon=1.0, delta=1e-6).local_epsilon, 4)
    0.0987
    """

    k: int
    epsilon: float
    delta: float = 0.0

    evidence: ClassVar[type] = Counts
    derived: ClassVar[tuple[str, ...]] = ("local_epsilon",)

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick."""
        return peeling_epsilon(self.k, epsilon=self.epsilon, delta=self.delta)

    @property
    def cost(self) -> Pure:
        """K picks of bounded range."""
        return Pure.bounded_range(self.local_epsilon) * self.k

    def explain(self) -> list[str]:
        """The odds in plain words."""
        return [f"{self.k} items are picked one after another: {odds(self.local_epsilon)}"]

    def select(self, evidence: Counts, draws: Draws) -> Selection:
        """K items in the order picked (all, if there are fewer)."""
        return Selection(peel(evidence.counts, self.k, self.local_epsilon, draws))


def odds(local_epsilon: float) -> str:
    """What the parameter of a pick means."""
    return (
        f"one more person changes an item's odds by a factor of at most exp({local_epsilon:.3g})."
    )


def peel(counts: Ints, k: int, local_epsilon: float, draws: Draws) -> Ints:
    """Positions of `k` items (all, if fewer), picked one by one with odds exp(epsilon · count).

    Items of equal count have equal odds. So a pick first chooses a count, by its odds times the
    number of items that have it, and then one of these items: the cost grows with the number of
    distinct counts only.
    """
    values, multiplicities = np.unique(counts, return_counts=True)
    members: dict[int, Ints] = {}
    picked = []
    for _ in range(min(k, len(counts))):
        group = draws.choice(ExponentialWeights(values, multiplicities, local_epsilon))
        place = int(draws.integer(multiplicities[group : group + 1])[0])
        value = int(values[group])
        items = members[value] if value in members else np.flatnonzero(counts == value)
        picked.append(int(items[place]))
        members[value] = np.delete(items, place)
        multiplicities[group] -= 1
        if multiplicities[group] == 0:
            values, multiplicities = np.delete(values, group), np.delete(multiplicities, group)
    return np.array(picked, np.int64)
