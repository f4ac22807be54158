"""Stages composed: the delta that they leave at an epsilon, bounded from above and from below."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache, partial
from typing import TypeAlias

from shortlist.errors import InputError
from shortlist.privacy._curves import zcdp_delta
from shortlist.privacy.accountant.directions import Reading, both_directions, worst
from shortlist.privacy.accountant.grid import Grid
from shortlist.privacy.accountant.normal import gaussian_curve
from shortlist.privacy.accountant.novel import Cases, Lost, NovelItems
from shortlist.privacy.accountant.resolution import is_feasible, spacing
from shortlist.privacy.accountant.stages import (
    BoundedRange,
    EitherStage,
    GaussianStage,
    PureStage,
    Stage,
    Stages,
    as_stages,
    is_gaussian,
    mu_of,
)
from shortlist.privacy.accountant.value import Valuation
from shortlist.privacy.rounding import round_up

__all__ = ["Composition"]

Set: TypeAlias = Lost | NovelItems | None

_LEAST = 1e-300  # added to every delta that is not 0: what underflows may have been there
_NOTHING = 1e-290  # a delta that is not worth a look
_LEFT_OUT = 1e-6  # of delta, at the ends of windows
_FAR = 4.0  # standard deviations of the loss, up to which a coin moves it on a grid


@dataclass(frozen=True)
class Composition:
    """The stages of one mechanism, fixed beforehand, each chosen by what those before released.

    Neighbours are a table and the same without one user, in either role. Proof note:
    `docs/proofs/accountant.md`.

    Attributes:
        stages: In any order; what follows a branch follows both ways.
        unnamed: The items that one user alone may hold, or mass that is lost; None where there is
            neither.

    >>> twenty = Composition((BoundedRange(0.1065, times=20),))
    >>> round(twenty.delta(1.0) * 1e6, 2)
    0.95
    """

    stages: Stages
    unnamed: Set = None

    @cached_property
    def merged(self) -> Stages:
        """The stages that do anything."""
        return as_stages(self.stages)

    @cached_property
    def rho(self) -> float:
        """Its zCDP, rounded up."""
        return round_up(_rho(self.merged))

    @property
    def lost(self) -> float:
        """The mass that its zCDP leaves out: what may be named that one user alone holds."""
        if isinstance(self.unnamed, NovelItems):
            return float(self.unnamed.cases.lost[-1])
        return 0.0 if self.unnamed is None else self.unnamed.delta

    @cached_property
    def is_feasible(self) -> bool:
        """Whether the worst case is computed on a grid; else `delta` is that of zCDP."""
        return is_feasible(self.merged)

    def delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        """The least delta known for this epsilon, rounded up.

        Args:
            epsilon: Of the guarantee, at least 0.
            fineness: Of the grid; the result is off by a share that falls with its square.
        """
        if not 0 <= epsilon < math.inf:
            raise InputError(f"epsilon={epsilon!r}: must be at least 0.")
        if isinstance(self.unnamed, NovelItems):
            return self._worst(self.unnamed.cases, epsilon, fineness)
        lost = 0.0 if self.unnamed is None else self.unnamed.delta
        known = self._by_zcdp(epsilon, lost)
        if not self._is_worth_a_grid(epsilon) or epsilon >= self._farthest:
            return known
        stages = _without_pure_ways(self.merged, epsilon)
        value = lost + _reader(stages, epsilon, fineness, self.rho).value(1.0, 0.0)
        return min(value * (1 + self._rounding) + _LEAST, known)

    def novel_delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        """As `delta`, of users only who hold a novel item: what thresholds are chosen by."""
        if not isinstance(self.unnamed, NovelItems):
            return 0.0
        shared, lost = self.unnamed.cases
        return self._worst(Cases(shared[lost > 0], lost[lost > 0]), epsilon, fineness)

    def _worst(self, cases: Cases, epsilon: float, fineness: float) -> float:
        if not len(cases.lost):
            return 0.0
        known = self._by_zcdp(epsilon, float(cases.lost[-1]))
        if not self._is_worth_a_grid(epsilon):
            return known
        reader = _reader(self.merged, epsilon, fineness, self.rho)
        value = worst(cases, reader.value)
        return min(value * (1 + self._rounding) + _LEAST, known)

    def least_delta(self, epsilon: float, *, fineness: float = 1.0) -> float:
        """At most the true worst case, by the same code with everything rounded down.

        Of the users with novel items, all who share nothing and all who share everything are
        looked at, and some between.
        """
        if not self._is_worth_a_grid(epsilon):
            return 0.0
        if not isinstance(self.unnamed, NovelItems):
            return self._least(epsilon, 1.0, 0.0, fineness)
        cases = self.unnamed.cases
        some = {0, len(cases.shared) // 2, len(cases.shared) - 1}
        return max(self._least(epsilon, cases.shared[i], cases.lost[i], fineness) for i in some)

    def _least(self, epsilon: float, shared: float, lost: float, fineness: float) -> float:
        """For one user; the coin moves epsilon instead of the loss, which is the same."""
        if lost >= 1:
            return 1.0

        def value(moved: float) -> float:
            rest = epsilon - moved
            if is_gaussian(self.merged):
                return float(gaussian_curve(rest, mu_of(self.merged, shared), up=False))
            stages = _without_pure_ways(self.merged, rest)
            valuation = _valuation(stages, rest, fineness, self.rho, 0.0, up=False)
            profile = valuation.value(stages, shared)
            return float(profile.values[-profile.first])

        return max(both_directions(value, lost) * (1 - self._rounding) - _LEAST, 0.0)

    def _is_worth_a_grid(self, epsilon: float) -> bool:
        """Unless it is too long, or delta so small that floats run out."""
        return self.is_feasible and zcdp_delta(self.rho, epsilon) > _NOTHING

    @cached_property
    def _farthest(self) -> float:
        """The largest loss, rounded up; infinity where there is noise without a bound."""
        return math.inf if math.isinf(far := _farthest(self.merged)) else round_up(Fraction(far))

    def _by_zcdp(self, epsilon: float, lost: float) -> float:
        """Basic composition of what is lost with the conversion of zCDP."""
        rest = 0.0 if epsilon >= self._farthest else zcdp_delta(self.rho, epsilon)
        return min((lost + rest) * (1 + 2.0**-50), 1.0)

    @cached_property
    def _rounding(self) -> float:
        """Relative, of all sums and products of floats; see the proof note."""
        if is_gaussian(self.merged):
            return 2.0**-44
        return 1e-10 + 2.0**-52 * _operations(self.merged)


@dataclass(frozen=True)
class _Reader:
    """Value functions of some stages at one epsilon, rounded up."""

    stages: Stages
    epsilon: float
    fineness: float
    rho: float

    def value(self, shared: float, lost: float) -> float:
        """The worst of both directions, for a user of these novel items."""
        if lost >= 1:
            return 1.0
        far = _FAR * math.sqrt(2 * self.rho)
        if not is_gaussian(self.stages) and -math.log1p(-lost) > far:
            # No grid reaches so far. Between R and R = 0, the function is below its chord.
            return lost + (1 - lost) * self.value(shared, 0.0)
        return both_directions(self._reading(shared, lost), lost)

    def _reading(self, shared: float, lost: float) -> Reading:
        if is_gaussian(self.stages):
            return partial(self._curve, mu_of(self.stages, shared) * (1 + 2.0**-49))
        valuation = self._valuation(0.0)
        if (moved := -math.log1p(-lost)) > valuation.grid.step:
            valuation = self._valuation(2.0 ** math.ceil(math.log2(moved)))
        profile = valuation.value(self.stages, shared)
        return partial(valuation.grid.at, profile)

    def _curve(self, mu: float, loss: float) -> float:
        excess = self.epsilon - loss
        excess -= 2.0**-51 * (self.epsilon + abs(loss))
        return float(gaussian_curve(excess, mu, up=True))

    @lru_cache(maxsize=4)  # noqa: B019 - the readers are few, and kept in a small cache themselves
    def _valuation(self, start: float) -> Valuation:
        return _valuation(self.stages, self.epsilon, self.fineness, self.rho, start, up=True)


@lru_cache(maxsize=16)
def _reader(stages: Stages, epsilon: float, fineness: float, rho: float) -> _Reader:
    return _Reader(stages, epsilon, fineness, rho)


def _valuation(
    stages: Stages, epsilon: float, fineness: float, rho: float, start: float, *, up: bool
) -> Valuation:
    precision = min(max(zcdp_delta(rho, max(epsilon, 0.0)) * _LEFT_OUT, _LEAST), 1e-4)
    grid = Grid(*spacing(stages, fineness, up=up), epsilon, up, precision)
    return Valuation(grid, start)


def _rho(stages: Stages) -> Fraction:
    return sum((_rho_of(stage) for stage in stages), Fraction(0))


def _rho_of(stage: Stage) -> Fraction:
    match stage:
        case BoundedRange():
            return stage.times * Fraction(stage.epsilon) ** 2 / 8
        case PureStage():
            return stage.times * Fraction(stage.epsilon) ** 2 / 2
        case GaussianStage():
            return Fraction(stage.mu) ** 2 / 2
        case EitherStage():
            return max(_rho(stage.first), _rho(stage.second))


def _farthest(stages: Stages) -> Fraction | float:
    """The largest loss of all, exactly."""
    total = Fraction(0)
    for stage in stages:
        match stage:
            case GaussianStage():
                return math.inf
            case EitherStage():
                ways = _farthest(stage.first), _farthest(stage.second)
                if math.inf in ways:
                    return math.inf
                total += max(Fraction(way) for way in ways)
            case _:
                total += stage.times * Fraction(stage.epsilon)
    return total


def _without_pure_ways(stages: Stages, epsilon: float) -> Stages:
    """Without the ways of a branch on which the whole loss is at most epsilon: they add nothing."""
    kept: Stages = ()
    for place, stage in enumerate(stages):
        if isinstance(stage, EitherStage):
            others = _farthest(stages[:place] + stages[place + 1 :])
            ways = [w for w in (stage.first, stage.second) if others + _farthest(w) > epsilon]
            kept += (stage,) if len(ways) == 2 else ways[0] if ways else ()
        else:
            kept += (stage,)
    return kept


def _operations(stages: Stages) -> float:
    """At least the number of units in the last place that all stages add."""
    total = 0.0
    for stage in stages:
        match stage:
            case EitherStage():
                total += max(_operations(stage.first), _operations(stage.second))
            case GaussianStage():
                total += 2.0**18
            case _:
                total += stage.times * (64 + 32 * stage.epsilon)
    return total
