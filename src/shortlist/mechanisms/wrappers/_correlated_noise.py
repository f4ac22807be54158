"""How normal noise is laid over k counts: each its own part, and one part that all share.

One user who is added or removed moves j of the k counts by 1, all the same way. To noise that all
counts share that looks like a common move, so a shared part hides it, and each count's own part can
be smaller. Why that is private: `docs/proofs/noisy-counts.md`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

__all__ = ["CorrelatedNoise", "independent", "least_correlated"]


class CorrelatedNoise(NamedTuple):
    """Standard deviations of the two parts, of which every count has the sum.

    Attributes:
        shared: Of one normal draw for all counts; 0 if there is none.
        own: Of a normal draw for each count.
    """

    shared: float
    own: float

    @property
    def sd(self) -> float:
        """Of the sum."""
        return math.hypot(self.shared, self.own)

    def is_within(self, mu: float, *, k: int, m: int) -> bool:
        """Whether the counts are mu-Gaussian-private, exactly, for users in at most m of k."""
        a, v = Fraction(self.shared) ** 2, Fraction(self.own) ** 2
        top = math.floor((v + k * a) / (2 * a)) if a else m  # of a parabola in j
        moved = (min(j, m) for j in (top, top + 1))
        return max((j - a * j * j / (v + k * a)) / v for j in moved) <= Fraction(mu) ** 2


def least_correlated(mu: float, *, k: int, m: int) -> CorrelatedNoise:
    """Noise of about the least variance with which k counts are mu-Gaussian-private.

    It is never less than that takes: the floats themselves satisfy it.

    >>> noise = least_correlated(1.0, k=100, m=100)
    >>> f"{noise.sd:.2f} instead of {math.sqrt(100):.2f}"
    '5.50 instead of 10.00'

    Args:
        mu: Neighbours are told apart as N(0, 1) and N(mu, 1) are, at best; above 0.
        k: How many counts.
        m: In how many of them one user is, at most; from 1 to k.
    """
    ratio = min(_ratios(k, m), key=lambda ratio: (1 + ratio) * _squared_distance(ratio, k, m))
    own = math.sqrt(_squared_distance(ratio, k, m)) / mu
    noise = CorrelatedNoise(math.sqrt(ratio) * own, own)
    while not noise.is_within(mu, k=k, m=m):
        noise = noise._replace(own=noise.own * (1 + 2.0**-51))
    return noise


def independent(mu: float, *, m: int) -> CorrelatedNoise:
    """The same without a shared part, for users who move m counts either way."""
    own = math.sqrt(m) / mu
    while Fraction(own) ** 2 * Fraction(mu) ** 2 < m:
        own *= 1 + 2.0**-51
    return CorrelatedNoise(0.0, own)


def _squared_distance(ratio: float, k: int, m: int) -> float:
    """Of neighbours, at most, where the own variance is 1 and the shared one is `ratio`."""
    weight = ratio / (1 + k * ratio)
    top = math.floor(1 / (2 * weight)) if weight else m
    return max(j - j * j * weight for j in (min(top, m), min(top + 1, m)))


def _ratios(k: int, m: int) -> Iterator[float]:
    """Ratios of the variances that may be best: where a slope is 0, or two parabolas meet.

    The best is found where m counts move, or where about (k + sqrt k) / 2 do.
    """
    yield 0.0
    if m == 1:
        return
    near = math.floor((k + math.sqrt(k)) / 2)
    for j in {m, *(min(max(near + i, 2), m) for i in (-1, 0, 1, 2))}:
        if j < k:
            rest = k - j
            yield (math.sqrt(rest * (rest + k * (j - 1))) - rest) / (k * rest)
        if 2 * j - 1 > k:
            yield 1 / (2 * j - 1 - k)  # where j - 1 and j are as far
