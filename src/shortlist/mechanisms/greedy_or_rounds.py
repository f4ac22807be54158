"""Greedy or rounds: a private choice between one unit of each user and weights in rounds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from shortlist.algorithms.rounding_grids import BITS_OF_WEIGHTS, UNIT_OF_WEIGHTS
from shortlist.draws import Draws, Ints
from shortlist.draws.reals import ExponentialWeights
from shortlist.evidence import UserSets
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms.adaptive_gaussian import Rounds
from shortlist.mechanisms.chosen_bound import ChosenBound, ChosenBoundDesign
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import FIXED, AuditHints, Mechanism, Selection
from shortlist.mechanisms.policy_greedy import PolicyGreedy
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaOfDomain, Epsilon, Whole
from shortlist.privacy import Approximate
from shortlist.privacy.calibration import subtract_down
from shortlist.questions import Domain, Question

__all__ = ["GreedyOrRounds", "GreedyOrRoundsDesign"]

_ONE = 1 << BITS_OF_WEIGHTS  # the whole loss of a user, in the unit of weights


@dataclass(frozen=True, kw_only=True)
class GreedyOrRoundsDesign:
    """What is fixed of `GreedyOrRounds`. All was measured: see `bench/results/tuning.md`.

    Attributes:
        choice_share: The share of epsilon that pays for the choice.
        factor: Of the odds of `PolicyGreedy`, whatever users hold.
        cost_of_threshold: What a user of few items loses by each part of the threshold more.
        rounds: What is fixed of the rounds.
    """

    choice_share: float = 0.005
    factor: float = 0.05
    cost_of_threshold: float = 0.6
    rounds: ChosenBoundDesign = field(default_factory=ChosenBoundDesign)

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(self, rounds=self.rounds.coarse)


_DESIGN = GreedyOrRoundsDesign()


@dataclass(frozen=True, kw_only=True)
class GreedyOrRounds(Mechanism):
    """Domain discovery by `PolicyGreedy` or by `ChosenBound`, whichever suits users' sets.

    Where nearly every user holds one item, no weight can be moved in rounds, and `PolicyGreedy`
    needs far fewer people for each item. Where users hold many, it wastes all but one of them. The
    choice looks at nothing but how many users hold how many items, and takes 1/200 of epsilon.

    There are no scores, since `PolicyGreedy` has none: what a release tells may not depend on the
    choice.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by basic composition: the
    choice, and then either way, each with delta and all the epsilon that is left.

    Source: of this project. Proof notes: `docs/proofs/greedy-or-rounds.md`,
    `docs/proofs/chosen-bound.md`, `docs/proofs/policy-greedy.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The largest bound of the rounds, as of `ChosenBound`. `PolicyGreedy`
            looks at whole sets.
        rounds: How many, from 2 to 10. Each passes over all users' items once.

    >>> mechanism = GreedyOrRounds(epsilon=1.0, delta=1e-6)
    >>> mechanism.units_needed, round(mechanism.threshold, 2), mechanism.choice_epsilon
    (14, 26.0, 0.005)
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    max_items_per_user: Whole = ChosenBound.max_items_per_user
    rounds: Rounds = ChosenBound.rounds
    design: GreedyOrRoundsDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    question: ClassVar[type[Question]] = Domain
    evidence: ClassVar[type] = Contributions
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("choice_epsilon", "units_needed", "threshold", "bounds")

    @property
    def choice_epsilon(self) -> float:
        """The range of the choice."""
        return self.epsilon * self.design.choice_share

    @property
    def _left(self) -> float:
        return subtract_down(self.epsilon, self.choice_epsilon)

    @cached_property
    def _greedy(self) -> PolicyGreedy:
        return PolicyGreedy(epsilon=self._left, delta=self.delta)

    @cached_property
    def _rounds(self) -> ChosenBound:
        return ChosenBound(
            epsilon=self._left,
            delta=self.delta,
            max_items_per_user=self.max_items_per_user,
            rounds=self.rounds,
            design=self.design.rounds,
        )

    @property
    def units_needed(self) -> float:
        """The least number of users' units with which `PolicyGreedy` names more often than not."""
        return self._greedy.threshold

    @property
    def threshold(self) -> float:
        """The least mean noisy weight to be named after the last round, at the largest bound."""
        return self._rounds.threshold

    @property
    def bounds(self) -> tuple[int, ...]:
        """Those of the rounds that are chosen from."""
        return self._rounds.bounds

    @property
    def cost(self) -> Approximate:
        """What was asked for: one unit would cost far more than that in zCDP."""
        return Approximate(self.epsilon, self.delta)

    def audit_hints(self) -> AuditHints:
        """Those of both ways."""
        hints = super().audit_hints()
        levels = (*self._rounds.audit_hints().thresholds, self.units_needed)
        return replace(hints, thresholds=levels, user_bound=None, shuffles_users=True)

    @property
    def finding(self) -> ByPlay:
        """The choice, and what follows it."""
        return ByPlay(
            lambda held, draws: self.select(held, draws).positions,
            around=self.threshold,
            most=self.max_items_per_user,
        )

    def explain(self) -> list[str]:
        """The choice, and both ways, in plain words."""
        greedy, rounds = self._greedy.explain(), self._rounds.explain()
        return [
            "One of two ways is chosen privately, by how many users hold how many items.",
            *(f"First way: {told}" for told in greedy[:-1]),
            *(f"Second way: {told}" for told in rounds[:-2]),
            people_needed(self.threshold),
        ]

    def select(self, evidence: Contributions, draws: Draws) -> Selection:
        """A set of items, without scores."""
        if self._way(evidence, draws) == 0:
            return self._greedy.select(evidence, draws)._replace(branch="one item of a user")
        found = self._rounds.select(evidence, draws)
        return Selection(found.positions, ordered=False, branch=f"rounds, {found.branch}")

    def _way(self, held: UserSets, draws: Draws) -> int:
        """0 for `PolicyGreedy`, 1 for rounds: likely the one that loses users less."""
        factors = np.array([self.design.factor, 1.0])
        per_unit = self.choice_epsilon * UNIT_OF_WEIGHTS  # exact
        lost = self._lost(held.users_of_size())
        return ExponentialWeights.of_ways(-lost, factors, per_unit).pick_way(draws)

    def _lost(self, users_of_size: Ints) -> Ints:
        """What all users lose by each way, in multiples of 2^-20: each from 0 to 1.

        By one unit, who holds n items loses all but one of them. By rounds, who holds more than the
        bound loses, and everybody else by how much more people an item needs.
        """
        sizes = np.arange(1, len(users_of_size))
        by_unit = _ONE - -(-_ONE // sizes)  # of one item, nothing
        others = max(1 - self.units_needed / self.threshold, 0.0) * self.design.cost_of_threshold
        by_rounds = np.where(sizes > self.max_items_per_user, _ONE, int(min(others, 1.0) * _ONE))
        users = users_of_size[1:]  # who holds nothing may be left out
        return np.array([users @ by_unit, users @ by_rounds], np.int64)
