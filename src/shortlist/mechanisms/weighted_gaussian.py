"""Weighted Gaussian mechanism: name every item whose noisy weight passes a threshold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.thinning import succeeding
from shortlist.draws import UNIT, Draws, Ints, Order
from shortlist.draws.noise import Normal
from shortlist.draws.reals import NormalCDF
from shortlist.evidence import Wants, WeighedItems, WeightedHistogram
from shortlist.mechanisms.finding import ByThreshold
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    cost_of_release,
    require_bounded,
    score_digits,
)
from shortlist.parameters import DeltaOfDomain, Epsilon, Share, Whole
from shortlist.privacy import Cost, Gaussian, round_up
from shortlist.privacy.accountant.fitting import SET_APART
from shortlist.privacy.accountant.gaussian_threshold import (
    GaussianThreshold,
    least_noise,
    noisy_weights,
)
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma, threshold
from shortlist.questions import Domain, Question

# An item so many standard deviations of the noise below the threshold need not be shown.
_LIGHT = 3.5


@dataclass(frozen=True, kw_only=True)
class GaussianDiscovery(Mechanism):
    """Domain discovery: normal noise on weights, of which one user changes little in ℓ2 norm.

    Attributes:
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count.
        threshold_share: The share of delta that pays for the threshold, in zCDP.
        accounting: By the worst case of all users, or in zCDP, for one release of many.
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    max_items_per_user: Whole
    threshold_share: Share = 0.5
    accounting: Accounting = Accounting.EXACT

    question: ClassVar[type[Question]] = Domain
    discovers: ClassVar[bool | None] = True
    only_in_zcdp: ClassVar[tuple[str, ...]] = ("threshold_share",)
    by_policy: ClassVar[bool] = False

    @property
    def sensitivity(self) -> float:
        """What one user changes in ℓ2 norm, at most."""
        return 1.0

    @cached_property
    def _lost(self) -> float:
        """The probability granted to naming an item that one user alone holds, in zCDP."""
        share = SET_APART if self.accounting is Accounting.EXACT else self.threshold_share
        return self.delta * share

    @cached_property
    def _rho(self) -> float:
        """The zCDP of the noisy weights, beside that."""
        return gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=self._lost)

    @cached_property
    def _noise(self) -> GaussianThreshold:
        if self.accounting is Accounting.EXACT:
            return least_noise(
                epsilon=self.epsilon,
                delta=self.delta,
                bound=self.max_items_per_user,
                drift=self._drift,
                by_policy=self.by_policy,
            )
        sigma = round_up(Fraction(gaussian_sigma(self._rho)) * Fraction(self.sensitivity))
        return GaussianThreshold(sigma, self._threshold(sigma))

    @property
    def _drift(self) -> float:
        return round_up(Fraction(self.sensitivity) - 1)

    def _threshold(self, sigma: float) -> float:
        return threshold(sigma=sigma, delta=self._lost, max_items_per_user=self.max_items_per_user)

    @property
    def sigma(self) -> float:
        """The standard deviation of the noise."""
        return self._noise.sigma

    @property
    def threshold(self) -> float:
        """The least noisy weight to be named."""
        return self._noise.threshold

    @cached_property
    def cost(self) -> Cost:
        """The noise on the weights, and the items that one user alone may hold."""
        if self.accounting is Accounting.ZCDP:
            return Gaussian(self._rho, self._lost)
        composition = noisy_weights(
            self._noise, self.max_items_per_user, drift=self._drift, by_policy=self.by_policy
        )
        by_rho = Gaussian(composition.rho, composition.lost)
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    def audit_hints(self) -> AuditHints:
        return replace(super().audit_hints(), thresholds=(self.threshold,))

    def explain(self) -> list[str]:
        return [
            f"Each item's weight gets normal noise of standard deviation {self.sigma:.3g}.",
            f"Items whose noisy weight is at least {self.threshold:.4g} are named.",
            people_needed(self.threshold),
        ]


@dataclass(frozen=True, kw_only=True)
class WeightedGaussian(GaussianDiscovery):
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

    >>> mechanism = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> round(mechanism.sigma, 3), round(mechanism.threshold, 3)
    (4.225, 23.809)
    """

    evidence: ClassVar[type] = WeightedHistogram
    derived: ClassVar[tuple[str, ...]] = ("sigma", "threshold")
    score_unit: ClassVar[str | None] = "noisy weight"

    @property
    def wants(self) -> Wants:
        return Wants(self.evidence, self.max_items_per_user, show_from(self.sigma, self.threshold))

    def audit_hints(self) -> AuditHints:
        return replace(super().audit_hints(), score_sd=self.sigma)

    @property
    def finding(self) -> ByThreshold:
        return ByThreshold(self.sigma, self.threshold, self.max_items_per_user)

    def explain(self) -> list[str]:
        return [weight_added(self.max_items_per_user), *super().explain()]

    def select(self, evidence: WeightedHistogram, draws: Draws) -> Selection:
        """A set of items, each with its noisy weight."""
        require_bounded(evidence, max_items_per_user=self.max_items_per_user)
        return self.scored(discover(evidence, self.sigma, self.threshold, draws).named, draws)

    def scored(self, named: WeighedItems, draws: Draws) -> Selection:
        """The items named by `discover` with their noisy weights, best first."""
        weights = named.weights
        gaps = to_units(self.threshold) - weights
        noise = Normal(self.sigma, bounds=gaps, above=np.ones(len(weights), np.bool_))
        ranked = draws.order(Order(weights, [noise], digits=score_digits(self.sigma)))
        positions = named.positions[ranked.positions]
        return Selection(positions, ranked.values, ordered=False, noise_sd=self.sigma)


class Discovered(NamedTuple):
    """What a threshold made of a weighted histogram.

    Attributes:
        evidence: The histogram.
        shown: The shown items of positive weight, by position.
        passed: Whether the noisy weight of each of these reached the threshold.
        fetched: Those not shown whose noisy weight did; None if none was fetched.
    """

    evidence: WeightedHistogram
    shown: Ints
    passed: NDArray[np.bool_]
    fetched: WeighedItems | None = None

    @property
    def named(self) -> WeighedItems:
        """All that passed, shown or not."""
        named = self._weighed(self.shown[self.passed])
        return named if self.fetched is None else named.and_also(self.fetched)

    def seen(self) -> tuple[WeighedItems, NDArray[np.bool_]]:
        """The shown items, the fetched ones that passed, and which of all these passed."""
        shown = self._weighed(self.shown)
        if self.fetched is None:
            return shown, self.passed
        return shown.and_also(self.fetched), np.append(self.passed, self.fetched.weights > 0)

    def _weighed(self, at: Ints) -> WeighedItems:
        return WeighedItems(at, self.evidence.weights[at], self.evidence.counts[at])


def discover(
    evidence: WeightedHistogram, sigma: float, threshold: float, draws: Draws
) -> Discovered:
    """The items of positive weight whose noisy weight reaches the threshold.

    No noise is drawn: whether an item passes is a coin, and most unshown items do without one. The
    noise, where it is wanted later, is drawn on the known side of the threshold.
    """

    def chances(weights: Ints) -> NormalCDF:
        return NormalCDF(weights - to_units(threshold), sigma)

    items = np.flatnonzero(evidence.weights)
    passed = draws.coin(chances(evidence.weights[items]))
    if evidence.below_threshold is None:
        return Discovered(evidence, items, passed)
    return Discovered(evidence, items, passed, succeeding(evidence.below_threshold, chances, draws))


def show_from(sigma: float, threshold: float) -> int | None:
    """The least weight with which an item is shown, in units of `UNIT`; None if all are shown.

    A lighter one passes with a chance below Q(3.5) = 0.0003. A bound further below the threshold
    would have more items shown, and fewer fetched: in tables of a Zipf law, 3 to 3.5 standard
    deviations are about least of both together. Any bound is exact.
    """
    least = to_units(threshold - _LIGHT * sigma)
    return least if least > 1 else None


def people_needed(threshold: float, to_be: str = "named") -> str:
    """What a threshold means for an item."""
    return (
        f"To be {to_be}, an item needs about {threshold:.0f} users, if each holds only this item. "
        "If they hold others too, it needs more users."
    )


def weight_added(bound: int | str) -> str:
    """What a user adds to the weights of items."""
    most = f"{bound:,}" if isinstance(bound, int) else bound
    return (
        f"A user with t items adds 1/sqrt(t) to the weight of each; at most {most} items of a "
        "user count."
    )


def to_units(threshold: float) -> int:
    """The threshold in units of `UNIT`, rounded up."""
    return int(np.ceil(threshold / UNIT))
