"""Top-k of private items: discover a little, then rank; or discover more, if too few were named."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from shortlist import privacy
from shortlist.calibration import (
    bounded_range_epsilon,
    gaussian_sigma,
    subtract_down,
    threshold,
    zcdp_rho,
)
from shortlist.exact import Draws
from shortlist.histogram import WeightedHistogram
from shortlist.mechanisms.base import (
    Mechanism,
    Selection,
    require_bounded,
    score_digits,
)
from shortlist.mechanisms.peeling import odds, peel
from shortlist.mechanisms.weighted_gaussian import (
    WHY_DELTA,
    discover,
    people_needed,
    to_units,
)
from shortlist.noise import Normal
from shortlist.noisy_values import ANY
from shortlist.privacy import Cost, Gaussian, Pure, round_up
from shortlist.reals import Ints

__all__ = ["DiscoverThenRank"]

_GRID = 2**20  # shares are multiples of 1/_GRID, so that a share and its complement are exact


@dataclass(frozen=True, kw_only=True)
class DiscoverThenRank(Mechanism):
    """Top-k of private items, the default: every bit of budget goes where the data needs it.

    First the weighted Gaussian mechanism names items with `discovery_share` of the budget. If it
    names at least k, the rest of the budget peels the best k of them by their true counts. If not,
    the rest buys a second Gaussian on the same weights; the mean of both, weighted by precision, is
    one Gaussian of the whole budget, and the items are named and ranked by it. Which way was taken
    follows from what the first stage released.

    Scores are always noisy weights: the first stage's where items were peeled, the mean's where
    not. Peeled items come in the order picked, which need not be that of the scores.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, composed in zCDP: one total
    rho, and threshold_share of delta for the thresholds, half of it each, since either may name an
    item that one user alone holds.

    Source: Dick et al. (2026), Algorithm 2, with the changes above. Proof note:
    `docs/proofs/discover-then-rank.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are discovered.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count for discovery.
        discovery_share: The first stage's share of rho.
        threshold_share: The share of delta that pays for the thresholds. The defaults of both
            were measured, see `bench/results/tuning.md`.

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = DiscoverThenRank(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: int
    epsilon: float
    delta: float
    max_items_per_user: int
    discovery_share: float = 0.3
    threshold_share: float = 0.3

    evidence: ClassVar[type] = WeightedHistogram
    why_delta: ClassVar[str] = WHY_DELTA
    derived: ClassVar[tuple[str, ...]] = (
        "rho",
        "first_sigma",
        "first_threshold",
        "local_epsilon",
        "second_sigma",
        "mean_sigma",
        "mean_threshold",
    )
    score_unit: ClassVar[str | None] = "noisy weight"
    picked_by: ClassVar[str] = "by their counts"

    @cached_property
    def threshold_delta(self) -> float:
        """The probability granted to naming an item that one user alone holds."""
        return self.delta * self.threshold_share

    @cached_property
    def rho(self) -> float:
        """The zCDP of both stages together."""
        return zcdp_rho(epsilon=self.epsilon, delta=self.delta, lost=self.threshold_delta)

    @cached_property
    def first_weight(self) -> float:
        """The first stage's weight in the mean: its share of the precision, a multiple of 2^-20."""
        return min(max(round(self.discovery_share * _GRID), 1), _GRID - 1) / _GRID

    @cached_property
    def first_rho(self) -> float:
        """The zCDP of the first stage."""
        return self.rho * self.first_weight

    @cached_property
    def second_rho(self) -> float:
        """The zCDP of the second stage, whichever it is."""
        return subtract_down(self.rho, self.first_rho)

    @cached_property
    def first_sigma(self) -> float:
        """The standard deviation of the first stage's noise."""
        return gaussian_sigma(self.first_rho)

    @cached_property
    def second_sigma(self) -> float:
        """The standard deviation of a second Gaussian's noise."""
        return gaussian_sigma(self.second_rho)

    @cached_property
    def mean_sigma(self) -> float:
        """The standard deviation of the noise in the mean of both Gaussians."""
        shares = Fraction(self.first_weight), 1 - Fraction(self.first_weight)
        sigmas = Fraction(self.first_sigma), Fraction(self.second_sigma)
        variance = sum((w * s) ** 2 for w, s in zip(shares, sigmas, strict=True))
        return round_up(Fraction(math.sqrt(variance)) * (1 + Fraction(1, 2**50)))

    @cached_property
    def first_threshold(self) -> float:
        """The least noisy weight to be named by the first stage."""
        return self._threshold(self.first_sigma)

    @cached_property
    def mean_threshold(self) -> float:
        """The least mean of noisy weights to be named with a second Gaussian."""
        return self._threshold(self.mean_sigma)

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick, where items are peeled."""
        return bounded_range_epsilon(self.k, self.second_rho)

    @property
    def cost(self) -> Cost:
        """The first stage, and the larger of what may follow it."""
        peeling = Pure.bounded_range(self.local_epsilon) * self.k
        first = Gaussian(self.first_rho, self.threshold_delta)
        return first + privacy.max(peeling, Gaussian(self.second_rho))

    def explain(self) -> list[str]:
        """Both stages in plain words."""
        first, second = self.first_sigma, self.mean_sigma
        spread = f"Each user adds weight 1/sqrt(t) to t items, t at most {self.max_items_per_user}."
        discover = (
            f"First, noise of standard deviation {first:.3g} is added to the weights, and the "
            f"items whose noisy weight is at least {self.first_threshold:.4g} are named."
        )
        verb, several = ("is", "1 item is") if self.k == 1 else ("are", f"{self.k} items are")
        peel = f"If these are {self.k} or more, {self.k} {verb} picked {self.picked_by}: "
        rank = (
            "If not, more noisy weights are drawn, and items are named and ranked by the mean, "
            f"of noise {second:.3g}, where it is at least {self.mean_threshold:.4g}."
        )
        needs = people_needed(self.mean_threshold)
        or_more = f"If {several} named at first, it needs {self.first_threshold:.0f}."
        return [spread, discover, peel + odds(self.local_epsilon), rank, f"{needs} {or_more}"]

    def select(self, evidence: WeightedHistogram, draws: Draws) -> Selection:
        """At most k items, best first, each with its noisy weight.

        Raises:
            InputError: The evidence is bounded more loosely than `max_items_per_user`.
        """
        require_bounded(evidence, self.max_items_per_user)

        def pick(found: Ints) -> Ints:
            return found[peel(evidence.counts[found], self.k, self.local_epsilon, draws)]

        return self.answer(evidence.weights, pick, draws)

    def answer(self, weights: Ints, pick: Callable[[Ints], Ints], draws: Draws) -> Selection:
        """Discover by the weights; of those named `pick` picks k, if there are so many."""
        items, named = discover(weights, self.first_sigma, self.first_threshold, draws)
        if np.count_nonzero(named) >= self.k:
            picked = pick(items[named])
            return self._with_first_scores(picked, weights[picked], draws)
        return self._ranked_by_mean(items, weights[items], named, draws)

    def _with_first_scores(self, picked: Ints, weights: Ints, draws: Draws) -> Selection:
        noise = self._first_noise(weights, np.ones(len(picked), np.bool_))
        ranked = draws.order(weights, [noise], digits=score_digits(self.first_sigma))
        return Selection(picked, ranked.by_position(), noise_sd=self.first_sigma)

    def _ranked_by_mean(
        self, items: Ints, weights: Ints, named: NDArray[np.bool_], draws: Draws
    ) -> Selection:
        second = Normal(self.second_sigma, weight=1 - self.first_weight)
        ranked = draws.order(
            weights,
            [self._first_noise(weights, named, self.first_weight), second],
            at_least=np.where(named, ANY, to_units(self.mean_threshold)),
            k=self.k,
            digits=score_digits(self.mean_sigma),
        )
        return Selection(items[ranked.positions], ranked.values, noise_sd=self.mean_sigma)

    def _first_noise(self, weights: Ints, named: NDArray[np.bool_], weight: float = 1.0) -> Normal:
        """The first stage's noise, given which items it named."""
        bounds = to_units(self.first_threshold) - weights
        return Normal(self.first_sigma, weight, bounds=bounds, above=named)

    def _threshold(self, sigma: float) -> float:
        return threshold(
            sigma=sigma,
            delta=self.threshold_delta / 2,
            max_items_per_user=self.max_items_per_user,
        )
