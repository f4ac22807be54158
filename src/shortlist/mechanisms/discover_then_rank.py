"""Top-k of private items: discover a little, then rank; or discover more, if too few were named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from shortlist import privacy
from shortlist.draws import Draws
from shortlist.evidence import Wants, WeightedHistogram
from shortlist.mechanisms._two_gaussians import TwoGaussians
from shortlist.mechanisms.finding import ByThreshold
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    cost_of_release,
    require_bounded,
)
from shortlist.mechanisms.peeling import odds, peel
from shortlist.mechanisms.weighted_gaussian import (
    people_needed,
)
from shortlist.parameters import DeltaAboveZero, Epsilon, Share, Whole
from shortlist.privacy import Cost, Gaussian, Pure
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    ItemsByThreshold,
    Stage,
    Threshold,
)
from shortlist.privacy.accountant.fitting import SET_APART, noise_and_loss, noise_on_weights
from shortlist.privacy.calibration import bounded_range_epsilon, subtract_down, zcdp_rho


@dataclass(frozen=True, kw_only=True)
class DiscoverThenRank(Mechanism):
    """Top-k of private items: every bit of budget goes where the data needs it.

    First the weighted Gaussian mechanism names items with `discovery_share` of the budget. If it
    names at least k, the rest of the budget peels the best k of them by their true counts. If not,
    the rest buys a second Gaussian on the same weights; the mean of both, weighted by precision, is
    one Gaussian of the whole budget, and the items are named and ranked by it. Which way was taken
    follows from what the first stage released.

    Scores are always noisy weights: the first stage's where items were peeled, the mean's where
    not. Peeled items come in the order picked, which need not be that of the scores.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of both
    stages together, whichever way was taken. Both thresholds share one probability of naming an
    item that one user alone holds, half of it each, since either may do so. In zCDP: one total
    rho, and threshold_share of delta for that probability.

    Source: Dick et al. (2026), Algorithm 2, with the changes above. Proof notes:
    `docs/proofs/discover-then-rank.md`, `docs/proofs/accountant.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are discovered.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count for discovery.
        discovery_share: The first stage's share of rho.
        threshold_share: The share of delta that pays for the thresholds, in zCDP. The defaults of
            both were measured.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    >>> mechanism = DiscoverThenRank(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole
    discovery_share: Share = 0.3
    threshold_share: Share = 0.3
    accounting: Accounting = Accounting.EXACT

    evidence: ClassVar[type] = WeightedHistogram
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = (
        "rho",
        "first_sigma",
        "first_threshold",
        "local_epsilon",
        "second_sigma",
        "mean_sigma",
        "mean_threshold",
    )
    only_in_zcdp: ClassVar[tuple[str, ...]] = ("threshold_share",)
    score_unit: ClassVar[str | None] = "noisy weight"

    @cached_property
    def gaussians(self) -> TwoGaussians:
        """The first stage, and the second Gaussian that may follow it."""
        return TwoGaussians(
            self.first_rho, self.rest, self.threshold_delta, self.max_items_per_user
        )

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

    @property
    def second_sigma(self) -> float:
        """The standard deviation of a second Gaussian's noise."""
        return self.gaussians.second_sigma

    @property
    def wants(self) -> Wants:
        """The evidence, of which one user is in at most `max_items_per_user`."""
        return Wants(self.evidence, self.max_items_per_user, self.gaussians.show_from)

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
        return Composition(
            self.stages(self.rho), ItemsByThreshold(thresholds, self.max_items_per_user)
        )

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

    def stages(self, rho: float) -> tuple[Stage, ...]:
        """Noise on the weights; and then picks, or more noise on the same."""
        first, rest = self.shares(rho)
        picks = BoundedRange(bounded_range_epsilon(self.k, rest), self.k)
        return noise_on_weights(first), EitherStage((picks,), (noise_on_weights(rest),))

    @cached_property
    def cost(self) -> Cost:
        """The first stage, and the larger of what may follow it."""
        peeling = Pure.bounded_range(self.local_epsilon) * self.k
        first = Gaussian(self.first_rho, self.threshold_delta)
        by_rho = first + privacy.max(peeling, Gaussian(self.rest))
        return cost_of_release(self.accounting, self.composition, by_rho, self.epsilon)

    def audit_hints(self) -> AuditHints:
        """Both thresholds; and the noise in the scores, of one item."""
        sd = self.first_sigma if self.k == 1 else self.mean_sigma
        thresholds = self.mean_threshold, self.first_threshold
        return replace(super().audit_hints(), thresholds=thresholds, score_sd=sd)

    @property
    def finding(self) -> ByThreshold:
        """The look at the mean, which is drawn where the first finds too few."""
        return ByThreshold(self.mean_sigma, self.mean_threshold, self.max_items_per_user)

    def explain(self) -> list[str]:
        """Both stages in plain words."""
        verb, several = ("is", "1 item is") if self.k == 1 else ("are", f"{self.k} items are")
        peel = f"If these are {self.k} or more, {self.k} {verb} picked by their counts: "
        rank = (
            "If not, more noisy weights are drawn, and items whose mean noisy weight is at least "
            f"{self.mean_threshold:.4g} are named, in the order of the means. The noise of a mean "
            f"has standard deviation {self.mean_sigma:.3g}."
        )
        needs = people_needed(self.mean_threshold)
        or_more = f"If {several} named at first, it needs {self.first_threshold:.0f}."
        discovery = self.gaussians.explain()
        return [*discovery, peel + odds(self.local_epsilon), rank, f"{needs} {or_more}"]

    def select(self, evidence: WeightedHistogram, draws: Draws) -> Selection:
        """At most k items, best first, each with its noisy weight."""
        require_bounded(evidence, max_items_per_user=self.max_items_per_user)
        gaussians = self.gaussians
        discovered = gaussians.discover(evidence, draws)
        named = discovered.named
        if len(named.positions) >= self.k:
            picked = named.at(peel(named.counts, self.k, self.local_epsilon, draws))
            scores = gaussians.first_scores(picked.weights, draws)
            return Selection(picked.positions, scores, noise_sd=gaussians.first_sigma)
        positions, means = gaussians.mean(discovered, draws, self.k)
        return Selection(positions, means, noise_sd=gaussians.mean_sigma)
