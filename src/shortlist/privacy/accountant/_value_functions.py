"""Value functions: the delta that the stages to come leave, for each privacy loss so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial

import numpy as np

from shortlist.privacy._delta_curves import gaussian_curve, zcdp_delta
from shortlist.privacy.accountant import _normal_noise as gaussians
from shortlist.privacy.accountant._bounded_range import apply_pure, apply_ranges
from shortlist.privacy.accountant._loss_grid import (
    Ints,
    LossGrid,
    Profile,
    Spreads,
    Window,
    spacing,
)
from shortlist.privacy.accountant.items_of_one_user import Cases
from shortlist.privacy.accountant.stages import (
    BoundedRange,
    EitherStage,
    GaussianStage,
    LossStage,
    OwnItemsStage,
    PureStage,
    Spread,
    Stage,
    Stages,
    has_weights,
    is_gaussian,
    mu_of,
    names_own_items,
    with_loss,
    without_weights,
)
from shortlist.privacy.rounding import largest_of_blocks

ValueFunction = Callable[[float], float]
"""The delta that the stages to come leave, for any privacy loss so far."""

_TOLERANCE = 2e-5  # by how much a worst case between the ends may be too large, to save time
_LEAST = 1e-300  # of what may be left out
_LEFT_OUT = 1e-6  # of delta, at the ends of windows
_FAR = 4.0  # standard deviations of the loss, up to which a coin moves it on a grid


@dataclass(frozen=True)
class Before:
    """How far the loss may be spread before a stage.

    Attributes:
        most: Of a user whose items others hold too.
        least: Of a user whose items nobody else holds, so that noise on weights costs nothing.
    """

    most: Spread = field(default_factory=Spread)
    least: Spread = field(default_factory=Spread)


@dataclass(frozen=True)
class Valuation:
    """Value functions on one grid; each is computed once.

    Attributes:
        grid: The grid of losses.
        start: The value functions are asked for losses in [-start, start].
    """

    grid: LossGrid
    start: float
    _known: dict[object, Profile] = field(default_factory=dict, compare=False, repr=False)
    _spreads: dict[Stage, Spread] = field(default_factory=dict, compare=False, repr=False)

    def value(self, stages: Stages, shared: float = 1.0) -> Profile:
        """The value function of the stages to come, around a loss of 0.

        `shared` is the share of the squared norm of the user's weights that is on items which
        others hold too.
        """
        return self._after(stages, shared, Before())

    def _window(self, before: Before, after: Spread) -> Window:
        both = (
            self.grid.window(spread, after, self.start) for spread in (before.most, before.least)
        )
        return next(both).joined(next(both))

    def _spread(self, stages: Stages) -> Spread:
        return sum(map(self._spread_of_one, stages), Spread())

    def _spread_of_one(self, stage: Stage) -> Spread:
        if stage not in self._spreads:
            self._spreads[stage] = self._on_grid(stage).spread
        return self._spreads[stage]

    def _on_grid(self, stage: Stage) -> Stage:
        match stage:
            case EitherStage():
                return EitherStage(
                    tuple(map(self._on_grid, stage.first)), tuple(map(self._on_grid, stage.second))
                )
            case BoundedRange() | PureStage():
                steps = max(self.grid.steps(stage.epsilon), 1)
                return type(stage)(steps * self.grid.step, stage.times)
            case GaussianStage() | LossStage() | OwnItemsStage():
                return stage

    def _then(self, before: Before, stage: Stage) -> Before:
        least = self._spread(without_weights((stage,)))
        return Before(before.most + self._spread((stage,)), before.least + least)

    def _after(self, stages: Stages, shared: float, before: Before) -> Profile:
        if not any(has_weights(stage) for stage in stages):
            shared = 1.0
        key = stages, shared, before
        if key not in self._known:
            self._known[key] = self._computed(stages, shared, before)
        return self._known[key]

    def _computed(self, stages: Stages, shared: float, before: Before) -> Profile:
        window = self._window(before, self._spread(stages))
        if is_gaussian(stages):
            return self.grid.curve(window, mu_of(stages, shared) * self._rounding)
        stage, rest = stages[0], stages[1:]
        match stage:
            case EitherStage():
                ways = [
                    self._after(way + rest, shared, before) for way in (stage.first, stage.second)
                ]
                values = [self.grid.extended(way, window) for way in ways]
                return Profile(window.first, np.maximum(*values))
            case LossStage():
                # From below, there may be none.
                lost = stage.delta if self.grid.up else 0.0
                kept = self.grid.extended(self._after(rest, shared, before), window)
                return Profile(window.first, np.minimum(kept + lost, 1.0))
            case OwnItemsStage():
                raise AssertionError  # it was made into mass that is lost, user by user
            case GaussianStage():
                inner = self._after(rest, shared, self._then(before, stage))
                return self._of_noise(mu_of((stage,), shared), inner, window)
            case BoundedRange():
                return self.of_ranges(stage, rest, shared, before)
            case PureStage():
                profile = self._after(rest, shared, self._then(before, stage))
                for part in zip(*self._steps(stage, before, self._spread(rest)), strict=True):
                    profile = apply_pure(self.grid, profile, stage, Window(*map(int, part)))
                return profile

    def _of_noise(self, mu: float, inner: Profile, window: Window) -> Profile:
        if mu == 0:
            return Profile(window.first, self.grid.extended(inner, window))
        return gaussians.apply(self.grid, inner, mu * self._rounding, window)

    def of_ranges(
        self, stage: BoundedRange, rest: Stages, shared: float, before: Before
    ) -> Profile:
        """The value function before a stage of bounded range and the rest of the stages."""
        firsts, lasts = self._steps(stage, before, self._spread(rest))
        if rest:
            inner = self._after(rest, shared, self._then(before, stage))
            return apply_ranges(self.grid, inner, stage.epsilon, firsts, lasts)
        if own := self._own_grid(stage):
            alone = Valuation(own, self.start).of_ranges(stage, rest, shared, before)
            return own.resampled(alone, Window(int(firsts[-1]), int(lasts[-1])), self.grid)
        nearest = Window(int(firsts[0]), int(lasts[0]))
        inner = self.grid.last_range(nearest, stage.epsilon)
        return apply_ranges(self.grid, inner, stage.epsilon, firsts[1:], lasts[1:])

    def _own_grid(self, stage: BoundedRange) -> LossGrid | None:
        """A grid where the range of the last stage is a whole number of steps, if here it is not.

        To interpolate between its nodes costs less delta than a longer range at each repetition.
        """
        grid, parts = self.grid, self.grid.steps(stage.epsilon)
        if not grid.up or stage.times == 1 or parts < 2 or grid.is_whole(stage.epsilon):
            return None
        return replace(grid, base=stage.epsilon, parts=parts)

    @property
    def _rounding(self) -> float:
        return 1 + (2.0**-49 if self.grid.up else -(2.0**-49))

    def _steps(
        self, stage: BoundedRange | PureStage, before: Before, rest: Spread
    ) -> tuple[Ints, Ints]:
        """The windows before each repetition of a stage, the last repetition first."""
        done = np.arange(stage.times)[::-1]
        all_times = self._spread((stage,))
        one = Spread(all_times.variance / stage.times, all_times.farthest / stage.times)
        after = _repeated(one, stage.times - done, rest)
        most = self.grid.windows(_repeated(one, done, before.most), after, self.start)
        if before.least == before.most:
            return most
        least = self.grid.windows(_repeated(one, done, before.least), after, self.start)
        return np.minimum(most[0], least[0]), np.maximum(most[1], least[1])


def _repeated(one: Spread, times: Ints, more: Spread) -> Spreads:
    floats = times.astype(np.float64)
    return Spreads(floats * one.variance + more.variance, floats * one.farthest + more.farthest)


def both_directions(value: ValueFunction, lost: float) -> float:
    """The larger delta of adding and of removing a user, some of whose own items may be named.

    With the user, one of these items is named with probability `lost`. All else happens with
    1 - lost times its probability without the user. So where the user is added, the loss is
    infinite or falls by -ln(1 - lost); where the user is removed, it rises by as much.
    """
    if lost >= 1:
        return 1.0
    moved = -math.log1p(-lost)
    adding = lost + (1 - lost) * value(-moved)
    removing = value(moved)
    return max(adding, removing)


def worst(cases: Cases, value_of: Callable[[float, float], float]) -> float:
    """At least the largest value of all kinds of users, and hardly more.

    The value grows with `shared` and with `lost`.
    """
    shared, lost = (numbers.tolist() for numbers in cases)
    return largest_of_blocks(shared, lost, value_of, tolerance=_TOLERANCE)


@dataclass(frozen=True)
class ValuesAtEpsilon:
    """The deltas that some stages leave at one epsilon, for each kind of user, rounded up.

    `rho` is the zCDP parameter of all stages.
    """

    stages: Stages
    epsilon: float
    fineness: float
    rho: float

    def value(self, shared: float, lost: float) -> float:
        """The delta of a user whose own items are named by a coin of probability `lost`."""
        if lost >= 1:
            return 1.0
        far = _FAR * math.sqrt(2 * self.rho)
        if not is_gaussian(self.stages) and -math.log1p(-lost) > far:
            # No grid reaches so far. Between R and R = 0, the function is below its chord.
            return lost + (1 - lost) * self.value(shared, 0.0)
        return both_directions(self._reading(shared, lost), lost)

    def value_beside(self, shared: float, lost: float) -> float:
        """The delta of a user whose own items may be named depending on all else."""
        if not names_own_items(self.stages):
            return min(lost + self.value(shared, 0.0), 1.0)
        valuation = self._valuation(0.0)
        profile = valuation.value(with_loss(self.stages, lost), shared)
        return valuation.grid.at(profile, 0.0)

    def _reading(self, shared: float, lost: float) -> ValueFunction:
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
        return valuation(self.stages, self.epsilon, self.fineness, self.rho, start, up=True)


values_at_epsilon = lru_cache(maxsize=16)(ValuesAtEpsilon)
"""The same deltas, kept for the last few questions."""


def valuation(
    stages: Stages, epsilon: float, fineness: float, rho: float, start: float, *, up: bool
) -> Valuation:
    """Value functions of these stages on a grid, for losses from -start to start."""
    precision = min(max(zcdp_delta(rho, max(epsilon, 0.0)) * _LEFT_OUT, _LEAST), 1e-4)
    grid = LossGrid(*spacing(stages, fineness, up=up), epsilon, up, precision)
    return _valuation_on(grid, start)


# One grid serves several lists of stages, which often end alike.
_valuation_on = lru_cache(maxsize=8)(Valuation)
