"""Greedy or rounds: a private choice between one unit of each user and weights in rounds."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar, Self

import numpy as np

from shortlist.algorithms.rounding_grids import WHOLE_WEIGHT
from shortlist.draws import Draws, Ints
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms._greedy_or import ChoiceDesign, GreedyOr
from shortlist.mechanisms.adaptive_gaussian import AdaptiveGaussian, Rounds
from shortlist.mechanisms.chosen_bound import ChosenBound, ChosenBoundDesign
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import FIXED, Selection
from shortlist.parameters import DeltaOfDomain, Epsilon, Whole
from shortlist.questions import Domain, Question


@dataclass(frozen=True, kw_only=True)
class GreedyOrRoundsDesign(ChoiceDesign):
    """What is fixed of `GreedyOrRounds`.

    Attributes:
        worth: What one unit is worth, of what its lower threshold makes of it.
        most: At how much one user's vote is cut off, in weights of a user of one item.
        rounds: What is fixed of the rounds.
    """

    choice_share: float = 0.006
    factor: float = 0.03
    least_of_delta: float = 0.5
    worth: float = 0.9
    most: float = 5.0
    rounds: ChosenBoundDesign = field(default_factory=ChosenBoundDesign)

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(self, rounds=self.rounds.coarse)


_DESIGN = GreedyOrRoundsDesign()


@dataclass(frozen=True, kw_only=True)
class GreedyOrRounds(GreedyOr):
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
    score_unit: ClassVar[str | None] = "noisy weight"
    chooses_bound: ClassVar[bool] = True

    # --- rounds

    @cached_property
    def _other(self) -> AdaptiveGaussian:
        bound = self.max_items_per_user
        kind = ChosenBound if bound is None else partial(AdaptiveGaussian, max_items_per_user=bound)
        return kind(
            epsilon=self.epsilon, delta=self.delta, rounds=self.rounds, design=self.design.rounds
        )

    @property
    def threshold(self) -> float:
        """The least mean noisy weight to be named after the last round, at the largest bound."""
        return self._other.threshold

    # --- what is told of it

    @property
    def finding(self) -> ByPlay:
        """The choice, and what follows it."""
        return ByPlay(
            lambda held, draws: self.select(held, draws).positions,
            around=self.threshold,
            most=self._other.max_items_per_user,
        )

    def explain(self) -> list[str]:
        """The choice, and both ways, in plain words."""
        if not self._is_chosen:
            return self._other.explain()
        *rounds, of_rounds, needed = self._other.explain()
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

    # --- the selection

    def select(self, evidence: Contributions, draws: Draws) -> Selection:
        """A set of items with their noisy weights, and which way was chosen."""
        if self._way(evidence, draws) == 0:
            return self._greedy.select(evidence, draws)._replace(branch="one item of a user")
        selection = self._other.select(evidence, draws)
        told = "" if selection.branch is None else f", {selection.branch}"
        return selection._replace(branch=f"rounds{told}")

    def _lost(self, users_of_size: Ints) -> Ints:
        """The votes against each way, in multiples of 2^-20: each user has one, of at most 1.

        Of n items the rounds make sqrt(n), if the weight is spread over all that count; but they
        need more people for each item than one unit does. Who holds dozens of items has a whole
        vote, and who holds one about a tenth, since a few users may hold most of all.
        """
        sizes = np.minimum(np.arange(len(users_of_size)), self._other.max_items_per_user)
        ahead = self.design.worth * self._usual_threshold / self.units_needed - np.sqrt(sizes)
        votes = np.floor(np.clip(ahead / self.design.most, -1.0, 1.0) * WHOLE_WEIGHT)
        votes = votes.astype(np.int64)
        votes[:1] = 0  # who holds nothing may be left out
        against = np.maximum(-votes, 0), np.maximum(votes, 0)
        return np.array([users_of_size @ each for each in against], np.int64)

    @property
    def _usual_threshold(self) -> float:
        """That of the rounds, at the bound that is usual if it is chosen."""
        rounds = self._other
        return rounds.usual_threshold if isinstance(rounds, ChosenBound) else rounds.threshold
