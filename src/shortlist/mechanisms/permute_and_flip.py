"""Permute-and-flip peeling: the pure way to pick the top k one by one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from shortlist.algorithms.grouping import EqualCounts
from shortlist.draws import Draws
from shortlist.draws.reals import ExponentialWeights
from shortlist.evidence import PublicCounts
from shortlist.mechanisms.mechanism import Mechanism, Selection, picked_in_turn
from shortlist.mechanisms.peeling import first
from shortlist.parameters import Epsilon, Whole
from shortlist.privacy import Pure
from shortlist.privacy.calibration import divide_down


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Mechanism):
    """Top-k of public items: k picks by permute-and-flip, which needs no delta.

    A pick visits the items left in random order and takes the first that is accepted, each with
    probability exp(-local_epsilon · (largest count left - count)). The same law as the largest of
    the counts left with exponential noise of mean 1/local_epsilon; but k picks need fresh noise
    every time.

    Guarantee: epsilon-DP when one user is added or removed: local_epsilon = epsilon / k a pick.

    Source: McKenna & Sheldon (2020); Gillenwater et al. (2022), PNF-PEEL; Ding et al. (2021). Proof
    note: `docs/proofs/permute-and-flip.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.

    >>> PermuteAndFlip(k=16, epsilon=1.0).local_epsilon
    0.0625
    """

    k: Whole
    epsilon: Epsilon

    evidence: ClassVar[type] = PublicCounts
    reads_unit: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("local_epsilon",)

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick."""
        return divide_down(self.epsilon, self.k)

    @property
    def cost(self) -> Pure:
        """K pure picks; permute-and-flip is not of bounded range."""
        return Pure(self.local_epsilon) * self.k

    def explain(self) -> list[str]:
        chances = (
            f"{picked_in_turn(self.k)}: the items left are visited in random "
            "order, and one that has c people fewer than the best is accepted with probability "
            f"exp(-{self.local_epsilon:.3g} c)."
        )
        return [chances]

    def select(self, evidence: PublicCounts, draws: Draws) -> Selection:
        """K items in the order picked (all, if there are fewer)."""
        groups = EqualCounts.of(evidence.counts)
        each = self.local_epsilon * evidence.unit
        weights = ExponentialWeights(groups.values, groups.sizes, each)
        picked = weights.in_turn(draws.permute_and_flip)
        return Selection(groups.draw_members(first(self.k, picked), draws))
