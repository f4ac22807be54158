"""Greedy or rounds: a private choice between one unit of each user and weights in rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar, Self

import numpy as np

from shortlist.algorithms.likely_least import likely_least
from shortlist.algorithms.rounding_grids import WHOLE_WEIGHT
from shortlist.draws import Draws, Ints
from shortlist.evidence import UserSets
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms.adaptive_gaussian import AdaptiveGaussian, Rounds
from shortlist.mechanisms.chosen_bound import ChosenBound, ChosenBoundDesign
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
)
from shortlist.mechanisms.policy_greedy import PolicyGreedy
from shortlist.parameters import DeltaOfDomain, Epsilon, Whole
from shortlist.privacy import Approximate, round_down
from shortlist.privacy.calibration import subtract_down
from shortlist.questions import Domain, Question


@dataclass(frozen=True, kw_only=True)
class GreedyOrRoundsDesign:
    """What is fixed of `GreedyOrRounds`. All was measured: see `bench/results/tuning.md`.

    Attributes:
        choice_share: The share of epsilon that pays for the choice.
        factor: Of the odds of `PolicyGreedy`, whatever users hold.
        worth: What one unit is worth, of what its lower threshold makes of it.
        most: At how much one user's vote is cut off, in weights of a user of one item.
        rounds: What is fixed of the rounds.
    """

    choice_share: float = 0.006
    factor: float = 0.03
    worth: float = 0.9
    most: float = 5.0
    rounds: ChosenBoundDesign = field(default_factory=ChosenBoundDesign)

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(self, rounds=self.rounds.coarse)


_DESIGN = GreedyOrRoundsDesign()


@dataclass(frozen=True, kw_only=True)
class GreedyOrRounds(Mechanism):
    """Domain discovery by `PolicyGreedy` or in rounds, whichever suits users' sets.

    Where most users hold one item, no weight can be moved in rounds, and `PolicyGreedy` needs far
    fewer people for each item. Where users hold many, it makes use of one of them alone. The choice
    looks at nothing but how many users hold how many items, and takes 0.006 of epsilon. Where few
    users are in the table, or nothing speaks for one unit, items are most likely found in rounds.

    Each item comes with a noisy weight: of the first round, or its noisy number of units.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. The rounds have all of both:
    one unit alone pays for the choice, by 0.006 of epsilon and by up to a sixth of delta.

    Source: of this project. Proof notes: `docs/proofs/greedy-or-rounds.md`,
    `docs/proofs/adaptive-gaussian.md`, `docs/proofs/chosen-bound.md`,
    `docs/proofs/policy-greedy.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count in the rounds, as of
            `AdaptiveGaussian`; None for a bound that is chosen privately, as by `ChosenBound`.
            `PolicyGreedy` looks at whole sets.
        rounds: How many, from 2 to 10. Each passes over all users' items once.

    >>> mechanism = GreedyOrRounds(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.units_needed, round(mechanism.threshold, 2), mechanism.choice_epsilon
    (14, 24.64, 0.006)
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    max_items_per_user: Whole | None = None
    rounds: Rounds = AdaptiveGaussian.rounds
    design: GreedyOrRoundsDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    question: ClassVar[type[Question]] = Domain
    evidence: ClassVar[type] = Contributions
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("choice_epsilon", "units_needed", "threshold")
    score_unit: ClassVar[str | None] = "noisy weight"
    accountings: ClassVar[tuple[Accounting, ...]] = (Accounting.EXACT,)
    takes_known_items: ClassVar[bool] = True
    chooses_bound: ClassVar[bool] = True

    # --- what is spent

    @property
    def choice_epsilon(self) -> float:
        """The range of the choice."""
        return self.epsilon * self.design.choice_share

    @cached_property
    def _left(self) -> float:
        return subtract_down(self.epsilon, self.choice_epsilon)

    @cached_property
    def _delta_left(self) -> float:
        """What one unit may have of delta, so that the rounds may have all: see the proof note."""
        nearer = Fraction(self._rounds.cost.delta(self._left))
        growth = Fraction(math.exp(self.choice_epsilon)) * (1 + Fraction(1, 2**50))
        whole = Fraction(self.delta)
        return round_down(whole - max(growth * (nearer - whole), Fraction(0)))

    @property
    def cost(self) -> Approximate:
        """What was asked for: one unit would cost far more than that in zCDP."""
        return Approximate(self.epsilon, self.delta)

    # --- both ways

    @cached_property
    def _greedy(self) -> PolicyGreedy:
        return PolicyGreedy(epsilon=self._left, delta=max(self._delta_left, self.delta / 2))

    @property
    def _is_chosen(self) -> bool:
        """Whether there is a choice: else rounds are run at once.

        Without scores of units, what is released would tell the way by its columns. And where the
        choice took most of delta, nothing could be gained.
        """
        return self._greedy.score_unit is not None and self._delta_left >= self.delta / 2

    @cached_property
    def _rounds(self) -> AdaptiveGaussian:
        bound = self.max_items_per_user
        kind = ChosenBound if bound is None else partial(AdaptiveGaussian, max_items_per_user=bound)
        return kind(
            epsilon=self.epsilon, delta=self.delta, rounds=self.rounds, design=self.design.rounds
        )

    @property
    def units_needed(self) -> float:
        """The least number of users' units with which `PolicyGreedy` names more often than not."""
        return self._greedy.threshold

    @property
    def threshold(self) -> float:
        """The least mean noisy weight to be named after the last round, at the largest bound."""
        return self._rounds.threshold

    # --- what is told of it

    def audit_hints(self) -> AuditHints:
        """Those of both ways."""
        rounds = self._rounds.audit_hints()
        return replace(
            super().audit_hints(),
            thresholds=(*rounds.thresholds, self.units_needed),
            user_bound=None,
            shuffles_users=True,
        )

    @property
    def finding(self) -> ByPlay:
        """The choice, and what follows it."""
        return ByPlay(
            lambda held, draws: self.select(held, draws).positions,
            around=self.threshold,
            most=self._rounds.max_items_per_user,
        )

    def explain(self) -> list[str]:
        """The choice, and both ways, in plain words."""
        if not self._is_chosen:
            return self._rounds.explain()
        *rounds, of_rounds, needed = self._rounds.explain()
        choice = (
            "Items are found in one of two ways. Which one is chosen privately, by how many users "
            "hold how many items: the first way suits users of one or two, the second users of "
            "more."
        )
        units = (
            "In the first way, each user adds one unit to one item, and items with at least "
            f"{self.units_needed} units are named more often than not."
        )
        second = f"In the second way, {rounds[0][0].lower()}{rounds[0][1:]}"
        of_units = (
            "In the first way, it is the item's number of units, in noise of standard deviation "
            f"{self._greedy.noise_sd:.3g}."
        )
        return [choice, units, second, *rounds[1:], f"{of_rounds} {of_units}", needed]

    def explain_known(self) -> list[str]:
        """What both ways do with known items."""
        if not self._is_chosen:
            return self._rounds.explain_known()
        return [
            *(f"In the first way: {told}" for told in self._greedy.explain_known()),
            *(f"In the second way: {told}" for told in self._rounds.explain_known()),
        ]

    # --- the selection

    def select(self, evidence: Contributions, draws: Draws) -> Selection:
        """A set of items with their noisy weights, and which way was chosen."""
        if self._way(evidence, draws) == 0:
            return self._greedy.select(evidence, draws)._replace(branch="one item of a user")
        selection = self._rounds.select(evidence, draws)
        told = "" if selection.branch is None else f", {selection.branch}"
        return selection._replace(branch=f"rounds{told}")

    def _way(self, held: UserSets, draws: Draws) -> int:
        """0 for `PolicyGreedy`, 1 for rounds: likely the one that more users vote for."""
        if not self._is_chosen:
            return 1
        lost = self._lost(held.users_of_size())
        return likely_least(lost, self.choice_epsilon, draws, (self.design.factor, 1.0))

    def _lost(self, users_of_size: Ints) -> Ints:
        """The votes against each way, in multiples of 2^-20: each user has one, of at most 1.

        Of n items the rounds make sqrt(n), if the weight is spread over all that count; but they
        need more people for each item than one unit does. Who holds dozens of items has a whole
        vote, and who holds one about a tenth, since a few users may hold most of all.
        """
        bound = self._rounds.max_items_per_user
        sizes = np.minimum(np.arange(len(users_of_size)), bound)
        ahead = self.design.worth * self._usual_threshold / self.units_needed - np.sqrt(sizes)
        votes = np.floor(np.clip(ahead / self.design.most, -1.0, 1.0) * WHOLE_WEIGHT)
        votes = votes.astype(np.int64)
        votes[:1] = 0  # who holds nothing may be left out
        against = np.maximum(-votes, 0), np.maximum(votes, 0)
        return np.array([users_of_size @ each for each in against], np.int64)

    @property
    def _usual_threshold(self) -> float:
        """That of the rounds, at the bound that is usual if it is chosen."""
        rounds = self._rounds
        return rounds.usual_threshold if isinstance(rounds, ChosenBound) else rounds.threshold
