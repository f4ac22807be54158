"""Functions of the privacy loss on a grid, bounded from above or from below between its nodes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.privacy._delta_curves import Floats, gaussian_curve
from shortlist.privacy.accountant.stages import (
    BoundedRange,
    EitherStage,
    GaussianStage,
    PureStage,
    Spread,
    Stage,
    Stages,
    is_gaussian,
    spread_of,
)

Ints = NDArray[np.int64]

_BRIDGED = 20.0  # fewer, in squared deviations, for paths that have to end at epsilon
_SLACK = 2.0**-50  # relative, of sums and products of a few floats
_FINEST = 2048  # steps in a range
_USUAL = 160  # steps in a range where many stages are composed; delta is off by about 0.05 %
_MANY = 200  # stages; from there on ranges have fewer steps
_MOST = 5000  # stages on a grid
_WIDEST = 50.0  # the largest range on a grid
_DEVIATION = 1024  # steps in a standard deviation where there is no range to go by
_LONGEST = 1 << 17  # nodes
_MOST_WORK = 2e9  # products in a convolution
_REMEMBERED = 256  # numbers that a calibration asks for time and again


class Spreads(NamedTuple):
    """The `Spread` at each of several places."""

    variance: Floats
    farthest: Floats


class Window(NamedTuple):
    """The nodes first .. last of a grid."""

    first: int
    last: int

    def joined(self, other: Window) -> Window:
        return Window(min(self.first, other.first), max(self.last, other.last))


class Profile(NamedTuple):
    """Values of a function on the nodes of a grid, from `first` on."""

    first: int
    values: Floats

    @property
    def last(self) -> int:
        return self.first + len(self.values) - 1


@dataclass(frozen=True)
class LossGrid:
    """Losses x = n step, and which way values on them are rounded.

    Attributes:
        base: A length that is exactly a whole number of steps.
        parts: The number of steps in it.
        epsilon: The epsilon of the guarantee.
        up: Whether values are rounded up, or down.
        precision: The probability of losses that windows need not hold. It decides on the size of
            windows alone; what is outside of them is bounded, not left out.
    """

    base: float
    parts: int
    epsilon: float
    up: bool
    precision: float

    @property
    def step(self) -> float:
        """The step as a float; the exact step is the quotient base / parts."""
        return self.base / self.parts

    @lru_cache(maxsize=_REMEMBERED)  # noqa: B019 - grids are small
    def steps(self, length: float) -> int:
        """The number of steps in a length, rounded as values are."""
        exact = Fraction(length) * self.parts / Fraction(self.base)
        return math.ceil(exact) if self.up else math.floor(exact)

    def is_whole(self, length: float) -> bool:
        """Whether a length is exactly a whole number of steps."""
        return (Fraction(length) * self.parts / Fraction(self.base)).denominator == 1

    def losses(self, window: Window) -> Floats:
        return np.arange(window.first, window.last + 1, dtype=np.float64) * self.step

    def excess(self, window: Window) -> Floats:
        """Epsilon less the loss at each node, rounded to the safe side."""
        losses = self.losses(window)
        rounding = 4 * _SLACK * (abs(self.epsilon) + np.abs(losses))
        return self.epsilon - losses + (-rounding if self.up else rounding)

    def curve(self, window: Window, mu: float) -> Profile:
        """The value function where only a Gaussian, or nothing at all, is to come."""
        return Profile(window.first, gaussian_curve(self.excess(window), mu, up=self.up))

    def last_range(self, window: Window, length: float) -> Profile:
        """The value function before one stage of bounded range, the last of all.

        With a = epsilon - x in [-length, length], the best t is (length + a) / 2, so that the value
        is (e^(length/2) - e^(a/2))² / (e^length - 1); 0 above, 1 - e^a below.
        """
        left = self.excess(window)
        whole = self.steps(length) * self.step
        if whole == 0:
            return self.curve(window, 0.0)
        rounding = 8 * _SLACK * (whole + np.abs(left))
        rise = np.maximum(whole - left + (rounding if self.up else -rounding), 0.0)
        exponent = np.clip(left, -whole, whole) - whole
        value = np.exp(exponent) * np.square(np.expm1(np.minimum(rise / 2, whole)))
        between = value / -math.expm1(-whole)
        return Profile(
            window.first, np.where(left <= -whole, -np.expm1(np.minimum(left, 0.0)), between)
        )

    def extended(self, profile: Profile, window: Window) -> Floats:
        """The values on a window, with bounds at the nodes where the profile is not known.

        A value function grows with x, is at most 1, and convex in R = exp(-x), where 1 belongs to
        R = 0. So from above, it is at most the first value below what is known, and beyond the
        chord between the last value and 1. From below it is at least the last value there, and at
        least 1 - exp(epsilon) R, since the mean of R never changes.
        """
        inner = profile.values[
            max(window.first - profile.first, 0) : max(window.last - profile.first + 1, 0)
        ]
        n_below = min(max(profile.first - window.first, 0), window.last - window.first + 1)
        n_above = min(max(window.last - profile.last, 0), window.last - window.first + 1)
        below = np.full(n_below, self._below(profile))
        nodes = np.arange(window.last - n_above + 1, window.last + 1)
        return np.concatenate([below, inner, self._above(profile, nodes)])

    def _below(self, profile: Profile) -> float:
        return float(profile.values[0]) if self.up else 0.0

    def _above(self, profile: Profile, nodes: NDArray[np.int64]) -> Floats:
        top = float(profile.values[-1])
        if self.up:
            chord: Floats = top - (1 - top) * np.expm1((profile.last - nodes) * self.step)
            return chord
        if not len(nodes):
            return np.empty(0)
        window = Window(int(nodes[0]), int(nodes[-1]))
        return np.maximum(top, -np.expm1(np.minimum(self.excess(window), 0.0)))

    def resampled(self, profile: Profile, window: Window, other: LossGrid) -> Profile:
        """The values, rounded up, on the nodes of another grid: on chords in R between nodes."""
        losses = other.losses(window)
        losses += 2.0**-48 * np.abs(losses)  # more than rounding can move them
        nodes = np.floor(losses / self.step).astype(np.int64)
        known = self.extended(profile, Window(int(nodes[0]), int(nodes[-1]) + 1))
        below, above = known[nodes - nodes[0]], known[nodes - nodes[0] + 1]
        part = np.clip(losses - nodes * self.step, 0.0, self.step)
        share = np.minimum(np.expm1(-part) / math.expm1(-self.step) * (1 + 4 * _SLACK), 1.0)
        return Profile(window.first, below + share * (above - below))

    def at(self, profile: Profile, loss: float) -> float:
        """The value at any loss, rounded up: on the chord in R between two nodes."""
        node = math.floor(loss / self.step)
        near, far = self._ends(profile, node)
        part = loss - node * self.step
        if not 0 <= part <= self.step:  # the float quotient is off: a wider cell is safe as well
            return max(self._ends(profile, node - 1) + self._ends(profile, node + 1))
        share = math.expm1(-part) / math.expm1(-self.step)
        share = min(share + 8 * _SLACK * (1 + abs(loss) / self.step), 1.0)
        return near + share * (far - near)

    def _ends(self, profile: Profile, node: int) -> tuple[float, float]:
        place = node - profile.first
        known = 0 <= place < len(profile.values) - 1
        ends = (
            profile.values[place : place + 2]
            if known
            else self.extended(profile, Window(node, node + 1))
        )
        return float(ends[0]), float(ends[1])

    @lru_cache(maxsize=_REMEMBERED)  # noqa: B019 - grids are small
    def window(self, before: Spread, after: Spread, start: float) -> Window:
        """The nodes that matter between two rows of stages, if losses begin in [-start, start]."""
        firsts, lasts = self.windows(_column(before), _column(after), start)
        return Window(int(firsts[0]), int(lasts[0]))

    def windows(self, before: Spreads, after: Spreads, start: float) -> tuple[Ints, Ints]:
        """The first and the last nodes that matter, at several places between stages.

        Below them, losses hardly ever reach epsilon in the end. Above them, there are hardly any
        losses, or nearly all of them end above epsilon. What is outside is bounded by `extended`,
        so that windows never decide whether a bound holds.
        """
        whole = np.maximum(before.variance + after.variance, 1e-300)
        reached = before.variance / whole
        bridge = np.sqrt(reached * after.variance)
        far = math.sqrt(-2 * math.log(self.precision))
        low = np.maximum(-start - before.farthest, self.epsilon - after.farthest)
        width = math.sqrt(max(far**2 - _BRIDGED, 25.0))
        low = np.maximum(low, self.epsilon * reached - start - width * bridge)
        high = np.minimum(start + before.farthest, self.epsilon + after.farthest)
        wandered = start + before.variance / 2 + far * np.sqrt(before.variance)
        high = np.minimum(np.minimum(high, wandered), self.epsilon + 5 * np.sqrt(after.variance))
        first = np.floor(np.minimum(low, high) / self.step) - 1
        last = np.ceil(np.maximum(low, high) / self.step) + 1
        return first.astype(np.int64), last.astype(np.int64)


def _column(spread: Spread) -> Spreads:
    return Spreads(*(np.array([part]) for part in spread))


class Spacing(NamedTuple):
    """The step of a grid: a length divided by a whole number."""

    base: float
    parts: int


def spacing(stages: Stages, fineness: float = 1.0, *, up: bool = True) -> Spacing:
    """The step of a grid for these stages; errors fall with the square of the fineness.

    Of several ranges, one is a whole number of steps. The others are rounded, by as little as some
    choice of steps near the wanted one allows.
    """
    whole = math.sqrt(spread_of(stages).variance)
    ranges = list(_ranges(stages))
    if ranges:
        main = max(ranges, key=lambda stage: (stage.times, stage.epsilon))
        share = math.sqrt(min(main.spread.variance / whole**2, 1.0))
        wanted = _steps(sum(stage.times for stage in ranges)) * share * fineness
        parts = max(2, math.ceil(wanted), math.ceil(20 * main.epsilon * fineness))
        if main.epsilon / parts >= whole / (4 * _DEVIATION):
            return Spacing(main.epsilon, _aligned(parts, main.epsilon, ranges, up=up))
    return Spacing(whole, math.ceil(_DEVIATION * fineness))


def _steps(times: int) -> float:
    if times > _MANY:
        return _USUAL * math.sqrt(_MANY / times)
    return max(_USUAL, min(_FINEST, 5 * _FINEST // (2 * times)))


def _aligned(parts: int, base: float, ranges: list[BoundedRange | PureStage], *, up: bool) -> int:
    """A number of parts, near the given one, of which other ranges are nearly whole numbers."""
    others = [stage for stage in ranges if stage.epsilon != base]
    if not others:
        return parts
    counts = np.arange(parts, parts + max(8, parts // 2))
    lost = np.zeros(len(counts))
    for stage in others:
        steps = stage.epsilon / base * counts
        whole = np.ceil(steps) if up else np.floor(steps)
        lost += stage.times * np.abs(whole - steps) / counts
    return int(counts[np.argmin(lost)])


def _ranges(stages: Stages) -> Iterator[BoundedRange | PureStage]:
    for stage in stages:
        if isinstance(stage, EitherStage):
            yield from _ranges(stage.first + stage.second)
        elif isinstance(stage, BoundedRange | PureStage):
            yield stage


def is_feasible(stages: Stages) -> bool:
    """Whether a grid for these stages is small enough; else delta is that of zCDP.

    It is not for more than 5,000 picks, for ranges above 50, or for noises of very different size.
    """
    if is_gaussian(stages):
        return True  # a closed form needs no grid
    ranges = list(_ranges(stages))
    if sum(stage.times for stage in ranges) > _MOST:
        return False
    if any(stage.epsilon > _WIDEST for stage in ranges):
        return False
    whole = math.sqrt(spread_of(stages).variance)
    base, parts = spacing(stages)
    nodes = 12 * whole / (base / parts)
    work = max(_products(stage, nodes, base / parts) for stage in stages)
    return whole < _WIDEST and nodes < _LONGEST and work < _MOST_WORK


def _products(stage: Stage, nodes: float, step: float) -> float:
    return nodes * 16 * stage.mu / step if isinstance(stage, GaussianStage) else 0.0
