"""Vectors of real numbers: as floats with a proven error, and as balls of any precision.

`ExactDraws` decides by the floats where their error allows it, and else by the balls. So an error
costs time and never changes a decision. Tests check each error bound against the balls. The
library's normal distribution is taken to be within 2^-42 of its value, relatively, and its quantile
within 2^-48; the same tests check that over their whole range.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from shortlist import kernels
from shortlist.draws.contract import UNIT, Candidates, Draws, Floats, Ints, Reals, Words
from shortlist.draws.normal_law import normal_chances

if TYPE_CHECKING:
    from flint import arb

ULP = 2.0**-52
ROUNDING = 2.0**-50  # relative: a few float operations
_MOST = 2.0**32  # items that a table can hold
_MOST_LISTED = 2**16
TINY = 2.0**-1000  # a float that underflows stands for a number between 0 and this


@dataclass(frozen=True)
class NormalCDF:
    """Φ(gap / sd) for each gap: the chance that noise of that sd does not exceed it.

    Attributes:
        gaps: Integers in multiples of `unit`, shape (n,), below 2^62 in absolute value.
        sd: The standard deviation, in natural units.
        unit: A power of 2.
    """

    gaps: Ints
    sd: float
    unit: float = UNIT

    def __len__(self) -> int:
        return len(self.gaps)

    def approximate(self) -> tuple[Floats, Floats]:
        """The argument z is off by at most 4 ulp, and Φ by |z| (|z| + 1) times that, relatively.

        For z > -32 that and the library's error are below 2^-39; beyond, Φ itself is below 2^-700.
        """
        values = normal_chances(self.gaps / (self.sd / self.unit))
        errors = values * 2.0**-39
        errors += 2.0**-700
        return values, errors

    def ball(self, i: int) -> arb:
        from flint import arb

        z = arb(int(self.gaps[i])) * arb(self.unit) / arb(self.sd)
        return (-z / arb(2).sqrt()).erfc() / 2


@dataclass(frozen=True)
class Quotient:
    """A vector of numbers, divided by a rational number.

    Attributes:
        numbers: 0 or more.
        divisor: Above 2^-1000.
    """

    numbers: Reals
    divisor: Fraction

    def __len__(self) -> int:
        return len(self.numbers)

    def approximate(self) -> tuple[Floats, Floats]:
        """The divisor as a float, and each quotient, are off by half an ulp."""
        values, errors = self.numbers.approximate()
        divisor = float(self.divisor)
        values /= divisor
        errors *= (1 + 4 * ULP) / divisor
        errors += values * (2 * ULP) + TINY
        return values, errors

    def ball(self, i: int) -> arb:
        from flint import fmpq

        return self.numbers.ball(i) / fmpq(self.divisor.numerator, self.divisor.denominator)


@dataclass(frozen=True)
class LaplaceCDF:
    """The chance that Laplace noise of scale 1/epsilon is at most (gap + quantile of chance).

    So it is `chance` at gap 0, and grows with the gap.

    Attributes:
        gaps: Integers, 0 or more, shape (n,).
        epsilon: Above 0.
        chance: Between 0 and 1.
    """

    gaps: Ints
    epsilon: float
    chance: float

    def __len__(self) -> int:
        return len(self.gaps)

    def approximate(self) -> tuple[Floats, Floats]:
        """exp(-|w|) / 2 below the middle, 1 less that above, at w = epsilon · gap + ln(2 chance).

        w is off by an ulp of each of its terms, which only matters where w itself is near.
        """
        quantile = self._quantile
        steps = np.multiply(self.epsilon, self.gaps, dtype=np.float64)
        w = steps + quantile
        tails = np.exp(-np.abs(w)) / 2
        errors = (steps + 2 * abs(quantile) + 4.0) * tails * (4 * ULP) + TINY
        return np.where(w > 0, 1 - tails, tails), errors + np.where(w > 0, ULP, 0.0)

    @property
    def _quantile(self) -> float:
        if self.chance <= 0.5:
            return math.log(2 * self.chance)
        return -math.log(2 * (1 - self.chance))  # the difference is exact

    def ball(self, i: int) -> arb:
        """As in `approximate`; the union of both cases where w may be on either side of 0."""
        from flint import arb

        less = self.chance <= 0.5
        half = arb(self.chance) if less else 1 - arb(self.chance)
        quantile = (2 * half).log() if less else -(2 * half).log()
        w = arb(self.epsilon) * int(self.gaps[i]) + quantile
        tail = (-abs(w)).exp() / 2
        if w < 0:
            return tail
        return 1 - tail if w > 0 else tail.union(1 - tail)


@dataclass(frozen=True)
class Decay:
    """exp(-epsilon · gap) for each gap.

    Attributes:
        gaps: Integers, 0 or more, shape (n,).
        epsilon: Above 0.
    """

    gaps: Ints
    epsilon: float

    def __len__(self) -> int:
        return len(self.gaps)

    def approximate(self) -> tuple[Floats, Floats]:
        """The exponent x is off by at most |x| ulp: gaps are exact integers."""
        exponents = np.multiply(self.epsilon, self.gaps, dtype=np.float64)
        values = np.exp(-exponents)
        errors = (exponents + 4.0) * values * (2 * ULP) + TINY
        return values, errors

    def ball(self, i: int) -> arb:
        from flint import arb

        return (-arb(self.epsilon) * int(self.gaps[i])).exp()


class _Decays(NamedTuple):
    """Decays of all gaps that matter, and the errors of a choice by them: see `kernels.choose`."""

    of_gap: Floats
    relative: float
    rest: float


@lru_cache(maxsize=4)
def _decays(epsilon: float, at_most: float) -> _Decays | None:
    """None where there are so many that they are better not listed, or where one underflows."""
    far = _far(epsilon, at_most)
    if far >= _MOST_LISTED:
        return None
    values, errors = Decay(np.arange(far + 2), epsilon).approximate()
    if not values[-1]:
        return None
    # The last is of the first gap that is not listed, to which no weight beyond comes up.
    rest = float(values[-1] + errors[-1]) * at_most * (1 + 4 * ULP)
    return _Decays(values[:-1].copy(), float((errors / values).max()), rest)


@lru_cache(maxsize=4)
def _far(epsilon: float, at_most: float) -> int:
    """So many counts below the largest, all that lie further weigh less than e^-45 together."""
    return math.ceil((45 + math.log(at_most)) / epsilon)


@dataclass(frozen=True)
class ExponentialWeights:
    """m · exp(epsilon · (c - max c)) for each count c with multiplicity m: unnormalised odds.

    Counts that are too small to matter are added up in the last number; the numbers before it
    stand for one count each.

    Attributes:
        counts: Counts, falling, shape (n,).
        multiplicities: How many items have each count, or a public factor of its odds, 0 or more,
            shape (n,); not all 0.
        epsilon: The exponential mechanism's parameter.
        at_most: An upper bound of the sum of the multiplicities. If infinite, every count has a
            number of its own.
        ways: If the counts belong to ways to go on instead of items: the number of each way, shape
            (n,).
    """

    counts: Ints
    multiplicities: Ints | Floats
    epsilon: float
    at_most: float = _MOST
    ways: Ints | None = None
    shift: ClassVar[float] = 0.0

    @classmethod
    def of_ways(cls, scores: Ints, factors: Floats, epsilon: float) -> ExponentialWeights:
        """The odds of a few public ways to go on, none of which is too small to matter.

        Args:
            scores: The score of each way, shape (n,).
            factors: A public factor of each way's odds, shape (n,).
            epsilon: The exponential mechanism's parameter.
        """
        order = np.argsort(-scores, kind="stable")
        return cls(scores[order], factors[order], epsilon, math.inf, order)

    def __len__(self) -> int:
        return self.single + (self.single < len(self.counts))

    @cached_property
    def single(self) -> int:
        """How many counts have a number of their own; the total of the rest is below e^-45."""
        if self.at_most == math.inf:
            return len(self.counts)
        return len(self.counts) - int(np.searchsorted(self.counts[::-1], self._least))

    @property
    def begins(self) -> bool:
        """Whether any is left of the largest count."""
        return bool(self.multiplicities[0])

    @property
    def _least(self) -> int:
        """Of the counts that have a number of their own."""
        return max(int(self.counts[0]) - _far(self.epsilon, self.at_most), int(self.counts[-1]))

    def quick_choices(self, words: Words, left: Floats, chosen: Ints) -> int:
        """Write which numbers uniforms choose, one after another; how many there are.

        They end where the first 64 bits of a uniform are not enough, or where there is no quick
        way. Weights and running sums are off by what `approximate` says and by an ulp for each
        term, the uniform by 2^-64.

        Args:
            words: The first bits of each uniform, shape (n,).
            left: The multiplicities, of which each choice takes away 1.
            chosen: What is written to, shape (n,).
        """
        decays = None if self.at_most == math.inf else _decays(self.epsilon, self.at_most)
        counts = np.ascontiguousarray(self.counts, np.int64)
        if decays is None or not counts.flags.carray:
            return 0
        n = len(left)
        relative = 2 * decays.relative + (2 * n + 16) * ULP + 2.0**-63
        found: int = kernels.choose(
            counts,
            left,
            decays.of_gap,
            np.empty(n),
            *(words.copy(), relative, 2 * decays.rest, chosen),
        )
        return found

    def approximate(self) -> tuple[Floats, Floats]:
        """Those of `Decay` times the multiplicity; the sum of the rest is 0 up to its error."""
        multiplicities = self.multiplicities[: self.single]
        values, errors = self._decay.approximate()
        values, errors = values * multiplicities, errors * multiplicities * (1 + 4 * ULP)
        if self.single == len(self.counts):
            return values, errors
        gap = self.counts[:1] - self.counts[self.single]
        largest, error = Decay(gap, self.epsilon).approximate()
        rest = (largest + error) * (self.at_most * (1 + 4 * ULP))
        return np.append(values, 0.0), np.append(errors, rest)

    @property
    def _decay(self) -> Decay:
        return Decay(self.counts[0] - self.counts[: self.single], self.epsilon)

    def ball(self, i: int) -> arb:
        from flint import arb

        members = range(i, i + 1 if i < self.single else len(self.counts))
        decay = Decay(self.counts[0] - self.counts, self.epsilon)
        return sum((decay.ball(j) * float(self.multiplicities[j]) for j in members), arb(0))

    def pick(self, draws: Draws) -> int:
        """Draw a count by its weight; where it is in the rest, draw which one of these."""
        return self.within_rest(draws.choice(self), draws)

    def within_rest(self, i: int, draws: Draws) -> int:
        """The number that was chosen; where it is that of the rest, draw which one of these."""
        if self.at_most == math.inf or self.counts[i] >= self._least:
            return i
        i += int(np.flatnonzero(self.multiplicities[i:])[0])
        rest = replace(self, counts=self.counts[i:], multiplicities=self.multiplicities[i:])
        return i + rest.pick(draws)

    def in_turn(self, pick: Callable[[Self], int]) -> Iterator[int]:
        left, best = self.multiplicities.copy(), 0
        while best < len(left):
            if left[best] == 0:
                best += 1
                continue
            i = best + pick(self.from_best(left, best))
            left[i] -= 1
            yield i

    def from_best(self, left: Ints | Floats, best: int) -> Self:
        """The same counts from one on, of which others are left."""
        kind, counts = type(self), self.counts[best:]
        return kind(counts, left[best:], self.epsilon, self.at_most)

    def pick_way(self, draws: Draws) -> int:
        """Draw a way with probability proportional to its weight, and return its number."""
        place = self.pick(draws)
        return place if self.ways is None else int(self.ways[place])

    def chance(self, i: int) -> Decay:
        return Decay(self.counts[:1] - self.counts[i], self.epsilon)


@dataclass(frozen=True)
class UrnChance:
    """(1 + late) / (1 + late + early + total): the chance that an urn answers "late".

    The urn's share of "late" answers is y, where z = -ln(1 - y) is the time of the first arrival
    at a rate of `total`. Its earlier answers are known.

    Attributes:
        weights: The weights whose sum is the total.
        late: How often it answered "late" before.
        early: How often it answered "early" before.
    """

    weights: Candidates
    late: int
    early: int

    def __len__(self) -> int:
        return 1

    def approximate(self) -> tuple[Floats, Floats]:
        """A sum of n floats adds n ulp to its terms' errors; the chance is off by less."""
        values, errors = self.weights.approximate()
        scale, total = math.exp(-self.weights.shift), values.sum()
        late, rest = (1 + self.late) * scale, self.early * scale + total
        error = errors.sum() / total + (len(values) + self.weights.shift + 16) * ULP
        chance = np.array([late / (late + rest)])
        return chance, 2 * error * chance + TINY

    def ball(self, i: int) -> arb:  # noqa: ARG002 - there is one
        from flint import arb

        total = sum((self.weights.ball(j) for j in range(len(self.weights))), arb(0))
        total *= arb(self.weights.shift).exp()
        return (1 + self.late) / (1 + self.late + self.early + total)
