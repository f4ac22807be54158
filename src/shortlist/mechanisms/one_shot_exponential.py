"""One-shot exponential noise: added once to every count, and the k largest are named in order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from shortlist.draws import Draws, Order
from shortlist.draws.noise import Exponential
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.mechanism import Adjacency, Mechanism, Selection, best_are_named
from shortlist.parameters import Epsilon, Whole
from shortlist.privacy import Pure
from shortlist.privacy.calibration import one_shot_laplace_scale


@dataclass(frozen=True, kw_only=True)
class OneShotExponential(Mechanism):
    """Top-k of public items: exponential noise once on every count, the k largest in their order.

    The pure guarantee of `OneShotLaplace` with half the variance. For k = 1 it is the law of
    `PermuteAndFlip`; for more it errs less, since it draws noise once where that needs fresh noise
    for each pick.

    Guarantee: epsilon-DP for the `neighbours` chosen. The scale is k w / epsilon, with w = 1 where
    one user is added or removed and w = 2 where one user's items may also change.

    Source: Ding et al. (2021) for k = 1; the proof for more is ours, after Qiao et al. (2021).
    Proof note: `docs/proofs/one-shot-exponential.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        neighbours: `Adjacency.ADD_REMOVE`, or `Adjacency.GENERAL` where every count may move by
            1 either way.

    >>> OneShotExponential(k=20, epsilon=1.0).scale
    20.0
    """

    k: Whole
    epsilon: Epsilon
    neighbours: Adjacency = Adjacency.ADD_REMOVE

    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("scale",)

    @cached_property
    def scale(self) -> float:
        """The mean of the noise, rounded up."""
        return one_shot_laplace_scale(self.k, epsilon=self.epsilon, spread=self.neighbours.spread)

    @property
    def cost(self) -> Pure:
        """Pure; it is not of bounded range."""
        return Pure(self.epsilon)

    def explain(self) -> list[str]:
        noise = f"Exponential noise of mean {self.scale:.3g} is added to every count once."
        return [noise, best_are_named(self.k, "largest noisy count")]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items in the order of their noisy counts (all, if there are fewer)."""
        noise = Exponential(self.scale)
        ranked = draws.order(Order(evidence.counts, [noise], unit=evidence.unit, k=self.k))
        return Selection(ranked.positions)
