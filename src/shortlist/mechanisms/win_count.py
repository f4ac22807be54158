"""Win count: noise on the number of comparisons that each item won."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from shortlist.draws import Draws, Order
from shortlist.draws.noise import Laplace
from shortlist.evidence import Wins
from shortlist.mechanisms.mechanism import (
    ADD_OR_REMOVE,
    AuditHints,
    Mechanism,
    Selection,
    best_are_named,
    require_bounded,
    whole_score,
)
from shortlist.parameters import Epsilon, Whole
from shortlist.privacy import Cost, Pure
from shortlist.privacy.calibration import one_shot_laplace_scale
from shortlist.questions import Question, Rank


@dataclass(frozen=True, kw_only=True)
class WinCount(Mechanism):
    """Ranks public items by the comparisons that they won, in Laplace noise; with noisy numbers.

    Also called Borda or Copeland counts. An item compared more often wins more often: rank by
    wins where all items were compared about as often, or where that should count.

    Guarantee: epsilon-DP, pure and unconditional, when one comparison is added or removed; or one
    user with at most `max_comparisons_per_user` comparisons. The scale of the noise is
    max_comparisons_per_user / epsilon, 1 / epsilon for one comparison, whatever k is: the noisy
    numbers of all items are private together.

    Source: the Laplace mechanism (Dwork et al. 2006) on a histogram. Proof note:
    `docs/proofs/win-count.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        max_comparisons_per_user: How many comparisons a user has made at most; None to protect one
            comparison.

    >>> WinCount(k=10, epsilon=0.5).scale
    2.0
    """

    k: Whole
    epsilon: Epsilon
    max_comparisons_per_user: Whole | None = None

    question: ClassVar[type[Question]] = Rank
    evidence: ClassVar[type] = Wins
    derived: ClassVar[tuple[str, ...]] = ("scale",)
    score_unit: ClassVar[str | None] = "noisy number of wins"

    @property
    def _changed(self) -> int:
        """By how much all numbers of wins change in sum."""
        return self.max_comparisons_per_user or 1

    @property
    def scale(self) -> float:
        """The scale of the noise, rounded up."""
        return one_shot_laplace_scale(
            self.k, epsilon=self.epsilon, spread=self._changed, total=self._changed
        )

    @property
    def adjacency(self) -> str:
        one_row = self.max_comparisons_per_user is None
        return "add or remove one comparison" if one_row else ADD_OR_REMOVE

    @property
    def cost(self) -> Cost:
        return Pure(self.epsilon)

    def audit_hints(self) -> AuditHints:
        return replace(super().audit_hints(), score_sd=whole_score(Laplace(self.scale))[1])

    def explain(self) -> list[str]:
        c = self.max_comparisons_per_user
        one = "comparison" if c is None else f"user with at most {c} comparison{'s' * (c != 1)}"
        sd = math.sqrt(2) * self.scale
        return [
            f"Laplace noise of standard deviation {sd:.3g} is added once to each number of wins.",
            best_are_named(self.k, "largest noisy number"),
            "The noisy numbers are published.",
            f"The noise hides what one {one} changes; it is the same for any number of items.",
        ]

    def select(self, evidence: Wins, draws: Draws) -> Selection:
        """K items (all, if there are fewer), best first, with their noisy numbers of wins."""
        require_bounded(evidence, max_comparisons_per_user=self.max_comparisons_per_user)
        noise = Laplace(self.scale)
        digits, sd = whole_score(noise)
        ranked = draws.order(Order(evidence.counts, [noise], digits=digits, unit=1.0, k=self.k))
        return Selection(ranked.positions, ranked.values, noise_sd=sd)
