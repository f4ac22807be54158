"""Noises as functions of uniform bits.

Each noise is the quantile function, which increases, of a uniform number U. The first 64 bits of U
confine the noise to an interval, whose ends are floats that already include their error; a ball
around U gives a ball around the noise. All are in natural units, not in multiples of `UNIT`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.draws.contract import Floats, Ints, Noise, Words
from shortlist.draws.normal_law import normal_quantiles
from shortlist.draws.reals import ROUNDING, NormalCDF

if TYPE_CHECKING:
    from flint import arb

_PAD = 2.0**-46  # relative: a library's quantile function or logarithm, and its scaling
_MILLS = 1.2534  # above Φ over its derivative, from 0 downwards: sqrt(π/2) at 0, and less below
_LEAST = 1e-150  # of a standard deviation that underflows
_WIDE = 3.0  # from this standard deviation on, rounding a normal adds 1/12 to its variance
OPEN = 2**61  # an end of a range that has none
_CHUNK = 15  # as many uniforms of 64 bits have a product that is no subnormal float


@dataclass(frozen=True)
class Normal(Noise):
    """Normal noise, perhaps conditioned to lie on one side of a bound.

    Attributes:
        sd: Its standard deviation before conditioning.
        weight: A factor that multiplies the noise after conditioning, taken as an exact number.
        bounds: A bound for each noise, integers in units of `UNIT`, shape (n,); None where nothing
            is known of the noise.
        above: Given `bounds`: True where noise >= bound, False where noise < bound, shape (n,).
    """

    sd: float
    weight: float = 1.0
    bounds: Ints | None = None
    above: NDArray[np.bool_] | None = None

    @property
    def rounded_sd(self) -> float:
        """The standard deviation of unconditioned noise rounded to whole numbers.

        >>> round(Normal(0.5).rounded_sd ** 2, 3), round(Normal(10.0).rounded_sd ** 2, 3)
        (0.325, 100.083)
        """
        if self.sd > _WIDE:
            return math.hypot(self.sd, math.sqrt(1 / 12))
        tails = (math.erfc((n - 0.5) / (self.sd * math.sqrt(2))) for n in range(1, 50))
        variance = math.fsum((2 * n - 1) * tail for n, tail in enumerate(tails, start=1))
        return max(math.sqrt(variance), _LEAST)

    def interval(self, words: Words) -> tuple[Floats, Floats]:
        within = self._within_bounds
        return within.interval(words) if within else _tails(words, self.sd * self.weight)

    def ball(self, i: int, uniform: arb) -> arb:
        if within := self._within_bounds:
            return within.ball(i, uniform)
        return _normal_quantile(uniform) * self.sd * self.weight

    @property
    def _within_bounds(self) -> NormalBetween | None:
        if self.bounds is None or self.above is None:
            return None
        low = np.where(self.above, self.bounds, -OPEN)
        high = np.where(self.above, OPEN, self.bounds)
        return NormalBetween(self.sd, self.weight, low, high)


@dataclass(frozen=True)
class NormalBetween(Noise):
    """Normal noise, conditioned to lie within a range of its own: low <= noise < high.

    Attributes:
        sd: Its standard deviation before conditioning.
        weight: A factor that multiplies the noise after conditioning, taken as an exact number.
        low: In units of `UNIT`, shape (n,); -`OPEN` where there is no end.
        high: Likewise; `OPEN` where there is no end.
    """

    sd: float
    weight: float
    low: Ints
    high: Ints

    def interval(self, words: Words) -> tuple[Floats, Floats]:
        # It is sign * Φ⁻¹(from + V * (to - from)), for the range or its mirror image: the one
        # further down, where floats are exact.
        sign = self._sign
        (near, far), errors = zip(*map(self._caps, self._ends), strict=True)
        low = words * 2.0**-64 * (1 - _PAD)
        high = np.minimum((words * 2.0**-64 + 2.0**-64) * (1 + _PAD), 1.0)
        least = (1 - low) * (near - errors[0]) + low * (far - errors[1])
        most = (1 - high) * (near + errors[0]) + high * (far + errors[1])
        scale = self.sd * self.weight
        below = normal_quantiles(np.clip(least * (1 - _PAD), 0.0, 1.0)) * scale
        above = normal_quantiles(np.clip(most * (1 + _PAD), 0.0, 1.0)) * scale
        below, above = below - np.abs(below) * _PAD, above + np.abs(above) * _PAD
        return np.where(sign > 0, below, -above), np.where(sign > 0, above, -below)

    @property
    def _sign(self) -> Ints:
        """1 where the range itself is used, -1 where its mirror image is."""
        return np.where(self.low + self.high > 0, -1, 1)

    @property
    def _ends(self) -> tuple[Ints, Ints]:
        """The ends of the range that is used, in rising order."""
        ends = self._sign * self.low, self._sign * self.high
        return np.minimum(*ends), np.maximum(*ends)

    def _caps(self, ends: Ints) -> tuple[Floats, Floats]:
        caps, errors = NormalCDF(ends, self.sd).approximate()
        is_open = np.abs(ends) == OPEN
        return np.where(is_open, ends > 0, caps), np.where(is_open, 0.0, errors)

    def ball(self, i: int, uniform: arb) -> arb:
        near, far = (self.cap(int(end[i])) for end in self._ends)
        quantile = _normal_quantile(near + uniform * (far - near))
        return int(self._sign[i]) * quantile * self.sd * self.weight

    def cap(self, end: int) -> arb:
        from flint import arb

        if abs(end) == OPEN:
            return arb(int(end > 0))
        return NormalCDF(np.array([end]), self.sd).ball(0)


@dataclass(frozen=True)
class Laplace(Noise):
    """Laplace noise: the density is exp(-|x| / scale) / (2 scale).

    It is scale · ln(2U) where U <= 1/2, and -scale · ln(2(1 - U)) beyond.

    Attributes:
        scale: The mean of its absolute value; the standard deviation is sqrt(2) times that.
    """

    scale: float

    @property
    def rounded_sd(self) -> float:
        """The standard deviation of the noise rounded to whole numbers.

        The variance is the sum over n >= 1 of (2n - 1) P(|noise| >= n - 1/2).

        >>> round(Laplace(10.0).rounded_sd ** 2, 3)
        200.083
        """
        ratio = math.exp(-1 / self.scale)
        root = math.exp(-1 / (4 * self.scale)) * math.sqrt(1 + ratio)
        return max(-root / math.expm1(-1 / self.scale), _LEAST)

    def interval(self, words: Words) -> tuple[Floats, Floats]:
        # U, or 1 - U in the upper half, lies between v and v + 1 in units of 2^-64. As floats these
        # are off by 2^-53, and so is the logarithm; the library's is taken to be within 2^-48.
        upper_half = words >> np.uint64(63) == 1
        v = np.where(upper_half, ~words, words)
        with np.errstate(divide="ignore"):  # where nothing is known but that v < 1, far is infinite
            far = np.log(v * 2.0**-63)
        near = np.log((v + np.uint64(1)) * 2.0**-63)
        far = (far * (1 + _PAD) - 2.0**-51) * self.scale
        near = (near * (1 - _PAD) + 2.0**-51) * self.scale
        return np.where(upper_half, -near, far), np.where(upper_half, -far, near)

    def ball(self, i: int, uniform: arb) -> arb:  # noqa: ARG002 - all have the same law
        # One of the two logarithms is that of 1, whichever half U lies in.
        below, above = uniform.min(0.5), (1 - uniform).min(0.5)
        return self.scale * ((2 * below).log() - (2 * above).log())

    def quick_upper_bound(self, words: Words) -> Floats:
        # The noise is nowhere above -scale · ln(2(1 - U)).
        return _quick_tail(words, self.scale, twice=True)


@dataclass(frozen=True)
class Exponential(Noise):
    """Exponential noise: the density is exp(-x / scale) / scale for x > 0.

    It is -scale · ln(1 - U).

    Attributes:
        scale: Its mean, and its standard deviation.
    """

    scale: float

    def interval(self, words: Words) -> tuple[Floats, Floats]:
        low, high = _waits(~words)
        return low * self.scale * (1 - ROUNDING), high * self.scale * (1 + ROUNDING)

    def ball(self, i: int, uniform: arb) -> arb:  # noqa: ARG002 - all have the same law
        return -(1 - uniform).log() * self.scale

    def quick_upper_bound(self, words: Words) -> Floats:
        return _quick_tail(words, self.scale)


@dataclass(frozen=True)
class Gumbel(Noise):
    """Gumbel noise: the density is exp(-z - exp(-z)) / scale at x = z · scale.

    It is -scale · ln(-ln U). The largest of several independent ones is that of item i with odds
    exp(score of i / scale).

    Attributes:
        scale: The standard deviation is pi / sqrt(6) times that.
    """

    scale: float

    def interval(self, words: Words) -> tuple[Floats, Floats]:
        short, long = _waits(words)
        with np.errstate(divide="ignore"):  # a wait that may be 0 leaves the noise unbounded
            low, high = -np.log(long) * self.scale, -np.log(short) * self.scale
        return low - np.abs(low) * _PAD, high + np.abs(high) * _PAD

    def ball(self, i: int, uniform: arb) -> arb:  # noqa: ARG002 - all have the same law
        return -(-uniform.log()).log() * self.scale


@dataclass(frozen=True)
class Given(Noise):
    """A noise for which the leading bits of each uniform are already known.

    Attributes:
        noise: A noise whose law is the same for all items.
        leading: The known bits, as whole numbers below 2^bits, shape (n,).
        bits: How many bits are known, from 1 to 63.
    """

    noise: Noise
    leading: Ints
    bits: int

    def interval(self, words: Words) -> tuple[Floats, Floats]:
        # The words are the 64 bits of each uniform behind the known ones.
        known = self.leading.astype(np.uint64) << np.uint64(64 - self.bits)
        return self.noise.interval(known | words >> np.uint64(self.bits))

    def least(self) -> Floats:
        """The lower end of each noise, from the known bits alone."""
        return self.interval(np.zeros(len(self.leading), np.uint64))[0]

    def most(self) -> Floats:
        """The upper end of each noise, from the known bits alone."""
        return self.interval(~np.zeros(len(self.leading), np.uint64))[1]

    def ball(self, i: int, uniform: arb) -> arb:
        return self.noise.ball(i, (int(self.leading[i]) + uniform) / 2**self.bits)


@dataclass(frozen=True)
class UniformNoise(Noise):
    """Noise that is uniform on [-1, 1]: 2U - 1."""

    def interval(self, words: Words) -> tuple[Floats, Floats]:
        low = (words >> np.uint64(1)).view(np.int64).astype(np.float64)  # a quick conversion
        low *= 2.0**-62
        low -= 1 + 2.0**-51
        return low, low + 2.0**-49

    def ball(self, i: int, uniform: arb) -> arb:  # noqa: ARG002 - all have the same law
        return 2 * uniform - 1


@dataclass(frozen=True)
class Radius:
    """A random factor that multiplies the noise of all items: Gamma-distributed, of whole shape.

    It is the sum of `shape` exponentials of mean `scale`: -scale · ln of a product of uniforms.

    Attributes:
        shape: How many exponentials are added.
        scale: The mean of each.
    """

    shape: int
    scale: float

    def interval(self, words: Words) -> tuple[float, float]:
        # A uniform lies between w and w + 1 in units of 2^-64, so its logarithm is at most 1/w
        # above that of w; that of 0 is taken as that of 1, which is the upper end. Products of a
        # few uniforms come first, so that few logarithms are taken; each factor costs two
        # roundings.
        factors = np.ones(-(-len(words) // _CHUNK) * _CHUNK)
        np.multiply(np.maximum(words, np.uint64(1)), 2.0**-64, out=factors[: len(words)])
        logs = -np.log(factors.reshape(_CHUNK, -1).prod(axis=0))
        total = math.fsum(logs.tolist())
        error = total * _PAD + len(factors) * 2.0**-52
        least = int(words.min())
        low = total - error - len(words) / max(least, 1)
        high = total + error if least > 0 else math.inf
        return max(low, 0.0) * self.scale * (1 - ROUNDING), high * self.scale * (1 + ROUNDING)

    def ball(self, product: arb) -> arb:
        return -product.log() * self.scale


def _normal_quantile(chance: arb) -> arb:
    from flint import arb

    return -arb(2).sqrt() * (2 * chance).erfcinv()


def _tails(words: Words, scale: float) -> tuple[Floats, Floats]:
    """Ends of scale · Φ⁻¹(U) for each U between w and w + 1 in units of 2^-64.

    Where U is below 1/2, the logarithms of v and v + 1 differ by 1/v and a rounding error. Φ⁻¹
    moves by at most 1.2534 times that, since Φ there is at most 1.2534 times its derivative. So one
    evaluation gives both ends. Above 1/2, the noise is minus that of 1 - U.
    """
    v = (words ^ (words.view(np.int64) >> 63).view(np.uint64)).view(np.int64)
    least = np.maximum(v, 1).astype(np.float64)  # of 0 nothing is known but that U < 2^-64
    tails = normal_quantiles(least * 2.0**-64)
    off = np.abs(tails)
    off += 1.0
    off *= _PAD
    near, far = tails - off, tails + off
    far += _MILLS / least
    near *= scale
    far *= scale
    near[v == 0] = -np.inf
    upper_half = words.view(np.int64) < 0
    return np.where(upper_half, -far, near), np.where(upper_half, -near, far)


def _quick_tail(words: Words, scale: float, *, twice: bool = False) -> Floats:
    """An upper bound of -scale · ln(1 - U), or of -scale · ln(2(1 - U)).

    No logarithm is computed: a float's exponent, followed by its fraction as digits, is below its
    binary logarithm by at most 0.09.
    """
    rest = (~words >> np.uint64(1)).view(np.int64).astype(np.float64)  # 2^63 (1 - U), floored
    exponents = rest.view(np.int64)  # in units of 2^-52, and 1023 too large
    factor = scale * math.log(2)
    bound = np.multiply(exponents, -(2.0**-52) * factor, dtype=np.float64)
    bound += (1023 + 63 - twice + 2.0**-38) * factor  # of 1 - U = rest / 2^63, or of twice that
    bound[exponents == 0] = np.inf
    return bound


def _waits(words: Words) -> tuple[Floats, Floats]:
    """Ends of -ln U for each U between w and w + 1 in units of 2^-64; the upper may be infinite.

    Near U = 1 it is the logarithm of 1 less a small number, which a float knows as well. Each is
    off by three roundings and the library's logarithm, taken to be within 2^-48.
    """
    upper_half = words >> np.uint64(63) == 1
    rest = np.minimum(~words, np.uint64(2**63))  # in the lower half it is not used
    low = np.minimum(words, np.uint64(2**63))
    with np.errstate(divide="ignore"):
        long = np.where(
            upper_half, -np.log1p((rest + np.uint64(1)) * -(2.0**-64)), -np.log(low * 2.0**-64)
        )
        short = np.where(
            upper_half, -np.log1p(rest * -(2.0**-64)), -np.log((low + np.uint64(1)) * 2.0**-64)
        )
    return short * (1 - _PAD), long * (1 + _PAD)
