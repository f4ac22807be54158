"""What is fixed of a series before its first run, and what follows from it. All of it is public."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from shortlist.algorithms.rounding_grids import BITS_OF_WEIGHTS, GridFor, fine_grid
from shortlist.draws import Floats, Ints, RoundingGrid
from shortlist.draws.normal_law import normal_quantiles
from shortlist.errors import InputError, is_whole
from shortlist.parameters import DeltaOfDomain, Epsilon, Whole, checked
from shortlist.privacy import Gaussian, round_down, round_up
from shortlist.privacy.accountant import Composition, GaussianStage, ThresholdDelta
from shortlist.privacy.accountant.gaussian_threshold import least_sigma
from shortlist.privacy.composed import Composed

WHOLE: int = 2 ** (2 * BITS_OF_WEIGHTS)
"""What a user may add in all runs together, as a sum of squares of whole-numbered weights."""

_MOST_PERIODS = 500  # the sums of as many runs, at the far end of the grid, do not wrap around
_FOR_NAMES = Fraction(2, 5)  # of delta: for items that one user alone brings in; the rest for noise
_KEPT = Fraction(1, 20)  # the boost of a named item, which goes on being ranked
_PER_SD = 64  # entries of the table of boosts
_FAR = 4  # standard deviations, from where on a boost is as good as the least
_LEAST_BOOST = 1 / 20
_MOST_TIMES = 6  # of what a user may add in the first runs: a product of it has 63 bits
_EXPECTED_GAIN = 5 / 4  # by which a mean is expected to grow as users move weight
_AHEAD = 2  # how much longer a window is expected to go on, over its length
_SAVED_BELOW = Fraction(1, 10)  # what all boosts of a user together are worth, to spend it all
_REACHABLE = 2.0**24  # so that sums of whole numbers do not wrap around
_OUTWARDS = 1 + 2.0**-40  # by far more than quantiles and roots are off by


def _require_periods(name: str, value: int) -> int:
    """Between one run and the most."""
    if not (is_whole(value) and 1 <= value <= _MOST_PERIODS):
        raise InputError(
            "must be a whole number from 1 to {most}", given={name: value}, most=_MOST_PERIODS
        )
    return int(value)


def _not_prolonged() -> InputError:
    return InputError(
        "a series of lists of single periods has one threshold, for the runs it was created with",
        "create another series",
    )


def _require_added(name: str, value: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(_require_periods(name, runs) for runs in value)


@dataclass(frozen=True, kw_only=True)
class SeriesPromise(ABC):
    """The promise of a series of either kind, and the noise that it takes.

    Guarantee: all lists of all runs together are (epsilon, delta)-DP when one user is added or
    removed with all rows of all runs. Proof note: `docs/proofs/series.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        periods: The number of runs, from 1 to 500.
        max_items_per_user: The most items of one user that count before they are named.
        grid: What noisy sums are rounded down to: any public grid is private.

    Class attributes:
        at_once: The part of what a user may add that is there before the first run; the rest
            accrues evenly.
    """

    epsilon: Epsilon
    delta: DeltaOfDomain
    periods: Annotated[int, _require_periods]
    max_items_per_user: Whole = 100
    grid: GridFor = fine_grid

    at_once: ClassVar[Fraction] = Fraction(0)

    def __post_init__(self) -> None:
        checked(self)
        if self.thresholds[-1] > _REACHABLE:
            raise InputError(
                "takes more noise than whole numbers hold", given={"epsilon": self.epsilon}
            )

    @cached_property
    def sigma(self) -> float:
        """The standard deviation of each run's noise, rounded up."""
        noise = round_down(Fraction(self.delta) * (1 - _FOR_NAMES))
        return least_sigma(epsilon=self.epsilon, delta=noise)

    @property
    def lost(self) -> float:
        """The chance that any item of one user alone is named in any run, at most."""
        return round_down(Fraction(self.delta) * _FOR_NAMES)

    @property
    def runs(self) -> int:
        """How many there may be, with those that were added."""
        return self.periods

    @property
    def promised(self) -> tuple[float, float]:
        """The epsilon and the delta of all these runs together."""
        return self.epsilon, self.delta

    @cached_property
    def cost(self) -> Composed:
        """Of all runs together: by the exact curve alone, and in zCDP beside other costs."""
        return self._cost(self.promised[0])

    def _cost(self, epsilon: float) -> Composed:
        root = math.sqrt(self.runs / self.periods)
        outwards = _OUTWARDS if self.runs > self.periods else 1  # the root of 1 is right
        noise = GaussianStage(round_up(Fraction(root * outwards) / Fraction(self.sigma)))
        by_rho = Gaussian(self.rho_of(self.runs), self.lost)
        stages = Composition((noise,), ThresholdDelta(self.lost))
        return Composed(stages, by_rho, epsilon=epsilon)

    def rho_of(self, runs: int) -> float:
        """What the noise of so many runs costs, where a user adds as much in each; rounded up."""
        return round_up(Fraction(runs, self.periods) / (2 * Fraction(self.sigma) ** 2))

    def price(self, runs: int) -> Gaussian:  # noqa: ARG002 - of either kind
        """What so many more runs cost beside those before."""
        raise _not_prolonged()

    def prolonged(self, added: tuple[int, ...]) -> SeriesPromise:  # noqa: ARG002 - of either kind
        """The terms with so many more runs, each time that it was prolonged."""
        raise _not_prolonged()

    @property
    @abstractmethod
    def thresholds(self) -> tuple[float, ...]:
        """For each run: what the weights of an item, with noise, must reach to be named."""

    def accrued(self, run: int) -> int:
        """What a user may have added by the end of a run, as a part of `WHOLE`, rounded down."""
        evenly = (1 - self.at_once) * Fraction(run, self.periods)
        return math.floor(WHOLE * (self.at_once + evenly))

    @abstractmethod
    def weight_alone(self, run: int) -> float:
        """What a user who comes for the first time, with one item alone, adds to it in a run."""

    @cached_property
    def rounding(self) -> RoundingGrid:
        """What noisy sums are rounded down to, in units of weights."""
        return self.grid(self.sigma, math.sqrt(self.periods) * self.thresholds[self.periods - 1])


@dataclass(frozen=True, kw_only=True)
class SeriesTerms(SeriesPromise):
    """Of a list so far: the thresholds, and how users move their weight.

    Guarantee, and arguments: as of `SeriesPromise`; items count in all runs together.

    Args:
        added: By how many runs it was prolonged, each time. Epsilon and delta are of the first
            ones alone: see `promised`.

    >>> year = SeriesTerms(epsilon=1.0, delta=1e-5, periods=52, max_items_per_user=100)
    >>> round(year.sigma, 4), round(year.thresholds[0], 4), round(year.thresholds[-1], 4)
    (3.8442, 24.4244, 25.2858)
    """

    added: Annotated[tuple[int, ...], _require_added] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        most = min(_MOST_PERIODS, _MOST_TIMES * self.periods)
        if self.added and self.runs > most:
            raise InputError(
                "a series of {n} runs can be prolonged to {most} in all",
                "create another series",
                n=self.periods,
                most=most,
            )

    @property
    def runs(self) -> int:
        return self.periods + sum(self.added)

    @property
    def lost_at_first(self) -> float:
        """The chance that any item of one user alone is named in the first runs, at most."""
        return super().lost

    @property
    def lost(self) -> float:
        more = (Fraction(self.price(runs).lost) for runs in self.added)
        return round_up(sum(more, Fraction(self.lost_at_first)))

    @property
    def promised(self) -> tuple[float, float]:
        if not self.added:
            return self.epsilon, self.delta
        delta = Fraction(self.delta) + Fraction(self.lost) - Fraction(self.lost_at_first)
        return self._cost(self.epsilon).epsilon(round_up(delta)), round_up(delta)

    def prolonged(self, added: tuple[int, ...]) -> SeriesTerms:
        return replace(self, added=added)

    def price(self, runs: int) -> Gaussian:
        lost = Fraction(self.lost_at_first) * _tests(runs) / self.tests
        return Gaussian(self.rho_of(runs), round_up(lost))

    @property
    def tests(self) -> int:
        """How often one item is held against a threshold in the first runs."""
        return _tests(self.periods)

    def windows(self, run: int) -> Sequence[int]:
        """How far back the tests of a run reach: never to before the series was prolonged.

        Whether it is prolonged may hang on the noise of runs before.
        """
        for runs in (self.periods, *self.added):
            if run <= runs:
                break
            run -= runs
        return windows(run)

    @cached_property
    def quantile(self) -> float:
        """What the noise of one test exceeds hardly ever: by all that is lost, over all tests."""
        chance = round_down(Fraction(self.lost_at_first) / (self.max_items_per_user * self.tests))
        return float(-normal_quantiles(np.array([chance]))[0]) * self.sigma * _OUTWARDS

    @cached_property
    def thresholds(self) -> tuple[float, ...]:
        """For each run: what a window's sum must reach, over the root of its length."""
        runs = range(1, self.runs + 1)
        return tuple((math.sqrt(t / self.periods) + self.quantile) * _OUTWARDS for t in runs)

    def bar(self, run: int, length: int) -> int:
        """The least sum of a window that ends with a run, in units of weights, rounded up."""
        level = math.sqrt(length) * self.thresholds[run - 1]
        return math.ceil(2.0**BITS_OF_WEIGHTS * level * _OUTWARDS)

    def steps(self, run: int, length: int) -> Ints:
        """Rising sums of a window that ends before the last run, at which the next boost begins.

        The mean of the window is likely to go on, times the expected gain. The more weight it takes
        beyond that to reach the bar of a longer window, the less likely it is.

        Returns:
            In units of weights, shape (n_boosts,).
        """
        rest = min(_AHEAD * length, self._planned_until(run + 1) - run)
        level = math.sqrt(length + rest) * self.thresholds[run + rest - 1]
        spread = self.sigma * math.sqrt(_EXPECTED_GAIN**2 / length + 1 / rest)
        needed = level / rest - spread * np.arange(_FAR * _PER_SD, -1, -1) / _PER_SD
        sums = needed / (1 / rest + _EXPECTED_GAIN / length)
        steps: Ints = np.ceil(2.0**BITS_OF_WEIGHTS * sums).astype(np.int64)
        return steps

    @cached_property
    def boosts(self) -> Ints:
        """Squares of boosts by how likely a window is to reach its bar, in 64ths of an sd.

        Multiples of 2^-20, shape (n_boosts,).
        """
        far = np.arange(_FAR * _PER_SD, -1, -1) / _PER_SD
        boost: Floats = np.exp(-(far**2) / 2) + _LEAST_BOOST
        squares: Ints = np.floor(2.0**BITS_OF_WEIGHTS * boost**2).astype(np.int64)
        return squares

    @property
    def boost_when_named(self) -> int:
        """The square of a named item's boost, in the same multiples."""
        return int(_KEPT**2 * 2**BITS_OF_WEIGHTS)

    def least_total(self, run: int) -> int:
        """What squares of boosts are shares of, at least: who has less saves for later runs."""
        saves = run < self._planned_until(run)
        return int(_SAVED_BELOW * 2**BITS_OF_WEIGHTS) if saves else 1

    def _planned_until(self, run: int) -> int:
        """The last run, as far as was known when this one was made."""
        last = self.periods
        for runs in self.added:
            last += runs if last < run else 0
        return last

    def weight_alone(self, run: int) -> float:
        return math.sqrt(self.windows(run)[-1] / self.periods)


def _tests(runs: int) -> int:
    return sum(len(windows(run)) for run in range(1, runs + 1))


def windows(run: int) -> Sequence[int]:
    """How many runs back the sums of a run reach: powers of 2, and all.

    >>> windows(6), windows(0)
    ([1, 2, 4, 6], [])
    """
    return sorted({*(2**i for i in range(run.bit_length())), run} - {0})
