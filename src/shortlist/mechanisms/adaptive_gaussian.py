"""Adaptive Gaussian: weights summed up in rounds, each moved to where they still decide."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from shortlist.algorithms.rounding_grids import coarse_grid, fine_grid
from shortlist.algorithms.rounds import Rounds
from shortlist.draws import Draws, RoundingGrid
from shortlist.errors import InputError, is_whole
from shortlist.evidence import UserSets
from shortlist.mechanisms._told_of_rounds import told_of_first, told_of_rounds
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    coarser,
    cost_of_release,
    score_digits,
)
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaOfDomain, Epsilon, Whole
from shortlist.privacy import Cost, Gaussian
from shortlist.privacy.accountant.rounds import (
    Limits,
    RoundsRelease,
    Schedule,
    fitted,
    limits_of,
    sd_of_round,
)
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma
from shortlist.questions import Domain, Question

__all__ = ["LOST_IN_ZCDP", "AdaptiveGaussian"]

_LEAST_ROUNDS, _MOST_ROUNDS = 2, 10
_FLOOR = Fraction(2, 5) ** 2  # of the squared norm, spent evenly in later rounds
_REACH = 3.0  # times the even weight, at most
_RAISED = 0.04  # by how much more than that of an even weight the last threshold may need
_EARLY = 0.05  # of what may be lost, in all rounds but the last, three times as much in each
_BOLDNESS = 1.5  # an item is expected to gain by what users move, as a factor
LOST_IN_ZCDP = 0.5
"""Of delta, for thresholds."""


def _require_rounds(name: str, value: int) -> int:
    """So many rounds that one can learn from another, and as many as help."""
    if not (is_whole(value) and _LEAST_ROUNDS <= value <= _MOST_ROUNDS):
        raise InputError(
            "must be a whole number from {least} to {most}",
            given={name: value},
            least=_LEAST_ROUNDS,
            most=_MOST_ROUNDS,
        )
    return int(value)


@dataclass(frozen=True, kw_only=True)
class AdaptiveGaussian(Mechanism):
    """Domain discovery in rounds: users move their weight to the items that it may still help.

    In the first round each user spreads weight over the items held. The noisy weights so far then
    tell which items are found, which are out of reach, and which are near the threshold. In each
    later round users put most of their weight on the last, a little on those out of reach, and none
    on what is found. Each item's noisy weights are averaged over all rounds, so that nothing is
    lost by dividing up the budget.

    The noisy weights of the first round are released with the named items: later ones say nothing
    about how many users hold an item.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. A user whose items are all
    held by others spends delta on the noise of all rounds, and one who alone holds them all spends
    it on the thresholds. All users in between are looked at too, and stay within it.

    Source: of this project; the weights of the first round and the thresholds are those of Gopi et
    al. (2020). Proof note: `docs/proofs/adaptive-gaussian.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count.
        rounds: How many, from 2 to 10. Each passes over all users' items once.
        accounting: By the worst case of all users, or in zCDP, for one release of many.

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = AdaptiveGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> round(mechanism.sigma, 3), round(mechanism.threshold, 3)
    (4.225, 24.018)
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    max_items_per_user: Whole
    rounds: Annotated[int, _require_rounds] = 4
    accounting: Accounting = Accounting.EXACT

    question: ClassVar[type[Question]] = Domain
    evidence: ClassVar[type] = UserSets
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("sigma", "threshold")
    score_unit: ClassVar[str | None] = "noisy weight"
    _is_fine: ClassVar[bool] = True
    _kind: ClassVar[type[Rounds]] = Rounds

    @cached_property
    def _plan(self) -> Schedule:
        """Later rounds are more precise, and decide more often."""
        n = self.rounds
        early = [3**r for r in range(n - 1)]
        return Schedule(
            parts=tuple(range(3, n + 3)),
            floor=_FLOOR,
            losses=(*(_EARLY * part / sum(early) for part in early), 1 - _EARLY),
            reach=_REACH,
            raised=_RAISED,
        )

    @cached_property
    def _release(self) -> RoundsRelease:
        """The noise, and what may be lost."""
        if self.accounting is Accounting.EXACT:
            bound = self.max_items_per_user
            return fitted(self._plan, epsilon=self.epsilon, delta=self.delta, bound=bound)
        return RoundsRelease(gaussian_sigma(self._by_rho.rho), self._by_rho.lost)

    @cached_property
    def _by_rho(self) -> Gaussian:
        """The noise, and the items that one user alone may hold, each with a share of delta."""
        lost = self.delta * LOST_IN_ZCDP
        return Gaussian(gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=lost), lost)

    @cached_property
    def _limits(self) -> Limits:
        """The thresholds, and the largest weights."""
        return limits_of(self._plan, self._release, self.max_items_per_user)

    @property
    def _grid(self) -> RoundingGrid:
        """What noisy weights are rounded down to: any is private."""
        return fine_grid(self.sigma) if self._is_fine else coarse_grid(max(self.thresholds))

    @property
    def sigma(self) -> float:
        """The standard deviation of the mean of all rounds' noise."""
        return self._release.sigma

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The least mean of the noisy weights so far to be named, after each round."""
        return self._limits.thresholds

    @property
    def threshold(self) -> float:
        """That after the last round."""
        return self.thresholds[-1]

    @property
    def _score_sd(self) -> float:
        return sd_of_round(self._plan, self.sigma, 0)

    @cached_property
    def cost(self) -> Cost:
        """The noise on the weights, and the items that one user alone may hold."""
        if self.accounting is Accounting.ZCDP:
            return self._by_rho
        composition = self._release.composition(self._plan, self.max_items_per_user)
        by_rho = Gaussian(composition.rho, composition.lost)
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    def audit_hints(self) -> AuditHints:
        """The thresholds, the noise in the scores; and the same code with a coarse grid."""
        return replace(
            super().audit_hints(),
            thresholds=self.thresholds[::-1],
            score_sd=self._score_sd,
            coarse=coarser(self, _is_fine=False),
        )

    @property
    def finding(self) -> ByPlay:
        """All rounds."""
        return ByPlay(
            lambda held, draws: self.select(held, draws).positions,
            around=self.threshold,
            most=self.max_items_per_user,
        )

    def explain(self) -> list[str]:
        """The rounds in plain words."""
        bound = self.max_items_per_user
        rounds = told_of_rounds(
            self.thresholds, self.sigma, bound=bound, named="named", may_stop=False
        )
        return [*rounds, told_of_first(self._score_sd), people_needed(self.threshold)]

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """A set of items with their noisy weights; of each user `max_items_per_user` count."""
        return self._found(evidence, self.max_items_per_user, self._limits, draws)

    def _found(self, evidence: UserSets, bound: int, limits: Limits, draws: Draws) -> Selection:
        """What the rounds find at a bound, with these limits."""
        held = evidence.bounded(bound, draws)
        rounds = self._kind(self._plan, self.sigma, limits, self._grid, _BOLDNESS)
        found = rounds.found(held, draws)
        scores = np.round(found.first, score_digits(self._score_sd))
        return Selection(found.items, scores, ordered=False, noise_sd=self._score_sd)
