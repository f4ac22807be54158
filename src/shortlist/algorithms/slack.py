"""Lists of k items by their slack: how far they fall short of the best one.

How many lists have a slack of at most t jumps at a few slacks; in between it is constant, which
makes pieces of slacks. From these numbers alone lists are drawn with odds exp(-decay · slack), or
accepted with such chances: whether they are sequences (`sequences.py`) or sets (`subsets.py`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from shortlist.algorithms.grouping import EqualCounts
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.reals import TINY, ULP, Decay

if TYPE_CHECKING:
    from flint import arb

# What weighs less than exp(-45) of the whole is computed only if it is drawn.
NEGLIGIBLE = 45.0
# More pieces of slacks than these would take more than a gigabyte.
_MOST_PIECES = 2**23


@dataclass(frozen=True)
class ListsBySlack(ABC):
    """The lists of k items, in pieces of slacks: in each, as many lists of at most that slack.

    Attributes:
        groups: The items by count.
        k: The length of a list, from 1 to the number of items.
        most: Pieces are known up to this slack; None for all.
    """

    groups: EqualCounts
    k: int
    most: int | None = None

    def near(self, decay: float, start: int = 0) -> Self:
        """Up to the slack beyond which all N(t) exp(-decay t) are negligible beside N(start)."""
        log_ratio = self.log_all - self.log_at_most(start)[0]
        return replace(self, most=start + math.ceil((log_ratio + NEGLIGIBLE) / decay))

    def every(self) -> Self:
        """With all pieces."""
        return replace(self, most=None)

    @property
    def end(self) -> int:
        """The first slack beyond the pieces that are known, if not all are."""
        return int(self.most or 0) + 1

    @property
    def complete(self) -> bool:
        """Whether all pieces are known."""
        return self.most is None or self.most >= self.largest

    @property
    def lead(self) -> int:
        """By how much the best lists are better than where slack would be 0 by a tie."""
        return 0

    @property
    @abstractmethod
    def largest(self) -> int:
        """The largest slack that a list can have."""

    @property
    @abstractmethod
    def starts(self) -> Ints:
        """The smallest slack of each piece, rising from 0, shape (n_pieces,)."""

    @property
    @abstractmethod
    def logs(self) -> Floats:
        """Ln N in each piece, N the number of lists of at most that slack."""

    @property
    @abstractmethod
    def fresh(self) -> Floats:
        """The share of N that has no less than the piece's smallest slack; 1 in the first."""

    @property
    @abstractmethod
    def error(self) -> float:
        """Each of `logs` is off by at most that, times `log_all`; `fresh` by that of itself."""

    @property
    @abstractmethod
    def log_number(self) -> float:
        """Ln of the number of all lists, nearly: by k and the number of items alone."""

    def most_pieces(self, decay: float) -> float:
        """How many pieces matter at most, nearly, likewise and by the decay alone."""
        return min(self.k * len(self.groups.counts), (self.log_all + NEGLIGIBLE) / decay)

    def too_many(self, decay: float) -> bool:
        """Whether memory might not hold the pieces that matter: no count decides it."""
        return self.most_pieces(decay) > _MOST_PIECES

    @property
    def log_all(self) -> float:
        """The same or a little more, at least 1."""
        return self.log_number * (1 + 2.0**-30) + 1

    @abstractmethod
    def log_at_most(self, slack: int) -> tuple[float, float]:
        """Ln N of any slack, and a bound of its error."""

    @abstractmethod
    def ball_of_at_most(self, slack: int) -> arb:
        """N of any slack, from exact integers."""

    @abstractmethod
    def ball_of_exactly(self, slack: int) -> arb:
        """How many lists have this slack and no less, likewise."""

    @abstractmethod
    def draw_at_most(self, slack: int, draws: Draws) -> Ints:
        """Positions of a uniform list among those of at most this slack."""

    @abstractmethod
    def draw_exactly(self, slack: int, draws: Draws) -> Ints:
        """Positions of a uniform list among those of exactly this slack, at a jump of N."""


@dataclass(frozen=True)
class SlackWeights:
    """N(t) exp(-decay t), summed over the slacks t of each piece, up to a common factor.

    The factor is such that all of them, times exp(shift), sum to the normaliser of JOINT.

    Where pieces beyond some slack are not known, all of them together are the last number.

    Attributes:
        lists: The lists.
        decay: Above 0.
        least: Slacks below are left out.
        origin: The slack that weighs as much as lists; those below it weigh more.
    """

    lists: ListsBySlack
    decay: float
    least: int = 0
    origin: int = 0

    @classmethod
    def of(cls, lists: ListsBySlack, decay: float) -> SlackWeights:
        """With the pieces up to the slack beyond which everything is negligible."""
        return cls(lists.near(decay), decay)

    def __len__(self) -> int:
        return len(self.starts) + (not self.lists.complete)

    @cached_property
    def _first(self) -> int:
        return int(np.searchsorted(self.lists.starts, self.least, side="right")) - 1

    @cached_property
    def starts(self) -> Ints:
        """The smallest slack of each piece, shape (n_pieces,)."""
        return np.maximum(self.lists.starts[self._first :], self.least)

    @cached_property
    def _widths(self) -> Floats:
        """How many slacks each piece holds; the last may be infinite."""
        complete = self.lists.complete
        end = math.inf if complete else float(self.lists.end - int(self.starts[-1]))
        return np.append(np.diff(self.starts), end)

    @cached_property
    def _exponents(self) -> Floats:
        return np.multiply(self.decay, self.starts - self.origin, dtype=np.float64)

    @cached_property
    def _logs(self) -> Floats:
        return self.lists.logs[self._first :] - self._exponents

    @cached_property
    def shift(self) -> float:
        """The numbers are N (exp(-decay start) - exp(-decay end)) over exp(shift)."""
        return float(self._logs.max())

    def approximate(self) -> tuple[Floats, Floats]:
        """A piece is N (exp(-decay start) - exp(-decay end)): its logarithm is off by a few ulp."""
        values = np.exp(self._logs - self.shift) * -np.expm1(-self.decay * self._widths)
        roundings = 4 * (self.lists.log_all + np.abs(self._exponents)) + 16
        error = self.lists.error * self.lists.log_all
        errors = values * (error + roundings * ULP) + TINY
        shift = self.shift - self.decay * self.origin
        return _with_rest(values, errors, self.lists, self.decay, shift)

    def log_sum(self) -> tuple[float, float]:
        """The logarithm of the sum of all numbers, and a bound of its error."""
        values, errors = self.approximate()
        total = float(values.sum())
        error = 2 * float(errors.sum()) / total + (len(values) + 16) * ULP
        return math.log(total), error + abs(math.log(total)) * 4 * ULP

    def ball(self, i: int) -> arb:
        """The number, from exact integers and the exact float decay."""
        from flint import arb

        if i == len(self.starts):
            rest = self.beyond()
            return sum((rest.raw(j) for j in range(len(rest))), arb(0)) * (-arb(self.shift)).exp()
        return self.raw(i) * (-arb(self.shift)).exp()

    def raw(self, i: int) -> arb:
        """N (exp(-decay start) - exp(-decay end)) of piece i."""
        from flint import arb

        def decayed(slack: int) -> arb:
            return (-arb(self.decay) * (slack - self.origin)).exp()

        start = int(self.starts[i])
        share = decayed(start)
        if i + 1 < len(self.starts):
            share -= decayed(int(self.starts[i + 1]))
        elif not self.lists.complete:
            share -= decayed(self.lists.end)
        return self.lists.ball_of_at_most(start) * share

    def beyond(self) -> SlackWeights:
        """The pieces beyond those that are known."""
        return replace(self, lists=self.lists.every(), least=self.lists.end)


@dataclass(frozen=True)
class SlackClasses:
    """Classes of lists of equal slack, each accepted with chance exp(-decay · slack).

    Where pieces beyond some slack are not known, all classes there together are the last number.

    Attributes:
        lists: The lists.
        decay: Above 0.
    """

    lists: ListsBySlack
    decay: float

    @classmethod
    def of(cls, lists: ListsBySlack, decay: float) -> SlackClasses:
        """With the classes up to the slack beyond which everything is negligible."""
        return cls(lists.near(decay), decay)

    def __len__(self) -> int:
        return len(self.lists.starts) + (not self.lists.complete)

    @cached_property
    def _logs(self) -> Floats:
        """Ln (N exp(-decay slack)) at the start of each piece."""
        return self.lists.logs - self.decay * self.lists.starts

    @cached_property
    def shift(self) -> float:
        """The numbers are the weights over exp(shift)."""
        return float(self._logs.max())

    def approximate(self) -> tuple[Floats, Floats]:
        """N exp(-decay slack), times the share of N that is of this slack and no less."""
        values = np.exp(self._logs - self.shift) * self.lists.fresh
        roundings = 4 * (self.lists.log_all + self.decay * self.lists.starts) + 16
        error = self.lists.error * (self.lists.log_all + 1)
        errors = values * (error + roundings * ULP) + TINY
        return _with_rest(values, errors, self.lists, self.decay, self.shift)

    def ball(self, i: int) -> arb:
        """The weight, from exact integers and the exact float decay."""
        from flint import arb

        if i < len(self.lists.starts):
            return self._ball(int(self.lists.starts[i]))
        beyond = self.every().lists.starts[i:].tolist()
        return sum(map(self._ball, beyond), arb(0))

    def _ball(self, slack: int) -> arb:
        from flint import arb

        chance = (-arb(self.decay) * slack - arb(self.shift)).exp()
        return self.lists.ball_of_exactly(slack) * chance

    def every(self) -> SlackClasses:
        """With all classes, of which these are the first."""
        return SlackClasses(self.lists.every(), self.decay)

    def pick(self, draws: Draws) -> int:
        """A class, drawn by its weight; where it is among the rest, which of these."""
        i = draws.choice(self)
        known = len(self.lists.starts)
        if i < known:
            return i
        return known + draws.choice(_Beyond(self.every(), known))

    def slack(self, i: int) -> int:
        """The slack of class i, which may be among the rest."""
        known = i < len(self.lists.starts)
        return int((self if known else self.every()).lists.starts[i])

    def chance(self, i: int) -> Decay:
        """The chance of class i."""
        return Decay(np.array([self.slack(i)]), self.decay)


@dataclass(frozen=True)
class _Beyond:
    """The numbers of `classes` from number `first` on."""

    classes: SlackClasses
    first: int

    def __len__(self) -> int:
        return len(self.classes) - self.first

    def approximate(self) -> tuple[Floats, Floats]:
        values, errors = self.classes.approximate()
        return values[self.first :], errors[self.first :]

    def ball(self, i: int) -> arb:
        return self.classes.ball(self.first + i)


def _with_rest(
    values: Floats, errors: Floats, lists: ListsBySlack, decay: float, shift: float
) -> tuple[Floats, Floats]:
    """With one more number, where not all pieces are known: 0, give or take what is beyond."""
    if lists.complete:
        return values, errors
    rest = math.exp(min(lists.log_all - decay * lists.end - shift + 1, 700)) + TINY
    return np.append(values, 0.0), np.append(errors, rest)
