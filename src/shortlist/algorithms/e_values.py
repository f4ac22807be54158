"""E-values of items that may go with a label, from noisy numbers alone, and which are named.

An e-value is a number of 0 or more whose mean is at most 1 where an item has nothing to do with the
label: whether it is large is evidence, whatever else depends on what. All here is a function of
numbers that were released, so that it costs no privacy; what is rounded is rounded against the
items (`docs/proofs/association.md`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from shortlist.draws import Floats
from shortlist.parameters import Side

BETA = 0.001
"""How often noisy sizes may be further off than is taken for granted."""

_MARGIN = 2.0**-40  # relative: far more than floats are off in sums of few terms
_LARGEST = 690.0  # of the logarithm of an e-value: e^690 is a double, and enough
_FEW_NAMED = 10  # as many picks as are named where e-values are tuned: a tenth of them
_FINE = 0.03  # of the noise's variance, from where a smaller one changes little
_DIGITS = 4
_MISSED = 0.05  # how often an interval may be wrong
_MISSED_BESIDE = 0.001  # of that, by each further number that it hangs on


class Sizes(NamedTuple):
    """How many cases and controls there are, as far as that is known.

    Attributes:
        cases: A whole number, 0 or more.
        controls: Likewise; one of the two is above 0.
        off: How many users each of them is off at most.
    """

    cases: float
    controls: float
    off: float

    @property
    def total(self) -> float:
        """Of both together."""
        return self.cases + self.controls

    @property
    def most(self) -> float:
        """How many users there are in all, at most."""
        return (self.total + 2 * self.off) * (1 + _MARGIN)

    @property
    def tilt(self) -> float:
        """How far the share of controls is off, at most: so much is a relation for each holder."""
        return self.off / self.total * (1 + _MARGIN)


def reach_of_sizes(sd: float) -> float:
    """How far two whole numbers in normal noise are off, but for `BETA` of all cases."""
    return quantile_above(BETA / 4) * (1 + _MARGIN) * sd + 0.5


def quantile_above(chance: float) -> float:
    """What a standard normal number exceeds by this chance."""
    return -NormalDist().inv_cdf(chance)


class NoisyNumbers(NamedTuple):
    """What is known of each item: noisy numbers, shape (n,) each.

    Attributes:
        scores: Holders among cases, each times the share of controls, without those among controls,
            each times the share of cases; with noise, and rounded down.
        holders: How many users hold it; with noise, and rounded up.
        score_step: How far scores were rounded at most.
        holder_step: How far numbers of holders were.
    """

    scores: Floats
    holders: Floats
    score_step: float
    holder_step: float


@dataclass(frozen=True)
class ETest:
    """How e-values follow from noisy numbers: by public numbers, and the sizes.

    Attributes:
        sizes: Of cases and controls.
        score_sd: The standard deviation of the noise in a score.
        holder_sd: Of that in a number of holders.
        bar: The level over how many items there are, times how many are expected to be named.
    """

    sizes: Sizes
    score_sd: float
    holder_sd: float
    bar: float

    @classmethod
    def of(
        cls,
        sizes: Sizes,
        *,
        score_sd: float,
        holder_sd: float,
        level: float,
        k: int,
        n_items: int,
    ) -> ETest:
        """Tuned for a tenth of k items of so many to be named at this level."""
        return cls(sizes, score_sd, holder_sd, level * max(1.0, k / _FEW_NAMED) / n_items)

    def log_e_values(self, measured: NoisyNumbers, side: Side) -> Floats:
        """The logarithms of the e-values of the items, rounded down, shape (n,)."""
        if side is not Side.BOTH:
            return self._one_sided(measured.scores, measured.holders)
        less = -measured.scores - measured.score_step  # rounded down, too
        ways = [self._one_sided(scores, measured.holders) for scores in (measured.scores, less)]
        return _log_mean(np.array(ways))

    def _one_sided(self, scores: Floats, holders: Floats) -> Floats:
        return _log_mean(np.array([self._tilted(scores, holders, v) for v in self._variances()]))

    def _variances(self) -> Iterator[float]:
        """Of what an item without relation has: of the most common items, and of rarer ones."""
        variance = self.sizes.most / 16
        yield variance
        while (variance := variance / 4) >= _FINE * self.score_sd**2:
            yield variance

    def _tilted(self, scores: Floats, holders: Floats, variance: float) -> Floats:
        """One e-value of each item, best where a score without relation varies by this much."""
        noise, most = self.score_sd**2 * (1 + _MARGIN), self.sizes.most
        rate = quantile_above(self.bar) / math.sqrt(variance + noise)
        # Holders without relation vary by at most a line, which touches the curve here.
        middle = most / 2 * (1 - math.sqrt(max(1 - 16 * variance / most, 0.0)))
        base, slope = (middle**2 / most + 1) / 4, (1 - 2 * middle / most) / 4
        price = (rate * self.sizes.tilt + rate**2 * max(slope, 0.0) / 2) * (1 + _MARGIN)
        spent = rate**2 * (noise + base) / 2 + (price * self.holder_sd) ** 2 / 2
        exponents: Floats = rate * scores - price * holders - spent
        return exponents - _MARGIN * (np.abs(rate * scores) + np.abs(price * holders) + spent)

    def differences(self, measured: NoisyNumbers) -> list[tuple[float, float, float]]:
        """Of each item, by how much its share among cases is larger than among controls.

        And the ends of an interval, in which it is in 95 of 100 cases: of these data, without the
        noise.
        """
        steps = measured.score_step, measured.holder_step
        each = zip(measured.scores.tolist(), measured.holders.tolist(), strict=True)
        return [self._difference(*numbers, *steps) for numbers in each]

    def _difference(
        self, score: float, holders: float, score_step: float, holder_step: float
    ) -> tuple[float, float, float]:
        sizes = self.sizes
        if min(sizes.cases, sizes.controls) <= sizes.off:
            return 0.0, -1.0, 1.0  # there may be none of one of the two
        # Where sizes are exact, the number of holders does not matter.
        beside = _MISSED_BESIDE * bool(sizes.off)
        far = quantile_above((_MISSED - 3 * beside) / 2) * self.score_sd
        far_holders = quantile_above(beside / 2) * self.holder_sd if beside else 0.0
        share = sizes.controls / sizes.total
        corners = [
            s * (1 / n_cases + 1 / n_controls) + h * ((1 - share) / n_cases - share / n_controls)
            for s in (score - far, score + score_step + far)
            for h in (holders - holder_step - far_holders, holders + far_holders)
            for n_cases in (sizes.cases - sizes.off, sizes.cases + sizes.off)
            for n_controls in (sizes.controls - sizes.off, sizes.controls + sizes.off)
        ]
        middle = (score + score_step / 2) * (1 / sizes.cases + 1 / sizes.controls)
        return _within(middle), _within(min(corners)), _within(max(corners))


def _within(difference: float) -> float:
    """Between -1 and 1, as a difference of shares is."""
    return round(min(max(difference, -1.0), 1.0), 6)


def _log_mean(logarithms: Floats) -> Floats:
    """Of the mean over the first axis, rounded down."""
    highest = logarithms.max(axis=0)
    means = np.exp(logarithms - highest).mean(axis=0)
    found: Floats = highest + np.log(means) - _MARGIN
    return found


def e_values(logarithms: Floats) -> list[float]:
    """Numbers of four digits, rounded down.

    >>> e_values(np.log(np.array([12345.0, 0.56789])))
    [12340.0, 0.5678]
    """
    floor = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
    return [
        float(floor.create_decimal_from_float(math.exp(min(one, _LARGEST)))) for one in logarithms
    ]


def levels(falling: list[float], *, n_items: int, added: float) -> list[float]:
    """The least false discovery rate at which each item would be named, rounded up.

    At a rate q those R are named of which the last has an e-value of at least n_items / (q R), for
    the largest such R.

    Args:
        falling: The e-values, the largest first.
        n_items: How many items were asked about.
        added: To the rate, for what the e-values take for granted.

    >>> levels([1000.0, 100.0, 1.0], n_items=10, added=0.0)
    [0.01001, 0.05001, 1.0]
    """
    ceiling = Context(prec=_DIGITS, rounding=ROUND_CEILING)
    found, least = [], 1.0
    for place in range(len(falling), 0, -1):
        e_value = falling[place - 1]
        if e_value > 0:
            least = min(least, n_items / (place * e_value) * (1 + _MARGIN) + added)
        found.append(float(ceiling.create_decimal_from_float(least)))
    return found[::-1]


class Associated(NamedTuple):
    """What is told of an item that was looked at.

    Attributes:
        direction: "more" if it is more common among cases, as far as noise allows; or "less".
        e_value: How strong the evidence is: 1 or less is none.
        level: The least false discovery rate at which it would be named.
        difference: By how much its share among cases is larger than among controls, in these data.
        low: The lower end of the interval of that.
        high: The upper end.
    """

    direction: str
    e_value: float
    level: float
    difference: float
    low: float
    high: float
