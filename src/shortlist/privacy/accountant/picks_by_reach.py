"""How much normal noise costs at least as much as picks that count a user until one reaches them.

Of such picks, one at most is of an item that the user holds and counts for; those after it tell
nothing more of the user. So many of them cost hardly more than few. Proof note:
`docs/proofs/accountant.md`, "Picks by reach".
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from shortlist.kernels import kernel
from shortlist.privacy._delta_curves import Floats, gaussian_curve
from shortlist.privacy.accountant._bounded_range import cell_bound
from shortlist.privacy.accountant.picks_as_noise import picks_below
from shortlist.privacy.accountant.stages import BoundedRange

_PARTS = 16  # steps in a range
_FINER = 8  # steps in one of these, where it is held against noise
_MOST = 128  # picks that are looked at one by one; more count as any number of them
_WIDEST = 50.0  # the largest range that is looked at
_FIRST_TRY = 0.45  # of mu
_TRIES = 10  # three are usual
_CLOSE = 1e-4
_LEAST, _LOUDEST = 0.25, 64.0  # times the range: the mu that is looked at
_ROUNDING = 1 + 1e-9  # of values on a grid
_CANCELLED = 1e-14  # of a difference of numbers up to 1


@lru_cache(maxsize=64)
def picks_by_reach_below(mu: float, times: int, lost: float) -> float:
    """Nearly the largest local epsilon of picks that cost no more than normal noise and a loss.

    Each pick counts the users whom no earlier pick reached. That it costs no more was seen for
    every epsilon. No less than of as many picks of any kind.

    Args:
        mu: Of the normal noise.
        times: How many picks, at most.
        lost: By how much delta may be above that of the noise.

    >>> [round(picks_by_reach_below(0.2, k, 5e-7), 3) for k in (1, 20, 200)]
    [0.318, 0.105, 0.081]
    """
    best = picks_below(mu, times)
    epsilon = max(_FIRST_TRY * mu, best)
    for _ in range(_TRIES):
        if epsilon > _WIDEST:
            break
        needed = noise_above_reach(BoundedRange(epsilon, times), lost)
        if needed <= mu:
            best = max(best, epsilon)
        if math.isinf(needed) or mu * (1 - 5 * _CLOSE) <= needed <= mu:
            break
        epsilon *= mu / needed * (1 - 2 * _CLOSE)
    return best


@lru_cache(maxsize=64)
def noise_above_reach(picks: BoundedRange, lost: float) -> float:
    """The mu of normal noise that, beside a loss, costs at least as much as picks by reach.

    Hardly above the least such mu; infinity where none is found.
    """
    epsilons, values = reach_curve(picks, lost)
    # Between two nodes, picks cost at most what they cost at the lower epsilon, and noise at least
    # what it costs at the upper one. Beyond the last node, nothing above the loss is left.
    wanted = np.maximum(values[:-1] * _ROUNDING - lost, 0.0)
    after = epsilons[1:] * (1 + 2.0**-50)

    def is_above(mu: float) -> bool:
        return bool(np.all(gaussian_curve(after, mu, up=False) >= wanted))

    low, high = _LEAST * picks.epsilon, _LOUDEST * picks.epsilon
    if not is_above(high):
        return math.inf
    while high > low * (1 + _CLOSE):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return high


class Curve(NamedTuple):
    """The delta at each epsilon, rounded up."""

    epsilons: Floats
    deltas: Floats


def reach_curve(picks: BoundedRange, lost: float) -> Curve:
    """The delta of picks by reach, from an epsilon of 0 to one at which it is at most `lost`.

    The larger of adding a user and of removing one.
    """
    steps, nodes = _PARTS, _nodes(picks, lost)
    places = np.arange(nodes * _FINER + 1, dtype=np.float64)
    epsilons = places * (picks.epsilon / (steps * _FINER))
    deltas = of_any_number(epsilons, picks.epsilon)
    if picks.times > _MOST:
        return Curve(epsilons, deltas)
    losses = np.arange(-nodes - steps, 2 * steps + 1) * (picks.epsilon / steps)
    last = np.maximum(-np.expm1(-losses), 0.0)  # of all picks, at each loss
    with_user = without_user = last
    cells = _cells(picks.epsilon)
    for _ in range(picks.times):
        with_user = _one_more(last, with_user, cells)
        without_user = _one_more(without_user, last, cells)
    looked_at = np.maximum(with_user, without_user)[steps : nodes + steps + 1][::-1]
    return Curve(epsilons, np.minimum(deltas, _on_chords(looked_at, picks.epsilon)))


def _on_chords(values: Floats, local_epsilon: float) -> Floats:
    """The values between the nodes too, on chords in exp(epsilon), which bound them from above."""
    inside = np.arange(_FINER) / _FINER * (local_epsilon / _PARTS)
    shares = np.expm1(inside) / math.expm1(local_epsilon / _PARTS) * (1 - 2.0**-48)
    between = values[:-1, None] + shares * (values[1:, None] - values[:-1, None])
    return np.append(between.ravel(), values[-1])


def _nodes(picks: BoundedRange, lost: float) -> int:
    """The steps up to an epsilon at which no more than `lost` is left."""
    rise = math.expm1(picks.epsilon)
    far = rise * -math.log(lost) if lost > 0 else math.inf
    return math.ceil(min(far / picks.epsilon + 1, picks.times) * _PARTS) + 1


def of_any_number(epsilons: Floats, local_epsilon: float) -> Floats:
    """The delta of any number of picks by reach at each epsilon: of one exponential waiting time.

    That of rate 1 without the user, and exp(local_epsilon) with.
    """
    rise = math.expm1(local_epsilon)
    least = np.maximum((epsilons + local_epsilon) / rise, 0.0)
    without_user = np.exp(-least) * -np.expm1(epsilons - rise * least)
    most = np.maximum((local_epsilon - epsilons) / rise, 0.0)
    with_user = -np.expm1(-(1 + rise) * most)
    with_user += np.exp(np.minimum(epsilons, local_epsilon)) * np.expm1(-most)
    with_user = np.where(most > 0, with_user + _CANCELLED, 0.0)
    curve: Floats = np.maximum(without_user, with_user) * _ROUNDING
    return curve


class _Cells(NamedTuple):
    """Between two choices of the adversary: as `cell_bound` needs them.

    Attributes:
        chances: Of the larger loss, at each choice, shape (n + 1,).
        arches: By how much a chance is above its chord, shape (n,).
    """

    chances: Floats
    arches: Floats


def _cells(local_epsilon: float) -> _Cells:
    choices = np.arange(_PARTS + 1) * (local_epsilon / _PARTS)
    whole, ratios = -math.expm1(-local_epsilon), np.exp(-choices)
    near, far = ratios[:-1], ratios[1:]
    arches = math.exp(-local_epsilon) * (near - far) ** 2 / (whole * near * far**2)
    return _Cells(-np.expm1(choices - local_epsilon) / whole, arches * _ROUNDING)


def _one_more(high: Floats, low: Floats, cells: _Cells) -> Floats:
    """The values before a pick, from those after it where the loss grows, and where it falls."""
    values = low.copy()
    before_pick(high, low, *cells, values)
    return values


@kernel(
    "void(float64[::1], float64[::1], float64[::1], float64[::1], float64[::1])",
    error_model="numpy",
)
def before_pick(high: Floats, low: Floats, chances: Floats, arches: Floats, values: Floats) -> None:
    """Write the worst value over all cells of the adversary's choice to each node.

    But to as many at either end as a range has steps, whose values stay.
    """
    steps = len(arches)
    for place in range(steps, len(values) - steps):
        worst = 0.0
        for cell in range(steps):
            up, down = place + cell, place + cell - steps
            bound = cell_bound(
                high[up],
                high[up + 1],
                low[down],
                low[down + 1],
                chances[cell],
                chances[cell + 1],
                arches[cell],
            )
            worst = max(worst, bound)
        values[place] = worst
