"""Policy Greedy: each user adds one unit to one item that still needs it; then a coin for each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shortlist.algorithms.policies import count_units, shuffled_known_first, users_shuffled
from shortlist.draws import Draws, Floats, Ints, Reals
from shortlist.draws.reals import TINY, ULP, LaplaceCDF
from shortlist.evidence.buckets import MOST_USERS
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import Accounting, AuditHints, Mechanism, Selection
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaOfDomain, Epsilon, Whole
from shortlist.privacy import Approximate
from shortlist.privacy.accountant.policy_coin import UnitCoin
from shortlist.questions import Domain, Question

if TYPE_CHECKING:
    from flint import arb

# A coin's chances are found one after another: more of them would take long.
_MOST_UNITS = 2**16
_BY_MISTAKE = Fraction(1, 100)  # the chance to name a known item to which nobody gave a unit


@dataclass(frozen=True, kw_only=True)
class PolicyGreedy(Mechanism):
    """Domain discovery: users in random order each add one unit where it helps.

    A user adds the unit to the first of the items held, in a random order of all items, that has
    fewer units than the cutoff. Each item with a unit is named by a coin, whose chance grows with
    the units as quickly as privacy allows. Any item of a user may take the unit: no bound on their
    number is needed. A noisy number of units would say nothing of how many hold an item, and is not
    released. Known items come first in that order, and begin with units that nobody gave them.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. An item with one unit is named
    with probability delta.

    Source: Carvalho et al. (2022), policy greedy, with the cutoff rounded up to a whole number, and
    the coin of Desfontaines, Voss & Gipson (2022), Theorem 1, in place of Laplace noise. With a
    fraction, as published, one user's unit can reach many items that nobody else weights, in small
    parts, and their names cost more than delta. Proof note: `docs/proofs/policy-greedy.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        alpha: An item at the cutoff is named with a chance of 1 - exp(-alpha) / 2 or more.
        accounting: By the best coin there is; or as published, by Laplace noise and a threshold,
            which is also what is done where epsilon is so small that the coin would take long: at
            a delta of 1e-6, below about 0.00016.

    >>> mechanism = PolicyGreedy(epsilon=1.0, delta=1e-6)
    >>> mechanism.threshold, mechanism.cutoff
    (14, 17)
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    alpha: Whole = 3
    accounting: Accounting = Accounting.EXACT

    question: ClassVar[type[Question]] = Domain
    evidence: ClassVar[type] = Contributions
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("threshold", "cutoff")
    accountings: ClassVar[tuple[Accounting, ...]] = (Accounting.EXACT, Accounting.PUBLISHED)
    takes_known_items: ClassVar[bool] = True

    @cached_property
    def _coin(self) -> UnitCoin | None:
        """The coin; None for Laplace noise."""
        coin = UnitCoin(self.epsilon, self.delta)
        exact = self.accounting is Accounting.EXACT and coin.needed <= _MOST_UNITS
        return coin if exact else None

    @cached_property
    def threshold(self) -> float:
        """The least number of units that is named with a chance of one half or more."""
        if self._coin is not None:
            return self._coin.units_for(Fraction(1, 2))
        if self.delta <= 0.5:
            return 1 - math.log(2 * self.delta) / self.epsilon
        return 1 + math.log(2 * (1 - self.delta)) / self.epsilon

    @cached_property
    def cutoff(self) -> int:
        """How many units an item can get. Privacy needs no more of it than to be whole.

        More than there can be users are as many as these: no item is ever full.
        """
        if self._coin is not None:
            return self._coin.units_for(1 - Fraction(math.exp(-self.alpha)) / 2)
        return min(max(math.ceil(self.threshold + self.alpha / self.epsilon), 1), MOST_USERS)

    @property
    def head_start(self) -> int:
        """The units that known items begin with: as many as leave the chance below 1 %."""
        return 0 if self._coin is None else max(self._coin.units_for(_BY_MISTAKE) - 1, 0)

    def _chances(self, units: Ints) -> Reals:
        """To name items of so many units, at least 1."""
        if self._coin is None:
            return LaplaceCDF(units - 1, self.epsilon, self.delta)
        return _Chances(self._coin, units)

    @property
    def cost(self) -> Approximate:
        """One unit more or less, and the name of an item that nobody else gave one."""
        return Approximate(self.epsilon, self.delta)

    def audit_hints(self) -> AuditHints:
        return replace(super().audit_hints(), thresholds=(self.threshold,), shuffles_users=True)

    @property
    def finding(self) -> ByPlay:
        return ByPlay(
            lambda held, draws: self.select(held, draws).positions,
            around=self.threshold,
            most=None,
        )

    def explain(self) -> list[str]:
        return [
            "Users in random order each add one unit to one of the items they hold.",
            f"It is the first, in a random order of items, with fewer than {self.cutoff} units.",
            "Users may hold any number of items: a bound on items per user has no effect.",
            self._naming(),
            people_needed(self.threshold),
        ]

    def explain_known(self) -> list[str]:
        return [
            "Users give their unit to a known item first, if one they hold has room.",
            f"Known items begin with {self.head_start} units, whether anybody holds them or not.",
            "One to which no unit is given is named with a chance below 1 %.",
        ]

    def _naming(self) -> str:
        if self._coin is None:
            return (
                f"Items are named that have at least {self.threshold:.4g} units with Laplace noise "
                f"of scale {1 / self.epsilon:.3g}."
            )
        return (
            f"An item with one unit is named with probability {self.delta:.3g}; items with at "
            f"least {self.threshold} are named more often than not."
        )

    def select(self, evidence: Contributions, draws: Draws) -> Selection:
        """A set of items, without scores."""
        order = users_shuffled(evidence, draws)
        ranks = shuffled_known_first(evidence.n_items, evidence.public, draws)
        start = np.zeros(evidence.n_items, np.int64)
        start[evidence.public] = self.head_start
        units = count_units(evidence, order, ranks, cutoff=self.cutoff, start=start)
        items = np.flatnonzero(units)
        named = draws.coin(self._chances(units[items]))
        return Selection(items[named], ordered=False)


@dataclass(frozen=True)
class _Chances:
    """The coin's chances, which are fractions, for items of so many units.

    Attributes:
        coin: The coin.
        units: Of each item.
    """

    coin: UnitCoin
    units: Ints

    def __len__(self) -> int:
        return len(self.units)

    def approximate(self) -> tuple[Floats, Floats]:
        """Off by a rounding each, and by what underflows: whole numbers are divided correctly."""
        one = 1 << self.coin.bits
        known = np.array([numerator / one for numerator in self.coin.numerators])
        values = known[np.minimum(self.units, self.coin.certain)]
        return values, values * ULP + TINY

    def ball(self, i: int) -> arb:
        from flint import arb, fmpq

        chance = self.coin.chance(int(self.units[i]))
        return arb(fmpq(chance.numerator, chance.denominator))
