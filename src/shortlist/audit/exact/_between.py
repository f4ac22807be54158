"""Densities of the sum of two normal noises, each known to lie within a range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from flint import arb, arb_poly

from shortlist.audit.exact._lines import Function
from shortlist.audit.exact._normals import NormalBells
from shortlist.draws import UNIT, Noise
from shortlist.draws.noise import OPEN, NormalBetween

__all__ = ["BetweenLine"]


class _Range(NamedTuple):
    """Where a noise lies: its ends after weighting, None where there is none, and the chance."""

    low: arb | None
    high: arb | None
    likely: arb


class BetweenLine(NormalBells):
    """Two normal noises for each item, each within a range.

    Given the sum, the first is normal again; it has to lie within its own range, and within the one
    that the second's leaves to it.
    """

    def __init__(
        self, scores: Sequence[arb], noises: Sequence[Noise], points: Sequence[arb]
    ) -> None:
        """The panels break where another end begins to decide."""
        parts = [noise for noise in noises if isinstance(noise, NormalBetween)]
        if len(noises) != 2 or len(parts) != 2:
            raise TypeError(f"{noises!r}: only two normal noises are known within ranges")
        first, second = parts
        ranges = [(_range(first, i), _range(second, i)) for i in range(len(scores))]
        self._ranges = ranges
        self._sds = [arb(noise.weight) * arb(noise.sd) for noise in parts]
        kinks = [
            score + one + other
            for score, (its_first, its_second) in zip(scores, ranges, strict=True)
            for one in its_first[:2]
            for other in its_second[:2]
            if one is not None and other is not None
        ]
        steepness = max(map(float, (self._sds[0] / self._sds[1], self._sds[1] / self._sds[0])))
        least = min((one.likely * other.likely for one, other in ranges), key=float)
        super().__init__(scores, self._sds, points, kinks, steepness=steepness, least=least)

    def density(self, item: int) -> Function:
        """Of the item's score plus its noise: the normal density times the chance of the ranges."""
        likely = 1 / (self._ranges[item][0].likely * self._ranges[item][1].likely)
        panels: Function = []
        for i in range(len(self.middles)):
            chance = self._within(i, item)
            bell = self.bell(i, self._scores[item])
            panels.append(chance and self.product(bell, chance * arb_poly([likely])))
        return panels

    def _within(self, panel: int, item: int) -> arb_poly | None:
        """Given the sum, the chance that the first noise lies where it has to; None if nowhere."""
        first, second = self._ranges[item]
        rest = self.middles[panel] - self._scores[item]  # the sum of the noises
        lows = _ends((first.low, 0), (None if second.high is None else rest - second.high, 1))
        highs = _ends((first.high, 0), (None if second.low is None else rest - second.low, 1))
        low = max(lows, key=lambda end: float(end[0]), default=None)
        high = min(highs, key=lambda end: float(end[0]), default=None)
        if low is not None and high is not None and not low[0] < high[0]:
            return None
        above = arb_poly([1]) if low is None else self._reaches(panel, rest, *low)
        return above if high is None else above - self._reaches(panel, rest, *high)

    def _reaches(self, panel: int, rest: arb, end: arb, slope: int) -> arb_poly:
        """Given the sum, the chance that the first noise reaches an end, which moves with it."""
        one, other = (sd * sd for sd in self._sds)
        sd = self._sds[0] * self._sds[1] / self._variance.sqrt()
        share = one / (one + other)
        step = (slope - share) * self.halves[panel] / sd
        return self.above((end - share * rest) / sd, step)


def _ends(*ends: tuple[arb | None, int]) -> list[tuple[arb, int]]:
    """Those that there are."""
    return [(end, slope) for end, slope in ends if end is not None]


def _range(noise: NormalBetween, item: int) -> _Range:
    low, high = int(noise.low[item]), int(noise.high[item])
    return _Range(_end(noise, low), _end(noise, high), noise.cap(high) - noise.cap(low))


def _end(noise: NormalBetween, end: int) -> arb | None:
    return None if abs(end) == OPEN else arb(end) * arb(UNIT) * arb(noise.weight)
