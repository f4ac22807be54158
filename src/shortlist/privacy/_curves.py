"""What an epsilon leaves as delta, for zCDP and for Gaussian noise; rounded up.

Sources: Canonne, Kamath & Steinke (2020), Corollary 13; Balle & Wang (2018), Theorem 8.
"""

from __future__ import annotations

import math

__all__ = ["gaussian_delta", "response_delta", "zcdp_delta"]

_ULP = 2.0**-52
_LEAST = 5e-324  # the least positive float
_FARTHEST = 2.0**100  # of alpha - 1 in conversions; what leads there is no delta to speak of


def response_delta(pure: float, epsilon: float) -> float:
    """That of randomised response, the worst of all that is `pure`-DP, at a smaller epsilon."""
    worst_pair = -math.expm1(epsilon - pure) / (1 + math.exp(-pure))
    return worst_pair * (1 + 16 * _ULP)


def zcdp_delta(rho: float, epsilon: float) -> float:
    """Canonne, Kamath & Steinke (2020), Corollary 13, rounded up.

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
    return max(math.exp(log_delta) * (1 + 4 * _ULP), _LEAST) if log_delta < 0 else 1.0


def _minimiser(rho: float, epsilon: float) -> float:
    """Where (2x + 1) rho - epsilon - ln(1 + 1/x), rising and concave in x > 0, is about 0.

    Newton's steps from the left of a zero of such a function stay there. A bound of the logarithm
    tells where to begin: ln(1 + 1/x) is at least 2/(2x + 1), which is good for large x; and at
    most 1/x, which gives an upper bound of x, and that one, in (2x + 1) rho, a lower one.
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
    """Balle & Wang (2018), Theorem 8, rounded up.

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
