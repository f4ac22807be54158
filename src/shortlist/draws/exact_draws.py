"""Exact draws from random bits: coin, choice, permute-and-flip, integer, order.

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
from shortlist.draws._uniform import Uniform, is_positive, settle
from shortlist.draws.noise import Noise, Radius
from shortlist.draws.noisy_values import NoisyValues, contenders
from shortlist.draws.reals import UNIT, Candidates, Floats, Ints, Reals, UrnChance

__all__ = ["Draws", "Ordered"]


class Ordered(NamedTuple):
    """What `Draws.order` returns.

    Attributes:
        positions: The items whose noisy value is large enough, best first.
        values: Their noisy values in natural units, rounded as asked, in the same order; none
            where they were not asked for.
    """

    positions: Ints
    values: Floats

    def by_position(self) -> Floats:
        """The values in the order of the items, where none was left out."""
        values = np.empty_like(self.values)
        values[self.positions] = self.values
        return values


@dataclass
class _Urn:
    """A share that is never drawn, as a coin whose next answer depends on its earlier ones."""

    weights: Candidates
    late: int = 0
    early: int = 0

    def is_late(self, draws: Draws) -> bool:
        answer = bool(draws.coin(UrnChance(self.weights, self.late, self.early))[0])
        self.late += answer
        self.early += not answer
        return answer


@dataclass(frozen=True)
class Draws:
    """The exact draws that mechanisms decide with.

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
        return int(self._choices(weights, 1)[0])

    def _choices(self, weights: Reals, n: int) -> Ints:
        """So many independent draws from the same weights, shape (n,)."""
        words = self.bits.words(n)
        values, errors = weights.approximate()
        sums = np.cumsum(values)
        total = float(sums[-1])
        points = words * 2.0**-64 * total
        error = (
            float(errors.sum()) * 2
            + (2.0**-63 + (len(values) + 8) * 2.0**-52) * total
            + self.margin
        )
        drawn: Ints = sums.searchsorted(points - error, side="right")
        unknown = drawn != sums.searchsorted(points + error, side="right")
        for i in unknown.nonzero()[0]:
            drawn[i] = self._slow_choice(Uniform(self.bits, int(words[i])), weights)
        return drawn

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

    def permute_and_flip(self, candidates: Candidates) -> int:
        """The class of the item that an exact permute-and-flip names.

        Permute-and-flip visits all items in random order and takes the first that is accepted, each
        with its class's chance. Give every item a uniform arrival time: accepted items of class i
        then arrive at the rate size · chance · (1 - y) / (1 - chance · y) per unit of
        z = -ln(1 - y), which is at most the class's weight. So arrivals are proposed at the rate
        of the weights, and a proposal at time y is kept with probability
        (1 - y) / (1 - chance · y). That is the chance that a coin of chance 1 - y, thrown again as
        long as both it fails and a coin of the class's chance succeeds, succeeds at last.

        y itself is never drawn. 1 - y is the product, over the proposals so far, of independent
        shares whose law is that of an urn's, and what an urn answers next has a chance that is
        known (`UrnChance`). On average there are fewer than two proposals.
        """
        urns: list[_Urn] = []
        while (i := candidates.pick(self)) != 0:  # class 0 has chance 1
            urns.append(_Urn(candidates))
            while any(urn.is_late(self) for urn in urns):
                if not self.coin(candidates.chance(i))[0]:
                    break
            else:
                break
        return i

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
        noises: Sequence[Noise],
        *,
        digits: int | None,
        unit: float = UNIT,
        radius: Radius | None = None,
        at_least: Ints | None = None,
        k: int | None = None,
    ) -> Ordered:
        """The exact order of score + noise, and the noisy values rounded.

        Args:
            scores: Integers in multiples of `unit`, below 2^62 in absolute value, shape (n,).
            noises: Independent noises; their sum is what is added to the scores.
            digits: Values are rounded to this many decimals (to tens, hundreds where negative);
                None if they are not wanted.
            unit: A power of 2: `UNIT` for weights, 1 for counts.
            radius: A random factor that all items' noise shares.
            at_least: Only items whose noisy value is at least this, in `unit`, shape (n,).
            k: Only the best k of these; None for all.
        """
        words = [self.bits.words(len(scores)) for _ in noises]
        kept: Ints | slice = slice(None)
        if at_least is None and k is not None and not self.margin:
            kept = contenders(scores, noises, words, k, unit)
        values = NoisyValues(
            scores[kept],
            noises,
            [its_words[kept] for its_words in words],
            self.bits,
            unit=unit,
            radius=radius,
            margin=self.margin,
        )
        items = np.arange(len(scores))[kept]
        positions = np.arange(len(items))
        if at_least is not None:
            positions = positions[values.reach(at_least)]
        positions = values.sorted(positions, k)
        rounded = np.empty(0) if digits is None else values.rounded(positions, digits)
        return Ordered(items[positions], rounded)
