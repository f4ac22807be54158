"""Policy Greedy: each user adds one unit to one item that still needs it; then Laplace noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from shortlist.algorithms.policies import count_units, shuffled, users_shuffled
from shortlist.draws import Draws
from shortlist.draws.reals import LaplaceCDF
from shortlist.evidence.contributions import MOST_USERS, Contributions
from shortlist.mechanisms.base import AuditHints, Mechanism, Selection
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaOfDomain, Epsilon, Whole
from shortlist.privacy import Approximate
from shortlist.questions import Domain, Question

__all__ = ["PolicyGreedy"]


@dataclass(frozen=True, kw_only=True)
class PolicyGreedy(Mechanism):
    """Domain discovery: users in random order each add one unit where it helps.

    A user adds the unit to the first of the items held, in a random order of all items, that has
    fewer units than the cutoff. Each item with a unit gets Laplace noise, and is named if it
    reaches the threshold. Any item of a user may take the unit: no bound on their number is needed.
    A noisy number of units would say nothing of how many hold an item, and is not released.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. An item with one unit is named
    with probability delta.

    Source: Carvalho et al. (2022), policy greedy, with the cutoff rounded up to a whole number.
    With a fraction, as published, one user's unit can reach many items that nobody else weights,
    in small parts, and their names cost more than delta. Proof note:
    `docs/proofs/policy-greedy.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        alpha: How many scales of the noise the cutoff lies above the threshold.

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = PolicyGreedy(epsilon=1.0, delta=1e-6)
    >>> round(mechanism.threshold, 3), mechanism.cutoff
    (14.122, 18)
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    alpha: Whole = 3

    question: ClassVar[type[Question]] = Domain
    evidence: ClassVar[type] = Contributions
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("threshold", "cutoff")

    @cached_property
    def threshold(self) -> float:
        """The least noisy number of units to be named; the coins have it exactly."""
        if self.delta <= 0.5:
            return 1 - math.log(2 * self.delta) / self.epsilon
        return 1 + math.log(2 * (1 - self.delta)) / self.epsilon

    @cached_property
    def cutoff(self) -> int:
        """How many units an item can get. Privacy needs no more of it than to be whole.

        More than there can be users are as many as these: no item is ever full.
        """
        return min(max(math.ceil(self.threshold + self.alpha / self.epsilon), 1), MOST_USERS)

    @property
    def cost(self) -> Approximate:
        """One unit more or less, and the name of an item that nobody else gave one."""
        return Approximate(self.epsilon, self.delta)

    def audit_hints(self) -> AuditHints:
        """The threshold, and that users are shuffled."""
        return replace(super().audit_hints(), thresholds=(self.threshold,), shuffles_users=True)

    def explain(self) -> list[str]:
        """The policy, the noise and the threshold in plain words."""
        return [
            "Users in random order each add one unit to one of the items they hold.",
            f"It is the first, in a random order of all items, with less than {self.cutoff} units.",
            "Of how many items does not matter: a bound on items per user has no effect.",
            f"Each item's units get Laplace noise of scale {1 / self.epsilon:.3g}.",
            f"Items with at least {self.threshold:.4g} noisy units are named.",
            people_needed(self.threshold),
        ]

    def select(self, evidence: Contributions, draws: Draws) -> Selection:
        """A set of items, without scores."""
        order = users_shuffled(evidence, draws)
        ranks = shuffled(evidence.n_items, draws)
        units = count_units(evidence, order, ranks, cutoff=self.cutoff)
        items = np.flatnonzero(units)
        named = draws.coin(LaplaceCDF(units[items] - 1, self.epsilon, self.delta))
        return Selection(items[named], ordered=False)
