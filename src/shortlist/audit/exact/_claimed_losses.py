"""What a cost claims, as inequalities of two output laws; and how far two laws are apart.

Each claim says of every pair of neighbours that a loss is at most a limit. A loss is known by
bounds; where limit and bounds overlap, the claim is undecided, unless they agree to within a share
of `GRAIN`: some mechanisms spend exactly what they claim, which balls cannot tell from a little
more.

Losses are computed in balls for one pair, in float intervals for many. For many pairs, laws are
rows of two arrays, `low` and `high`, that confine each probability. What is computed from them is
off by some hundred roundings at most, which `_PAD` covers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from shortlist.audit.findings import Verdict
from shortlist.draws import Floats
from shortlist.draws.reals import TINY
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.privacy import Either, Pure

__all__ = ["Claim", "Laws", "LossBounds", "claims_of"]

Law = Mapping[Any, arb]
_PAD = 2.0**-38  # relative


class LossBounds(NamedTuple):
    """Bounds of a number for each pair, shapes (n_pairs,)."""

    low: Floats
    high: Floats


@dataclass(frozen=True)
class Sides:
    """The laws of many pairs.

    Attributes:
        p: Bounds of the laws of the first data sets, shapes (n_pairs, n_outcomes).
        q: Of the second ones.
    """

    p: LossBounds
    q: LossBounds

    def hockey_stick(self, epsilon: float) -> LossBounds:
        """The largest P(E) - exp(epsilon) Q(E) over events E."""
        factor = np.exp(epsilon)
        low = np.maximum(self.p.low - factor * (1 + _PAD) * self.q.high, 0).sum(axis=1)
        high = np.maximum(self.p.high - factor * (1 - _PAD) * self.q.low, 0).sum(axis=1)
        return LossBounds(low * (1 - _PAD), high * (1 + _PAD))

    def largest_log_ratio(self) -> LossBounds:
        """The largest ln P(o) / Q(o) over outcomes o."""
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.where(self.p.low > 0, self.p.low / self.q.high, 0).max(axis=1)
            high = np.where(self.p.high > 0, self.p.high / self.q.low, 0).max(axis=1)
            return LossBounds(np.log(low) - _PAD, np.log(high) + _PAD)

    def log_power_sum(self, alpha: float) -> LossBounds:
        """The logarithm of the sum of P^alpha Q^(1 - alpha)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            low = np.where(
                self.p.low > 0, self.p.low * (self.p.low / self.q.high) ** (alpha - 1), 0
            )
            high = self.p.high * (self.p.high / self.q.low) ** (alpha - 1)
            high = np.where(self.p.high > 0, high, 0)
            pad = _PAD * (1 + alpha)
            least = np.minimum(low.sum(axis=1), np.finfo(float).max)
            return LossBounds(np.log(least) - pad, np.log(high.sum(axis=1)) + pad)

    def clipped(self, log_ratio: Floats) -> Sides:
        """With P at most exp(log_ratio) Q, pair by pair: what a sub-law may leave out of P."""
        factor = np.exp(log_ratio)[:, None]
        high = np.minimum(self.p.high, factor * (1 + _PAD) * self.q.high)
        return Sides(
            LossBounds(np.minimum(self.p.low, factor * (1 - _PAD) * self.q.low), high), self.q
        )

    def left_out(self, log_ratio: Floats) -> Floats:
        """How much mass `clipped` certainly leaves out, at least."""
        most = np.exp(log_ratio)[:, None] * (1 + _PAD) * self.q.high
        out: Floats = np.maximum(self.p.low - most, 0).sum(axis=1) * (1 - _PAD)
        return out

    def cut(self, log_ratio: Floats) -> tuple[Floats, Floats]:
        """A sub-law of P that is at most exp(log_ratio) Q, and what it leaves out at most."""
        kept = np.minimum(self.p.low, np.exp(log_ratio)[:, None] * (1 - _PAD) * self.q.low)
        return kept, (self.p.high - kept).sum(axis=1) + _PAD * 2.0**-10

    def swapped(self) -> Sides:
        """The same pairs the other way round."""
        return Sides(self.q, self.p)


class Laws:
    """Laws on the same outcomes, as rows of arrays."""

    def __init__(self, laws: Sequence[Law]) -> None:
        outcomes = {o: i for i, o in enumerate(dict.fromkeys(o for law in laws for o in law))}
        middles, radii = np.zeros((2, len(laws), max(len(outcomes), 1)))
        for row, law in enumerate(laws):
            for outcome, ball in law.items():
                middles[row, outcomes[outcome]] = _or_least(ball)
                radii[row, outcomes[outcome]] = float(ball.rad())
        radii = radii * (1 + 2.0**-20) + middles * 2.0**-51
        # What can come out is above 0, also where floats run out: then balls have to tell.
        radii[middles > 0] += TINY
        self._low, self._high = np.maximum(middles - radii, 0), middles + radii

    def sides(self, first: Sequence[int], second: Sequence[int]) -> Sides:
        """The laws of pairs, by the numbers of their data sets."""
        p = LossBounds(self._low[first], self._high[first])
        return Sides(p, LossBounds(self._low[second], self._high[second]))


def _or_least(ball: arb) -> float:
    """The middle of the ball, above 0 unless the ball is 0."""
    return 0.0 if ball.is_zero() else max(float(ball.mid()), TINY)


def hockey_stick(p: Law, q: Law, epsilon: float) -> arb:
    """The largest P(E) - exp(epsilon) Q(E) over events E."""
    factor = arb(epsilon).exp()
    excess = (ball - factor * q.get(outcome, arb(0)) for outcome, ball in p.items())
    return sum((x.max(arb(0)) for x in excess), arb(0))


def largest_log_ratio(p: Law, q: Law) -> tuple[arb, arb]:
    """The largest ln P(o) / Q(o) over outcomes o, from below and from above."""
    low = high = arb("-inf")
    for outcome, ball in p.items():
        other = q.get(outcome, arb(0))
        if ball > 0:
            low = low.max(_ratio(ball.lower(), other.upper()).log())
        if not ball.is_zero():
            high = high.max(_ratio(ball.upper(), other.lower()).log())
    return low, high


def log_power_sum(p: Law, q: Law, alpha: float) -> tuple[arb, arb]:
    """The logarithm of the sum of P^alpha Q^(1 - alpha), from below and from above."""
    low = high = arb(0)
    for outcome, ball in p.items():
        other = q.get(outcome, arb(0))
        if ball > 0:
            least = ball.lower()
            low += least * _ratio(least, other.upper()) ** arb(alpha - 1)
        if not ball.is_zero():
            most = ball.upper()
            high += most * _ratio(most, other.lower()) ** arb(alpha - 1)
    return low.log(), high.log()


def _ratio(p: arb, q: arb) -> arb:
    return p / q if q > 0 else arb("+inf")


GRAIN = 2.0**-90
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.2, 1.5, 3.0, 10.0)  # of epsilon: far above, thresholds show
ORDERS = (1.01, 1.1, 1.5, 2.0, 4.0, 10.0, 32.0, 100.0)
_STEPS, _FAR = 40, 40.0  # of a bisection in floats: how many, and from how far on either side


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
        """At which epsilon, or which order, for a report."""
        return ""

    @abstractmethod
    def losses(self, sides: Sides) -> LossBounds:
        """Bounds of the loss of each pair."""

    @abstractmethod
    def loss(self, p: Law, q: Law) -> tuple[arb, arb]:
        """Lower and upper bound of the loss of one pair, as balls."""

    def verdict(self, low: arb, high: arb) -> Verdict:
        """The verdict by bounds of the loss."""
        limit = arb(self.limit) * (1 + arb(GRAIN))
        if high <= limit:
            return Verdict.HOLDS
        return Verdict.BROKEN if low > limit else Verdict.UNDECIDED


@dataclass(frozen=True)
class EpsilonClaim(Claim):
    """Epsilon-DP: no outcome is more than exp(epsilon) times as likely."""

    limit: float
    name: str = "epsilon"

    def losses(self, sides: Sides) -> LossBounds:
        return sides.largest_log_ratio()

    def loss(self, p: Law, q: Law) -> tuple[arb, arb]:
        return largest_log_ratio(p, q)


@dataclass(frozen=True)
class DeltaClaim(Claim):
    """(epsilon, delta)-DP: the hockey-stick divergence at epsilon is at most delta."""

    epsilon: float
    limit: float
    name: str = "delta"

    @property
    def at(self) -> str:
        return f"epsilon {self.epsilon:.4g}"

    def losses(self, sides: Sides) -> LossBounds:
        return sides.hockey_stick(self.epsilon)

    def loss(self, p: Law, q: Law) -> tuple[arb, arb]:
        loss = hockey_stick(p, q, self.epsilon)
        return loss, loss


@dataclass(frozen=True)
class RhoClaim(Claim):
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
        return f"order {self.alpha:.4g}"

    def losses(self, sides: Sides) -> LossBounds:
        if not self.lost:
            sums = sides.log_power_sum(self.alpha)
            return LossBounds(self._rho(sums.low), self._rho(sums.high))
        shape, back = len(sides.p.low), sides.swapped()
        least, _ = _bisected(lambda t: sides.left_out(t) <= self.lost, shape)
        below = sides.clipped(least).log_power_sum(self.alpha).low
        p, gone = sides.cut(_bisected(lambda t: sides.cut(t)[1] <= self.lost, shape)[1])
        q, gone_back = back.cut(_bisected(lambda t: back.cut(t)[1] <= self.lost, shape)[1])
        above = Sides(LossBounds(p, p), LossBounds(q, q)).log_power_sum(self.alpha).high
        fits = np.maximum(gone, gone_back) <= self.lost
        return LossBounds(self._rho(below), np.where(fits, self._rho(above), np.inf))

    def _rho(self, log_sum: np.ndarray) -> np.ndarray:
        return log_sum / ((self.alpha - 1) * self.alpha)

    def loss(self, p: Law, q: Law) -> tuple[arb, arb]:
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
    """Bisect as `_bisected` does, for one number."""
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
    """The claims of a mechanism by its epsilon and delta, and by its cost."""
    cost = mechanism.cost
    pure = mechanism.delta == 0 and isinstance(cost, Pure | Either)
    epsilon = mechanism.epsilon
    claims: list[Claim] = [EpsilonClaim(epsilon) if pure else DeltaClaim(epsilon, mechanism.delta)]
    largest = cost.largest if isinstance(cost, Either) else cost
    if isinstance(largest, Pure) and not (pure and largest.pure == epsilon):
        claims.append(EpsilonClaim(largest.pure, "pure epsilon"))
    claims += [DeltaClaim(epsilon, cost.delta(epsilon), "curve") for epsilon in _grid(mechanism)]
    claims += [RhoClaim(alpha, cost.rho, cost.lost) for alpha in ORDERS]
    return claims


def _grid(mechanism: Mechanism) -> list[float]:
    """The epsilons at which the curve says something."""
    epsilons = [mechanism.epsilon * x for x in SHARES]
    return [epsilon for epsilon in epsilons if mechanism.cost.delta(epsilon) < 1]
