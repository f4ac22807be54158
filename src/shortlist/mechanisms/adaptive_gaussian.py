"""Adaptive Gaussian: weights summed up in rounds, each moved to where they still decide."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from shortlist.algorithms.search_in_rounds import Search
from shortlist.draws import Draws
from shortlist.errors import InputError, is_whole
from shortlist.evidence import UserSets
from shortlist.mechanisms._in_rounds import InRounds, SearchDesign
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    AuditHints,
    Selection,
    cost_of_release,
    score_digits,
)
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaOfDomain, Epsilon, Whole
from shortlist.privacy import Cost, Gaussian
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease, Schedule, fitted
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma
from shortlist.questions import Domain, Question

_LEAST_ROUNDS, _MOST_ROUNDS = 2, 10
_FLOOR = Fraction(1, 4) ** 2  # of the squared norm, spent evenly in later rounds
_CAP = 8.0  # times the even weight, at most
_RAISED = 0.06  # by how much more than that of an even weight the last threshold may need
_EARLY = 0.1  # of what may be lost, in all rounds but the last, twice as much in each
_EXPECTED_GAIN = 1.5
LOST_IN_ZCDP = 0.5
"""Of delta, for thresholds."""

_DESIGN = SearchDesign()


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


Rounds = Annotated[int, _require_rounds]


@dataclass(frozen=True, kw_only=True)
class AdaptiveGaussian(InRounds):
    """Domain discovery in rounds: users move their weight to the items that it may still help.

    In the first round each user spreads weight over the items held. The noisy weights so far then
    tell which items are found, which are out of reach, and which are near the threshold. In each
    later round users put most of their weight on the last, a little on those out of reach, and none
    on what is found. Items that are much too far away are dropped for good. Each item's noisy
    weights are averaged over all rounds, so that nothing is lost by dividing up the budget.

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

    >>> mechanism = AdaptiveGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> round(mechanism.sigma, 3), round(mechanism.threshold, 3)
    (4.225, 24.637)
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    max_items_per_user: Whole
    rounds: Rounds = 6
    accounting: Accounting = Accounting.EXACT
    design: SearchDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    question: ClassVar[type[Question]] = Domain
    derived: ClassVar[tuple[str, ...]] = ("sigma", "threshold")
    score_unit: ClassVar[str | None] = "noisy weight"

    @cached_property
    def _schedule(self) -> Schedule:
        """Later rounds are more precise, and decide more often."""
        n = self.rounds
        early = [2**r for r in range(n - 1)]
        return Schedule(
            parts=tuple(range(4, n + 4)),
            floor=_FLOOR,
            losses=(*(_EARLY * part / sum(early) for part in early), 1 - _EARLY),
            cap=_CAP,
            raised=_RAISED,
        )

    @cached_property
    def _release(self) -> RoundsRelease:
        if self.accounting is Accounting.EXACT:
            return fitted(
                lambda release: release.composition(self._schedule, self.max_items_per_user),
                epsilon=self.epsilon,
                delta=self.delta,
            )
        return RoundsRelease(gaussian_sigma(self._by_rho.rho), self._by_rho.lost)

    @cached_property
    def _by_rho(self) -> Gaussian:
        """The noise, and the items that one user alone may hold, each with a share of delta."""
        lost = self.delta * LOST_IN_ZCDP
        return Gaussian(gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=lost), lost)

    @cached_property
    def search(self) -> Search:
        """The rounds, among users of at most `max_items_per_user` items."""
        bound = self.max_items_per_user
        return Search.of(self._schedule, self._release, bound, self.design.grid, _EXPECTED_GAIN)

    @cached_property
    def cost(self) -> Cost:
        """The noise on the weights, and the items that one user alone may hold."""
        if self.accounting is Accounting.ZCDP:
            return self._by_rho
        composition = self._release.composition(self._schedule, self.max_items_per_user)
        by_rho = Gaussian(composition.rho, composition.lost)
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    def audit_hints(self) -> AuditHints:
        """The thresholds, and the noise in the scores."""
        return replace(super().audit_hints(), score_sd=self.search.first_sd)

    def explain(self) -> list[str]:
        """The rounds in plain words."""
        *rounds, needed = self.explain_rounds("named")
        return [*rounds, self.explain_scores(), needed]

    def explain_rounds(self, found: str) -> list[str]:
        """The same without what is said of scores: when an item is `found`, or named."""
        return [
            *self._explain_rounds(found, may_stop=False),
            f"An item that is far from being {found} is dropped after a round.",
            people_needed(self.threshold),
        ]

    def explain_scores(self) -> str:
        """What the scores are, where they are the weights."""
        return (
            "The score of an item is its noisy weight of the first round, in noise of standard "
            f"deviation {self.search.first_sd:.3g}: of an item that a later round named it may be "
            "small."
        )

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """A set of items with their noisy weights; of each user `max_items_per_user` count."""
        return self._named(evidence, self.max_items_per_user, self.search, draws)

    def _named(self, evidence: UserSets, bound: int, search: Search, draws: Draws) -> Selection:
        found = search.found(evidence.bounded(bound, draws), draws)
        scores = np.round(found.first, score_digits(search.first_sd))
        return Selection(found.items, scores, ordered=False, noise_sd=search.first_sd)
