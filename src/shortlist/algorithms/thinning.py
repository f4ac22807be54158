"""Which of very many events of small chances happen, with no coin for most of them: exactly.

How many of n events of one chance happen is drawn first, for any n. Proof note:
`docs/proofs/thinning.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.grouping import sample
from shortlist.draws import Draws, Floats, Ints, Reals
from shortlist.draws.reals import TINY, ULP, Quotient
from shortlist.errors import InputError
from shortlist.evidence import ItemsBelowThreshold, WeighedItems

if TYPE_CHECKING:
    from flint import arb

_WORTH_THINNING = 4096  # numbers: of fewer, all coins are tossed
_NEGLIGIBLE = 45.0  # what weighs less than about exp(-45) has no number of its own


@dataclass(frozen=True)
class BinomialWeights:
    """The odds of each number of successes, those at the most likely number being 1.

    The numbers of a window around the most likely one come first, in their order. Then the total of
    those below it, and the total of those above it.

    Attributes:
        n: How many events, below 2^63.
        part: The chance of each is part / whole, above 0 and below 1.
        whole: See `part`.
        first: Given that there are at least so many successes,
        last: and at most so many; n if None.
    """

    n: int
    part: int
    whole: int
    first: int = 0
    last: int | None = None

    def __len__(self) -> int:
        return self._high - self._low + 3

    @cached_property
    def _last(self) -> int:
        return self.n if self.last is None else self.last

    @cached_property
    def _mode(self) -> int:
        return min(max((self.n + 1) * self.part // self.whole, self.first), self._last)

    @cached_property
    def _reach(self) -> int:
        """Bernstein's bound of what is further away from the mean is about exp(-45)."""
        variance = self.n * (self.part / self.whole) * (1 - self.part / self.whole)
        third = _NEGLIGIBLE / 3
        return math.ceil(third + math.sqrt(third**2 + 2 * _NEGLIGIBLE * variance)) + 2

    @property
    def _low(self) -> int:
        return max(self._mode - self._reach, self.first)

    @property
    def _high(self) -> int:
        return min(self._mode + self._reach, self._last)

    def approximate(self) -> tuple[Floats, Floats]:
        """Products of ratios of neighbours, starting at the mode.

        A ratio takes 5 roundings, and one more where it is multiplied. Away from the mode the
        ratios fall, so a total beyond the window is at most that of a geometric series.
        """
        odds = self.part / (self.whole - self.part)
        up = np.arange(self._mode, self._high + 1)  # the last step leads out of the window
        down = np.arange(self._mode, self._low - 1, -1)
        rising = (self.n - up) / (up + 1) * odds
        falling = down / ((self.n - down + 1) * odds)
        above, below = np.cumprod(rising[:-1]), np.cumprod(falling[:-1])
        values = np.concatenate([below[::-1], [1.0], above, [0.0, 0.0]])
        steps = np.abs(np.arange(self._low, self._high + 1) - self._mode)
        errors = np.zeros_like(values)
        errors[:-2] = values[:-2] * (4 * steps * ULP) + np.where(steps > 0, TINY, 0.0)
        errors[-2] = _series(values[0], falling[-1]) if self._low > self.first else 0.0
        errors[-1] = _series(values[-3], rising[-1]) if self._high < self._last else 0.0
        return values, errors

    def ball(self, i: int) -> arb:
        """The number, from exact integers; all are computed once for a precision."""
        from flint import ctx

        precision = ctx.prec  # read once: another thread's flint may change it
        if precision not in self._known:
            self._known[precision] = self._balls(precision)
        return self._known[precision][i]

    @cached_property
    def _known(self) -> dict[int, list[arb]]:
        """By precision."""
        return {}

    def _balls(self, precision: int) -> list[arb]:
        from flint import arb

        below, above = self._walk(down=True), self._walk(down=False)
        near_below = [next(below) for _ in range(self._mode - self._low)]
        near_above = [next(above) for _ in range(self._high - self._mode)]
        inside = [*near_below[::-1], arb(1), *near_above]
        return [*inside, _total(below, precision), _total(above, precision)]

    def _walk(self, *, down: bool) -> Iterator[arb]:
        """The numbers from next to the mode to the first, or to the last."""
        from flint import arb, fmpq

        weight, part, rest = arb(1), self.part, self.whole - self.part
        j, end, step = (self._mode, self.first, -1) if down else (self._mode, self._last, 1)
        while j != end:
            ratio = (
                fmpq(j * rest, (self.n - j + 1) * part)
                if down
                else fmpq((self.n - j) * part, (j + 1) * rest)
            )
            weight *= arb(ratio)
            j += step
            yield weight

    def draw(self, draws: Draws) -> int:
        """How many events happen."""
        i = draws.choice(self)
        if i < len(self) - 2:
            return self._low + i
        low, high = self._low - 1, self._high + 1
        first, last = (self.first, low) if i == len(self) - 2 else (high, self._last)
        return BinomialWeights(self.n, self.part, self.whole, first, last).draw(draws)


def _series(weight: float, ratio: float) -> float:
    """At least weight · (ratio + ratio² + …), for a ratio that is surely below 1."""
    return float(weight * ratio / (1 - ratio) * (1 + 2.0**-20)) + TINY


def _total(weights: Iterator[arb], precision: int) -> arb:
    """The sum of ever faster falling numbers, of which the negligible end is enclosed."""
    from flint import arb

    total, before = arb(0), None
    for weight in weights:
        total += weight
        if before is not None and weight < before * (1 - arb(2) ** -20):
            ratio = weight / before
            end = weight * ratio / (1 - ratio)
            if end < arb(2) ** -precision:
                return total + arb(0).union(end)
        before = weight
    return total


_SPARE = Fraction(1025, 1024)  # of the largest chance's float, whose error is far less


def succeeding(
    unshown: ItemsBelowThreshold, chances: Callable[[Ints], Reals], draws: Draws
) -> WeighedItems | None:
    """The unshown items that succeed, each independently; None if none was fetched.

    It is drawn how many would succeed if all had the largest chance, and which. Only these are
    fetched, and each is kept with its chance over the largest one.

    Args:
        unshown: The items.
        chances: Of items of these weights: the more weight, the larger.
        draws: The exact draws.

    Raises:
        InputError: Other items came than there were, fewer or heavier ones.
    """
    most = _at_least_all(chances, unshown.below)
    ranks = sample(unshown.n, _how_many(unshown.n, most, draws), draws)
    if not len(ranks):
        return None
    fetched = unshown.fetch(ranks)
    _require_as_counted(fetched.weights, len(ranks), unshown.below)
    return fetched.at(draws.coin(Quotient(chances(fetched.weights), most)))


def rare_coins(
    gaps: Ints, chances: Callable[[Ints], Reals], rare_below: int, draws: Draws
) -> NDArray[np.bool_]:
    """A coin for each number, of which those of small chances are thinned where they are many.

    Args:
        gaps: The numbers, shape (n,).
        chances: Of such numbers: the larger one is, the larger its chance.
        rare_below: Numbers below it have small chances; public.
        draws: The exact draws.
    """
    is_rare = gaps < rare_below
    rare = np.flatnonzero(is_rare)
    if len(rare) < _WORTH_THINNING:
        return draws.coin(chances(gaps))
    most = _at_least_all(chances, rare_below)
    some = rare[sample(len(rare), _how_many(len(rare), most, draws), draws)]
    heads = np.zeros(len(gaps), np.bool_)
    heads[~is_rare] = draws.coin(chances(gaps[~is_rare]))
    heads[some] = draws.coin(Quotient(chances(gaps[some]), most))
    return heads


def _require_as_counted(weights: Ints, n: int, below: int) -> None:
    """Refuse what is not what it was when the items were counted: the law would be another."""
    if len(weights) != n or not ((weights > 0) & (weights < below)).all():
        raise InputError(
            "the table changed while it was read", "do not change it while a question is answered"
        )


def _at_least_all(chances: Callable[[Ints], Reals], below: int) -> Fraction:
    """A number that no such item's chance exceeds: 1, or a little more than the largest can be."""
    values, errors = chances(np.array([below - 1])).approximate()
    return min((Fraction(values[0]) + Fraction(errors[0])) * _SPARE, Fraction(1))


def _how_many(n: int, chance: Fraction, draws: Draws) -> int:
    """How many of n independent events of this chance happen."""
    if n == 0 or chance == 1:
        return n
    return BinomialWeights(n, chance.numerator, chance.denominator).draw(draws)
