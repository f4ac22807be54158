"""How much normal noise costs at least as much as picks do, at every epsilon.

Proof note: `docs/proofs/accountant.md`, "Picks as normal noise".
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from shortlist.privacy._delta_curves import Floats, gaussian_curve, tail_above, zcdp_delta
from shortlist.privacy.accountant._loss_grid import LossGrid, Window, is_feasible
from shortlist.privacy.accountant._value_functions import Valuation
from shortlist.privacy.accountant.stages import BoundedRange
from shortlist.privacy.rounding import round_up

_LEAST = 1.01  # of the standard deviation: with less, normal tails hardly ever cover those of zCDP
_MOST = 1.3  # that of one pick is 1.2534, and of more it is less
_STEPS = 400  # in about two standard deviations
_FAR = range(11, 37)  # standard deviations; 11 is more than sqrt(2 / (1 - 1/_LEAST²))
_CLOSE = 1e-4
_TRIES = 10  # two are usual
_ROUNDING = 1 + 1e-9  # of values on a grid; more than `Composition` allows for


@lru_cache(maxsize=64)
def picks_below(mu: float, times: int) -> float:
    """Nearly the largest local epsilon of picks that cost no more than normal noise.

    That they cost no more was seen for every epsilon. Where no grid reaches, each pick counts as a
    pure release, and the result is less than half as large.

    >>> round(picks_below(0.5, 20), 3), round(2 * 0.5 / 20**0.5, 3)
    (0.219, 0.224)
    """
    share = mu / math.sqrt(times)  # of each pick
    epsilon = 2 * share / _LEAST
    for _ in range(_TRIES):
        picks = BoundedRange(epsilon, times)
        needed = normal_noise_above(picks) if is_feasible((picks,)) else math.inf
        if needed <= mu:
            return epsilon
        if math.isinf(needed):
            break
        epsilon *= mu / needed * (1 - _CLOSE)
    return _pure_below(share)


def _pure_below(mu: float) -> float:
    """The epsilon of randomised response that costs as much as normal noise, rounded down."""
    missed = float(tail_above(mu / 2))
    return max(math.log1p(-missed) - math.log(missed), 0.0) * (1 - 1e-9)


@lru_cache(maxsize=64)
def normal_noise_above(picks: BoundedRange) -> float:
    """The mu of normal noise that costs at least as much as these picks at every epsilon.

    Hardly above the least such mu, and at least 1 % above that of as much zCDP; infinity where
    none is found. Only for picks that a grid reaches.
    """
    least = math.sqrt(picks.times) * picks.epsilon / 2
    if math.isinf(far := _far(picks, least)):
        return math.inf
    parts = math.ceil(_STEPS / math.sqrt(picks.times))
    grid = LossGrid(picks.epsilon, parts, 0.0, up=True, precision=math.exp(-far * far / 2))
    reach = min(far * least + least**2 / 2, picks.times * picks.epsilon) + 2 * grid.step
    profile = Valuation(grid, reach).value((picks,))
    n_steps = math.floor(reach / grid.step)
    wanted = grid.extended(profile, Window(1 - n_steps, 0)) * _ROUNDING
    # Between two nodes, picks cost at most what they cost at the upper one, and noise costs at
    # least what it costs at the lower one.
    epsilons = np.arange(n_steps, 0, -1, dtype=np.float64) * (grid.step * (1 + 2.0**-50))
    return _least_above(wanted, epsilons, least)


def _least_above(wanted: Floats, epsilons: Floats, least: float) -> float:
    """The mu of noise whose delta is at least the wanted one at each epsilon, by bisection."""

    def is_above(factor: float) -> bool:
        return bool(np.all(gaussian_curve(epsilons, least * factor, up=False) >= wanted))

    low, high = _LEAST, _MOST
    if is_above(low):
        return low * least
    if not is_above(high):  # too coarse a grid for so much noise
        return math.inf
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return high * least


def _far(picks: BoundedRange, least: float) -> float:
    """The standard deviations from which on the noise covers the picks by zCDP; or infinity."""
    rho = round_up(picks.times * Fraction(picks.epsilon) ** 2 / 8)
    for far in _FAR:
        if far * least >= picks.times * picks.epsilon:  # no loss is larger
            return far
        noise = gaussian_curve(rho * _LEAST**2 + far * least, _LEAST * least, up=False)
        if zcdp_delta(rho, rho + far * least) <= noise:
            return far
    return math.inf
