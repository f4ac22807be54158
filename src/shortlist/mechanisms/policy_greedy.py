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
from shortlist.draws.reals import ROUNDING, TINY, ULP, LaplaceCDF
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
# With a larger epsilon, roundings of the coin may cost scores more than is set apart.
_MOST_EPSILON = 40.0


@dataclass(frozen=True, kw_only=True)
class PolicyGreedy(Mechanism):
    """Domain discovery: users in random order each add one unit where it helps.

    A user adds the unit to the first of the items held, in a random order of all items, that has
    fewer units than the cutoff; or to the first of all, if none has. Each item with a unit is named
    by a coin, whose chance grows with the units as quickly as privacy allows. Any item of a user
    may take the unit: no bound on their number is needed. Known items come first in that order, and
    begin with units that nobody gave them.

    The coin is noise and a threshold in one. So each named item comes with its noisy number of
    units, which costs nothing more. It says at least roughly of which items there are most.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. An item with one unit is named
    with probability delta.

    Source: Carvalho et al. (2022), policy greedy, with the cutoff rounded up to a whole number, and
    the coin of Desfontaines, Voss & Gipson (2022), Theorem 1, in place of Laplace noise; the noise
    that it is made of is theirs, too. With a
    fraction, as published, one user's unit can reach many items that nobody else weights, in small
    parts, and their names cost more than delta. Proof note: `docs/proofs/policy-greedy.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        alpha: An item at the cutoff is named with a chance of 1 - exp(-alpha) / 2 or more.
        accounting: By the best coin there is; or as published, by Laplace noise and a threshold,
            which is also what is done where epsilon is so small that the coin would take long: at
            a delta of 1e-6, below about 0.00016. Then there are no scores, nor above 40.

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
        """The coin; None for Laplace noise. The float below delta leaves room for its roundings."""
        coin = UnitCoin(self.epsilon, math.nextafter(self.delta, 0.0))
        exact = self.accounting is Accounting.EXACT and coin.needed <= _MOST_UNITS
        return coin if exact else None

    @property
    def score_unit(self) -> str | None:  # type: ignore[override]
        """What each named item's noisy number of units is told as, if it is."""
        told = self._coin is not None and self.epsilon <= _MOST_EPSILON
        return "noisy weight" if told else None

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
            *([] if self.score_unit is None else [self._scoring()]),
            people_needed(self.threshold),
        ]

    def _scoring(self) -> str:
        return (
            "The score of an item is its number of units, in noise of standard deviation "
            f"{self.noise_sd:.3g}: no number of users, since each user adds one unit to one item."
        )

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
        start = np.zeros(evidence.n_items, np.int64)
        start[evidence.public] = self.head_start
        units = self._units(evidence, start, draws)
        items = np.flatnonzero(units)
        items = items[draws.coin(self._chances(units[items]))]
        if self.score_unit is None:
            return Selection(items, ordered=False)
        noisy = self._noisy(units[items], draws) - start[items]
        return Selection(items, noisy, ordered=False, noise_sd=self.noise_sd)

    def _units(self, held: Contributions, start: Ints, draws: Draws) -> Ints:
        """Those of each item, with those that it began with."""
        if len(held.users_of_size()) <= 2:  # nobody has a choice: no order changes anything
            return start + held.recount().counts
        order = users_shuffled(held, draws)
        ranks = shuffled_known_first(held.n_items, held.public, draws)
        return count_units(held, order, ranks, cutoff=self.cutoff, start=start)

    @cached_property
    def noise_sd(self) -> float:
        """The standard deviation of the noise in the scores of items of many units."""
        assert self._coin is not None  # noqa: S101 - else there are no scores
        chances = _listed(self._coin)
        below = self.threshold - np.arange(1, len(chances))  # the noise, if the coin needs so many
        often = np.diff(chances)
        return math.sqrt(float(often @ below**2) - float(often @ below) ** 2)

    def _noisy(self, units: Ints, draws: Draws) -> Floats:
        """The units of named items, in the noise that the coin is made of.

        An item of n units is named if the coin needs at most n, which has the chance of n units. So
        of a named item it is known how many the coin may have needed, and how likely each of these
        is. One is drawn, by halves; it is subtracted from the units, and the threshold added.
        """
        assert self._coin is not None  # noqa: S101 - else there are no scores
        low, high = np.zeros(len(units), np.int64), np.minimum(units, self._coin.certain)
        while len(open_ := np.flatnonzero(high - low > 1)):
            middle = (low[open_] + high[open_]) // 2
            lower = draws.coin(_Halves(self._coin, low[open_], middle, high[open_]))
            high[open_[lower]] = middle[lower]
            low[open_[~lower]] = middle[~lower]
        noisy: Floats = (units - high + self.threshold).astype(np.float64)
        return noisy


def _listed(coin: UnitCoin) -> Floats:
    """The chances as floats: rounded correctly."""
    one = 1 << coin.bits
    return np.array([numerator / one for numerator in coin.numerators])


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
        values = _listed(self.coin)[np.minimum(self.units, self.coin.certain)]
        return values, values * ULP + TINY

    def ball(self, i: int) -> arb:
        from flint import arb, fmpq

        chance = self.coin.chance(int(self.units[i]))
        return arb(fmpq(chance.numerator, chance.denominator))


@dataclass(frozen=True)
class _Halves:
    """The chance that a coin which needs more than `low` units, and at most `high`, needs few.

    Attributes:
        coin: The coin.
        low: For each item, below `middle`.
        middle: At most so many are few.
        high: Above `middle`, and at most `coin.certain`.
    """

    coin: UnitCoin
    low: Ints
    middle: Ints
    high: Ints

    def __len__(self) -> int:
        return len(self.low)

    def approximate(self) -> tuple[Floats, Floats]:
        """Two differences, each off by a rounding of what is subtracted, and their quotient.

        Where that leaves nothing of the divisor, anything from 0 to 1 may be meant.
        """
        known = _listed(self.coin)
        part, whole = known[self.middle] - known[self.low], known[self.high] - known[self.low]
        off = known[self.high] * (4 * ULP) + TINY
        sure = whole > 4 * off
        divisor = np.where(sure, whole, 1.0)
        values = np.where(sure, np.minimum(part / divisor, 1.0), 0.5)
        errors = np.where(sure, 4 * off / divisor + ROUNDING, 1.0)
        return values, errors

    def ball(self, i: int) -> arb:
        from flint import arb, fmpq

        low, middle, high = (
            self.coin.numerators[int(ends[i])] for ends in (self.low, self.middle, self.high)
        )
        return arb(fmpq(middle - low, high - low))
