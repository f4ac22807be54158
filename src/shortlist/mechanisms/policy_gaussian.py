"""Policy Gaussian: users add weight where it still helps; then Gaussian noise and a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from shortlist.algorithms.policies import MOST_ITEMS, FixedPoint, descend, users_shuffled
from shortlist.draws import Draws
from shortlist.draws.reals import NormalCDF
from shortlist.errors import InputError
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import (
    AuditHints,
    Selection,
)
from shortlist.mechanisms.weighted_gaussian import GaussianDiscovery
from shortlist.parameters import Whole
from shortlist.privacy import round_up
from shortlist.privacy.calibration import gaussian_sigma

# The grid is made for less than twice the noise, so for a sensitivity below 2.
_MOST_DRIFT = 0.99


@dataclass(frozen=True, kw_only=True)
class PolicyGaussian(GaussianDiscovery):
    """Domain discovery: users in random order add weight to the items that still need it.

    A user moves the weights of the items held straight towards a cutoff, by an ℓ2 norm of at most
    1. Each item's weight gets Gaussian noise, and the item is named if it reaches the threshold.
    A weight ends at the cutoff, and says nothing of how many hold the item: it is not released.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the sensitivity of the
    weights as they are computed, hardly above 1. A user whose items are all held by others spends
    delta on the noise, and one who alone holds them all spends it on the threshold. All users in
    between are looked at too, and stay within it.

    Source: Gopi et al. (2020), policy Gaussian with ℓ2-descent. The variant that fills items one
    by one and spreads the rest evenly is not private at this noise, and not offered. Proof notes:
    `docs/proofs/policy-gaussian.md`, `docs/proofs/accountant.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count, at most 2^19.
        threshold_share: The share of delta that pays for the threshold, in zCDP.
        accounting: By the worst case of all users, or in zCDP, for one release of many.
        alpha: How many standard deviations of the noise the cutoff lies above the threshold.

    >>> mechanism = PolicyGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> round(mechanism.sigma, 3), round(mechanism.threshold, 3), round(mechanism.cutoff, 3)
    (4.225, 23.809, 36.483)
    """

    alpha: Whole = 3

    evidence: ClassVar[type] = Contributions
    by_policy: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("sensitivity", "sigma", "threshold", "cutoff")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_items_per_user > MOST_ITEMS:
            raise InputError(
                "must be at most {most} for {kind}",
                given={"max_items_per_user": self.max_items_per_user},
                most=MOST_ITEMS,
                kind=type(self),
            )

    @cached_property
    def grid(self) -> FixedPoint:
        """The grid of the weights: fine enough to compute with, and it holds every difference.

        The sensitivity, and with it the cutoff, is less than twice what this begins with.
        """
        sigma = gaussian_sigma(self._rho)
        least = self._threshold(sigma)
        return FixedPoint.reaching(max(least + self.alpha * sigma, 1.0) - min(least, 0.0))

    @cached_property
    def sensitivity(self) -> float:
        """What one user changes in ℓ2 norm: 1, and the most that roundings add."""
        drift = self.grid.drift(self.max_items_per_user)
        if drift > _MOST_DRIFT:
            raise InputError(
                "weights large enough for this noise are too coarse for so many items of a user",
                given={"epsilon": self.epsilon, "max_items_per_user": self.max_items_per_user},
            )
        return round_up(1 + Fraction(drift))

    @cached_property
    def cutoff(self) -> float:
        """Where a weight ends."""
        cutoff = max(self.threshold + self.alpha * self.sigma, 1.0)
        if not self.grid.holds(cutoff - min(self.threshold, 0.0)):
            raise OverflowError  # no parameters are known for which this happens
        return cutoff

    def audit_hints(self) -> AuditHints:
        return replace(super().audit_hints(), shuffles_users=True)

    @property
    def finding(self) -> ByPlay:
        return ByPlay(
            lambda held, draws: self.select(held, draws).positions,
            around=self.threshold,
            most=self.max_items_per_user,
        )

    def explain(self) -> list[str]:
        bound, cutoff = self.max_items_per_user, f"{self.cutoff:.4g}"
        return [
            f"Users in random order each add weight of norm 1 to at most {bound} items.",
            f"An item gets it in proportion to what it lacks of {cutoff}, where it is full.",
            *super().explain(),
        ]

    def select(self, evidence: Contributions, draws: Draws) -> Selection:
        """A set of items, without scores; of each user at most `max_items_per_user` count."""
        held = evidence.bounded(self.max_items_per_user, draws)
        grid, order = self.grid, users_shuffled(held, draws)
        weights = descend(held, order, cutoff=grid.up(self.cutoff), grid=grid)
        items = np.flatnonzero(weights)  # whoever comes first gives every item held a weight
        gaps = weights[items] - grid.up(self.threshold)
        return Selection(items[draws.coin(NormalCDF(gaps, self.sigma, grid.unit))], ordered=False)
