"""Densities of normal noise, by Taylor polynomials with a proven bound of what they leave out.

On a panel of half width h around c, with x = c + h u, a density is an entire function of u. Where
it is at most M for all complex |u| <= R, its coefficients are at most M / R^n (Cauchy), so that for
real |u| <= 1 those from n = N on add up to at most M R^-N / (1 - 1/R). For the normal density and
the normal distribution function, |f(x + iy)| <= exp(y²/2) times what it is at most on the real
line, since |exp(-(x + iy)²/2)| = exp(-x²/2) exp(y²/2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from flint import arb, arb_poly, arb_series, ctx

from shortlist.audit.exact._real_lines import Function, PolynomialLine, breaks_of
from shortlist.draws import UNIT, Noise
from shortlist.draws.noise import OPEN, Normal, NormalBetween

REACH = 11  # standard deviations on either side
STEP = 2  # width of a panel in standard deviations
TERMS = 44  # of a Taylor polynomial
RADIUS = 5  # of the circle on which functions are bounded, in half widths
_UNIT_INTERVAL = arb(0, 1)  # all u of a panel


class NormalBells(PolynomialLine):
    """Sums of normal noises, one for each item, before anything is known of them."""

    def __init__(
        self,
        scores: Sequence[arb],
        sds: Sequence[arb],
        breaks: Sequence[arb],
        kinks: Sequence[arb],
        *,
        steepness: float,
        least: arb,
    ) -> None:
        """The panels reach far beyond all scores, and break at points and kinks.

        Args:
            scores: What noise is added to.
            sds: Of the noises that are added up.
            breaks: Where panels have to end, if they get there.
            kinks: Where densities have no derivative; panels go beyond.
            steepness: How fast the chance of what is known rises in the sum of the noises, at most,
                in units of its standard deviation.
            least: The least chance of what is known of an item.
        """
        self._scores = scores
        self._variance = sum((sd * sd for sd in sds), arb(0))
        spread = self._variance.sqrt()
        low = min([*scores, *kinks], key=float) - REACH * spread
        high = max([*scores, *kinks], key=float) + REACH * spread
        steps = int(float((high - low) / spread) / STEP * max(1.0, steepness)) + 1
        grid = [low + (high - low) * i / steps for i in range(1, steps)]
        inside = [x for x in [*breaks, *kinks] if low < x < high]
        grid = [x for x in grid if not any((x - y).contains(0) for y in inside)]
        tail = (arb(REACH) / arb(2).sqrt()).erfc() / least
        super().__init__(breaks_of([low, *grid, *inside, high]), tail)

    def bell(self, panel: int, score: arb) -> arb_poly:
        half, spread = self.halves[panel], self._variance.sqrt()
        height = 1 / (spread * (2 * arb.pi()).sqrt())
        bell = _taylor(
            lambda z: (-z * z / 2).exp(), (self.middles[panel] - score) / spread, half / spread
        )
        return _widened(bell * height, height * _growth(half / spread))

    def above(self, at: arb, step: arb) -> arb_poly:
        """The chance that a standard normal number is above at + step u, on a panel."""
        root = arb(2).sqrt()
        chance = _taylor(lambda z: z.erfc() / 2, at / root, step / root)
        return _widened(chance, _growth(abs(step)))

    def product(self, one: arb_poly, other: arb_poly) -> arb_poly:
        """Terms from `TERMS` on are at most what they add up to in balls, since |u| <= 1."""
        whole = one * other
        if whole.length() <= TERMS:
            return whole
        return _widened(whole.truncate(TERMS), abs(whole.right_shift(TERMS)(_UNIT_INTERVAL)))


class NormalLine(NormalBells):
    """One normal noise for each item, perhaps cut at a bound; or such a one plus free ones."""

    def __init__(
        self, scores: Sequence[arb], noises: Sequence[Noise], points: Sequence[arb]
    ) -> None:
        parts = [noise for noise in noises if isinstance(noise, Normal)]
        if len(parts) < len(noises) or any(noise.bounds is not None for noise in parts[1:]):
            raise TypeError(f"{noises!r}: only the first of several normal noises may be cut")
        self._first, self._free = parts[0], parts[1:]
        sds = [arb(noise.weight) * arb(noise.sd) for noise in parts]
        self._left = sum((sd * sd for sd in sds[1:]), arb(0))
        self._cuts = self._known_cuts(scores)
        kinks = [] if self._free else [x for cut in self._cuts for x in cut[:1]]
        least = min((cut[2] for cut in self._cuts), key=float, default=arb(1))
        super().__init__(scores, sds, points, kinks, steepness=self._steepness(), least=least)

    def _steepness(self) -> float:
        first = self._first
        if first.bounds is None or not self._free:
            return 0.0
        return float(arb(first.weight) * arb(first.sd) / self._left.sqrt())

    def _known_cuts(self, scores: Sequence[arb]) -> list[tuple[arb, int, arb]]:
        """For each item: where its noisy value is cut, on which side it lies, and how likely."""
        noise = self._first
        if noise.bounds is None or noise.above is None:
            return []
        cuts = []
        for score, bound, above in zip(scores, noise.bounds, noise.above, strict=True):
            exact = arb(int(bound)) * arb(UNIT)
            sign = 1 if above else -1
            likely = (sign * exact / (arb(noise.sd) * arb(2).sqrt())).erfc() / 2
            cuts.append((score + arb(noise.weight) * exact, sign, likely))
        return cuts

    def density(self, item: int) -> Function:
        """Of the item's score plus its noise.

        Given the sum of a cut normal and free ones, the first is normal again, so the density of
        the sum is normal times the chance of the known side.
        """
        panels = [self.bell(i, self._scores[item]) for i in range(len(self.middles))]
        if not self._cuts:
            return panels
        end, sign, likely = self._cuts[item]
        scale = arb_poly([1 / likely])
        if self._free:
            sides = [self._side(i, item) for i in range(len(panels))]
            return [self.product(p, s * scale) for p, s in zip(panels, sides, strict=True)]
        return [
            p * scale if sign * (middle - end) > 0 else None
            for p, middle in zip(panels, self.middles, strict=True)
        ]

    def _side(self, panel: int, item: int) -> arb_poly:
        """Given the sum, the chance that the first noise lies on its known side of the bound."""
        end, sign, _ = self._cuts[item]
        score, weight = self._scores[item], arb(self._first.weight)
        bound = (end - score) / weight
        slope = weight * arb(self._first.sd) ** 2 / self._variance
        left = arb(self._first.sd) * (self._left / self._variance).sqrt()
        at = sign * (slope * (self.middles[panel] - score) - bound) / left
        step = sign * slope * self.halves[panel] / left
        return self.above(-at, -step)


def _taylor(function: Callable[[arb_series], arb_series], at: arb, step: arb) -> arb_poly:
    kept, ctx.cap = ctx.cap, TERMS
    try:
        return arb_poly(function(arb_series([at, step], prec=TERMS)).coeffs())
    finally:
        ctx.cap = kept


def _growth(step: arb) -> arb:
    """What a Taylor polynomial leaves out, of a function that grows as exp(y²/2), y = step · Im u.

    Where it is at most 1 on the real line.
    """
    most = ((step * RADIUS) ** 2 / 2).exp()
    return most / arb(RADIUS) ** TERMS / (1 - arb(1) / RADIUS)


def _widened(formula: arb_poly, error: arb) -> arb_poly:
    """The formula with an error of at most so much at every point."""
    return formula + arb(0, error.abs_upper())


class _NoiseRange(NamedTuple):
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
        """The normal density of score plus noise times the chance of the ranges."""
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
    return [(end, slope) for end, slope in ends if end is not None]


def _range(noise: NormalBetween, item: int) -> _NoiseRange:
    low, high = int(noise.low[item]), int(noise.high[item])
    return _NoiseRange(_end(noise, low), _end(noise, high), noise.cap(high) - noise.cap(low))


def _end(noise: NormalBetween, end: int) -> arb | None:
    return None if abs(end) == OPEN else arb(end) * arb(UNIT) * arb(noise.weight)
