"""What a cost claims, as inequalities of two output laws; and how far two laws are apart.

Each claim says of every pair of neighbours that a loss is at most a limit. A loss is known by
bounds; where limit and bounds overlap, the claim is undecided, unless they agree to within a share
of `GRAIN`: some mechanisms spend exactly what they claim, which balls cannot tell from a little
more.

Losses are computed in balls for one pair, and bounded from above in floats for many: balls look at
those alone whose bound is above the limit. For many pairs, laws are rows of two arrays, `low` and
`high`, that confine each probability. What is computed from them is off by some hundred roundings
at most, which `_PAD` covers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from flint import arb
from numpy.typing import NDArray

from shortlist.audit.findings import Verdict
from shortlist.audit.universes import Audited
from shortlist.draws import Floats
from shortlist.draws.reals import TINY
from shortlist.privacy import Either, Pure

Law = Mapping[Any, arb]
_PAD = 2.0**-38  # relative


class _Confined(NamedTuple):
    """Bounds of laws, shapes (n_pairs, n_outcomes)."""

    low: Floats
    high: Floats


@dataclass(frozen=True)
class Sides:
    """The laws of many pairs.

    Attributes:
        p: Those of the first data sets.
        q: Those of the second ones.
    """

    p: _Confined
    q: _Confined

    def hockey_stick(self, epsilon: float) -> Floats:
        """The largest P(E) - exp(epsilon) Q(E) over events E, at most, shape (n_pairs,)."""
        least = np.exp(epsilon) * (1 - _PAD) * self.q.low
        most: Floats = np.maximum(self.p.high - least, 0).sum(axis=1) * (1 + _PAD)
        return most

    def largest_log_ratio(self) -> Floats:
        """The largest ln P(o) / Q(o) over outcomes o, at most."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(self.p.high > 0, self.p.high / self.q.low, 0)
            most: Floats = np.log(ratios.max(axis=1)) + _PAD
        return most

    def log_power_sum(self, alpha: float) -> Floats:
        """The logarithm of the sum of P^alpha Q^(1 - alpha), at most."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            powers = self.p.high * (self.p.high / self.q.low) ** (alpha - 1)
            sums = np.where(self.p.high > 0, powers, 0).sum(axis=1)
            most: Floats = np.log(sums) + _PAD * (1 + alpha)
        return most

    def cut(self, lost: float) -> tuple[_Confined, NDArray[np.bool_]]:
        """A sub-law of P that is at most a multiple of Q, and whether it leaves out so much."""

        def kept(log_ratio: Floats) -> Floats:
            multiples = np.exp(log_ratio)[:, None] * (1 - _PAD) * self.q.low
            return np.minimum(self.p.low, multiples)

        def fits(log_ratio: Floats) -> NDArray[np.bool_]:
            left_out = (self.p.high - kept(log_ratio)).sum(axis=1) + _PAD * 2.0**-10
            few: NDArray[np.bool_] = left_out <= lost
            return few

        _, factor = _bisected(fits, len(self.p.low))
        law = kept(factor)
        return _Confined(law, law), fits(factor)

    def swapped(self) -> Sides:
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
        p = _Confined(self._low[first], self._high[first])
        return Sides(p, _Confined(self._low[second], self._high[second]))


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


class Loss(NamedTuple):
    """The loss of one pair.

    Attributes:
        low: It is at least so much.
        high: And at most so much.
        claim: The claim that it is held against; at the worst order alone, if it is of several.
    """

    low: arb
    high: arb
    claim: Claim


class Claim(ABC):
    """A limit of a loss.

    Attributes:
        name: The parameter that is claimed.
        limit: The loss that is claimed to be the largest.
    """

    name: str
    limit: float

    @property
    def at(self) -> str:
        """At which epsilon, or which order, for a report."""
        return ""

    @abstractmethod
    def most(self, sides: Sides) -> Floats:
        """The most that the loss of each pair may be, shape (n_pairs,)."""

    @abstractmethod
    def loss(self, p: Law, q: Law) -> Loss:
        """The loss of one pair, as balls."""

    def verdict(self, loss: Loss) -> Verdict:
        limit = arb(self.limit) * (1 + arb(GRAIN))
        if loss.high <= limit:
            return Verdict.HOLDS
        return Verdict.BROKEN if loss.low > limit else Verdict.UNDECIDED


@dataclass(frozen=True)
class EpsilonClaim(Claim):
    """Epsilon-DP: no outcome is more than exp(epsilon) times as likely."""

    limit: float
    name: str = "epsilon"

    def most(self, sides: Sides) -> Floats:
        return sides.largest_log_ratio()

    def loss(self, p: Law, q: Law) -> Loss:
        return Loss(*largest_log_ratio(p, q), self)


@dataclass(frozen=True)
class DeltaClaim(Claim):
    """(epsilon, delta)-DP: the hockey-stick divergence at epsilon is at most delta."""

    epsilon: float
    limit: float
    name: str = "delta"

    @property
    def at(self) -> str:
        return f"epsilon {self.epsilon:.4g}"

    def most(self, sides: Sides) -> Floats:
        return sides.hockey_stick(self.epsilon)

    def loss(self, p: Law, q: Law) -> Loss:
        loss = hockey_stick(p, q, self.epsilon)
        return Loss(loss, loss, self)


@dataclass(frozen=True)
class RhoClaim(Claim):
    """`lost`-approximate rho-zCDP: sub-laws, a mass of at most `lost` away from each.

    The loss is the largest rho that any of the orders needs. P is best cut where its ratio to Q is
    largest. Cutting Q as well, for the other direction, bounds the loss from above, and leaving Q
    whole from below: together they enclose what the best pair of sub-laws needs.
    """

    limit: float
    lost: float = 0.0
    orders: tuple[float, ...] = ORDERS
    name: str = "rho"

    @property
    def at(self) -> str:
        return f"order {self.orders[0]:.4g}" if len(self.orders) == 1 else ""

    def most(self, sides: Sides) -> Floats:
        fits: Any = True
        if self.lost:
            p, few = sides.cut(self.lost)
            q, few_back = sides.swapped().cut(self.lost)
            sides, fits = Sides(p, q), few & few_back
        each = [sides.log_power_sum(alpha) / (alpha * (alpha - 1)) for alpha in self.orders]
        return np.where(fits, np.max(each, axis=0), np.inf)

    def loss(self, p: Law, q: Law) -> Loss:
        below, above, fits = (p, q), (p, q), True
        if self.lost:
            below, above, fits = self._sub_laws(p, q)
        each = [self._at(alpha, below, above) for alpha in self.orders]
        if not fits:
            each = [loss._replace(high=arb("+inf")) for loss in each]
        return max(each, key=lambda at: (self.verdict(at).rank, float(at.high.upper())))

    def _at(self, alpha: float, below: tuple[Law, Law], above: tuple[Law, Law]) -> Loss:
        scale = arb(alpha) * (arb(alpha) - 1)
        low, high = log_power_sum(*below, alpha)
        if self.lost:
            _, high = log_power_sum(*above, alpha)
        return Loss(low / scale, high / scale, replace(self, orders=(alpha,)))

    def _sub_laws(self, p: Law, q: Law) -> tuple[tuple[Law, Law], tuple[Law, Law], bool]:
        """A pair that needs less than the best one, one that needs more, and if that is allowed."""
        least, _ = _bisected_once(lambda t: not hockey_stick(p, q, t) >= self.lost)
        factor = arb(least).exp()
        clipped = {o: x.min(factor * q.get(o, arb(0))) for o, x in p.items()}
        allowed = arb(self.lost) * (1 + arb(GRAIN))  # some lose exactly what they claim
        (first, gone), (second, gone_back) = _cut(p, q, allowed), _cut(q, p, allowed)
        return (clipped, q), (first, second), gone <= allowed and gone_back <= allowed


def _cut(p: Law, q: Law, lost: arb) -> tuple[Law, arb]:
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
    """As `_bisected`, for one number."""
    bad, good = _bisected(lambda t: np.array([fits(float(t[0]))]), 1)
    return float(bad[0]), float(good[0])


def _bisected(fits: Callable[[Floats], NDArray[np.bool_]], n: int) -> tuple[Floats, Floats]:
    """Where `fits` is false, and a little above, where it is true; unless it is false at `_FAR`."""
    bad, good = np.full(n, -_FAR), np.full(n, _FAR)
    for _ in range(_STEPS):
        middle = (bad + good) / 2
        few = fits(middle)
        bad, good = np.where(few, bad, middle), np.where(few, middle, good)
    return bad, good


def claims_of(mechanism: Audited) -> list[Claim]:
    """The claims of a mechanism by its epsilon and delta, and by its cost."""
    cost, epsilon = mechanism.cost, mechanism.epsilon
    pure = mechanism.delta == 0 and isinstance(cost, Pure | Either)
    claims: list[Claim] = [EpsilonClaim(epsilon) if pure else DeltaClaim(epsilon, mechanism.delta)]
    largest = cost.largest if isinstance(cost, Either) else cost
    if isinstance(largest, Pure) and not (pure and largest.pure == epsilon):
        claims.append(EpsilonClaim(largest.pure, "pure epsilon"))
    curve = [DeltaClaim(at, cost.delta(at), "curve") for at in (epsilon * x for x in SHARES)]
    # Where the curve is 1, it says nothing.
    return [*claims, *(c for c in curve if c.limit < 1), RhoClaim(cost.rho, cost.lost)]
