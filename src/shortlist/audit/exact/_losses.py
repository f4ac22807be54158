"""How far two output laws are apart: in balls for one pair, in float intervals for many.

For many pairs, laws are rows of two arrays, `low` and `high`, that confine each probability. What
is computed from them is off by some hundred roundings at most, which `_PAD` covers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from shortlist.draws import Floats
from shortlist.draws.reals import TINY

__all__ = ["Laws", "Range", "Sides", "hockey_stick", "largest_log_ratio", "log_power_sum"]

Law = Mapping[Any, arb]
_PAD = 2.0**-38  # relative


class Range(NamedTuple):
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

    p: Range
    q: Range

    def hockey_stick(self, epsilon: float) -> Range:
        """The largest P(E) - exp(epsilon) Q(E) over events E."""
        factor = np.exp(epsilon)
        low = np.maximum(self.p.low - factor * (1 + _PAD) * self.q.high, 0).sum(axis=1)
        high = np.maximum(self.p.high - factor * (1 - _PAD) * self.q.low, 0).sum(axis=1)
        return Range(low * (1 - _PAD), high * (1 + _PAD))

    def largest_log_ratio(self) -> Range:
        """The largest ln P(o) / Q(o) over outcomes o."""
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.where(self.p.low > 0, self.p.low / self.q.high, 0).max(axis=1)
            high = np.where(self.p.high > 0, self.p.high / self.q.low, 0).max(axis=1)
            return Range(np.log(low) - _PAD, np.log(high) + _PAD)

    def log_power_sum(self, alpha: float) -> Range:
        """Ln of the sum of P^alpha Q^(1 - alpha)."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            low = np.where(
                self.p.low > 0, self.p.low * (self.p.low / self.q.high) ** (alpha - 1), 0
            )
            high = self.p.high * (self.p.high / self.q.low) ** (alpha - 1)
            high = np.where(self.p.high > 0, high, 0)
            pad = _PAD * (1 + alpha)
            least = np.minimum(low.sum(axis=1), np.finfo(float).max)
            return Range(np.log(least) - pad, np.log(high.sum(axis=1)) + pad)

    def clipped(self, log_ratio: Floats) -> Sides:
        """With P at most exp(log_ratio) Q, pair by pair: what a sub-law may leave out of P."""
        factor = np.exp(log_ratio)[:, None]
        high = np.minimum(self.p.high, factor * (1 + _PAD) * self.q.high)
        return Sides(Range(np.minimum(self.p.low, factor * (1 - _PAD) * self.q.low), high), self.q)

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
        """The other way round."""
        return Sides(self.q, self.p)


class Laws:
    """Laws on the same outcomes, as rows of arrays."""

    def __init__(self, laws: Sequence[Law]) -> None:
        """From laws in balls."""
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
        p = Range(self._low[first], self._high[first])
        return Sides(p, Range(self._low[second], self._high[second]))


def _or_least(ball: arb) -> float:
    """The middle of the ball; something above 0, unless it is 0."""
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
    """Ln of the sum of P^alpha Q^(1 - alpha), from below and from above."""
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
