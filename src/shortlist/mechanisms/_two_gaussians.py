"""Two Gaussians on the same weights, the second only where it is wanted: which items they name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from shortlist.draws import Draws, Floats, Ints, Noise, Order, Ordered
from shortlist.draws.noise import OPEN, Normal, NormalBetween
from shortlist.draws.noisy_values import ANY
from shortlist.evidence import ItemsBelowThreshold, WeightedHistogram
from shortlist.mechanisms._strips import Ranged, Strips
from shortlist.mechanisms.mechanism import score_digits
from shortlist.mechanisms.weighted_gaussian import (
    Discovered,
    discover,
    show_from,
    to_units,
    weight_added,
)
from shortlist.privacy import round_up
from shortlist.privacy.accountant import Threshold
from shortlist.privacy.calibration import (
    gaussian_sigma,
    threshold,
)

__all__ = ["TwoGaussians"]

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
        spread = weight_added(self.max_items_per_user)
        name = (
            f"First, noise of standard deviation {self.first_sigma:.3g} is added to the weights, "
            f"and the items whose noisy weight is at least {self.first_threshold:.4g} are named."
        )
        return [spread, name]

    @property
    def show_from(self) -> int | None:
        """The least weight with which an item is to be shown: either may well name that."""
        first, mean = (show_from(each.sigma, each.least) for each in self.thresholds)
        if first is None or mean is None or not self._strips.are_small:
            return None
        return min(first, mean)

    @cached_property
    def _strips(self) -> Strips:
        """By what the second thins light items."""
        return Strips(
            self.first_sigma,
            self.second_sigma,
            self.first_share,
            to_units(self.first_threshold),
            to_units(self.mean_threshold),
        )

    def discover(self, evidence: WeightedHistogram, draws: Draws) -> Discovered:
        """The items of positive weight that the first names, as coins."""
        return discover(evidence, self.first_sigma, self.first_threshold, draws)

    def first_scores(self, weights: Ints, draws: Draws) -> Floats:
        """The first noisy weight of each of these items, which it named."""
        noise = self.first_noise(weights, np.ones(len(weights), np.bool_))
        ranked = draws.order(Order(weights, [noise], digits=score_digits(self.first_sigma)))
        return ranked.by_position()

    def mean(self, discovered: Discovered, draws: Draws, k: int) -> tuple[Ints, Floats]:
        """The items that the first named or the mean does, at most k, and their means, best first.

        The items are positions in the evidence.
        """
        if (light := discovered.evidence.below_threshold) is not None:
            return self._mean_with_light(discovered, light, draws, k)
        at, named = discovered.looked_at, discovered.passed
        weights = discovered.evidence.weights[at]
        first = self.first_noise(weights, named, self.first_share)
        second = Normal(self.second_sigma, weight=1 - self.first_share)
        ranked = self._reaching(weights, [first, second], named, draws, k)
        return at[ranked.positions], ranked.values

    def _mean_with_light(
        self, discovered: Discovered, light: ItemsBelowThreshold, draws: Draws, k: int
    ) -> tuple[Ints, Floats]:
        """The same where light items are not shown: few of them take part."""
        known = Ranged.by_first(*discovered.seen(), to_units(self.first_threshold))
        if (others := self._strips.draw(light, discovered.light, draws)) is not None:
            known = known.and_also(others)
        (at, weights, _), low, high, least = known
        first = NormalBetween(self.first_sigma, self.first_share, low, high)
        open_end = np.full(len(at), OPEN)
        second = NormalBetween(self.second_sigma, 1 - self.first_share, least, open_end)
        ranked = self._reaching(weights, [first, second], known.named, draws, k)
        return at[ranked.positions], ranked.values

    def _reaching(
        self,
        weights: Ints,
        noises: Sequence[Noise],
        named: NDArray[np.bool_],
        draws: Draws,
        k: int,
    ) -> Ordered:
        """Those that the first named, or whose mean reaches its threshold: the best k."""
        return draws.order(
            Order(
                weights,
                noises,
                at_least=np.where(named, ANY, to_units(self.mean_threshold)),
                k=k,
                digits=score_digits(self.mean_sigma),
            )
        )

    def first_noise(self, weights: Ints, named: NDArray[np.bool_], weight: float = 1.0) -> Normal:
        """The first noise, given which items it named."""
        bounds = to_units(self.first_threshold) - weights
        return Normal(self.first_sigma, weight, bounds=bounds, above=named)
