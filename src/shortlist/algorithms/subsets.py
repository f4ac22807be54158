"""Sets of k of more items by their slack: how far they fall short of the k largest counts.

Let c_1 >= … >= c_d be the counts. A set of k items has the loss L = (largest count outside of it) -
(least count inside), which is -g, with g = c_k - c_(k+1), where it is a true top k. Its slack is
L + g. With A(v) the number of items of count v or more and t = slack - g, the number of sets of at
most that slack is 1 + sum over i = 1..k of C(A(c_i - t) - i, k - i + 1): a set lacks some i of the
k largest first, and the rest of it is any of the items behind i, up to A(c_i - t). Numbers C(n, r)
with n < r are 0, so that there is the true set alone where t < 0.

Source: for the loss, Shekelyan & Loukides (2022); the counting is proved in
`docs/proofs/set-or-peel.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shortlist import kernels
from shortlist.algorithms.grouping import sample
from shortlist.algorithms.slack import ListsBySlack
from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.reals import TINY, ULP

if TYPE_CHECKING:
    from flint import arb

# Slacks are tallied if they are fewer than so many times the jumps, and sorted if not.
_DENSE = 4
LARGEST_COUNT = 2**62 - 1
"""Twice that is a slack, which must be below 2^63."""


@dataclass(frozen=True)
class Subsets(ListsBySlack):
    """The sets of k items, fewer than there are, in pieces of slacks.

    Counts are at most `LARGEST_COUNT`.
    """

    @cached_property
    def lead(self) -> int:
        """By how much the k-th largest count is above the next one."""
        values, behind = self.groups.values, self._behind
        return int(values[self._last] - values[behind])

    @cached_property
    def _last(self) -> int:
        """The group of the k-th largest count."""
        return int(np.searchsorted(self.groups.ends, self.k))

    @cached_property
    def _behind(self) -> int:
        """The first group with items behind the k largest."""
        return int(np.searchsorted(self.groups.ends, self.k, side="right"))

    @cached_property
    def largest(self) -> int:
        return self.lead + int(self.groups.values[0] - self.groups.values[-1])

    @cached_property
    def log_number(self) -> float:
        n = len(self.groups.counts)
        return _log_binomial(n, self.k)

    @cached_property
    def _numbers(self) -> tuple[Ints, Floats, Ints]:
        """The slacks at which N jumps, rising from 0, and by how much, as scaled numbers."""
        slacks, mantissas, exponents = self._jumps
        most = self.largest if self.most is None else min(self.most, self.largest)
        if most < _DENSE * len(slacks):
            found, places, n = None, slacks, most + 1
        else:
            found, places = np.unique(np.append(0, slacks), return_inverse=True)
            n, places = len(found), places[1:]
        sums, scales = np.zeros(n), np.zeros(n, np.int64)
        sums[0] = 1.0  # the true set
        kernels.add_numbers(places, mantissas, exponents, sums, scales)
        if found is None:
            (found,) = np.nonzero(sums)
            sums, scales = sums[found], scales[found]
        return found, sums, scales

    @property
    def _jumps(self) -> tuple[Ints, Floats, Ints]:
        values, ends = self.groups.values, self.groups.ends
        most = self.largest if self.most is None else min(self.most, self.largest)
        tops, first = values[: self._last + 1], self._behind
        near = np.full(len(tops), first)
        if most >= self.lead:  # no further from each top
            near = len(values) - np.searchsorted(values[::-1], tops - (most - self.lead))
            near = np.maximum(near, first)
        n = int((near - first).sum())
        slacks, mantissas, exponents = np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64)
        kernels.subset_jumps(values, ends, self.k, first, near, slacks, mantissas, exponents)
        return slacks + self.lead, mantissas, exponents

    @cached_property
    def starts(self) -> Ints:
        return self._numbers[0]

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        _, mantissas, exponents = self._numbers
        logs, shares = np.empty_like(mantissas), np.empty_like(mantissas)
        kernels.add_up_numbers(mantissas, exponents, logs, shares)
        return logs, shares

    @property
    def logs(self) -> Floats:
        return self._sums[0]

    @property
    def fresh(self) -> Floats:
        return self._sums[1]

    @property
    def error(self) -> float:
        """A bound of the relative error of N, which is a sum of positive terms.

        Each term is a product of at most k factors, and of a sum of as many products, with 7
        roundings for each of k places in all, of half an ulp each. The running sum is compensated.
        """
        return (4 * self.k + 48) * ULP

    def _reaching(self, slack: int) -> Ints:
        """A(c_i - t) for each of the k largest, shape (k,); 0 where t is below 0."""
        if slack < self.lead:
            return np.zeros(self.k, np.int64)
        rising, tops = self.groups.values[::-1], self.groups.values[: self._last + 1]
        n_groups = len(rising) - np.searchsorted(rising, tops - (slack - self.lead))
        return np.repeat(self.groups.ends[n_groups - 1], self._sizes)

    @cached_property
    def _sizes(self) -> Ints:
        """How many of the k largest are in each group."""
        ends = np.minimum(self.groups.ends[: self._last + 1], self.k)
        return np.diff(ends, prepend=0)

    def log_at_most(self, slack: int) -> tuple[float, float]:
        """By differences of logarithms of factorials, which are off by few ulp of the largest."""
        sizes = enumerate(self._reaching(slack).tolist(), 1)
        logs = [0.0, *(_log_binomial(n - i, self.k - i + 1) for i, n in sizes if n > self.k)]
        most = max(logs)
        log = most + math.log(math.fsum(math.exp(one - most) for one in logs))
        n = len(self.groups.counts)
        return log, 2.0**-46 * (math.lgamma(n + 1) + 2)

    def ball_of_at_most(self, slack: int) -> arb:
        return sum(
            (self.ball_of_rest(n, i) for i, n in enumerate(self._reaching(slack), 1)), _one()
        )

    def ball_of_exactly(self, slack: int) -> arb:
        if slack == 0:
            return self.ball_of_at_most(0)
        less, most = self._reaching(slack - 1).tolist(), self._reaching(slack).tolist()
        both = enumerate(zip(less, most, strict=True), 1)
        new = (self.ball_of_rest(n, i) - self.ball_of_rest(m, i) for i, (m, n) in both if n > m)
        return sum(new, 0 * _one())

    def ball_of_rest(self, n: int, i: int) -> arb:
        """C(n - i, k - i + 1): how many sets lack number i first and have no item behind n."""
        from flint import arb

        return arb.bin_uiui(int(n) - i, self.k - i + 1) if n > self.k else arb(0)

    def draw_at_most(self, slack: int, draws: Draws) -> Ints:
        """Positions of a uniform set among those of at most this slack.

        First, which of the k largest is the first that it lacks, if any; then the rest is any of
        what may come behind that.
        """
        reach = self._reaching(slack)
        lacks = draws.choice(_FirstMissing(self, reach, np.zeros(self.k, np.int64), true=True))
        if lacks == self.k:
            return self._positions(np.arange(self.k))
        behind = sample(int(reach[lacks]) - lacks - 1, self.k - lacks, draws)
        return self._with_behind(lacks, lacks + 1 + behind)

    def draw_exactly(self, slack: int, draws: Draws) -> Ints:
        """Positions of a uniform set among those of exactly this slack, at a jump of N.

        After the first that it lacks, how many of its items are among the last that may come
        behind, at least one; then which are, and which before.
        """
        if slack == 0:
            return self.draw_at_most(0, draws)
        reach, less = self._reaching(slack), self._reaching(slack - 1)
        lacks = draws.choice(_FirstMissing(self, reach, less))
        before = max(int(less[lacks]), lacks + 1)
        last, free = int(reach[lacks]) - before, before - lacks - 1
        among_last = 1 + draws.choice(_AmongLast(last, free, self.k - lacks))
        chosen = before + sample(last, among_last, draws)
        rest = lacks + 1 + sample(free, self.k - lacks - among_last, draws)
        return self._with_behind(lacks, np.append(chosen, rest))

    def _with_behind(self, lacks: int, behind: Ints) -> Ints:
        """Positions of the items before the one that is lacking, and of others, by their ranks."""
        return self._positions(np.append(np.arange(lacks), behind))

    def _positions(self, ranks: Ints) -> Ints:
        """In rising order: that of the draws, or by rank, would tell more than the set."""
        groups = np.searchsorted(self.groups.ends, ranks, side="right")
        starts = self.groups.ends[groups] - self.groups.sizes[groups]
        return np.sort(self.groups.positions(groups, ranks - starts))


@dataclass(frozen=True)
class _FirstMissing:
    """How many sets lack number i of the k largest first, for each; and that lack none of them.

    Attributes:
        subsets: All of them.
        reach: The items behind i, up to this number, make up the rest of a set, shape (k,),
        before: but not those up to this number alone, shape (k,).
        true: Whether the set that lacks none is counted, as the last.
    """

    subsets: Subsets
    reach: Ints
    before: Ints
    true: bool = False

    def __len__(self) -> int:
        return self.subsets.k + self.true

    def approximate(self) -> tuple[Floats, Floats]:
        """Up to a common factor."""
        k = self.subsets.k
        mantissas, exponents = np.zeros(len(self)), np.zeros(len(self), np.int64)
        kernels.new_subsets(self.reach, self.before, mantissas[:k], exponents[:k])
        if self.true:
            mantissas[k] = 1.0
        largest = exponents[mantissas > 0].max()
        scaled = kernels.SCALE * np.maximum(exponents - largest, -3)  # 2^-1800 is as good as 0
        values = np.ldexp(mantissas, scaled)
        return values, values * (self.subsets.error + 8 * ULP) + (mantissas > 0) * TINY

    def ball(self, i: int) -> arb:
        if i == self.subsets.k:
            return _one()
        reach, before = int(self.reach[i]), int(self.before[i])
        if reach <= before:
            return 0 * _one()
        return self.subsets.ball_of_rest(reach, i + 1) - self.subsets.ball_of_rest(before, i + 1)


@dataclass(frozen=True)
class _AmongLast:
    """C(last, h) C(free, size - h) for h = 1 .. size: how many of so many are among the last.

    Attributes:
        last: How many are last.
        free: How many are not.
        size: How many of all are taken.
    """

    last: int
    free: int
    size: int

    def __len__(self) -> int:
        return self.size

    @property
    def _possible(self) -> Ints:
        """Those h of which there are any."""
        return np.arange(max(1, self.size - self.free), min(self.size, self.last) + 1)

    def approximate(self) -> tuple[Floats, Floats]:
        """As running sums of logarithms of the ratios of neighbours; up to a common factor."""
        h = self._possible[1:].astype(np.float64)
        ratios = (self.last - h + 1) / h * ((self.size - h + 1) / (self.free - self.size + h))
        steps = np.log(ratios)
        logs = np.append(0.0, np.cumsum(steps))
        values, errors = np.zeros(self.size), np.zeros(self.size)
        places = self._possible - 1
        values[places] = np.exp(logs - logs.max())
        far = 8 + np.abs(steps).sum() + abs(logs.max())
        errors[places] = values[places] * (2 * (self.size + 8) * ULP * far) + TINY
        return values, errors

    def ball(self, i: int) -> arb:
        from flint import arb

        if i + 1 not in self._possible:
            return arb(0)
        return arb.bin_uiui(self.last, i + 1) * arb.bin_uiui(self.free, self.size - i - 1)


def _one() -> arb:
    from flint import arb

    return arb(1)


def _log_binomial(n: int, r: int) -> float:
    """Ln C(n, r), nearly."""
    return math.lgamma(n + 1) - math.lgamma(r + 1) - math.lgamma(n - r + 1)
