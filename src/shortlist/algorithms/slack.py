"""Sequences of k items by their slack: how far they fall short of the true top k.

A sequence of k different items has the slack max over its places r of (c_r - count of its item r),
where c_1 >= … >= c_k are the largest counts. With A(v) the number of items of count v or more,
N(t) = product over r of (A(c_r - t) - (r - 1)) sequences have a slack of at most t. N jumps where t
reaches the distance between one of the largest counts and a smaller one; in between it is constant,
which makes pieces of slacks.

Source: Gillenwater et al. (2022), Section 3, for the utility; the counting is proved in
`docs/proofs/joint.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shortlist import kernels
from shortlist.algorithms.grouping import EqualCounts, Shuffle
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.reals import TINY, ULP, Decay

if TYPE_CHECKING:
    from flint import arb

# Slacks are tallied if they are fewer than so many times the jumps, and sorted if not.
_DENSE = 4
# What weighs less than exp(-45) of the whole is computed only if it is drawn.
NEGLIGIBLE = 45.0


@dataclass(frozen=True)
class Sequences:
    """The sequences of k items, in pieces of slacks: in each, as many of at most that slack.

    Attributes:
        groups: The items by count.
        k: The length of a sequence, from 1 to the number of items.
        most: Pieces are known up to this slack; None for all.
    """

    groups: EqualCounts
    k: int
    most: int | None = None

    @classmethod
    def near(cls, groups: EqualCounts, k: int, decay: float) -> Sequences:
        """Up to the slack beyond which all N(t) exp(-decay t) are negligible beside N(0)."""
        at_zero = cls(groups, k, most=0)
        log_ratio = at_zero.log_all - float(at_zero.logs[0])
        return cls(groups, k, math.ceil((log_ratio + NEGLIGIBLE) / decay))

    def every(self) -> Sequences:
        """With all pieces."""
        return Sequences(self.groups, self.k)

    @property
    def end(self) -> int:
        """The first slack beyond the pieces that are known, if not all are."""
        return int(self.most or 0) + 1

    @cached_property
    def largest(self) -> int:
        """The largest slack that a sequence can have, if all its items are least."""
        return int(self.groups.values[0] - self.groups.values[-1])

    @property
    def complete(self) -> bool:
        """Whether all pieces are known."""
        return self.most is None or self.most >= self.largest

    @cached_property
    def _jumps(self) -> tuple[Ints, Floats]:
        """The slacks above 0 at which N jumps, rising, and by how much ln N does."""
        values, ends = self.groups.values, self.groups.ends
        most = self.largest if self.most is None else min(self.most, self.largest)
        tops = values[: int(np.searchsorted(ends, self.k)) + 1]
        near = len(values) - np.searchsorted(values[::-1], tops - most)  # no further from each top
        slacks = np.empty(int((near - 1 - np.arange(len(tops))).sum()), np.int64)
        jumps = np.empty(len(slacks))
        kernels.slack_jumps(values, ends, self.k, near, slacks, jumps)
        if most < _DENSE * len(slacks):
            sums: Floats = np.bincount(slacks, weights=jumps).astype(np.float64, copy=False)
            (slacks,) = np.nonzero(sums)
            return slacks, sums[slacks]
        order = np.argsort(slacks)
        slacks, firsts = np.unique(slacks[order], return_index=True)
        return slacks, np.add.reduceat(jumps[order], firsts) if len(slacks) else jumps

    @cached_property
    def starts(self) -> Ints:
        """The smallest slack of each piece, rising from 0, shape (n_pieces,)."""
        return np.append(0, self._jumps[0])

    @cached_property
    def log_jumps(self) -> Floats:
        """By how much ln N jumps at the start of each piece; at the first, ln N(0)."""
        return np.append(math.fsum(np.log(self.choices(0))), self._jumps[1])

    @cached_property
    def logs(self) -> Floats:
        """Ln N in each piece."""
        sums = np.empty_like(self.log_jumps)
        kernels.add_up(self.log_jumps, sums)
        return sums

    @property
    def error(self) -> float:
        """A bound of the relative error of each of `log_jumps` and `logs`.

        A jump is the sum, over at most k of the largest counts, of ln(1 + growth), where the growth
        takes 4 roundings for each of at most k places; nothing cancels. The running sum is
        compensated.
        """
        return (5 * self.k + 32) * ULP

    @cached_property
    def log_all(self) -> float:
        """Ln of the number of all sequences, or a little more."""
        n = len(self.groups.counts)
        return (math.lgamma(n + 1) - math.lgamma(n - self.k + 1)) * (1 + 2.0**-30) + 1

    def choices(self, slack: int) -> Ints:
        """How many items may stand at each place, the earlier places being taken, shape (k,).

        These are, by falling count, the first A(c_r - slack) items without r - 1 of them.
        """
        return self._reaching(slack) - np.arange(self.k)

    def _reaching(self, slack: int) -> Ints:
        """A(c_r - slack) for each place r, shape (k,)."""
        rising = self.groups.values[::-1]
        n_groups = len(rising) - np.searchsorted(rising, self._tops - slack)
        return self.groups.ends[n_groups - 1]

    @cached_property
    def _tops(self) -> Ints:
        """The k largest counts, falling."""
        return self.groups.values[np.searchsorted(self.groups.ends, np.arange(self.k), "right")]

    def at_most(self, slack: int) -> int:
        """N: how many sequences have at most this slack."""
        return math.prod(self.choices(slack).tolist())

    def draw_at_most(self, slack: int, draws: Draws) -> Ints:
        """Positions of a uniform sequence among those of at most this slack.

        What may stand at a place may also stand at every later one, so that the places are filled
        one after another, each uniformly from what is left.
        """
        return self._dealt(draws.integer(self.choices(slack)))

    def draw_exactly(self, slack: int, draws: Draws) -> Ints:
        """Positions of a uniform sequence among those of exactly this slack, at a jump of N.

        First the first place with this slack is drawn, by how many sequences it has; the places
        before have less, those after at most as much.
        """
        if slack == 0:
            return self.draw_at_most(0, draws)
        first = draws.choice(_FirstPlaces(self, slack))
        before, choices = self.choices(slack - 1), self.choices(slack)
        bounds = np.append(before[:first], choices[first:])
        bounds[first] -= before[first]
        drawn = draws.integer(bounds)
        drawn[first] += before[first]
        return self._dealt(drawn)

    def _dealt(self, choices: Ints) -> Ints:
        """The positions of items, each given by its number among those left, by falling count."""
        shuffle = Shuffle()
        ranks = np.array([shuffle.deal(r, r + c) for r, c in enumerate(choices.tolist())], np.int64)
        groups = np.searchsorted(self.groups.ends, ranks, side="right")
        starts = self.groups.ends[groups] - self.groups.sizes[groups]
        return self.groups.positions(groups, ranks - starts)


@dataclass(frozen=True)
class _FirstPlaces:
    """How many sequences have exactly this slack, and have it first at place r: for each r.

    Attributes:
        sequences: All of them.
        slack: Above 0.
    """

    sequences: Sequences
    slack: int

    def __len__(self) -> int:
        return self.sequences.k

    @cached_property
    def _factors(self) -> tuple[Ints, Ints]:
        """For each place, how many items make less than the slack, and how many at most it."""
        return self.sequences.choices(self.slack - 1), self.sequences.choices(self.slack)

    def approximate(self) -> tuple[Floats, Floats]:
        """Of products of k whole numbers, as sums of k + 1 logarithms; up to a common factor."""
        less, most = self._factors
        before = np.append(0, np.cumsum(np.log(less))[:-1])
        after = np.append(np.cumsum(np.log(most)[:0:-1])[::-1], 0)
        logs = before + after
        exactly = most - less
        shift = logs[exactly > 0].max()
        values = np.exp(np.minimum(logs - shift, 0)) * exactly
        error = 2 * (self.sequences.k + 8) * ULP * (self.sequences.log_all + 1)
        return values, values * error + exactly * TINY

    def ball(self, i: int) -> arb:
        from flint import arb

        less, most = (factors.tolist() for factors in self._factors)
        return arb(math.prod(less[:i]) * (most[i] - less[i]) * math.prod(most[i + 1 :]))


@dataclass(frozen=True)
class SlackWeights:
    """N(t) exp(-decay t), summed over the slacks t of each piece, up to a common factor.

    The factor is such that all of them, times exp(shift), sum to the normaliser of JOINT.

    Where pieces beyond some slack are not known, all of them together are the last number.

    Attributes:
        sequences: The sequences.
        decay: Above 0.
        least: Slacks below are left out.
    """

    sequences: Sequences
    decay: float
    least: int = 0

    @classmethod
    def of(cls, groups: EqualCounts, k: int, decay: float) -> SlackWeights:
        """With the pieces up to the slack beyond which everything is negligible."""
        return cls(Sequences.near(groups, k, decay), decay)

    def __len__(self) -> int:
        return len(self.starts) + (not self.sequences.complete)

    @cached_property
    def _first(self) -> int:
        return int(np.searchsorted(self.sequences.starts, self.least, side="right")) - 1

    @cached_property
    def starts(self) -> Ints:
        """The smallest slack of each piece, shape (n_pieces,)."""
        return np.maximum(self.sequences.starts[self._first :], self.least)

    @cached_property
    def _widths(self) -> Floats:
        """How many slacks each piece holds; the last may be infinite."""
        end = (
            math.inf
            if self.sequences.complete
            else float(self.sequences.end - int(self.starts[-1]))
        )
        return np.append(np.diff(self.starts), end)

    @cached_property
    def _logs(self) -> Floats:
        return self.sequences.logs[self._first :] - self.decay * self.starts

    @cached_property
    def shift(self) -> float:
        """The numbers are N (exp(-decay start) - exp(-decay end)) over exp(shift)."""
        return float(self._logs.max())

    def approximate(self) -> tuple[Floats, Floats]:
        """A piece is N (exp(-decay start) - exp(-decay end)): its logarithm is off by a few ulp."""
        values = np.exp(self._logs - self.shift) * -np.expm1(-self.decay * self._widths)
        roundings = 4 * (self.sequences.log_all + self.decay * self.starts) + 16
        error = self.sequences.error * self.sequences.log_all
        errors = values * (error + roundings * ULP) + TINY
        return _with_rest(values, errors, self.sequences, self.decay, self.shift)

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

        start = int(self.starts[i])
        share = (-arb(self.decay) * start).exp()
        if i + 1 < len(self.starts):
            share -= (-arb(self.decay) * int(self.starts[i + 1])).exp()
        elif not self.sequences.complete:
            share -= (-arb(self.decay) * self.sequences.end).exp()
        return arb(self.sequences.at_most(start)) * share

    def beyond(self) -> SlackWeights:
        """The pieces beyond those that are known."""
        return SlackWeights(self.sequences.every(), self.decay, least=self.sequences.end)


@dataclass(frozen=True)
class SlackClasses:
    """Classes of sequences of equal slack, each accepted with chance exp(-decay · slack).

    Where pieces beyond some slack are not known, all classes there together are the last number.

    Attributes:
        sequences: The sequences.
        decay: Above 0.
    """

    sequences: Sequences
    decay: float

    @classmethod
    def of(cls, groups: EqualCounts, k: int, decay: float) -> SlackClasses:
        """With the classes up to the slack beyond which everything is negligible."""
        return cls(Sequences.near(groups, k, decay), decay)

    def __len__(self) -> int:
        return len(self.sequences.starts) + (not self.sequences.complete)

    @cached_property
    def _logs(self) -> Floats:
        """Ln (N exp(-decay slack)) at the start of each piece."""
        return self.sequences.logs - self.decay * self.sequences.starts

    @cached_property
    def shift(self) -> float:
        """The numbers are the weights over exp(shift)."""
        return float(self._logs.max())

    def approximate(self) -> tuple[Floats, Floats]:
        """(N - N before) exp(-decay slack), where N before = N exp(-jump): nothing cancels."""
        new = -np.expm1(-self.sequences.log_jumps)
        new[0] = 1.0
        values = np.exp(self._logs - self.shift) * new
        roundings = 4 * (self.sequences.log_all + self.decay * self.sequences.starts) + 16
        error = self.sequences.error * (self.sequences.log_all + 1)
        errors = values * (error + roundings * ULP) + TINY
        return _with_rest(values, errors, self.sequences, self.decay, self.shift)

    def ball(self, i: int) -> arb:
        """The weight, from exact integers and the exact float decay."""
        from flint import arb

        if i < len(self.sequences.starts):
            return self._ball(int(self.sequences.starts[i]))
        beyond = self.every().sequences.starts[i:].tolist()
        return sum(map(self._ball, beyond), arb(0))

    def _ball(self, slack: int) -> arb:
        from flint import arb

        size = self.sequences.at_most(slack)
        if slack:
            size -= self.sequences.at_most(slack - 1)
        return arb(size) * (-arb(self.decay) * slack - arb(self.shift)).exp()

    def every(self) -> SlackClasses:
        """With all classes, of which these are the first."""
        return SlackClasses(self.sequences.every(), self.decay)

    def pick(self, draws: Draws) -> int:
        """A class, drawn by its weight; where it is among the rest, which of these."""
        i = draws.choice(self)
        known = len(self.sequences.starts)
        if i < known:
            return i
        return known + draws.choice(_Beyond(self.every(), known))

    def slack(self, i: int) -> int:
        """The slack of class i, which may be among the rest."""
        known = i < len(self.sequences.starts)
        return int((self if known else self.every()).sequences.starts[i])

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
    values: Floats, errors: Floats, sequences: Sequences, decay: float, shift: float
) -> tuple[Floats, Floats]:
    """With one more number, where not all pieces are known: 0, give or take what is beyond."""
    if sequences.complete:
        return values, errors
    rest = math.exp(min(sequences.log_all - decay * sequences.end - shift + 1, 700)) + TINY
    return np.append(values, 0.0), np.append(errors, rest)
