"""The published top-k of private items: discovery with half the budget, peeling with the rest."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from shortlist.draws import Draws
from shortlist.evidence import Wants, WeightedHistogram
from shortlist.mechanisms.finding import ByThreshold
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    require_bounded,
)
from shortlist.mechanisms.peeling import odds, peel
from shortlist.mechanisms.weighted_gaussian import WeightedGaussian, discover
from shortlist.parameters import DeltaAboveZero, Epsilon, Whole
from shortlist.privacy import Approximate
from shortlist.privacy.calibration import peeling_epsilon_lemma_b1


@dataclass(frozen=True, kw_only=True)
class WeightedGaussianPeeling(Mechanism):
    """Top-k of private items as published: for comparison with `AdaptiveTopK`.

    Guarantee: (epsilon, delta)-DP when one user is added or removed: half of both for discovery by
    `WeightedGaussian`, half for `Peeling` on the true counts of the items discovered.

    Source: Dick et al. (2026), Algorithm 2 with Algorithm 3, Theorem 3.2 and Lemma B.1. Proof note:
    `docs/proofs/weighted-gaussian-peeling.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are discovered.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count for discovery.
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole

    evidence: ClassVar[type] = WeightedHistogram
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("sigma", "threshold", "local_epsilon")

    @cached_property
    def discovery(self) -> WeightedGaussian:
        """The first stage, with half of the budget."""
        return WeightedGaussian(
            epsilon=self.epsilon / 2,
            delta=self.delta / 2,
            max_items_per_user=self.max_items_per_user,
            accounting=Accounting.ZCDP,
        )

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick, by Lemma B.1 at half of the budget."""
        return peeling_epsilon_lemma_b1(self.k, epsilon=self.epsilon / 2, delta=self.delta / 2)

    @property
    def sigma(self) -> float:
        """The standard deviation of the discovery's noise."""
        return self.discovery.sigma

    @property
    def threshold(self) -> float:
        """The least noisy weight to be discovered."""
        return self.discovery.threshold

    @property
    def wants(self) -> Wants:
        return self.discovery.wants

    @property
    def cost(self) -> Approximate:
        """Basic composition of the two halves."""
        return Approximate(self.epsilon / 2, self.delta / 2) * 2

    def audit_hints(self) -> AuditHints:
        return replace(super().audit_hints(), thresholds=(self.threshold,))

    @property
    def finding(self) -> ByThreshold:
        return ByThreshold(self.sigma, self.threshold, self.max_items_per_user)

    def explain(self) -> list[str]:
        verb = "is" if self.k == 1 else "are"
        picks = f"Then up to {self.k} of them {verb} picked by their counts: "
        return [*self.discovery.explain(), picks + odds(self.local_epsilon)]

    def select(self, evidence: WeightedHistogram, draws: Draws) -> Selection:
        """At most k items in the order picked."""
        require_bounded(evidence, max_items_per_user=self.max_items_per_user)
        named = discover(evidence, self.sigma, self.threshold, draws).named
        picked = peel(named.counts, self.k, self.local_epsilon, draws)
        return Selection(named.positions[picked])
