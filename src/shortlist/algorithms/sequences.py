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
from shortlist.algorithms.grouping import Shuffle
from shortlist.algorithms.slack import ListsBySlack
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.reals import TINY, ULP

if TYPE_CHECKING:
    from flint import arb

# Slacks are tallied if they are fewer than so many times the jumps, and sorted if not.
_DENSE = 4
# The relative error of a sum of at most as many logarithms as there are items is less.
_MARGIN = 1e-12


@dataclass(frozen=True)
class Sequences(ListsBySlack):
    """The sequences of k items, in pieces of slacks: in each, as many of at most that slack."""

    @cached_property
    def largest(self) -> int:
        """The largest slack that a sequence can have, if all its items are least."""
        return int(self.groups.values[0] - self.groups.values[-1])

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
        return np.append(0, self._jumps[0])

    @cached_property
    def log_jumps(self) -> Floats:
        """By how much ln N jumps at the start of each piece; at the first, ln N(0)."""
        return np.append(math.fsum(np.log(self.choices(0))), self._jumps[1])

    @cached_property
    def logs(self) -> Floats:
        sums = np.empty_like(self.log_jumps)
        kernels.add_up(self.log_jumps, sums)
        return sums

    @cached_property
    def fresh(self) -> Floats:
        new = -np.expm1(-self.log_jumps)
        new[0] = 1.0
        return new

    @property
    def error(self) -> float:
        """A bound of the relative error of each of `log_jumps` and `logs`.

        A jump is the sum, over at most k of the largest counts, of ln(1 + growth), where the growth
        takes 4 roundings for each of at most k places; nothing cancels. The running sum is
        compensated.
        """
        return (5 * self.k + 32) * ULP

    @cached_property
    def log_number(self) -> float:
        n = len(self.groups.counts)
        return math.lgamma(n + 1) - math.lgamma(n - self.k + 1)

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

    def log_at_most(self, slack: int) -> tuple[float, float]:
        log = math.fsum(np.log(self.choices(slack)))
        return log, _MARGIN * (1 + log)

    def ball_of_at_most(self, slack: int) -> arb:
        from flint import arb

        return arb(self.at_most(slack))

    def ball_of_exactly(self, slack: int) -> arb:
        from flint import arb

        return arb(self.at_most(slack) - (self.at_most(slack - 1) if slack else 0))

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
