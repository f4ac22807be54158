"""Weighted Gaussian mechanism: name every item whose noisy weight passes a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import UNIT, Draws, Ints
from shortlist.draws.noise import Normal
from shortlist.draws.reals import NormalCDF
from shortlist.evidence import Wants, WeightedHistogram
from shortlist.mechanisms.accounting import Accounting, alone
from shortlist.mechanisms.base import (
    AuditHints,
    Mechanism,
    Selection,
    require_bounded,
    score_digits,
)
from shortlist.mechanisms.finding import ByThreshold
from shortlist.parameters import DeltaOfDomain, Epsilon, Share, Whole
from shortlist.privacy import Cost, Gaussian
from shortlist.privacy.accountant.weighted_gaussian import Release, least_noise, noisy_weights
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma, threshold
from shortlist.questions import Domain, Question

__all__ = ["WeightedGaussian", "discover", "people_needed", "to_units"]


@dataclass(frozen=True, kw_only=True)
class WeightedGaussian(Mechanism):
    """Domain discovery: name every item whose noisy weight reaches a threshold.

    Each user spreads weight over the items held, in all of ℓ2 norm at most 1. Each item's weight
    gets Gaussian noise. The noisy weights of the named items are released with them.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. A user whose items are all
    held by others spends delta on the noise, and one who alone holds them all spends it on the
    threshold. All users in between are looked at too, and stay within it.

    Source: Gopi et al. (2020), Theorem 5.1; Dick et al. (2026), Algorithm 1 and Theorem 3.2, which
    takes half of delta for the threshold. Proof notes: `docs/proofs/weighted-gaussian.md`,
    `docs/proofs/accountant.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count.
        threshold_share: The share of delta that pays for the threshold, in zCDP.
        accounting: By the worst case of all users, or in zCDP, for one release of many.

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> round(mechanism.sigma, 3), round(mechanism.threshold, 3)
    (4.225, 23.809)
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    max_items_per_user: Whole
    threshold_share: Share = 0.5
    accounting: Accounting = Accounting.EXACT

    question: ClassVar[type[Question]] = Domain
    evidence: ClassVar[type] = WeightedHistogram
    discovers: ClassVar[bool | None] = True
    only_in_zcdp: ClassVar[tuple[str, ...]] = ("threshold_share",)
    derived: ClassVar[tuple[str, ...]] = ("sigma", "threshold")
    score_unit: ClassVar[str | None] = "noisy weight"

    @cached_property
    def _noise(self) -> Release:
        """The noise and the threshold."""
        bound = self.max_items_per_user
        if self.accounting is Accounting.EXACT:
            return least_noise(epsilon=self.epsilon, delta=self.delta, bound=bound)
        sigma = gaussian_sigma(self._by_rho.rho)
        return Release(
            sigma, threshold(sigma=sigma, delta=self._by_rho.lost, max_items_per_user=bound)
        )

    @cached_property
    def _by_rho(self) -> Gaussian:
        """The noise, and the items that one user alone may hold, each with a share of delta."""
        lost = self.delta * self.threshold_share
        return Gaussian(gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=lost), lost)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise."""
        return self._noise.sigma

    @property
    def threshold(self) -> float:
        """The least noisy weight to be named."""
        return self._noise.threshold

    @property
    def wants(self) -> Wants:
        """The evidence, of which one user is in at most `max_items_per_user`."""
        return Wants(self.evidence, self.max_items_per_user)

    @cached_property
    def cost(self) -> Cost:
        """The noise on the weights, and the items that one user alone may hold."""
        if self.accounting is Accounting.ZCDP:
            return self._by_rho
        composition = noisy_weights(self._noise, self.max_items_per_user)
        by_rho = Gaussian(composition.rho, composition.lost)
        return alone(self.accounting, composition, by_rho, self.epsilon)

    def audit_hints(self) -> AuditHints:
        """The threshold and the noise."""
        return replace(super().audit_hints(), thresholds=(self.threshold,), score_sd=self.sigma)

    @property
    def finding(self) -> ByThreshold:
        """One look at the noisy weights."""
        return ByThreshold(self.sigma, self.threshold, self.max_items_per_user)

    def explain(self) -> list[str]:
        """The noise and the threshold in plain words."""
        return [
            f"Each user adds weight 1/sqrt(t) to t items, t at most {self.max_items_per_user}.",
            f"Each item's weight gets normal noise of standard deviation {self.sigma:.3g}.",
            f"Items whose noisy weight is at least {self.threshold:.4g} are named.",
            people_needed(self.threshold),
        ]

    def select(self, evidence: WeightedHistogram, draws: Draws) -> Selection:
        """A set of items, each with its noisy weight.

        Raises:
            InputError: The evidence is bounded more loosely than `max_items_per_user`.
        """
        require_bounded(evidence, self.max_items_per_user)
        items, named = discover(evidence.weights, self.sigma, self.threshold, draws)
        return self.scored(evidence.weights, items[named], draws)

    def scored(self, weights: Ints, named: Ints, draws: Draws) -> Selection:
        """The items named by `discover` with their noisy weights, best first."""
        gaps = to_units(self.threshold) - weights[named]
        noise = Normal(self.sigma, bounds=gaps, above=np.ones(len(named), np.bool_))
        ranked = draws.order(weights[named], [noise], digits=score_digits(self.sigma))
        positions = named[ranked.positions]
        return Selection(positions, ranked.values, ordered=False, noise_sd=self.sigma)


def discover(
    weights: Ints, sigma: float, threshold: float, draws: Draws
) -> tuple[Ints, NDArray[np.bool_]]:
    """The items of positive weight, and whether the noisy weight of each reaches the threshold.

    No noise is drawn: whether an item passes is a coin. The noise, where it is wanted later, is
    drawn on the known side of the threshold.
    """
    items = np.flatnonzero(weights)
    return items, draws.coin(NormalCDF(weights[items] - to_units(threshold), sigma))


def people_needed(threshold: float) -> str:
    """What a threshold means for an item."""
    return f"To be named, an item needs about {threshold:.0f} people who hold nothing else."


def to_units(threshold: float) -> int:
    """The threshold in units of `UNIT`, rounded up."""
    return int(np.ceil(threshold / UNIT))
