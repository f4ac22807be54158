"""Items that one user alone holds: the probability that one of them is named."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from shortlist.errors import InputError
from shortlist.privacy._delta_curves import Floats, tail_above
from shortlist.privacy.rounding import blocks_up_to

_MOST_ITEMS = 2**32  # of a user
_SHARES = 200  # blocks of the share of the norm that a policy may give to a user's own items


@dataclass(frozen=True)
class Threshold:
    """A threshold for weights in normal noise.

    Attributes:
        sigma: The standard deviation of the noise.
        least: The least noisy weight at which an item is named.
    """

    sigma: float
    least: float

    def chance(self, weight: Floats) -> Floats:
        """At least the probability that an item of this weight reaches it."""
        distance = self.least - weight
        rounding = 2.0**-50 * (abs(self.least) + weight)
        return np.minimum(tail_above((distance - rounding) / self.sigma), 1.0)


class Cases(NamedTuple):
    """The kinds of users that are to be looked at, each at least as bad as those it stands for.

    Attributes:
        shared: Of each, the share of the squared norm of the weights that is on items which others
            hold too; falling.
        lost: Of each, the probability that an item is named which nobody else holds; rising.
    """

    shared: Floats
    lost: Floats


@dataclass(frozen=True)
class ThresholdDelta:
    """The delta of a threshold: sub-laws lose this mass, however that depends on the rest.

    Attributes:
        delta: The mass that is lost, on either side at most.
    """

    delta: float

    def __post_init__(self) -> None:
        if not 0 <= self.delta < 1:
            raise InputError("must be in [0, 1)", given={"delta": self.delta})


class ItemsOfOneUser(ABC):
    """What an item that one user alone holds may cost, where private items are named.

    Class attributes:
        by_coin: Whether a user's own items are named independently of all else. Then a coin tossed
            up front says whether one of them is; else, naming one is mass that is lost.
    """

    by_coin: ClassVar[bool]

    @property
    @abstractmethod
    def cases(self) -> Cases:
        """The kinds of users there may be; at least those that cost most."""


@dataclass(frozen=True)
class ItemsByThreshold(ItemsOfOneUser):
    """Items that one user alone holds are named where their noisy weight reaches a threshold.

    A user has s items after bounding, at most `bound`, each of weight 1/sqrt(s); t of them nobody
    else holds. With several thresholds, an item may be named by each, whichever is in use and
    however their noises are correlated. The noises of different items are independent of each
    other, and those of a user's own items of everything else.

    Attributes:
        thresholds: All thresholds that may name an item.
        bound: The most items of one user.
        by_policy: Whether a user's own items may have any equal weights from 1/sqrt(bound) on whose
            squares add up to at most 1, as where a policy builds the weights.
    """

    thresholds: tuple[Threshold, ...]
    bound: int
    by_policy: bool = False
    by_coin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        require_bound(self.bound)

    @cached_property
    def cases(self) -> Cases:
        """The kinds of users there may be, without those that another one covers."""
        shared, lost = self._of_policies() if self.by_policy else self._of_sizes()
        order = np.lexsort((-lost, -shared))
        shared, lost = np.append(1.0, shared[order]), np.append(0.0, lost[order])
        worse = lost > np.maximum.accumulate(np.append(-1.0, lost))[:-1]
        return Cases(shared[worse], lost[worse])

    def lost(self, items: Floats, weight: Floats) -> Floats:
        """At least the probability that one of a number of own items of this weight is named."""
        # An item passes some threshold with at most the sum of its probabilities to pass each, and
        # the items are independent.
        chance = sum((t.chance(weight) for t in self.thresholds), np.zeros_like(weight))
        with np.errstate(divide="ignore"):  # where it is certain
            lost = -np.expm1(items * np.log1p(-np.minimum(chance, 1.0)))
        return np.minimum(lost * (1 + 1e-14), 1.0)

    def _of_sizes(self) -> tuple[Floats, Floats]:
        first, last = blocks(self.bound)
        s, t = np.tril_indices(len(first))
        items = np.minimum(last[t], last[s])
        lost = self.lost(items, _inverse_root(first[s]))
        return 1 - np.minimum(first[t] / last[s], 1.0), lost

    def _of_policies(self) -> tuple[Floats, Floats]:
        first, last = blocks(self.bound)
        ends = np.linspace(0.0, 1.0, _SHARES + 1)
        least, most = (np.repeat(part, len(first)) for part in (ends[:-1], ends[1:]))
        t, items = np.tile(first, _SHARES), np.tile(last, _SHARES)
        least = np.maximum(least, t / self.bound)  # no weight is below 1 / sqrt(bound)
        there = least <= most
        weight = np.sqrt(most[there] / t[there]) * (1 + 2.0**-50)
        return 1 - least[there], self.lost(items[there], np.minimum(weight, 1.0))


def require_bound(bound: int) -> None:
    """Refuse a bound on a user's items that is larger than any table needs."""
    if not 1 <= bound <= _MOST_ITEMS:
        raise InputError("must be from 1 to 2^32", given={"bound": bound})


def blocks(bound: int) -> tuple[Floats, Floats]:
    """The first and last of each block of numbers of items, 1 .. bound."""
    firsts, lasts = blocks_up_to(bound, alone=99, part=50)
    return np.array(firsts, np.float64), np.array(lasts, np.float64)


def _inverse_root(sizes: Floats) -> Floats:
    return np.minimum(1 / np.sqrt(sizes) * (1 + 2.0**-50), 1.0)
