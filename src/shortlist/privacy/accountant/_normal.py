"""Tails of the normal distribution, bounded on either side, and its quantiles.

By the error function of the C library and the quantiles of the standard library: both are right to
the last digits, and SciPy's would take a tenth of a second to load, which plans need not wait for.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.kernels import kernel

__all__ = ["Floats", "gaussian_curve", "tail_above", "tail_below", "upper_quantiles"]

Floats = NDArray[np.float64]

_ERROR = 1e-12  # relative, of the library's error function and of its argument; see the proof note
_LEAST = 1e-300  # below, floats lose digits

_quantile = NormalDist().inv_cdf


def tail_above(z: ArrayLike) -> Floats:
    """At least P(standard normal > z)."""
    return _tail(z) * (1 + _error(z)) + _LEAST


def tail_below(z: ArrayLike) -> Floats:
    """At most P(standard normal > z), and at least 0."""
    tail = _tail(z)
    return np.where(tail > _LEAST * 1e10, tail * (1 - _error(z)), 0.0)


def _error(z: ArrayLike) -> Floats:
    """A rounding error of z moves the tail by that times z² + 1 at most, relatively."""
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
    """What a standard normal number exceeds with each of these chances, or less.

    >>> upper_quantiles([0.25, 1e-9, 0.0]).round(6)
    array([0.67449 , 5.997807,      inf])
    """
    smaller = np.asarray(chances, np.float64) * (1 - 1e-12)  # by more than it can be off
    return np.array([-_quantile(p) if p > 0 else math.inf for p in smaller.tolist()])


def gaussian_curve(excess: ArrayLike, mu: float, *, up: bool) -> Floats:
    """The delta that noise of sensitivity mu leaves at each epsilon, rounded up or down.

    Balle & Wang (2018), Theorem 8. The epsilon may be negative.
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
