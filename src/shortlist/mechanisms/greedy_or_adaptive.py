"""Greedy or adaptive: top-k by one unit of each user where users hold one item, else as usual."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from shortlist.algorithms.clipped_counts import best_first
from shortlist.algorithms.rounding_grids import WHOLE_WEIGHT
from shortlist.draws import Draws, Ints
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms._greedy_or import ChoiceDesign, GreedyOr
from shortlist.mechanisms.adaptive_top_k import AdaptiveTopK, TopKDesign
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import FIXED, Selection
from shortlist.parameters import DeltaAboveZero, Epsilon, Whole

_ADAPTIVE: TopKDesign = AdaptiveTopK.design


@dataclass(frozen=True, kw_only=True)
class GreedyOrAdaptiveDesign(ChoiceDesign):
    """What is fixed of `GreedyOrAdaptive`.

    Attributes:
        factor_of_one: In place of the factor, where at most one item of each user counts.
        for_units: What a user of one item says for units.
        cap: Of all that these say, as the logarithm of odds.
        most: A user of so many items more than one says 1 against units.
        borne: So many of these are borne for each user of one item.
        adaptive: What is fixed of `AdaptiveTopK`.
    """

    choice_share: float = 0.02
    factor: float = 0.1
    least_of_delta: float = 0.1
    factor_of_one: float = 20.0
    for_units: float = 0.1
    cap: float = 5.3
    most: float = 3.0
    borne: float = 0.001
    adaptive: TopKDesign = _ADAPTIVE

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(self, adaptive=self.adaptive.coarse)


_DESIGN = GreedyOrAdaptiveDesign()


@dataclass(frozen=True, kw_only=True)
class GreedyOrAdaptive(GreedyOr):
    """Top-k of private items by one unit of each user, or by `AdaptiveTopK`.

    Where each user holds one item, the noisy units of `PolicyGreedy` are noisy counts: all of
    epsilon finds the items and ranks them at once, and an item needs far fewer people. Where even a
    few users hold many items, units rank badly. So a private choice looks at how many users hold
    how many items, and takes 0.02 of epsilon. In a small table it has little to go by, and takes
    `AdaptiveTopK`; with max_items_per_user=1, which says what users hold, it takes one unit unless
    many users hold more.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. `AdaptiveTopK` has all of
    both: one unit alone pays for the choice, by 0.02 of epsilon and a part of delta.

    Source: of this project. Proof notes: `docs/proofs/greedy-or-adaptive.md`,
    `docs/proofs/greedy-or-rounds.md`, `docs/proofs/adaptive-top-k.md`,
    `docs/proofs/policy-greedy.md`.

    Args:
        k: How many items, at least 1; fewer come out where fewer are found.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count in rounds, as of `AdaptiveTopK`.
            `PolicyGreedy` looks at whole sets.

    >>> mechanism = GreedyOrAdaptive(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.units_needed, round(mechanism.threshold), mechanism.choice_epsilon
    (15, 25, 0.02)
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole
    design: GreedyOrAdaptiveDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    # The other way has none, and whether a release has a column must not tell the way.
    score_unit: ClassVar[str | None] = None

    # --- both ways

    @cached_property
    def _other(self) -> AdaptiveTopK:
        return AdaptiveTopK(
            k=self.k,
            epsilon=self.epsilon,
            delta=self.delta,
            max_items_per_user=self.max_items_per_user,
            design=self.design.adaptive,
        )

    @property
    def threshold(self) -> float:
        """The least mean noisy weight to be found after the last round."""
        return self._other.threshold

    # --- what is told of it

    @property
    def finding(self) -> ByPlay:
        """The choice, and what it finds, whether among the k best or not."""
        return ByPlay(self._found, around=self.threshold, most=self.max_items_per_user)

    def _found(self, held: Contributions, draws: Draws) -> Ints:
        if self._way(held, draws) == 0:
            return self._greedy.select(held, draws).positions
        return self._other.finding.find(held, draws)

    def explain(self) -> list[str]:
        """The choice, and both ways, in plain words."""
        first, *rest = self._other.explain()
        if not self._is_chosen:
            return [first, *rest]
        choice = (
            "Items are found in one of two ways. Which one is chosen privately, by how many users "
            "hold how many items: the first way suits users of one item, the second users of more."
        )
        units = (
            "In the first way, each user adds one unit to one item. Items with at least "
            f"{self.units_needed} units are found more often than not, and ranked by units in "
            f"noise of standard deviation {self._greedy.noise_sd:.3g}."
        )
        return [choice, units, f"In the second way, {first[0].lower()}{first[1:]}", *rest]

    # --- the selection

    def select(self, evidence: Contributions, draws: Draws) -> Selection:
        """At most k items, best first, and which way was chosen."""
        if self._way(evidence, draws) == 1:
            selection = self._other.select(evidence, draws)
            return selection._replace(branch="all items of a user")
        found = self._greedy.select(evidence, draws)
        assert found.scores is not None  # noqa: S101 - else nothing is chosen
        best = best_first(found.scores, draws)[: self.k]
        return Selection(found.positions[best], branch="one item of a user")

    @property
    def _factor(self) -> float:
        of_one = self.max_items_per_user == 1
        return self.design.factor_of_one if of_one else self.design.factor

    def _lost(self, users_of_size: Ints) -> Ints:
        """Against units, users of several items; against the other way, users of one, up to a cap.

        A few users may hold most of all. So what one user of many items says weighs far more than
        what users of one say, who outweigh nothing but one such user in a thousand.
        """
        sizes = np.arange(len(users_of_size))
        most = np.minimum(np.maximum(sizes - 1, 0) / self.design.most, 1.0)
        several = int(users_of_size @ np.floor(most * WHOLE_WEIGHT).astype(np.int64))
        ones = int(users_of_size[1]) if len(users_of_size) > 1 else 0
        borne = ones * int(self.design.borne * WHOLE_WEIGHT)
        for_units = ones * int(self.design.for_units * WHOLE_WEIGHT)
        return np.array([max(several - borne, 0), min(for_units, self._cap)], np.int64)

    @property
    def _cap(self) -> int:
        """Of what users of one item say, in multiples of 2^-20: public."""
        of_one = self.max_items_per_user == 1
        return 0 if of_one else int(self.design.cap / self.choice_epsilon * WHOLE_WEIGHT)
