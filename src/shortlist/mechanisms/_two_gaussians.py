"""Two Gaussians on the same weights, the second only where it is wanted: which items they name."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Draws, Floats, Ints, Ordered
from shortlist.draws.noise import Normal
from shortlist.draws.noisy_values import ANY
from shortlist.mechanisms.accounting import Accounting
from shortlist.mechanisms.base import AuditHints, Mechanism, score_digits
from shortlist.mechanisms.weighted_gaussian import discover, to_units
from shortlist.privacy import round_up
from shortlist.privacy.accountant import Composition, NovelItems, Stage, Threshold
from shortlist.privacy.accountant.fitting import SET_APART, noise_and_loss
from shortlist.privacy.calibration import (
    bounded_range_epsilon,
    gaussian_sigma,
    subtract_down,
    threshold,
    zcdp_rho,
)

__all__ = ["Discovering", "TwoGaussians"]

_GRID = 2**20  # shares are multiples of 1/_GRID, so that a share and its complement are exact


@dataclass(frozen=True)
class TwoGaussians:
    """Noise on weights of which one user changes at most ℓ2 norm 1, and once more on the same.

    The mean of both noisy weights is as good as one Gaussian of both costs together. Items are
    named by the first, or by the mean, each with a threshold of its own; that an item which one
    user alone holds passes either has probability at most `delta`. Proof note:
    `docs/proofs/discover-then-rank.md`.

    Attributes:
        first_rho: The zCDP of the first.
        second_rho: The zCDP of the second.
        delta: Half of it pays for either threshold.
        max_items_per_user: How many weights one user changes at most.
    """

    first_rho: float
    second_rho: float
    delta: float
    max_items_per_user: int

    @cached_property
    def first_share(self) -> float:
        """The first's weight in the mean: about its share of the precision, on a grid."""
        share = self.first_rho / (self.first_rho + self.second_rho)
        return min(max(round(share * _GRID), 1), _GRID - 1) / _GRID

    @cached_property
    def first_sigma(self) -> float:
        """The standard deviation of the first noise."""
        return gaussian_sigma(self.first_rho)

    @cached_property
    def second_sigma(self) -> float:
        """The standard deviation of the second noise."""
        return gaussian_sigma(self.second_rho)

    @cached_property
    def mean_sigma(self) -> float:
        """The standard deviation of the noise in the mean, rounded up."""
        shares = Fraction(self.first_share), 1 - Fraction(self.first_share)
        sigmas = Fraction(self.first_sigma), Fraction(self.second_sigma)
        variance = sum((w * s) ** 2 for w, s in zip(shares, sigmas, strict=True))
        return round_up(Fraction(math.sqrt(variance)) * (1 + Fraction(1, 2**50)))

    @cached_property
    def first_threshold(self) -> float:
        """The least noisy weight to be named by the first."""
        return self._threshold(self.first_sigma)

    @cached_property
    def mean_threshold(self) -> float:
        """The least mean of noisy weights to be named."""
        return self._threshold(self.mean_sigma)

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Both, with their noise."""
        return (
            Threshold(self.first_sigma, self.first_threshold),
            Threshold(self.mean_sigma, self.mean_threshold),
        )

    def _threshold(self, sigma: float) -> float:
        return threshold(
            sigma=sigma, delta=self.delta / 2, max_items_per_user=self.max_items_per_user
        )

    def explain(self) -> list[str]:
        """The first in plain words."""
        spread = f"Each user adds weight 1/sqrt(t) to t items, t at most {self.max_items_per_user}."
        name = (
            f"First, noise of standard deviation {self.first_sigma:.3g} is added to the weights, "
            f"and the items whose noisy weight is at least {self.first_threshold:.4g} are named."
        )
        return [spread, name]

    def discover(self, weights: Ints, draws: Draws) -> tuple[Ints, NDArray[np.bool_]]:
        """The items of positive weight, and whether the first names each of them, as coins."""
        return discover(weights, self.first_sigma, self.first_threshold, draws)

    def first_scores(self, weights: Ints, draws: Draws) -> Floats:
        """The first noisy weight of each of these items, which it named."""
        noise = self.first_noise(weights, np.ones(len(weights), np.bool_))
        ranked = draws.order(weights, [noise], digits=score_digits(self.first_sigma))
        return ranked.by_position()

    def mean(
        self, weights: Ints, named: NDArray[np.bool_], draws: Draws, k: int | None = None
    ) -> Ordered:
        """The items that the first named or the mean does, at most k, with their means, best first.

        Args:
            weights: Of the items that `discover` looked at.
            named: What it said of each.
            draws: The exact draws.
            k: How many at most; None for all.
        """
        second = Normal(self.second_sigma, weight=1 - self.first_share)
        return draws.order(
            weights,
            [self.first_noise(weights, named, self.first_share), second],
            at_least=np.where(named, ANY, to_units(self.mean_threshold)),
            k=k,
            digits=score_digits(self.mean_sigma),
        )

    def first_noise(self, weights: Ints, named: NDArray[np.bool_], weight: float = 1.0) -> Normal:
        """The first noise, given which items it named."""
        bounds = to_units(self.first_threshold) - weights
        return Normal(self.first_sigma, weight, bounds=bounds, above=named)


class Discovering(Mechanism):
    """A first Gaussian names items, and how many it names decides what the rest is spent on.

    A mechanism of this kind has the fields `k`, `delta`, `max_items_per_user`, `discovery_share`,
    `threshold_share` and `accounting`.
    """

    k: int
    delta: float
    max_items_per_user: int
    discovery_share: float
    threshold_share: float
    accounting: Accounting

    only_in_zcdp: ClassVar[tuple[str, ...]] = ("threshold_share",)

    @abstractmethod
    def stages(self, rho: float) -> tuple[Stage, ...]:
        """All stages, where they cost so much zCDP together."""

    @property
    def rho(self) -> float:
        """The zCDP of all stages together."""
        return self._spent[0]

    @property
    def threshold_delta(self) -> float:
        """The probability granted to naming an item that one user alone holds."""
        return self._spent[1]

    @cached_property
    def _spent(self) -> tuple[float, float]:
        """The zCDP, and the probability."""
        share = SET_APART if self.accounting is Accounting.EXACT else self.threshold_share
        lost = self.delta * share
        rho = zcdp_rho(epsilon=self.epsilon, delta=self.delta, lost=lost)
        if self.accounting is Accounting.ZCDP:
            return rho, lost
        return noise_and_loss(
            self.stages,
            self._thresholds,
            self.max_items_per_user,
            epsilon=self.epsilon,
            delta=self.delta,
            by_rho=rho,
        )

    def shares(self, rho: float) -> tuple[float, float]:
        """The zCDP of the first Gaussian, and of all that follows it."""
        first_rho = rho * self.discovery_share
        return first_rho, subtract_down(rho, first_rho)

    def _thresholds(self, rho: float, lost: float) -> tuple[Threshold, ...]:
        gaussians = TwoGaussians(*self.shares(rho), lost, self.max_items_per_user)
        return gaussians.thresholds

    @property
    def composition(self) -> Composition:
        """All stages, and the items that one user alone may hold."""
        thresholds = self._thresholds(*self._spent)
        return Composition(self.stages(self.rho), NovelItems(thresholds, self.max_items_per_user))

    @property
    def first_rho(self) -> float:
        """The zCDP of the first Gaussian."""
        return self.shares(self.rho)[0]

    @property
    def rest(self) -> float:
        """The zCDP of all that follows it."""
        return self.shares(self.rho)[1]

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick, where the first Gaussian named enough to pick from."""
        return bounded_range_epsilon(self.k, self.rest)

    @property
    @abstractmethod
    def gaussians(self) -> TwoGaussians:
        """The first Gaussian, and the second that may follow it."""

    def audit_hints(self) -> AuditHints:
        """Both thresholds; and the noise in the scores, of one item."""
        sd = self.first_sigma if self.k == 1 else self.mean_sigma
        thresholds = self.mean_threshold, self.first_threshold
        return replace(super().audit_hints(), thresholds=thresholds, score_sd=sd)

    @property
    def first_sigma(self) -> float:
        """The standard deviation of the first noise."""
        return self.gaussians.first_sigma

    @property
    def mean_sigma(self) -> float:
        """The standard deviation of the noise in the mean of both Gaussians."""
        return self.gaussians.mean_sigma

    @property
    def first_threshold(self) -> float:
        """The least noisy weight to be named by the first Gaussian."""
        return self.gaussians.first_threshold

    @property
    def mean_threshold(self) -> float:
        """The least mean of noisy weights to be named with a second Gaussian."""
        return self.gaussians.mean_threshold
