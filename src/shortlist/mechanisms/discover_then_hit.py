"""Hitting set of private items: discover a little, then pick; or discover more, if too few."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from shortlist.draws import Draws
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms._two_gaussians import Discovering, TwoGaussians
from shortlist.mechanisms.accounting import Accounting, alone
from shortlist.mechanisms.base import AuditHints, Selection, counted, picked_in_turn
from shortlist.mechanisms.peeling import odds
from shortlist.mechanisms.user_peeling import peel_users
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaAboveZero, Epsilon, Share, Whole
from shortlist.privacy import ZCDP, Cost, Gaussian
from shortlist.privacy.accountant import (
    BoundedRange,
    EitherStage,
    SetThreshold,
    Stage,
    Threshold,
)
from shortlist.privacy.accountant.as_normal import picks_below
from shortlist.privacy.accountant.fitting import noise_on_weights, normal_noise
from shortlist.privacy.calibration import bounded_range_epsilon, subtract_down
from shortlist.questions import HittingSet, Question

__all__ = ["DiscoverThenHit"]

_LEAST = 0.1  # of k items named, as many as which picks are paid for at least


@dataclass(frozen=True, kw_only=True)
class DiscoverThenHit(Discovering):
    """Hitting set of private items, the default: discovery takes what picks have no use for.

    First the weighted Gaussian mechanism names items with `discovery_share` of the budget. If it
    names at least k, the rest pays for k picks among them, as `UserPeeling` makes them. If it names
    n < k, picks could leave none of these out; so most of the rest buys a second Gaussian on
    the same weights, and the mean of both names more. The fewer were named, the fewer are there to
    pick from: the picks get `picks_share` · n/k of the rest, and n counts as k/10 at least.

    Scores are noisy weights, of the first Gaussian or of the mean. They say how many hold an item,
    and not how many it reaches anew.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of all
    stages together, whichever way was taken. Picks after a second Gaussian are made with so much
    less that they cost no more than normal noise would, so that it does not matter how many there
    are to go on with. Both thresholds share one probability of naming an item that one user alone
    holds, half of it each, since either may do so. In zCDP: one total rho, and threshold_share of
    delta for that probability.

    Source: Dick et al. (2026), Algorithms 1 and 4, with the changes above. Proof notes:
    `docs/proofs/discover-then-hit.md`, `docs/proofs/accountant.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are discovered.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count for discovery.
        discovery_share: The first stage's share of rho.
        threshold_share: The share of delta that pays for the thresholds, in zCDP.
        picks_share: The share of the rest that pays for picks, where nearly k items were named.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = DiscoverThenHit(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole
    discovery_share: Share = 0.2
    threshold_share: Share = 0.3
    picks_share: Share = 0.75
    accounting: Accounting = Accounting.EXACT

    question: ClassVar[type[Question]] = HittingSet
    evidence: ClassVar[type] = Contributions
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = (
        "rho",
        "first_sigma",
        "first_threshold",
        "local_epsilon",
        "mean_sigma",
        "mean_threshold",
    )
    score_unit: ClassVar[str | None] = "noisy weight"

    def split(self, rest: float, named: int) -> tuple[float, float]:
        """The zCDP of a second Gaussian, and of the picks, where so many were named, less than k.

        By the worst case, the picks count as normal noise of so much zCDP.
        """
        picks = rest * self.picks_share * max(named / self.k, _LEAST)
        return subtract_down(rest, picks), picks

    def picks_after(self, named: int) -> float:
        """The local epsilon of the picks, where the first Gaussian named so many, less than k."""
        _, picks = self.split(self.rest, named)
        local_epsilon = bounded_range_epsilon(self.k, picks)
        if self.accounting is Accounting.ZCDP:
            return local_epsilon
        return min(local_epsilon, picks_below(math.sqrt(2 * picks), self.k))

    def gaussians_after(self, named: int) -> TwoGaussians:
        """Both Gaussians, where the first named so many items, less than k."""
        second, _ = self.split(self.rest, named)
        return TwoGaussians(self.first_rho, second, self.threshold_delta, self.max_items_per_user)

    @cached_property
    def gaussians(self) -> TwoGaussians:
        """Both Gaussians, where the first named none; it is the same whatever it names."""
        return self.gaussians_after(0)

    def stages(self, rho: float) -> tuple[Stage, ...]:
        """Noise on the weights; and then picks, or more noise on the same and picks.

        These are no worse than normal noise that does not depend on the weights. The more of it
        there is, the worse for users of whose items nobody else holds some: so all but one of k
        were named.
        """
        first, rest = self.shares(rho)
        picks = BoundedRange(bounded_range_epsilon(self.k, rest), self.k)
        second, noise = self.split(rest, self.k - 1)
        more = noise_on_weights(second), normal_noise(noise)
        return noise_on_weights(first), EitherStage((picks,), more)

    def _thresholds(self, rho: float, lost: float) -> tuple[Threshold | SetThreshold, ...]:
        """The first, and that of a mean, whose noise depends on how many were named."""
        first, _ = super()._thresholds(rho, lost)
        return first, SetThreshold(lost / 2)

    @cached_property
    def cost(self) -> Cost:
        """The first Gaussian, and the rest, whatever it is spent on."""
        by_rho = Gaussian(self.first_rho, self.threshold_delta) + ZCDP(self.rest)
        return alone(self.accounting, self.composition, by_rho, self.epsilon)

    def audit_hints(self) -> AuditHints:
        """Those of all that discover; with the noise that is left where one item was named."""
        hints = super().audit_hints()
        if self.k == 1:
            return hints
        return replace(hints, score_sd=self.gaussians_after(1).mean_sigma)

    def explain(self) -> list[str]:
        """All stages in plain words."""
        enough = (
            f"If these are {self.k} or more, {picked_in_turn(self.k)}, by how many more people "
            f"each reaches: {odds(self.local_epsilon)}"
        )
        more = (
            "If not, more noisy weights are drawn, and their means name more items. If none was "
            f"named at first, the mean must be at least {self.mean_threshold:.4g}, and its noise "
            f"has standard deviation {self.mean_sigma:.3g}."
        )
        up_to = counted(self.k, "item")
        then = f"From all of these up to {up_to} can be picked, with less of the budget."
        needs = people_needed(self.mean_threshold)
        or_more = f"To be named at first, it needs {self.first_threshold:.0f}."
        return [*self.gaussians.explain(), enough, more, then, f"{needs} {or_more}"]

    def select(self, evidence: Contributions, draws: Draws) -> Selection:
        """At most k items from whole sets, in the order picked, each with its noisy weight."""
        weights = evidence.bounded(self.max_items_per_user, draws).weigh().weights
        items, named = self.gaussians.discover(weights, draws)
        n = int(np.count_nonzero(named))
        if n >= self.k:
            found = items[named]
            picked = found[peel_users(evidence, found, self.k, self.local_epsilon, draws)]
            scores = self.gaussians.first_scores(weights[picked], draws)
            return Selection(picked, scores, noise_sd=self.first_sigma)
        gaussians = self.gaussians_after(n)
        ranked = gaussians.mean(weights[items], named, draws)
        found = items[ranked.positions]
        picks = peel_users(evidence, found, self.k, self.picks_after(n), draws)
        return Selection(found[picks], ranked.values[picks], noise_sd=gaussians.mean_sigma)
