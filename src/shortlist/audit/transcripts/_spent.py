"""What the draws of a path spend, and another accountant that adds it up.

It shares nothing with `shortlist.privacy`, but that costs say what they are. Each stage is a pair
of laws that its kind allows, so the delta of all of them together, by attacks that are computed to
the end, is one that the true worst case is at least.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from shortlist.draws import Floats
from shortlist.privacy import Cost
from shortlist.privacy.combined_costs import Either, Sum, Ways
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import Approximate, Gaussian, Pure


class Differs(Exception):  # noqa: N818 - it says what neighbours do
    """A mechanism asks for another law on the neighbour, which no stage of a cost allows."""


class Unfollowed(Exception):  # noqa: N818 - no error
    """The outcome does not exist on the neighbour, or nothing is known of it."""


@dataclass(frozen=True)
class Spent:
    """The losses of some draws between a table and its neighbour, along the same outcomes.

    Attributes:
        squares: Of all normal noise, the sum of squared shifts over variances.
        ranges: Of each exponential mechanism, the range of the log odds.
        reached: The same of those that spend nothing once the user is reached by one of them.
        pures: Of each other draw, the largest loss.
        lost: The chance that noise names an item of the user alone.
        picked: The chance that a pick does, the largest of all picks: each of them may end them.
        coins: Of each coin, the largest loss, and the range of the log odds: at most twice that.
    """

    squares: float = 0.0
    ranges: tuple[float, ...] = ()
    pures: tuple[float, ...] = ()
    lost: float = 0.0
    picked: float = 0.0
    coins: tuple[tuple[float, float], ...] = ()
    reached: tuple[float, ...] = ()

    def __add__(self, other: Spent) -> Spent:
        return Spent(
            self.squares + other.squares,
            self.ranges + other.ranges,
            self.pures + other.pures,
            self.lost + other.lost,
            max(self.picked, other.picked),
            self.coins + other.coins,
            self.reached + other.reached,
        )

    def until_reached(self) -> Spent:
        """With ranges as those of draws that spend nothing once the user is reached."""
        return replace(self, ranges=(), reached=self.ranges)

    def most(self, other: Spent) -> Spent:
        """The larger of two losses, of one draw of a law."""
        return Spent(
            max(self.squares, other.squares),
            max(self.ranges, other.ranges, key=sum),
            max(self.pures, other.pures, key=sum),
            coins=max(self.coins, other.coins, key=_largest_losses),
        )

    def by_losses(self, n: int) -> Spent:
        """With n coins, those of the largest losses, held by these, and the others by ranges."""
        coins = sorted(self.coins)[::-1]
        pures = (*self.pures, *(loss for loss, _ in coins[:n]))
        ranges = (*self.ranges, *(each for _, each in coins[n:]))
        return replace(self, ranges=ranges, pures=pures, coins=())

    @property
    def rho(self) -> float:
        """The zCDP of all losses: epsilon²/8 of a range, epsilon²/2 of a pure loss."""
        terms = (
            self.squares / 2,
            *(epsilon**2 / 8 for epsilon in self.ranges),
            *(epsilon**2 / 2 for epsilon in self.pures),
        )
        return math.fsum(terms)

    @property
    def pure(self) -> float:
        """The largest loss of all; infinite where there is normal noise."""
        losses = *self.ranges, *self.reached, *self.pures, *(loss for loss, _ in self.coins)
        return math.inf if self.squares else math.fsum(losses)


def _largest_losses(coins: tuple[tuple[float, float], ...]) -> float:
    return sum(loss for loss, _ in coins)


_TILTS = np.linspace(0.1, 0.9, 17)  # of a range: how much of it is above 0
_SMALL_TILTS = np.geomspace(1e-3, 0.9, 28)  # the same, of picks until one reaches the user
_MOST = 100_000  # losses of picks together
_LEAST = 1e-30  # of a chance that is looked at


def certain_delta(spent: Spent, epsilon: float) -> float:
    """A delta that these stages certainly have at epsilon, whatever else is known of them."""
    if spent.lost >= 1:
        return 1.0
    ranges = Counter(round(e, 12) for e in spent.ranges if e > 0)
    pures = Counter(round(e, 12) for e in spent.pures if e > 0)
    if math.prod(n + 1 for n in (*ranges.values(), *pures.values())) > _MOST:
        ranges, pures = Counter(), Counter()  # what is left out makes it no larger
    best, epsilon = 0.0, epsilon - math.log1p(-spent.lost)
    tilts = _TILTS.tolist() if ranges else [0.5]  # else it makes no difference
    for until, tilt in itertools.product(_until_reached(spent.reached), tilts):
        laws = [_losses(e, n, tilt) for e, n in ranges.items()] + until
        laws += [_losses(2 * e, n, 0.5) for e, n in pures.items()]
        best = max(best, _hockey_stick(laws, math.sqrt(spent.squares), epsilon))
    return min(spent.lost + (1 - spent.lost) * best, 1.0)


def _losses(epsilon: float, times: int, tilt: float) -> tuple[Floats, Floats]:
    """The losses of so many picks of one range, tilted alike, and the chance of each."""
    up = tilt * epsilon
    chance = math.expm1(epsilon - up) * math.exp(up) / math.expm1(epsilon)
    n = np.arange(times + 1)
    from scipy.special import gammaln, xlog1py, xlogy

    logs = gammaln(times + 1) - gammaln(n + 1) - gammaln(times - n + 1)
    chances = np.exp(logs + xlogy(n, chance) + xlog1py(times - n, -chance))
    return n * up + (times - n) * (up - epsilon), chances


def _until_reached(ranges: tuple[float, ...]) -> list[list[tuple[Floats, Floats]]]:
    """Laws of picks until one reaches the user, one of which is taken; no law, of no picks.

    All picks are taken to have the least range of any.
    """
    if not ranges:
        return [[]]
    epsilon, times = min(ranges), len(ranges)
    n, laws = np.arange(times), []
    for tilt in _SMALL_TILTS.tolist():
        missed = tilt * epsilon  # the loss of each pick before; in the other role, less that
        chance = math.expm1(epsilon - missed) * math.exp(missed) / math.expm1(epsilon)
        losses = np.append(n * missed + missed - epsilon, times * missed)
        laws.append([(losses, np.append(chance**n * (1 - chance), chance**times))])
        rest = chance * math.exp(-missed)
        laws.append([(-losses, np.append(rest**n * (1 - rest), rest**times))])
    return laws


def _hockey_stick(laws: list[tuple[Floats, Floats]], mu: float, epsilon: float) -> float:
    """The delta of independent losses and of normal noise."""
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
    """The delta that zCDP converts to by Canonne, Kamath & Steinke (2020), Corollary 13."""
    from scipy.optimize import minimize_scalar

    if rho == 0:
        return 0.0

    def log_delta(log_rest: float) -> float:
        rest = math.exp(log_rest)  # the order, less 1
        conversion = (1 + rest) * math.log(rest / (1 + rest)) - math.log(rest)
        return rest * ((1 + rest) * rho - epsilon) + conversion

    found = minimize_scalar(log_delta, bounds=(-10.0, 25.0), method="bounded")
    return min(1.0, math.exp(min(float(found.fun), 0.0)))


_ROUNDING = 1 + 1e-9  # of sums of epsilons


@singledispatch
def converted(cost: Cost, epsilon: float) -> float:
    """The delta of a cost at epsilon: what is lost, and what its zCDP converts to."""
    return cost.lost + delta_of_zcdp(cost.rho, epsilon)


@converted.register
def _(cost: Composed, epsilon: float) -> float:  # noqa: ARG001 - its stages are counted anew
    return cost.lost


@converted.register
def _(cost: Ways, epsilon: float) -> float:
    return min(converted(way, epsilon) for way in cost.ways)


@converted.register
def _(cost: Gaussian, epsilon: float) -> float:
    return cost.lost + certain_delta(Spent(squares=2 * cost.rho), epsilon)


@converted.register(Pure)
@converted.register(Approximate)
def _(cost: Pure | Approximate, epsilon: float) -> float:
    is_enough = epsilon * _ROUNDING >= cost.pure
    return cost.lost + (0.0 if is_enough else delta_of_zcdp(cost.rho, epsilon))


@converted.register
def _(cost: Either, epsilon: float) -> float:
    left = [one.rho for one in cost.alternatives if one.pure > epsilon * _ROUNDING]
    return delta_of_zcdp(max(left), epsilon) if left else 0.0


@converted.register
def _(cost: Sum, epsilon: float) -> float:
    return min([*_by_each_way(cost.parts, epsilon), 1.0])


def _by_each_way(parts: tuple[Cost, ...], epsilon: float) -> Iterator[float]:
    """Deltas, where what has an epsilon counts by that, taken off the whole, or by its rho."""
    lost = sum(part.lost for part in parts)
    with_epsilon = [part for part in parts if isinstance(part, Pure | Either | Approximate)]
    for n in range(len(with_epsilon) + 1):
        for some in itertools.combinations(with_epsilon, n):
            left = epsilon * _ROUNDING - sum(part.pure for part in some)
            rest = [part for part in parts if part not in some]
            if left >= 0:
                yield lost + _of_rest(rest, left)


def _of_rest(parts: list[Cost], epsilon: float) -> float:
    rho = sum(part.rho for part in parts)
    if all(isinstance(part, Gaussian) for part in parts):
        return certain_delta(Spent(squares=2 * rho), epsilon)
    return delta_of_zcdp(rho, epsilon)
