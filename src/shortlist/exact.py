"""Exact draws from random bits: coin, choice, integer, order.

A draw is a uniform number whose bits are fetched as they are needed; a decision compares it with a
real number. The first 64 bits and a float with a proven error decide nearly always. Where they do
not, the real is enclosed in a ball whose precision rises until it is finer than the known bits, and
only then more bits are fetched. So the outcome is that of exact arithmetic, no rounding decides
anything, and a draw that is forced down the slow path ends the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.bits import Bits, SystemBits
from shortlist.noise import NoisyValues, Normal
from shortlist.reals import Floats, Ints, Reals
from shortlist.uniform import Uniform, is_positive, settle

__all__ = ["Draws", "Ordered"]


class Ordered(NamedTuple):
    """What `Draws.order` returns.

    Attributes:
        positions: The items whose noisy value is large enough, best first.
        values: Their noisy values in natural units, rounded as asked, in the same order.
    """

    positions: Ints
    values: Floats


@dataclass(frozen=True)
class Draws:
    """The four exact draws that mechanisms decide with.

    Attributes:
        bits: Where the random bits come from.
        margin: Added to every float error. 0 outside tests; infinity forces every decision down
            the slow path, with the same outcome.
    """

    bits: Bits = field(default_factory=SystemBits)
    margin: float = 0.0

    def coin(self, chances: Reals) -> NDArray[np.bool_]:
        """Independent exact Bernoulli draws: True with probability `chances[i]`, shape (n,)."""
        words = self.bits.words(len(chances))
        values, errors = chances.approximate()
        uniform = words * 2.0**-64
        errors += self.margin + 2.0**-52 * values + 2.0**-63
        heads = uniform < values
        values -= uniform
        for i in np.flatnonzero(np.abs(values, out=values) <= errors + 2.0**-51 * uniform):
            heads[i] = self._slow_coin(Uniform(self.bits, int(words[i])), chances, int(i))
        return heads

    def _slow_coin(self, uniform: Uniform, chances: Reals, i: int) -> bool:
        return settle([uniform], lambda: is_positive(chances.ball(i) - uniform.ball()))

    def choice(self, weights: Reals) -> int:
        """An exact draw of i with probability weights[i] / sum of weights."""
        word = self.bits.words(1)
        values, errors = weights.approximate()
        sums = np.cumsum(values)
        point = float(word[0]) * 2.0**-64 * sums[-1]
        error = (
            float(errors.sum()) * 2
            + (2.0**-63 + (len(values) + 8) * 2.0**-52) * sums[-1]
            + self.margin
        )
        first, last = np.searchsorted(sums, [point - error, point + error], side="right")
        if first == last:
            return int(first)
        return self._slow_choice(Uniform(self.bits, int(word[0])), weights)

    @staticmethod
    def _slow_choice(uniform: Uniform, weights: Reals) -> int:
        def index() -> int | None:
            balls = [weights.ball(i) for i in range(len(weights))]
            target = uniform.ball() * sum(balls[1:], balls[0])
            below = balls[0] * 0
            for i, ball in enumerate(balls[:-1]):
                below += ball
                if not target >= below:  # certainly below, or not yet known
                    return i if target < below else None
            return len(balls) - 1

        return settle([uniform], index)

    def integer(self, bounds: NDArray[np.integer]) -> Ints:
        """Independent exact uniform integers, number i in 0 .. bounds[i] - 1, shape (n,).

        Bounds are from 1 to 2^63 - 1.
        """
        sizes = np.asarray(bounds).astype(np.uint64)
        result = self.bits.words(len(sizes)).copy()
        excess = -sizes % sizes  # 2^64 mod size: words at the top that would favour small results
        again = np.flatnonzero(result > ~excess)
        while len(again):
            result[again] = self.bits.words(len(again))
            again = again[result[again] > ~excess[again]]
        return (result % sizes).astype(np.int64)

    def order(
        self,
        scores: Ints,
        noises: Sequence[Normal],
        *,
        digits: int,
        at_least: Ints | None = None,
        k: int | None = None,
    ) -> Ordered:
        """The exact order of score + noise, and the noisy values rounded.

        Args:
            scores: Integers in units of `UNIT`, shape (n,).
            noises: Independent noises; their sum is what is added to the scores.
            digits: Values are rounded to this many decimals (to tens, hundreds where negative).
            at_least: Only items whose noisy value is at least this, units of `UNIT`, shape (n,).
            k: Only the best k of these; None for all.
        """
        values = NoisyValues(scores, noises, self.bits, self.margin)
        positions = np.arange(len(scores))
        if at_least is not None:
            positions = positions[values.reach(at_least)]
        positions = values.sorted(positions, k)
        return Ordered(positions, values.rounded(positions, digits))
