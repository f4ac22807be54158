"""Which light items the mean of two noisy weights names, of those that the first one did not.

The half-line of first noisy weights below their threshold is cut into strips. An item whose first
noisy weight is in a strip is named by the mean only if its second one reaches what the strip's
upper end leaves to it. That is a little likelier than to be named, and its chance is a sum of
products of normal ones. Proof note: `docs/proofs/thinning.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.thinning import succeeding
from shortlist.draws import UNIT, Draws, Floats, Ints
from shortlist.draws.noise import OPEN
from shortlist.draws.reals import TINY, ULP, NormalCDF
from shortlist.evidence import ItemsBelowThreshold, WeighedItems

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Ranged", "Strips"]

_STRIPS = 40
_IN_A_DEVIATION = 4  # strips in a standard deviation of the first noise
_MOST = 2**60  # what is compared with weights, so that the difference is below 2^62


class Ranged(NamedTuple):
    """Items, and what is known of both noises of each, in units of `UNIT`.

    Attributes:
        items: The items.
        low: The first noise is at least this, shape (n,); -`OPEN` if nothing is known,
        high: and below this; `OPEN` if nothing is known.
        second: The second noise is at least this; -`OPEN` if nothing is known.
    """

    items: WeighedItems
    low: Ints
    high: Ints
    second: Ints

    @classmethod
    def by_first(cls, items: WeighedItems, named: NDArray[np.bool_], threshold: int) -> Ranged:
        """What it tells of the first noise whether an item reaches the first threshold."""
        gaps = threshold - items.weights
        low, high = np.where(named, gaps, -OPEN), np.where(named, OPEN, gaps)
        return cls(items, low, high, np.full(len(gaps), -OPEN))

    @property
    def named(self) -> NDArray[np.bool_]:
        """Which of them reach the first threshold: the noise of others is below something."""
        reach: NDArray[np.bool_] = self.high == OPEN
        return reach

    def and_also(self, others: Ranged) -> Ranged:
        """These, and behind them the others."""
        ends = zip(self[1:], others[1:], strict=True)
        return Ranged(self.items.and_also(others.items), *map(np.concatenate, ends))


@dataclass(frozen=True)
class Strips:
    """The strips, and what each leaves to the second noisy weight.

    Attributes:
        first_sd: The standard deviation of the first noise.
        second_sd: That of the second.
        share: The first's weight in the mean.
        first_threshold: In units of `UNIT`.
        mean_threshold: Likewise.
    """

    first_sd: float
    second_sd: float
    share: float
    first_threshold: int
    mean_threshold: int

    @cached_property
    def highs(self) -> Ints:
        """The upper end of each strip, falling; the last strip has no lower one."""
        step = math.ceil(self.first_sd / UNIT / _IN_A_DEVIATION)
        return self.first_threshold - step * np.arange(_STRIPS + 1)

    @property
    def are_small(self) -> bool:
        """Whether all that is compared with weights is a number of 64 bits."""
        return max(map(abs, self._left_to_second)) < _MOST

    @property
    def _left_to_second(self) -> list[int]:
        """What the second noisy weight must be more than, for each strip; rounded down."""
        share = Fraction(self.share)
        highs = self.highs.tolist()
        return [math.floor((self.mean_threshold - share * x) / (1 - share)) for x in highs]

    @cached_property
    def least(self) -> Ints:
        """The same as an array."""
        return np.array(self._left_to_second, np.int64)

    def draw(
        self, light: ItemsBelowThreshold, named: WeighedItems | None, draws: Draws
    ) -> Ranged | None:
        """The items that are in a strip and reach what it leaves; None if none was seen.

        Args:
            light: All light items.
            named: Those whose first noisy weight is not below its threshold.
            draws: The exact draws.
        """
        items = succeeding(light, lambda weights: _AnyStrip(self, weights), draws)
        if items is None:
            return None
        if named is not None:  # the coins of others do not depend on theirs
            items = items.at(~np.isin(items.positions, named.positions))
        odds = [_EachStrip(self, weight) for weight in items.weights.tolist()]
        strip = np.array([draws.choice(its_odds) for its_odds in odds], np.int64)
        low = np.append(self.highs[1:], -OPEN)[strip]
        return Ranged(
            items,
            np.where(low == -OPEN, low, low - items.weights),
            self.highs[strip] - items.weights,
            self.least[strip] - items.weights,
        )

    def chances(self, weights: Ints) -> tuple[Floats, Floats]:
        """Of each strip with what it leaves, and bounds of their errors, shape (n, n_strips)."""
        shape = len(weights), len(self.highs)
        first = NormalCDF((self.highs - weights[:, None]).ravel(), self.first_sd)
        second = NormalCDF((weights[:, None] - self.least).ravel(), self.second_sd)
        below, its_error = (x.reshape(shape) for x in first.approximate())
        reached, error = (x.reshape(shape) for x in second.approximate())
        within = np.maximum(-np.diff(below, append=0.0), 0.0)
        its_error[:, :-1] += its_error[:, 1:]
        its_error += within * ULP
        values = within * reached
        return values, its_error * (reached + error) + within * error + values * (4 * ULP) + TINY

    def chance(self, weight: int, strip: int) -> arb:
        """The same, as a ball, of one item and strip."""
        ends = NormalCDF(self.highs[strip : strip + 2] - weight, self.first_sd)
        reached = NormalCDF(weight - self.least[strip : strip + 1], self.second_sd).ball(0)
        return (ends.ball(0) - (ends.ball(1) if len(ends) > 1 else 0)) * reached


@dataclass(frozen=True)
class _EachStrip:
    """The odds of an item to be in each strip and reach what it leaves."""

    strips: Strips
    weight: int

    def __len__(self) -> int:
        return len(self.strips.highs)

    def approximate(self) -> tuple[Floats, Floats]:
        """A row of `Strips.chances`."""
        values, errors = self.strips.chances(np.array([self.weight]))
        return values[0], errors[0]

    def ball(self, i: int) -> arb:
        """As there."""
        return self.strips.chance(self.weight, i)


@dataclass(frozen=True)
class _AnyStrip:
    """For each item, the chance of any strip, given that the first noisy weight is in one."""

    strips: Strips
    weights: Ints

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def _in_one(self) -> NormalCDF:
        strips = self.strips
        return NormalCDF(strips.first_threshold - self.weights, strips.first_sd)

    def approximate(self) -> tuple[Floats, Floats]:
        """A sum of n floats is off by n ulp beside their own errors, and so is the quotient."""
        values, errors = self.strips.chances(self.weights)
        whole, error = self._in_one.approximate()
        sums = values.sum(axis=1)
        relative = error / whole + (len(self.strips.highs) + 8) * ULP
        errors = (errors.sum(axis=1) + sums * relative) / whole
        return sums / whole, errors * (1 + 2.0**-20)

    def ball(self, i: int) -> arb:
        """The sum, from the strips' balls."""
        from flint import arb

        weight, strips = int(self.weights[i]), range(len(self.strips.highs))
        total = sum((self.strips.chance(weight, strip) for strip in strips), arb(0))
        return total / self._in_one.ball(i)
