"""Items that one user alone may hold: the probability that one of them is named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from shortlist.errors import InputError
from shortlist.privacy._delta_curves import Floats, tail_above

__all__ = [
    "Cases",
    "ItemsByThreshold",
    "ItemsOfOneUser",
    "Threshold",
    "ThresholdDelta",
    "blocks",
    "require_bound",
]

_MOST = 2**32  # items of a user
_EXACT_SIZES = 100  # sizes of sets looked at one by one; beyond, in blocks
_BLOCK = 50  # a block of sizes from s on ends at s + s / _BLOCK
_SHARES = 200  # blocks of the share of the norm that a policy may give to novel items


@dataclass(frozen=True)
class Threshold:
    """A noisy weight at which an item is named.

    Attributes:
        sigma: The noise's standard deviation.
        least: The threshold.
    """

    sigma: float
    least: float

    def chance(self, weight: Floats) -> Floats:
        """At least the probability that an item of this weight reaches it."""
        distance = self.least - weight
        rounding = 2.0**-50 * (abs(self.least) + weight)
        return np.minimum(tail_above((distance - rounding) / self.sigma), 1.0)


class Cases(NamedTuple):
    """What a user may be like, each case at least as bad as those that it stands for.

    Attributes:
        shared: The share of the squared norm of the weights on items that others hold too; falling.
        lost: The probability that a novel item is named; rising.
    """

    shared: Floats
    lost: Floats


@dataclass(frozen=True)
class ThresholdDelta:
    """Sub-laws that lose some mass on either side, however that depends on the rest.

    Attributes:
        delta: How much.
    """

    delta: float

    def __post_init__(self) -> None:
        if not 0 <= self.delta < 1:
            raise InputError("must be in [0, 1)", given={"delta": self.delta})


class ItemsOfOneUser(ABC):
    """A set whose items one user alone may hold: what users there may be, and what each loses.

    Class attributes:
        by_coin: Whether naming none of a user's novel items happens independently of all else: then
            it is a coin that may be tossed up front. If not, naming one is mass that is lost.
    """

    by_coin: ClassVar[bool]

    @property
    @abstractmethod
    def cases(self) -> Cases:
        """All users there may be, or blocks of them; of those that cost most, at least."""


@dataclass(frozen=True)
class ItemsByThreshold(ItemsOfOneUser):
    """A set whose items one user alone may hold, named where a noisy weight reaches a threshold.

    A user has at most `bound` items after bounding, s in all and t that nobody else holds, each
    with weight 1/sqrt(s). With several thresholds, an item may be named by each, whichever of them
    is in use and however their noises are correlated; the noises of different items are
    independent of each other, and those of novel items of everything else.

    Attributes:
        thresholds: All that may name an item.
        bound: The most items of one user.
        by_policy: Whether novel items may have any equal weights from 1/sqrt(bound) on whose
            squares add up to at most 1, as where weights are built by a policy.
    """

    thresholds: tuple[Threshold, ...]
    bound: int
    by_policy: bool = False
    by_coin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_bound(self.bound)

    @cached_property
    def cases(self) -> Cases:
        """All there are, or blocks of them, without those that another one covers."""
        shared, lost = self._of_policies() if self.by_policy else self._of_sizes()
        order = np.lexsort((-lost, -shared))
        shared, lost = np.append(1.0, shared[order]), np.append(0.0, lost[order])
        worse = lost > np.maximum.accumulate(np.append(-1.0, lost))[:-1]
        return Cases(shared[worse], lost[worse])

    def lost(self, items: Floats, weight: Floats) -> Floats:
        """At least the probability that one of so many novel items of this weight is named.

        An item passes a threshold with a probability of at most the sum over all of them; and the
        items are independent.
        """
        chance = sum((t.chance(weight) for t in self.thresholds), np.zeros_like(weight))
        with np.errstate(divide="ignore"):  # of what is certain
            lost = -np.expm1(items * np.log1p(-np.minimum(chance, 1.0)))
        return np.minimum(lost * (1 + 1e-14), 1.0)

    def _of_sizes(self) -> tuple[Floats, Floats]:
        """For each block of s, and each of t <= s."""
        first, last = blocks(self.bound)
        s, t = np.tril_indices(len(first))
        items = np.minimum(last[t], last[s])
        lost = self.lost(items, _inverse_root(first[s]))
        return 1 - np.minimum(first[t] / last[s], 1.0), lost

    def _of_policies(self) -> tuple[Floats, Floats]:
        """For each block of t, and of the share of the norm that novel items have."""
        first, last = blocks(self.bound)
        ends = np.linspace(0.0, 1.0, _SHARES + 1)
        least, most = (np.repeat(part, len(first)) for part in (ends[:-1], ends[1:]))
        t, items = np.tile(first, _SHARES), np.tile(last, _SHARES)
        least = np.maximum(least, t / self.bound)  # no weight is below 1 / sqrt(bound)
        there = least <= most
        weight = np.sqrt(most[there] / t[there]) * (1 + 2.0**-50)
        return 1 - least[there], self.lost(items[there], np.minimum(weight, 1.0))


def require_bound(bound: int) -> None:
    """Refuse a bound on a user's items that no table needs."""
    if not 1 <= bound <= _MOST:
        raise InputError("must be from 1 to 2^32", given={"bound": bound})


def blocks(bound: int) -> tuple[Floats, Floats]:
    """The first and last number of each block of 1 .. bound."""
    firsts, lasts, first = [], [], 1
    while first <= bound:
        last = first if first < _EXACT_SIZES else min(bound, first + first // _BLOCK)
        firsts.append(first)
        lasts.append(last)
        first = last + 1
    return np.array(firsts, np.float64), np.array(lasts, np.float64)


def _inverse_root(sizes: Floats) -> Floats:
    return np.minimum(1 / np.sqrt(sizes) * (1 + 2.0**-50), 1.0)
