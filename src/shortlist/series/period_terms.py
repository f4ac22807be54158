"""What is fixed of a series of lists of single periods, and what follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from shortlist.algorithms.rounding_grids import BITS_OF_WEIGHTS
from shortlist.draws.normal_law import normal_chances
from shortlist.errors import InputError
from shortlist.privacy import bisect
from shortlist.series.terms import WHOLE, SeriesPromise

_LEAST = 2.0  # below it, more than one weight may be where chances are convex
_FARTHEST = 2.0**25  # beyond what is refused
_SPLITS = 2**13  # of how one weight and the others may share what a user has
_SHOWN_FROM = 3  # standard deviations of the noise, for an item that was named before
_OUTWARDS = 1 + 2.0**-40  # by far more than chances and roots are off by


@dataclass(frozen=True, kw_only=True)
class PeriodTerms(SeriesPromise):
    """Of lists of single periods: the threshold, and what users may give in each run.

    Guarantee, and arguments: as of `SeriesPromise`; in each run other items may count.

    >>> year = PeriodTerms(epsilon=1.0, delta=1e-5, periods=52, max_items_per_user=100)
    >>> round(year.sigma, 4), round(year.threshold, 3)
    (3.8442, 23.234)
    """

    at_once: ClassVar[Fraction] = Fraction(3, 10)

    @cached_property
    def threshold(self) -> float:
        """The least at which what one user alone brings in is hardly ever named, in any run."""

        def holds(level: float) -> bool:
            return self.chance_alone(level) <= self.lost

        if not holds(_FARTHEST):
            raise InputError(
                "takes more noise than whole numbers hold", given={"epsilon": self.epsilon}
            )
        return bisect(holds, bad=_LEAST, good=_FARTHEST) * _OUTWARDS

    def chance_alone(self, level: float) -> float:
        """The chance that any item of one user alone reaches a level from 2 on, rounded up.

        Of weights whose squares add up to 1 at most, the worst are equal but for one.
        """
        n = self.periods * self.max_items_per_user
        ends = np.linspace(0.0, 1.0, _SPLITS + 1)
        others = np.sqrt((1 - ends[:-1] ** 2) / max(n - 1, 1))
        one, each = (
            normal_chances((weights - level) / self.sigma) for weights in (ends[1:], others)
        )
        return float(np.max(one + (n - 1) * each)) * _OUTWARDS

    @property
    def thresholds(self) -> tuple[float, ...]:
        return (self.threshold,) * self.periods

    @property
    def bar(self) -> int:
        """The least sum at which an item is named, in units of weights, rounded up."""
        return math.ceil(2.0**BITS_OF_WEIGHTS * self.threshold * _OUTWARDS)

    @property
    def bar_when_named(self) -> int:
        """The least at which an item is shown that was named before: any would be private."""
        return math.ceil(2.0**BITS_OF_WEIGHTS * _SHOWN_FROM * self.sigma)

    def weight_alone(self, run: int) -> float:
        return math.sqrt(self.accrued(run) / 2 / WHOLE)
