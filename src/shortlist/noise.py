"""Normal noise as a function of uniform bits, and scores to which it is added.

One uniform U gives one noise by its quantile function. Knowing the first b bits of U confines the
noise to an interval, whose ends are given as floats with their error already added, or as a ball.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.bits import Bits
from shortlist.reals import UNIT, Floats, Ints, NormalCDF
from shortlist.uniform import Uniform, is_positive, settle

if TYPE_CHECKING:
    from flint import arb

T = TypeVar("T")

__all__ = ["ANY", "NoisyValues", "Normal"]

ANY = np.iinfo(np.int64).min  # a bound that every noisy value reaches

_PAD = 2.0**-46  # relative: the quantile function, its scaling, and the library's own error
_ROUNDING = 2.0**-50  # relative: a few float operations


@dataclass(frozen=True)
class Normal:
    """Independent normal noise for n items, each perhaps known to lie on one side of a bound.

    Attributes:
        sd: Its standard deviation before conditioning, in natural units.
        weight: A factor that multiplies the noise after conditioning, taken as an exact number.
        bounds: Where it is known on which side of a bound each noise lies: integers in units of
            `UNIT`, shape (n,); or None.
        above: Given `bounds`: True where noise >= bound, False where noise < bound, shape (n,).
    """

    sd: float
    weight: float = 1.0
    bounds: Ints | None = None
    above: NDArray[np.bool_] | None = None

    def interval(self, words: NDArray[np.uint64]) -> tuple[Floats, Floats]:
        """Ends of each noise, in units of `UNIT`, given the first 64 bits of its uniform."""
        from scipy.special import ndtri

        # The noise is sign * Φ⁻¹(V * cap) with V uniform: lower tails, where floats are exact.
        if self.bounds is None or self.above is None:
            upper_half = words >> np.uint64(63) == 1
            sign, cap, cap_error = np.where(upper_half, -1, 1), np.ones(1), np.zeros(1)
            words = np.where(upper_half, ~words, words)
        else:
            sign = np.where(self.above, -1, 1)
            cap, cap_error = NormalCDF(sign * self.bounds, self.sd).approximate()
        low = words * 2.0**-64 * (1 - _PAD)
        high = (words * 2.0**-64 + 2.0**-64) * (1 + _PAD)
        scale = self.sd * self.weight / UNIT
        near = ndtri(np.maximum(low * (cap - cap_error), 0.0)) * scale
        far = ndtri(np.minimum(high * (cap + cap_error), 1.0)) * scale
        near, far = near - np.abs(near) * _PAD, far + np.abs(far) * _PAD
        return np.where(sign > 0, near, -far), np.where(sign > 0, far, -near)

    def ball(self, i: int, uniform: arb) -> arb:
        """Noise i in units of `UNIT`, given a ball of its uniform."""
        from flint import arb

        sign, cap = 1, arb(1)
        if self.bounds is not None and self.above is not None:
            sign = -1 if self.above[i] else 1
            cap = NormalCDF(sign * self.bounds[i : i + 1], self.sd).ball(0)
        quantile = -arb(2).sqrt() * (2 * uniform * cap).erfcinv()
        return sign * quantile * arb(self.sd) * arb(self.weight) / arb(UNIT)


class NoisyValues:
    """score + noise for n items, of which only as many bits are drawn as decisions need.

    Attributes:
        low: Lower ends of the values as floats in units of `UNIT`, shape (n,).
        high: Upper ends.
    """

    def __init__(
        self, scores: Ints, noises: Sequence[Normal], bits: Bits, margin: float = 0.0
    ) -> None:
        self._scores, self._noises, self._bits = scores, noises, bits
        self._words = [bits.words(len(scores)) for _ in noises]
        self._uniforms: dict[int, list[Uniform]] = {}
        self.low = scores.astype(np.float64)
        self.high = self.low.copy()
        error = np.abs(self.low)
        for noise, words in zip(noises, self._words, strict=True):
            low, high = noise.interval(words)
            self.low += low
            self.high += high
            error += np.maximum(np.abs(low), np.abs(high))
        error *= _ROUNDING
        error += margin
        self.low -= error
        self.high += error

    def reach(self, bounds: Ints) -> NDArray[np.bool_]:
        """Whether each value is at least its bound, shape (n,); every value is at least `ANY`."""
        error = np.abs(bounds.astype(np.float64)) * _ROUNDING
        certain: NDArray[np.bool_] = (bounds == ANY) | (self.low >= bounds + error)
        for i in np.flatnonzero(~certain & (self.high >= bounds - error)):
            certain[i] = self._settle(partial(_reaches, int(bounds[i])), int(i))
        return certain

    def sorted(self, positions: Ints, k: int | None = None) -> Ints:
        """The best k of these positions (all, if None), best first."""
        if k is not None and k < len(positions):
            kth = np.partition(self.low[positions], -k)[-k]
            positions = positions[self.high[positions] >= kth]
        positions = positions[np.argsort(-self.low[positions], kind="stable")]
        # Where everything further down lies certainly below, the order so far is settled.
        ahead = np.maximum.accumulate(self.high[positions][::-1])[::-1][1:]
        breaks = np.flatnonzero(ahead < self.low[positions][:-1]) + 1
        for start, stop in zip([0, *breaks], [*breaks, len(positions)], strict=True):
            if stop - start > 1:
                cluster = sorted(positions[start:stop].tolist(), key=cmp_to_key(self._compare))
                positions[start:stop] = cluster
        return positions[:k]

    def rounded(self, positions: Ints, digits: int) -> Floats:
        """The values in natural units, rounded half up to `digits` decimals."""
        scale = 10.0**digits * UNIT
        low, high = self.low[positions] * scale, self.high[positions] * scale
        cells = np.floor(low - np.abs(low) * _ROUNDING + 0.5)
        unsettled = cells != np.floor(high + np.abs(high) * _ROUNDING + 0.5)
        for j in np.flatnonzero(unsettled):
            cells[j] = self._settle(partial(_cell, digits), int(positions[j]))
        return cells / 10.0**digits if digits >= 0 else cells * 10.0**-digits

    def _compare(self, i: int, j: int) -> int:
        """-1 where value i is the larger, 1 where value j is."""
        uniforms = self._of(i) + self._of(j)
        larger = settle(uniforms, lambda: is_positive(self._ball(i) - self._ball(j)))
        return -1 if larger else 1

    def _settle(self, decide: Callable[[arb], T | None], i: int) -> T:
        return settle(self._of(i), lambda: decide(self._ball(i)))

    def _ball(self, i: int) -> arb:
        from flint import arb

        terms = zip(self._noises, self._of(i), strict=True)
        return sum((noise.ball(i, u.ball()) for noise, u in terms), arb(int(self._scores[i])))

    def _of(self, i: int) -> list[Uniform]:
        if i not in self._uniforms:
            self._uniforms[i] = [Uniform(self._bits, int(words[i])) for words in self._words]
        return self._uniforms[i]


def _reaches(bound: int, ball: arb) -> bool | None:
    return is_positive(ball - bound)


def _cell(digits: int, ball: arb) -> float | None:
    """The multiple of 10^-digits that every number of the ball rounds to, or None."""
    from flint import arb

    cell = (ball * arb(UNIT) * arb(10) ** digits + arb(1) / 2).floor().unique_fmpz()
    return None if cell is None else float(cell)
