"""Top-k of private items: found in rounds by who holds them, and then picked by their counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar

from shortlist.draws import Draws
from shortlist.errors import InputError
from shortlist.evidence import UserSets
from shortlist.mechanisms._in_rounds import SearchDesign
from shortlist.mechanisms.adaptive_gaussian import AdaptiveGaussian, Rounds
from shortlist.mechanisms.finding import Detection
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    picked_in_turn,
)
from shortlist.mechanisms.peeling import odds, peel, picks_epsilon
from shortlist.parameters import DeltaAboveZero, Epsilon, Share, Whole
from shortlist.privacy import Approximate, Composed, Cost, Pure
from shortlist.privacy.accountant import BoundedRange
from shortlist.privacy.accountant.fitting import largest_after
from shortlist.privacy.calibration import largest, subtract_down
from shortlist.privacy.composed import composition_of

_OF_DELTA = 0.5  # for the rounds: what they leave of it, picks make use of
_DESIGN = SearchDesign()


@dataclass(frozen=True, kw_only=True)
class AdaptiveGaussianPeeling(Mechanism):
    """Top-k of private items by amounts, the default: found by who holds them, ranked by sums.

    `AdaptiveGaussian` finds items in rounds with `discovery_share` of epsilon. Up to k of them
    are then picked one by one by their counts, as by `Peeling`, for all that the rounds leave.
    Where amounts are summed up, these counts are the sums: what users spent decides the order, and
    how many hold an item decides whether it is found.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of all
    stages together.

    Source: the two stages are those of Dick et al. (2026), Algorithm 2, with rounds in place of its
    first. Proof notes: `docs/proofs/adaptive-gaussian-peeling.md`, `docs/proofs/amounts.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are found.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count in the rounds.
        discovery_share: The share of epsilon for the rounds, which have half of delta.
        rounds: How many, as of `AdaptiveGaussian`.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    >>> mechanism = AdaptiveGaussianPeeling(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole
    discovery_share: Share = 0.6
    rounds: Rounds = 6
    accounting: Accounting = Accounting.EXACT
    design: SearchDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    evidence: ClassVar[type] = UserSets
    discovers: ClassVar[bool | None] = True
    reads_unit: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("sigma", "threshold", "local_epsilon")

    @cached_property
    def discovery(self) -> AdaptiveGaussian:
        """The rounds."""
        return AdaptiveGaussian(
            epsilon=self.epsilon * self.discovery_share,
            delta=self.delta * _OF_DELTA,
            max_items_per_user=self.max_items_per_user,
            rounds=self.rounds,
            accounting=self.accounting,
            design=self.design,
        )

    @property
    def sigma(self) -> float:
        """The standard deviation of the mean of all rounds' noise."""
        return self.discovery.sigma

    @property
    def threshold(self) -> float:
        """The least mean noisy weight to be found by all rounds."""
        return self.discovery.threshold

    @property
    def local_epsilon(self) -> float:
        """The parameter of each pick: the largest that the rounds leave."""
        return self._best[0]

    @property
    def cost(self) -> Cost:
        """The rounds, the items that one user alone may hold, and the picks."""
        return self._best[1]

    @cached_property
    def _best(self) -> tuple[float, Cost]:
        """The largest parameter of picks, and the cost of all; a choice by public parameters."""
        return max(self._ways(), key=lambda way: way[0])

    def _ways(self) -> Iterator[tuple[float, Cost]]:
        in_zcdp = 0.0
        with suppress(InputError):  # where the rounds leave nothing in zCDP
            in_zcdp = largest(self._by_rho, epsilon=self.epsilon, delta=self.delta)
            yield in_zcdp, self._by_rho(in_zcdp)
        if self.accounting is Accounting.EXACT:
            yield from self._after_rounds()
        if self.accounting is Accounting.EXACT or not in_zcdp:
            yield self._by_guarantees()

    def _by_guarantees(self) -> tuple[float, Cost]:
        """Picks for the epsilon and the delta that are left: both guarantees add up."""
        rounds = Approximate(self.discovery.epsilon, self.discovery.spent_delta)
        epsilon = subtract_down(self.epsilon, rounds.pure)
        delta = subtract_down(self.delta, rounds.lost)
        local = picks_epsilon(self.accounting, self.k, epsilon=epsilon, delta=delta)
        return local, rounds + Approximate(epsilon, delta)

    def _by_rho(self, local_epsilon: float) -> Cost:
        """What all stages cost, each by itself in zCDP."""
        return self.discovery.cost.ways[0] + Pure.bounded_range(local_epsilon) * self.k

    def _after_rounds(self) -> Iterator[tuple[float, Cost]]:
        """Picks as one stage more of the rounds, by the worst case of all."""
        before = composition_of(self.discovery.cost)
        assert before is not None  # noqa: S101 - of Gaussians the stages are known
        picks = partial(BoundedRange, times=self.k)
        local = largest_after(before, picks, epsilon=self.epsilon, delta=self.delta)
        if local > 0:
            stages = replace(before, stages=(*before.stages, picks(local)))
            yield local, Composed(stages, self._by_rho(local), epsilon=self.epsilon)

    def audit_hints(self) -> AuditHints:
        """The thresholds of the rounds."""
        thresholds = self.discovery.audit_hints().thresholds
        return replace(super().audit_hints(), thresholds=thresholds)

    @property
    def finding(self) -> Detection:
        """The rounds."""
        return self.discovery.finding

    def explain(self) -> list[str]:
        """The rounds and the picks in plain words."""
        *rounds, needed = self.discovery.explain_rounds("found")
        picked = f"Of what is found, up to {picked_in_turn(self.k)} by their counts"
        return [*rounds, f"{picked}: {odds(self.local_epsilon)}", needed]

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """At most k items in the order picked."""
        found = self.discovery.select(evidence, draws).positions
        each = self.local_epsilon * evidence.unit
        picked = peel(evidence.counts[found], self.k, each, draws)
        return Selection(found[picked])
