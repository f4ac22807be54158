"""Scores with noise: which values are largest, which reach a bound, and what they round to.

Each value is known to lie in an interval. Where intervals cannot decide, balls do, with as many
bits as that takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, cmp_to_key, partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.draws.contract import Floats, Ints, Noise, SharedFactor, Words
from shortlist.draws.random_bits import Bits
from shortlist.draws.reals import ROUNDING
from shortlist.draws.uniform import (
    Partial,
    SharedDraw,
    Uniform,
    UniformProduct,
    is_positive,
    settle,
)

if TYPE_CHECKING:
    from flint import arb

T = TypeVar("T")

ANY = np.iinfo(np.int64).min  # a bound that every noisy value reaches

_WORTH_A_LOOK = 4096  # items: of fewer, all noise is computed at once
_BLOCK = 2**14
_EXACT = 2.0**53  # below, every integer is a float


class NoisyValues:
    """score · unit + noise for n items; only as many bits are drawn as decisions need.

    The noise is the sum of all noises, times the radius if there is one, plus the shared draw if
    there is one. Values are compared by the differences of their scores, which are exact integers,
    since scores may be far larger than the noise. The shared draw cancels in a difference, so it is
    drawn only where a value itself is needed.
    """

    def __init__(
        self,
        scores: Ints,
        noises: Sequence[Noise],
        words: Sequence[Words],
        bits: Bits,
        *,
        unit: float,
        radius: SharedFactor | None = None,
        shared: SharedDraw | None = None,
        margin: float = 0.0,
    ) -> None:
        """Take scores below 2^62 in absolute value, and 64 bits for each item of each noise."""
        self._scores, self._noises, self._words, self._bits = scores, noises, words, bits
        self._unit, self._radius, self._shared, self._margin = unit, radius, shared, margin
        self._uniforms: dict[int, list[Partial]] = {}
        self._stretching: list[Partial] = []
        self._low, self._high = noises[0].interval(words[0])
        for noise, its_words in zip(noises[1:], words[1:], strict=True):
            low, high = noise.interval(its_words)
            self._low, self._high = _outward(self._low + low, self._high + high)
        if radius is not None:
            self._stretch(radius, bits.words(radius.shape))

    def _stretch(self, radius: SharedFactor, words: Words) -> None:
        self._stretching = [UniformProduct(self._bits, words)]
        least, most = radius.interval(words)
        if most == np.inf:  # nothing times that
            self._low[:], self._high[:] = -np.inf, np.inf
            return
        low = np.minimum(self._low * least, self._low * most)
        high = np.maximum(self._high * least, self._high * most)
        self._low, self._high = _outward(low, high)

    def reach(self, bounds: Ints) -> NDArray[np.bool_]:
        """Whether each value is at least its bound, shape (n,); every value is at least `ANY`."""
        low, high = self._interval(self._scores - bounds, slice(None), self._whole)
        certain: NDArray[np.bool_] = (bounds == ANY) | (low >= 0)
        for i in np.flatnonzero(~certain & (high >= 0)).tolist():
            certain[i] = self._settle(i, int(self._scores[i]) - int(bounds[i]), is_positive)
        return certain

    def sorted(self, positions: Ints, k: int | None = None) -> Ints:
        """The best k of these positions (all, if None), best first."""
        scores = self._scores[positions]
        low, high = self._interval(scores - scores.max(initial=-(2**62)), positions)
        if k is not None and k < len(positions):
            kept = high >= np.partition(low, -k)[-k]
            positions, low, high = positions[kept], low[kept], high[kept]
        best_first = np.argsort(-low, kind="stable")
        positions, low, high = positions[best_first], low[best_first], high[best_first]
        # Where everything further down lies certainly below, the order so far is settled.
        ahead = np.maximum.accumulate(high[::-1])[::-1][1:]
        breaks = np.flatnonzero(ahead < low[:-1]) + 1
        starts, stops = np.append(0, breaks), np.append(breaks, len(positions))
        for cluster in np.flatnonzero(stops - starts > 1).tolist():
            start, stop = int(starts[cluster]), int(stops[cluster])
            if k is not None and start >= k:
                break
            positions[start:stop] = self._untangled(positions[start:stop], len(scores))
        return positions[:k]

    def _untangled(self, cluster: Ints, out_of: int) -> Ints:
        """The positions of a cluster whose intervals overlap, best first.

        Scores of a cluster differ little, so its own intervals are narrower, and may decide where
        those among all items did not. If the cluster is all items, only balls can decide.
        """
        if len(cluster) < out_of:
            return self.sorted(cluster)
        return np.array(sorted(cluster.tolist(), key=cmp_to_key(self._compare)), np.int64)

    def rounded(self, positions: Ints, digits: int) -> Floats:
        """The values in natural units, rounded half up to `digits` decimals."""
        whole, rest = self._parted(self._scores[positions], digits)
        low, high = self._interval(rest, positions, self._whole)
        low, high = _outward(low * 10.0**digits, high * 10.0**digits)
        cells = np.floor(low + 0.5)
        for j in np.flatnonzero(cells != np.floor(high + 0.5)).tolist():
            cells[j] = self._settle(int(positions[j]), int(rest[j]), partial(_cell, digits))
        exact = np.abs(cells) < _EXACT  # so that the sum of integers is not rounded twice
        total = (whole + np.where(exact, cells, 0).astype(np.int64)).astype(np.float64)
        total += np.where(exact, 0, cells)
        return total / 10.0**digits if digits >= 0 else total * 10.0**-digits

    def multiples(self, step: int) -> Ints:
        """How many steps fit into each value, rounded down."""
        multiples, known = self.certain_multiples(step)
        decide = partial(steps_in, step * self._unit)
        for i in np.flatnonzero(~known).tolist():
            whole, rest = divmod(int(self._scores[i]), step)
            multiples[i] = whole + self._settle(i, rest, decide)
        return multiples

    def certain_multiples(self, step: int) -> tuple[Ints, NDArray[np.bool_]]:
        """As `multiples`, by the first 64 bits alone, and whether these decide each value."""
        shift = step.bit_length() - 1  # a power of 2
        low, high = self._interval(self._scores & (step - 1), slice(None), self._whole)
        size = step * self._unit  # nothing is rounded
        with np.errstate(invalid="ignore"):  # where a noise may be without end
            cells = np.floor(low / size)
            known = cells == np.floor(high / size)
        return (self._scores >> shift) + np.where(known, cells, 0).astype(np.int64), known

    def _parted(self, scores: Ints, digits: int) -> tuple[Ints, Ints]:
        """Whole cells of the rounding grid, and the rest, to which the noise is then added.

        Only whole numbers that are rounded to whole numbers or coarser have whole cells.
        """
        if self._unit != 1 or digits > 0:
            return np.zeros_like(scores), scores
        return np.divmod(scores, 10**-digits)

    @cached_property
    def _whole(self) -> tuple[Floats, Floats]:
        """Ends of each noise with the shared draw, whose first bits are drawn here."""
        if self._shared is None:
            return self._low, self._high
        low, high = self._shared.interval()
        return _outward(self._low + low, self._high + high)

    def _interval(
        self, scores: Ints, positions: Ints | slice, noise: tuple[Floats, Floats] | None = None
    ) -> tuple[Floats, Floats]:
        """Ends of score · unit + noise at these positions, for given scores.

        The noise is each item's own, unless ends of another are given.
        """
        exact = scores * self._unit
        least, most = noise or (self._low, self._high)
        low, high = exact + least[positions], exact + most[positions]
        np.abs(exact, out=exact)
        exact *= ROUNDING
        exact += self._margin
        low, high = _outward(low, high)
        low -= exact
        high += exact
        return low, high

    def _compare(self, i: int, j: int) -> int:
        """-1 if value i is larger than value j, and else 1."""
        numbers = [*self._known(i), *self._known(j), *self._stretching]
        scores = int(self._scores[i]) - int(self._scores[j])

        def larger() -> bool | None:  # one radius stretches both noises, so their difference
            return is_positive(self._value(scores, self._noise(i) - self._noise(j)))

        return -1 if settle(numbers, larger) else 1

    def _settle(self, i: int, score: int, decide: Callable[[arb], T | None]) -> T:
        """Let `decide` decide on score · unit + noise i, for a given score."""
        shared = self._shared
        if shared is None:
            numbers = [*self._known(i), *self._stretching]
            return settle(numbers, lambda: decide(self._value(score, self._noise(i))))
        numbers = [*self._known(i), *self._stretching, shared.known(i)]
        return settle(numbers, lambda: decide(self._value(score, self._noise(i)) + shared.ball(i)))

    def _value(self, score: int, noise: arb) -> arb:
        """The score in natural units plus the noise, without the shared draw."""
        from flint import arb

        if self._radius is not None:
            noise = noise * self._radius.ball(self._stretching[0].ball())
        return arb(score) * arb(self._unit) + noise

    def _noise(self, i: int) -> arb:
        """The sum of the noises of item i, before the radius multiplies it."""
        from flint import arb

        terms = zip(self._noises, self._known(i), strict=True)
        return sum((noise.ball(i, uniform.ball()) for noise, uniform in terms), arb(0))

    def _known(self, i: int) -> list[Partial]:
        if i not in self._uniforms:
            self._uniforms[i] = [Uniform(self._bits, int(words[i])) for words in self._words]
        return self._uniforms[i]


def blocks(first: int, last: int) -> Iterator[slice]:
    """Slices of first .. last - 1, so short that their temporaries stay in the cache."""
    return (slice(start, min(start + _BLOCK, last)) for start in range(first, last, _BLOCK))


def contenders(
    scores: Ints, noises: Sequence[Noise], words: Sequence[Words], k: int, unit: float
) -> Ints | slice:
    """Positions that include those of the k largest values.

    The k-th largest value is at least that of a sample. An item whose quick upper bound lies below
    that is left out, so that the noise itself is computed for few items. Where that would not save
    time, all positions are returned.
    """
    n = len(scores)
    step = n // max(4 * k, math.isqrt(k * n))  # as many in the sample as about are left over
    step = (step - 1) | 1  # odd: no even pattern of the scores escapes it
    if n < _WORTH_A_LOOK or step < 3 or not _has_quick_bound(noises, words):
        return slice(None)
    top = scores.max()
    low, _ = noises[0].interval(words[0][::step])
    floors = (scores[::step] - top) * (unit * (1 + ROUNDING)) + low
    least = np.partition(floors, -k)[-k]
    least -= np.abs(least) * ROUNDING
    found = []
    for block in blocks(0, n):
        values = (scores[block] - top) * (unit * (1 - ROUNDING))  # at most 0
        values += noises[0].quick_upper_bound(words[0][block])
        found.append(np.flatnonzero(values >= least) + block.start)
    return np.concatenate(found)


def _has_quick_bound(noises: Sequence[Noise], words: Sequence[Words]) -> bool:
    return len(noises) == 1 and noises[0].quick_upper_bound(words[0][:1]) is not None


def _outward(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Both ends, moved outward by more than the rounding error of one operation."""
    return low - np.abs(low) * ROUNDING, high + np.abs(high) * ROUNDING


def _cell(digits: int, value: arb) -> float | None:
    """The multiple of 10^-digits that every number of the ball rounds to, or None."""
    from flint import arb

    cell = (value * arb(10) ** digits + arb(1) / 2).floor().unique_fmpz()
    return None if cell is None else float(cell)


def steps_in(size: float, value: arb) -> int | None:
    """The whole number of sizes that fit into every number of the ball, or None."""
    from flint import arb

    steps = (value / arb(size)).floor().unique_fmpz()
    return None if steps is None else int(steps)
