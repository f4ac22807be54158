"""What an epsilon leaves as delta, for zCDP and for Gaussian noise, and tails of the normal law.

All are bounds on the safe side. Normal tails are those of the C library's error function, and
quantiles those of the standard library, both of which are right to the last digits.

Sources: Canonne, Kamath & Steinke (2020), Corollary 13; Balle & Wang (2018), Theorem 8.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.kernels import kernel

Floats = NDArray[np.float64]

_ULP = 2.0**-52
_LEAST_FLOAT = 5e-324  # above 0
_FARTHEST = 2.0**100  # of alpha - 1 in conversions; what leads there is no delta to speak of
_ERROR = 1e-12  # relative, of the library's error function and of its argument; see the proof note
_LEAST_TAIL = 1e-300  # below, floats lose digits

# The standard library's: SciPy's takes a tenth of a second to load, which plans need not wait for.
_quantile = NormalDist().inv_cdf


def response_delta(pure: float, epsilon: float) -> float:
    """The delta of any `pure`-DP release at a smaller epsilon: that of randomised response."""
    worst_pair = -math.expm1(epsilon - pure) / (1 + math.exp(-pure))
    return worst_pair * (1 + 16 * _ULP)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """The delta of rho-zCDP: Canonne, Kamath & Steinke (2020), Corollary 13, rounded up.

    With x = alpha - 1, ln delta is the minimum over x > 0 of the convex
    f(x) = x((1+x) rho - epsilon) - x ln(1 + 1/x) - ln(1+x). Every x gives a valid bound, so the
    minimiser may be rough; only the value there is rounded with care.
    """
    if rho == 0:
        return 0.0

    x = _minimiser(rho, epsilon)
    terms = x * (1 + x) * rho, -x * epsilon, -x * math.log1p(1 / x), -math.log1p(x)
    log_delta = sum(terms) + 16 * _ULP * sum(map(abs, terms))
    # Never 0: no delta that underflows may pass for a pure guarantee.
    return max(math.exp(log_delta) * (1 + 4 * _ULP), _LEAST_FLOAT) if log_delta < 0 else 1.0


def _minimiser(rho: float, epsilon: float) -> float:
    """Where (2x + 1) rho - epsilon - ln(1 + 1/x), rising and concave in x > 0, is about 0.

    Newton's steps from the left of a zero of such a function stay there. A bound of the logarithm
    says where to begin: ln(1 + 1/x) is at least 2/(2x + 1), which is good for large x; and at most
    1/x, which gives an upper bound of x, and that one, in (2x + 1) rho, a lower one.
    """
    away, root = rho - epsilon, math.sqrt(8 * rho)
    if away > 0:
        x = 1 / math.expm1(min((away + math.hypot(away, root)) / 2, 28.0))
    else:
        x = max(((epsilon + math.hypot(epsilon, root)) / (2 * rho) - 1) / 2, 2.0**-40)
    for _ in range(20):
        x = min(x, _FARTHEST)
        step = (epsilon + math.log1p(1 / x) - (2 * x + 1) * rho) / (2 * rho + 1 / (x * (1 + x)))
        x += max(step, 0.0)
        if not step > x * 2.0**-26:  # the next one would be less than a rounding error
            break
    # On a grid, so that it is the same for neighbouring rho: then the bound grows with rho.
    mantissa, exponent = math.frexp(min(x, _FARTHEST))
    return math.ldexp(round(mantissa * 2**30), exponent - 30)


def gaussian_delta(rho: float, epsilon: float) -> float:
    """The delta of Gaussian noise of so much zCDP: Balle & Wang (2018), Theorem 8, rounded up.

    From epsilon = 700 on, where exp(epsilon) leaves the floats, the second term is left out.
    """
    if rho == 0:
        return 0.0
    mu = math.sqrt(2 * rho)
    near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    upper, lower = _tail_bounds(near, far)[1], _tail_bounds(far, far)[0]
    growth = math.exp(epsilon) * (1 - 4 * _ULP) if epsilon < 700 else 0.0
    return min(1.0, max(0.0, upper - growth * lower) + 4 * _ULP * upper)


def _tail_bounds(z: float, size: float) -> tuple[float, float]:
    """Bounds of P(standard normal > z) around the float; the lower is 0 where floats run out.

    z is off by at most 4 units in the last place of `size` (it may be a difference of near
    numbers), which moves the tail by that times |z| + 1, relatively; the library's error function
    is taken to be within 16 units.
    """
    tail = math.erfc(z / math.sqrt(2)) / 2
    error = (8 * (abs(z) + 1) * size + 32) * _ULP
    return (tail * (1 - error) if tail > 1e-290 else 0.0), tail * (1 + error) + 1e-321


def tail_above(z: ArrayLike) -> Floats:
    """At least P(standard normal > z)."""
    return _tail(z) * (1 + _error(z)) + _LEAST_TAIL


def tail_below(z: ArrayLike) -> Floats:
    """At most P(standard normal > z), and at least 0."""
    tail = _tail(z)
    return np.where(tail > _LEAST_TAIL * 1e10, tail * (1 - _error(z)), 0.0)


def _error(z: ArrayLike) -> Floats:
    # A rounding error of z moves the tail by that times z² + 1 at most, relatively.
    return _ERROR + 2.0**-50 * np.minimum(np.square(np.asarray(z, np.float64)), 1e4)


def _tail(z: ArrayLike) -> Floats:
    scaled = np.asarray(z, np.float64) * math.sqrt(0.5)
    if scaled.ndim == 0:
        return np.asarray(math.erfc(scaled) / 2)
    tails = np.empty(scaled.shape)
    _halves_of_erfc(scaled.ravel(), tails.ravel())
    return tails


@kernel("void(float64[::1], float64[::1])")
def _halves_of_erfc(scaled: Floats, tails: Floats) -> None:
    for place in range(len(scaled)):
        tails[place] = math.erfc(scaled[place]) / 2


def upper_quantiles(chances: ArrayLike) -> Floats:
    """The numbers that a standard normal one exceeds with each of these probabilities, or less.

    >>> upper_quantiles([0.25, 1e-9, 0.0]).round(6)
    array([0.67449 , 5.997807,      inf])
    """
    smaller = np.asarray(chances, np.float64) * (1 - 1e-12)  # by more than it can be off
    return np.array([-_quantile(p) if p > 0 else math.inf for p in smaller.tolist()])


def gaussian_curve(excess: ArrayLike, mu: float, *, up: bool) -> Floats:
    """The delta of Gaussian noise of sensitivity mu at each epsilon, rounded up or down.

    Balle & Wang (2018), Theorem 8. An epsilon may be negative.
    """
    epsilon = np.asarray(excess, np.float64)
    if mu == 0:
        return np.maximum(-np.expm1(np.minimum(epsilon, 0.0)), 0.0)
    with np.errstate(over="ignore"):  # beyond all tails
        centre = np.clip(epsilon / mu, -1e4, 1e4)
    size = 2.0**-50 * (np.abs(centre) + mu)  # what rounding may move the arguments by
    growth = np.exp(np.minimum(epsilon, 700.0))
    if up:
        upper = tail_above(centre - mu / 2 - size)
        lower = tail_below(centre + mu / 2 + size)
        curve = np.maximum(upper - growth * (1 - 1e-12) * lower, 0.0) + 1e-15 * upper
        return np.minimum(curve, 1.0)
    upper = tail_below(centre - mu / 2 + size)
    lower = tail_above(centre + mu / 2 - size)
    curve = upper - growth * (1 + 1e-12) * lower - 1e-15 * upper
    return np.where(epsilon < 700, np.maximum(curve, 0.0), 0.0)
