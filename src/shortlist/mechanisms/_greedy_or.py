"""What mechanisms share that choose between one unit of each user and a look at all they hold."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from shortlist.algorithms.likely_least import likely_least
from shortlist.draws import Draws, Ints
from shortlist.evidence import UserSets
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms.mechanism import Accounting, AuditHints, Mechanism
from shortlist.mechanisms.policy_greedy import PolicyGreedy
from shortlist.privacy import Approximate, round_down
from shortlist.privacy.calibration import subtract_down


@dataclass(frozen=True, kw_only=True)
class ChoiceDesign:
    """What is fixed of a choice between two ways. All was measured: `bench/results/tuning.md`.

    Attributes:
        choice_share: The share of epsilon that pays for the choice.
        factor: Of the odds of `PolicyGreedy`, whatever users hold.
        least_of_delta: What the choice has to leave for one unit, or there is none.
    """

    choice_share: float
    factor: float
    least_of_delta: float


class GreedyOr(Mechanism):
    """`PolicyGreedy` or another mechanism, by a private look at how many items users hold.

    The other mechanism has all of epsilon and delta: one unit alone pays for the choice. The proof
    note is `docs/proofs/greedy-or-rounds.md`.
    """

    epsilon: float
    delta: float
    design: ChoiceDesign
    evidence: ClassVar[type] = Contributions
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("choice_epsilon", "units_needed", "threshold")
    accountings: ClassVar[tuple[Accounting, ...]] = (Accounting.EXACT,)
    takes_known_items: ClassVar[bool] = True

    @property
    @abstractmethod
    def _other(self) -> Mechanism:
        """What answers in the second way, by all of epsilon and delta."""

    @property
    @abstractmethod
    def threshold(self) -> float:
        """The least mean noisy weight to be found after the last round of the second way."""

    @abstractmethod
    def _lost(self, users_of_size: Ints) -> Ints:
        """What speaks against one unit, and against the other way, in multiples of 2^-20.

        One user more moves the difference of both by at most 1.
        """

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
        """What one unit may have of delta, so that the other way may have all: see the note."""
        nearer = Fraction(self._other.cost.delta(self._left))
        growth = Fraction(math.exp(self.choice_epsilon)) * (1 + Fraction(1, 2**50))
        whole = Fraction(self.delta)
        return round_down(whole - max(growth * (nearer - whole), Fraction(0)))

    @property
    def cost(self) -> Approximate:
        """What was asked for: one unit would cost far more than that in zCDP."""
        return Approximate(self.epsilon, self.delta)

    # --- one unit

    @property
    def _least_delta(self) -> float:
        return self.delta * self.design.least_of_delta

    @cached_property
    def _greedy(self) -> PolicyGreedy:
        return PolicyGreedy(epsilon=self._left, delta=max(self._delta_left, self._least_delta))

    @property
    def _is_chosen(self) -> bool:
        """Whether there is a choice: else the other way is taken at once.

        There is none without scores of units: a list could not be ranked by them, and a set with
        scores would tell the way by its columns. And where the choice took most of delta, nothing
        could be gained.
        """
        return self._greedy.score_unit is not None and self._delta_left >= self._least_delta

    @property
    def units_needed(self) -> float:
        """The least number of users' units with which `PolicyGreedy` names more often than not."""
        return self._greedy.threshold

    # --- what is told of it

    def audit_hints(self) -> AuditHints:
        """Those of both ways."""
        other = self._other.audit_hints()
        return replace(
            super().audit_hints(),
            thresholds=(*other.thresholds, self.units_needed),
            user_bound=None,
            shuffles_users=True,
        )

    def explain_known(self) -> list[str]:
        """What both ways do with known items."""
        if not self._is_chosen:
            return self._other.explain_known()
        return [
            *(f"In the first way: {told}" for told in self._greedy.explain_known()),
            *(f"In the second way: {told}" for told in self._other.explain_known()),
        ]

    # --- the choice

    @property
    def _factor(self) -> float:
        """Of the odds of one unit: public."""
        return self.design.factor

    def _way(self, held: UserSets, draws: Draws) -> int:
        """0 for `PolicyGreedy`, 1 for the other: likely the one that less speaks against."""
        if not self._is_chosen:
            return 1
        lost = self._lost(held.users_of_size())
        return likely_least(lost, self.choice_epsilon, draws, (self._factor, 1.0))
