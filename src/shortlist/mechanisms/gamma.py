"""Gamma mechanism: noise that is uniform in a cube of random size, and the k largest are named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from shortlist.draws import Draws, Order
from shortlist.draws.noise import Radius, UniformNoise
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.mechanism import Adjacency, Mechanism, Selection, best_are_named
from shortlist.parameters import Epsilon, Whole
from shortlist.privacy import Pure
from shortlist.privacy.calibration import cube_noise_scale


@dataclass(frozen=True, kw_only=True)
class Gamma(Mechanism):
    """Top-k of public items from noise uniform in a cube; for comparison.

    With d items, the half side r of the cube is the sum of d + 1 exponentials of mean `scale`; each
    count gets noise uniform on [-r, r], and the k largest are named in their order. So the error
    grows with d and not with k.

    Guarantee: epsilon-DP for the `neighbours` chosen, whatever k: scale = 1 / (2 epsilon) where one
    user is added or removed, and 1 / epsilon where one user's items may also change.

    Source: Steinke & Ullman (2015), the K-norm mechanism of the largest change; half its noise for
    users added or removed. Proof note: `docs/proofs/gamma.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        neighbours: `Adjacency.ADD_REMOVE`, or `Adjacency.GENERAL` where every count may move by
            1 either way.

    >>> Gamma(k=20, epsilon=1.0).scale
    0.5
    """

    k: Whole
    epsilon: Epsilon
    neighbours: Adjacency = Adjacency.ADD_REMOVE

    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("scale",)

    @property
    def scale(self) -> float:
        """The mean of each of the exponentials that make up the size of the cube, rounded up."""
        return cube_noise_scale(epsilon=self.epsilon, spread=self.neighbours.spread)

    @property
    def cost(self) -> Pure:
        """Pure; of its zCDP nothing better is known than epsilon²/2."""
        return Pure(self.epsilon)

    def explain(self) -> list[str]:
        noise = (
            "Every count gets noise uniform on [-r, r]; r is random, the same for all, on average "
            f"{self.scale:.3g} times the number of items and one more."
        )
        return [noise, best_are_named(self.k, "largest noisy count")]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items (all, if there are fewer), best first."""
        radius = Radius(len(evidence.counts) + 1, self.scale)
        noises = [UniformNoise()]
        asked = Order(evidence.counts, noises, radius=radius, unit=evidence.unit, k=self.k)
        ranked = draws.order(asked)
        return Selection(ranked.positions)
