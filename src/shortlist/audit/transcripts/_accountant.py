"""Another accountant: what stages certainly lose, by attacks that are computed to the end.

It shares nothing with `shortlist.privacy`. Each stage is a pair of laws that its kind allows, so
the delta of all of them together is one that the true worst case is at least.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from shortlist.audit.transcripts._spent import Spent
from shortlist.draws import Floats

__all__ = ["certain_delta", "delta_of_zcdp"]

_TILTS = np.linspace(0.1, 0.9, 17)  # of a range: how much of it is above 0
_MOST = 100_000  # losses of picks together
_LEAST = 1e-30  # of a chance that is looked at


def certain_delta(spent: Spent, epsilon: float) -> float:
    """A delta that these stages certainly have at epsilon, whatever else is known of them."""
    ranges = Counter(round(e, 12) for e in spent.ranges if e > 0)
    pures = Counter(round(e, 12) for e in spent.pures if e > 0)
    if math.prod(n + 1 for n in (*ranges.values(), *pures.values())) > _MOST:
        ranges, pures = Counter(), Counter()  # what is left out makes it no larger
    best, epsilon = 0.0, epsilon - math.log1p(-spent.lost)
    for tilt in _TILTS.tolist():
        laws = [_losses(e, n, tilt) for e, n in ranges.items()]
        laws += [_losses(2 * e, n, 0.5) for e, n in pures.items()]
        best = max(best, _hockey_stick(laws, math.sqrt(spent.squares), epsilon))
    return min(spent.lost + (1 - spent.lost) * best, 1.0)


def _losses(epsilon: float, times: int, tilt: float) -> tuple[Floats, Floats]:
    """Losses of so many picks of this range, tilted alike, and the chance of each."""
    up = tilt * epsilon
    chance = math.expm1(epsilon - up) * math.exp(up) / math.expm1(epsilon)
    n = np.arange(times + 1)
    from scipy.special import gammaln, xlog1py, xlogy

    logs = gammaln(times + 1) - gammaln(n + 1) - gammaln(times - n + 1)
    chances = np.exp(logs + xlogy(n, chance) + xlog1py(times - n, -chance))
    return n * up + (times - n) * (up - epsilon), chances


def _hockey_stick(laws: list[tuple[Floats, Floats]], mu: float, epsilon: float) -> float:
    """Of independent losses, and of normal noise."""
    losses, chances = np.zeros(1), np.ones(1)
    for these, their_chances in laws:
        losses = np.add.outer(losses, these).ravel()
        chances = np.multiply.outer(chances, their_chances).ravel()
        kept = chances > _LEAST
        losses, chances = losses[kept], chances[kept]
    if mu == 0:
        return float(chances @ np.maximum(-np.expm1(epsilon - losses), 0.0))
    from scipy.special import log_ndtr, ndtr

    ahead = (losses - epsilon) / mu
    behind = np.exp(np.minimum(epsilon - losses + log_ndtr(ahead - mu / 2), 0.0))
    return float(chances @ np.maximum(ndtr(ahead + mu / 2) - behind, 0.0))


def delta_of_zcdp(rho: float, epsilon: float) -> float:
    """What zCDP converts to by Canonne, Kamath & Steinke (2020), Corollary 13."""
    from scipy.optimize import minimize_scalar

    if rho == 0:
        return 0.0

    def log_delta(log_rest: float) -> float:
        rest = math.exp(log_rest)  # the order, less 1
        conversion = (1 + rest) * math.log(rest / (1 + rest)) - math.log(rest)
        return rest * ((1 + rest) * rho - epsilon) + conversion

    found = minimize_scalar(log_delta, bounds=(-10.0, 25.0), method="bounded")
    return min(1.0, math.exp(min(float(found.fun), 0.0)))
