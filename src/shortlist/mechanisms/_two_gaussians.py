"""Two Gaussians on the same weights, the second only where it is wanted: which items they name.

Which items below the threshold the mean names, of those that the first did not: the half-line of
first noisy weights below their threshold is cut into strips. An item whose first noisy weight is in
a strip is named by the mean only if its second one reaches what the strip's upper end leaves to it.
That is a little likelier than to be named, and its chance is a sum of products of normal ones.
Proof note: `docs/proofs/thinning.md`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.thinning import succeeding
from shortlist.draws import UNIT, Draws, Floats, Ints, Noise, Order, Ordered
from shortlist.draws.noise import OPEN, Normal, NormalBetween
from shortlist.draws.noisy_values import ANY
from shortlist.draws.reals import TINY, ULP, NormalCDF
from shortlist.evidence import ItemsBelowThreshold, WeighedItems, WeightedHistogram
from shortlist.mechanisms.mechanism import score_digits
from shortlist.mechanisms.weighted_gaussian import (
    Discovered,
    discover,
    show_from,
    to_units,
    weight_added,
)
from shortlist.privacy import round_up
from shortlist.privacy.accountant import Threshold
from shortlist.privacy.calibration import (
    gaussian_sigma,
    threshold,
)

if TYPE_CHECKING:
    from flint import arb

# Shares are multiples of 1/_GRID, so that a share and its complement are exact.
_GRID = 2**20
_STRIPS = 40
_STRIPS_IN_A_DEVIATION = 4
# What is compared with weights is less, so that the difference is below 2^62.
_MOST_COMPARED = 2**60


@dataclass(frozen=True)
class TwoGaussians:
    """Noise on weights of which one user changes at most ℓ2 norm 1, and once more on the same.

    The mean of both noisy weights is as good as one Gaussian of both costs together. Items are
    named by the first, or by the mean, each with a threshold of its own; that an item which one
    user alone holds passes either has probability at most `delta`. Proof note:
    `docs/proofs/discover-then-rank.md`.

    Attributes:
        first_rho: The zCDP of the first.
        second_rho: The zCDP of the second.
        delta: Half of it pays for either threshold.
        max_items_per_user: How many weights one user changes at most.
    """

    first_rho: float
    second_rho: float
    delta: float
    max_items_per_user: int

    @cached_property
    def first_share(self) -> float:
        """The first's weight in the mean: about its share of the precision, on a grid."""
        share = self.first_rho / (self.first_rho + self.second_rho)
        return min(max(round(share * _GRID), 1), _GRID - 1) / _GRID

    @cached_property
    def first_sigma(self) -> float:
        """The standard deviation of the first noise."""
        return gaussian_sigma(self.first_rho)

    @cached_property
    def second_sigma(self) -> float:
        """The standard deviation of the second noise."""
        return gaussian_sigma(self.second_rho)

    @cached_property
    def mean_sigma(self) -> float:
        """The standard deviation of the noise in the mean, rounded up."""
        shares = Fraction(self.first_share), 1 - Fraction(self.first_share)
        sigmas = Fraction(self.first_sigma), Fraction(self.second_sigma)
        variance = sum((w * s) ** 2 for w, s in zip(shares, sigmas, strict=True))
        return round_up(Fraction(math.sqrt(variance)) * (1 + Fraction(1, 2**50)))

    @cached_property
    def first_threshold(self) -> float:
        """The least noisy weight to be named by the first."""
        return self._threshold(self.first_sigma)

    @cached_property
    def mean_threshold(self) -> float:
        """The least mean of noisy weights to be named."""
        return self._threshold(self.mean_sigma)

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        """Both, with their noise."""
        return (
            Threshold(self.first_sigma, self.first_threshold),
            Threshold(self.mean_sigma, self.mean_threshold),
        )

    def _threshold(self, sigma: float) -> float:
        return threshold(
            sigma=sigma, delta=self.delta / 2, max_items_per_user=self.max_items_per_user
        )

    def explain(self) -> list[str]:
        spread = weight_added(self.max_items_per_user)
        name = (
            f"First, noise of standard deviation {self.first_sigma:.3g} is added to the weights, "
            f"and the items whose noisy weight is at least {self.first_threshold:.4g} are named."
        )
        return [spread, name]

    @property
    def show_from(self) -> int | None:
        """The least weight with which an item is to be shown: either may well name that."""
        first, mean = (show_from(each.sigma, each.least) for each in self.thresholds)
        if first is None or mean is None or not self._strips.are_small:
            return None
        return min(first, mean)

    @cached_property
    def _strips(self) -> Strips:
        """What the second noise leaves to items below the first threshold."""
        return Strips(
            self.first_sigma,
            self.second_sigma,
            self.first_share,
            to_units(self.first_threshold),
            to_units(self.mean_threshold),
        )

    def discover(self, evidence: WeightedHistogram, draws: Draws) -> Discovered:
        """The items of positive weight that the first names, as coins."""
        return discover(evidence, self.first_sigma, self.first_threshold, draws)

    def first_scores(self, weights: Ints, draws: Draws) -> Floats:
        """The first noisy weight of each of these items, which it named."""
        noise = self.first_noise(weights, np.ones(len(weights), np.bool_))
        ranked = draws.order(Order(weights, [noise], digits=score_digits(self.first_sigma)))
        return ranked.by_position()

    def mean(self, discovered: Discovered, draws: Draws, k: int) -> tuple[Ints, Floats]:
        """The items that the first named or the mean does, at most k, and their means, best first.

        The items are positions in the evidence.
        """
        if (unshown := discovered.evidence.below_threshold) is not None:
            return self._mean_with_unshown(discovered, unshown, draws, k)
        at, named = discovered.shown, discovered.passed
        weights = discovered.evidence.weights[at]
        first = self.first_noise(weights, named, self.first_share)
        second = Normal(self.second_sigma, weight=1 - self.first_share)
        ranked = self._reaching(weights, [first, second], named, draws, k)
        return at[ranked.positions], ranked.values

    def _mean_with_unshown(
        self, discovered: Discovered, unshown: ItemsBelowThreshold, draws: Draws, k: int
    ) -> tuple[Ints, Floats]:
        """The same where items below the threshold are not shown: few of them take part."""
        known = _Ranges.by_first(*discovered.seen(), to_units(self.first_threshold))
        if (others := self._strips.draw(unshown, discovered.fetched, draws)) is not None:
            known = known.and_also(others)
        (at, weights, _), low, high, least = known
        first = NormalBetween(self.first_sigma, self.first_share, low, high)
        open_end = np.full(len(at), OPEN)
        second = NormalBetween(self.second_sigma, 1 - self.first_share, least, open_end)
        ranked = self._reaching(weights, [first, second], known.named, draws, k)
        return at[ranked.positions], ranked.values

    def _reaching(
        self,
        weights: Ints,
        noises: Sequence[Noise],
        named: NDArray[np.bool_],
        draws: Draws,
        k: int,
    ) -> Ordered:
        """Those that the first named, or whose mean reaches its threshold: the best k."""
        return draws.order(
            Order(
                weights,
                noises,
                at_least=np.where(named, ANY, to_units(self.mean_threshold)),
                k=k,
                digits=score_digits(self.mean_sigma),
            )
        )

    def first_noise(self, weights: Ints, named: NDArray[np.bool_], weight: float = 1.0) -> Normal:
        """The first noise, given which items it named."""
        bounds = to_units(self.first_threshold) - weights
        return Normal(self.first_sigma, weight, bounds=bounds, above=named)


class _Ranges(NamedTuple):
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
    def by_first(cls, items: WeighedItems, named: NDArray[np.bool_], threshold: int) -> _Ranges:
        """What it tells of the first noise whether an item reaches the first threshold."""
        gaps = threshold - items.weights
        low, high = np.where(named, gaps, -OPEN), np.where(named, OPEN, gaps)
        return cls(items, low, high, np.full(len(gaps), -OPEN))

    @property
    def named(self) -> NDArray[np.bool_]:
        """Which of them reach the first threshold: the noise of others is below something."""
        reach: NDArray[np.bool_] = self.high == OPEN
        return reach

    def and_also(self, others: _Ranges) -> _Ranges:
        """These, and behind them the others."""
        ends = zip(self[1:], others[1:], strict=True)
        return _Ranges(self.items.and_also(others.items), *map(np.concatenate, ends))


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
        step = math.ceil(self.first_sd / UNIT / _STRIPS_IN_A_DEVIATION)
        return self.first_threshold - step * np.arange(_STRIPS + 1)

    @property
    def are_small(self) -> bool:
        """Whether all that is compared with weights is a number of 64 bits."""
        return max(map(abs, self._left_to_second)) < _MOST_COMPARED

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
        self, unshown: ItemsBelowThreshold, named: WeighedItems | None, draws: Draws
    ) -> _Ranges | None:
        """The items that are in a strip and reach what it leaves; None if none was seen.

        Args:
            unshown: All items below the threshold from which on items are shown.
            named: Those whose first noisy weight is not below its threshold.
            draws: The exact draws.
        """
        items = succeeding(unshown, lambda weights: _AnyStrip(self, weights), draws)
        if items is None:
            return None
        if named is not None:  # the coins of others do not depend on theirs
            items = items.at(~np.isin(items.positions, named.positions))
        odds = [_EachStrip(self, weight) for weight in items.weights.tolist()]
        strip = np.array([draws.choice(its_odds) for its_odds in odds], np.int64)
        low = np.append(self.highs[1:], -OPEN)[strip]
        return _Ranges(
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
        values, errors = self.strips.chances(np.array([self.weight]))
        return values[0], errors[0]

    def ball(self, i: int) -> arb:
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
