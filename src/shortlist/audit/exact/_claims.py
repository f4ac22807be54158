"""What a cost claims, as inequalities that two output laws satisfy or not.

Each claim says of every pair of neighbours that a loss is at most a limit. A loss is known by
bounds; where limit and bounds overlap, the claim is undecided, unless they agree to within a share
of `GRAIN`: some mechanisms spend exactly what they claim, which balls cannot tell from a little
more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb

from shortlist.audit.exact._losses import (
    Range,
    Sides,
    hockey_stick,
    largest_log_ratio,
    log_power_sum,
)
from shortlist.audit.findings import Verdict
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.privacy import Either, Pure

__all__ = ["GRAIN", "Claim", "claims_of"]

GRAIN = 2.0**-90
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.2, 1.5, 3.0, 10.0)  # of epsilon: far above, thresholds show
ORDERS = (1.01, 1.1, 1.5, 2.0, 4.0, 10.0, 32.0, 100.0)
_STEPS, _FAR = 40, 40.0  # of a bisection in floats: how many, and from how far on either side

Law = Mapping[Any, arb]


class Claim(ABC):
    """A limit of a loss.

    Attributes:
        name: The parameter that is claimed.
        limit: The loss that is claimed to be the largest.
        at: At which epsilon, or which order.
    """

    name: str
    limit: float

    @property
    def at(self) -> str:
        """As above, for a report."""
        return ""

    @abstractmethod
    def losses(self, sides: Sides) -> Range:
        """Bounds of the loss of each pair."""

    @abstractmethod
    def loss(self, p: Law, q: Law) -> tuple[arb, arb]:
        """Lower and upper bound of the loss of one pair, as balls."""

    def verdict(self, low: arb, high: arb) -> Verdict:
        """What bounds of a loss say of the claim."""
        limit = arb(self.limit) * (1 + arb(GRAIN))
        if high <= limit:
            return Verdict.HOLDS
        return Verdict.BROKEN if low > limit else Verdict.UNDECIDED


@dataclass(frozen=True)
class PureLoss(Claim):
    """Epsilon-DP: no outcome is more than exp(epsilon) times as likely."""

    limit: float
    name: str = "epsilon"

    def losses(self, sides: Sides) -> Range:
        """The largest logarithm of a ratio."""
        return sides.largest_log_ratio()

    def loss(self, p: Law, q: Law) -> tuple[arb, arb]:
        """The same in balls."""
        return largest_log_ratio(p, q)


@dataclass(frozen=True)
class Curve(Claim):
    """(epsilon, delta)-DP: the hockey-stick divergence at epsilon is at most delta."""

    epsilon: float
    limit: float
    name: str = "delta"

    @property
    def at(self) -> str:
        """The epsilon."""
        return f"epsilon {self.epsilon:.4g}"

    def losses(self, sides: Sides) -> Range:
        """The divergence."""
        return sides.hockey_stick(self.epsilon)

    def loss(self, p: Law, q: Law) -> tuple[arb, arb]:
        """The same in balls."""
        loss = hockey_stick(p, q, self.epsilon)
        return loss, loss


@dataclass(frozen=True)
class Renyi(Claim):
    """`lost`-approximate rho-zCDP at one order: sub-laws, a mass of at most `lost` away from each.

    The loss is the rho that the order needs. P is best cut where its ratio to Q is largest. Cutting
    Q as well, for the other direction, bounds the loss from above, and leaving Q whole from below:
    together they enclose what the best pair of sub-laws needs.
    """

    alpha: float
    limit: float
    lost: float = 0.0
    name: str = "rho"

    @property
    def at(self) -> str:
        """The order."""
        return f"order {self.alpha:.4g}"

    def losses(self, sides: Sides) -> Range:
        """The rho that the order needs."""
        if not self.lost:
            sums = sides.log_power_sum(self.alpha)
            return Range(self._rho(sums.low), self._rho(sums.high))
        shape, back = len(sides.p.low), sides.swapped()
        least, _ = _bisected(lambda t: sides.left_out(t) <= self.lost, shape)
        below = sides.clipped(least).log_power_sum(self.alpha).low
        p, gone = sides.cut(_bisected(lambda t: sides.cut(t)[1] <= self.lost, shape)[1])
        q, gone_back = back.cut(_bisected(lambda t: back.cut(t)[1] <= self.lost, shape)[1])
        above = Sides(Range(p, p), Range(q, q)).log_power_sum(self.alpha).high
        fits = np.maximum(gone, gone_back) <= self.lost
        return Range(self._rho(below), np.where(fits, self._rho(above), np.inf))

    def _rho(self, log_sum: np.ndarray) -> np.ndarray:
        return log_sum / ((self.alpha - 1) * self.alpha)

    def loss(self, p: Law, q: Law) -> tuple[arb, arb]:
        """The same in balls."""
        scale = arb(self.alpha) * (arb(self.alpha) - 1)
        if not self.lost:
            low, high = log_power_sum(p, q, self.alpha)
            return low / scale, high / scale
        least, _ = _bisected_once(lambda t: not hockey_stick(p, q, t) >= self.lost)
        factor = arb(least).exp()
        clipped = {o: x.min(factor * q.get(o, arb(0))) for o, x in p.items()}
        below, _ = log_power_sum(clipped, q, self.alpha)
        allowed = arb(self.lost) * (1 + arb(GRAIN))  # some lose exactly what they claim
        first, gone = _cut(p, q, allowed)
        second, gone_back = _cut(q, p, allowed)
        _, above = log_power_sum(first, second, self.alpha)
        fits = gone <= allowed and gone_back <= allowed
        return below / scale, above / scale if fits else arb("+inf")


def _cut(p: Law, q: Law, lost: arb) -> tuple[dict[Any, arb], arb]:
    """A sub-law of P that is at most a multiple of Q, and the mass that it leaves out."""
    whole, both = sum(p.values(), arb(0)), []
    for outcome, ball in p.items():
        other = q.get(outcome, arb(0)).lower()
        if other > 0 and ball > 0:
            both.append((outcome, ball.lower(), other))

    def kept(log_ratio: float) -> list[arb]:
        factor = arb(log_ratio).exp()
        return [least.min((factor * other).lower()) for _, least, other in both]

    def left_out(masses: list[arb]) -> arb:
        return whole - sum(masses, arb(0))

    masses = kept(_bisected_once(lambda t: bool(left_out(kept(t)) <= lost))[1])
    return dict(zip((outcome for outcome, *_ in both), masses, strict=True)), left_out(masses)


def _bisected_once(fits: Callable[[float], bool]) -> tuple[float, float]:
    """As `_bisected`, of one number."""
    bad, good = -_FAR, _FAR
    for _ in range(_STEPS):
        middle = (bad + good) / 2
        bad, good = (bad, middle) if fits(middle) else (middle, good)
    return bad, good


def _bisected(
    fits: Callable[[np.ndarray], np.ndarray], shape: tuple[int, ...] | int
) -> tuple[np.ndarray, np.ndarray]:
    """Where `fits` is false, and a little above, where it is true; unless it is false at `_FAR`."""
    bad, good = np.full(shape, -_FAR), np.full(shape, _FAR)
    for _ in range(_STEPS):
        middle = (bad + good) / 2
        few = fits(middle)
        bad, good = np.where(few, bad, middle), np.where(few, middle, good)
    return bad, good


def claims_of(mechanism: Mechanism) -> list[Claim]:
    """What the mechanism promises by its epsilon and delta, and what its cost says."""
    cost = mechanism.cost
    pure = mechanism.delta == 0 and isinstance(cost, Pure | Either)
    epsilon = mechanism.epsilon
    claims: list[Claim] = [PureLoss(epsilon) if pure else Curve(epsilon, mechanism.delta)]
    largest = cost.largest if isinstance(cost, Either) else cost
    if isinstance(largest, Pure) and not (pure and largest.pure == epsilon):
        claims.append(PureLoss(largest.pure, "pure epsilon"))
    claims += [Curve(epsilon, cost.delta(epsilon), "curve") for epsilon in _grid(mechanism)]
    claims += [Renyi(alpha, cost.rho, cost.lost) for alpha in ORDERS]
    return claims


def _grid(mechanism: Mechanism) -> list[float]:
    """Epsilons at which the curve says something."""
    epsilons = [mechanism.epsilon * x for x in SHARES]
    return [epsilon for epsilon in epsilons if mechanism.cost.delta(epsilon) < 1]
