"""Counts as shares of users: of a number that is stated, or that has noise itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shortlist.draws.reach import REACH

if TYPE_CHECKING:
    from shortlist.draws import Floats

_DIGITS = 6  # behind the point, of a share
_HALVINGS = 60


class Share(NamedTuple):
    """A share of users, from 0 to 1, and the ends of its interval."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class NoisyShares:
    """Shares of numbers of users that have noise, like the counts.

    A count of c users of n in truth is told as c' = c + S + X, and their number as n' = n + S + Y:
    S is noise that both share. For the true share s = c / n, c' - s n' is (1 - s) S + X - s Y,
    noise around 0. An interval holds each share s for which this is no farther from 0 than such
    noise reaches in 95 of 100 cases: Fieller's interval. It is wide where users are few beside
    the noise, and then from 0 to 1.

    >>> shares = NoisyShares(own_sd=2.0, shared_sd=0.0, law="Normal")
    >>> shares.of([50.0], [100.0])
    [Share(share=0.5, low=0.449768, high=0.552549)]

    Attributes:
        own_sd: The standard deviation of what noise each number has alone.
        shared_sd: That of the noise that all share; 0 if there is none.
        law: Of the noise before rounding, "Normal" or "Laplace".
    """

    own_sd: float
    shared_sd: float
    law: str

    def of(self, counts: Sequence[float], users: Sequence[float]) -> list[Share]:
        """Of each count, among so many users.

        Args:
            counts: In noise, whole numbers.
            users: Of each, how many users there are, in noise, likewise.
        """
        c, n = np.asarray(counts, float), np.asarray(users, float)
        # Both differences are concave in s: beyond 0, they cross it once on the way to the end.
        low = _first_below(lambda s: c - s * n - self._reach(s), len(c))
        high = 1 - _first_below(lambda s: (1 - s) * n - c - self._reach(1 - s), len(c))
        shares = np.divide(c, n, out=np.full(len(c), 0.5), where=n > 0)
        return [
            Share(*ends) for ends in zip(_told(shares), _told(low, -1), _told(high, 1), strict=True)
        ]

    def _reach(self, s: Floats) -> Floats:
        """How far c' - s n' is from 0 in 95 of 100 cases, at most."""
        sd = np.hypot((1 - s) * self.shared_sd, np.sqrt(1 + s * s) * self.own_sd)
        rounding: Floats = (1 + s) / 2
        reach: Floats = REACH[self.law] * sd * (1 + 2.0**-40) + rounding
        return reach


def shares_of_stated(counts: Sequence[float], users: Sequence[float], far: float) -> list[Share]:
    """Of each count, among so many users as are stated.

    Args:
        counts: In noise.
        users: Of each, how many users there are.
        far: How far a count's noise reaches.
    """
    c, n = np.asarray(counts, float), np.asarray(users, float)
    low, high = np.ceil(c - far) / n, np.floor(c + far) / n
    return [Share(*ends) for ends in zip(_told(c / n), _told(low, -1), _told(high, 1), strict=True)]


def _first_below(difference: Callable[[Floats], Floats], n: int) -> Floats:
    """The least s from 0 to 1 at which each difference is 0 or less; 1 if it is above 0 at all."""
    low, high = np.zeros(n), np.ones(n)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        above = difference(middle) > 0
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.where(difference(np.zeros(n)) <= 0, 0.0, low)


def _told(shares: Floats, towards: int = 0) -> list[float]:
    """From 0 to 1, with so many digits: rounded down, to the nearest, or up."""
    scaled = np.clip(shares, 0, 1) * 10**_DIGITS
    rounded = np.floor(scaled) if towards < 0 else np.ceil(scaled) if towards else np.rint(scaled)
    told: list[float] = np.clip(rounded / 10**_DIGITS, 0, 1).tolist()
    return told


def in_percent(shares: Sequence[Share]) -> list[str]:
    """As people read them, with as many digits as the narrowest interval of any width is worth.

    >>> in_percent([Share(0.5, 0.449023, 0.551948)])
    ['50%, 44% to 56%']
    """
    widths = [each.high - each.low for each in shares if each.high > each.low]
    digits = min(max(math.ceil(-math.log10(50 * min(widths, default=1.0))), 0), 4)
    scale = 10.0**digits

    def percent(share: float, rounded: Callable[[float], float]) -> str:
        return f"{rounded(round(100 * share * scale, 6)) / scale:.{digits}f}%"

    return [
        f"{percent(each.share, round)}, {percent(each.low, math.floor)} to "
        f"{percent(each.high, math.ceil)}"
        for each in shares
    ]
