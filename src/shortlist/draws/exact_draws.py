"""Exact draws from random bits: coin, choice, permute-and-flip, integer, order.

A draw is a uniform number whose bits are fetched as they are needed; a decision compares it with a
real number. The first 64 bits and a float with a proven error decide nearly always. Where they do
not, the real number is enclosed in a ball that is finer than the known bits; where that does not
decide either, more bits are fetched. So every outcome is that of exact arithmetic, whichever path
finds it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shortlist.draws._rounded_normals import are_quick, rounded_normals
from shortlist.draws.contract import (
    UNIT,
    Candidates,
    Draws,
    Ints,
    Noise,
    Order,
    Ordered,
    Reals,
    RoundingGrid,
    Stock,
    Words,
)
from shortlist.draws.noisy_values import NoisyValues, blocks, contenders
from shortlist.draws.random_bits import Bits, SystemBits
from shortlist.draws.reals import ExponentialWeights, UrnChance
from shortlist.draws.uniform import SharedDraw, Uniform, is_positive, settle
from shortlist.runtime.threads import parts, share


@dataclass(frozen=True)
class ExactDraws(Draws):
    """Draws with exactly the distributions of `Draws`.

    Attributes:
        bits: The source of random bits.
        margin: Added to every float error, for tests: infinity forces every decision down the slow
            path, with the same outcome. 0 outside tests.
    """

    bits: Bits = field(default_factory=SystemBits)
    margin: float = 0.0

    def coin(self, chances: Reals) -> NDArray[np.bool_]:
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
        """As `Draws.choice`; those of exponential weights, of which there are many, at once."""
        words, chosen = self.bits.words(1), np.empty(1, np.int64)
        if isinstance(weights, ExponentialWeights) and not self.margin and weights.begins:
            left = weights.multiplicities.astype(np.float64)
            if weights.quick_choices(words, left, chosen):
                return int(chosen[0])
        return int(self._chosen(words, weights)[0])

    def choices(self, weights: Reals, n: int) -> Ints:
        return self._chosen(self.bits.words(n), weights)

    def _chosen(self, words: Words, weights: Reals) -> Ints:
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

    def choices_in_turn(self, weights: Stock, k: int) -> Ints:
        """As `Draws.choices_in_turn`; those of exponential weights by one loop, where it can."""
        if not isinstance(weights, ExponentialWeights):
            return super().choices_in_turn(weights, k)
        left = weights.multiplicities.astype(np.float64)
        k = int(min(k, left.sum()))
        words, chosen, done = self.bits.words(k), np.empty(k, np.int64), 0
        while done < k:
            if not self.margin:
                done += weights.quick_choices(words[done:], left, chosen[done:])
            if done < k:
                # Only now from the best: what a loop leaves open, it leaves to the same numbers.
                best = int(np.flatnonzero(left)[0])
                rest = weights.from_best(left, best)
                i = int(self._chosen(words[done : done + 1], rest)[0])
                chosen[done] = best + rest.within_rest(i, self)
                left[chosen[done]] -= 1
                done += 1
        return chosen

    def permute_and_flip(self, candidates: Candidates) -> int:
        return first_accepted(candidates, self)

    def integer(self, bounds: NDArray[np.integer]) -> Ints:
        sizes = np.asarray(bounds).astype(np.uint64)
        result = self.bits.words(len(sizes)).copy()
        excess = -sizes % sizes  # 2^64 mod size: words at the top that would favour small results
        again = (result > ~excess).nonzero()[0]
        while len(again):
            result[again] = self.bits.words(len(again))
            again = again[result[again] > ~excess[again]]
        return (result % sizes).astype(np.int64)

    def order(self, asked: Order) -> Ordered:
        words = [self.bits.words(len(asked.scores)) for _ in asked.noises]
        kept: Ints | slice = slice(None)
        if asked.at_least is None and asked.k is not None and not self.margin:
            kept = contenders(asked.scores, asked.noises, words, asked.k, asked.unit)
        items = np.arange(len(asked.scores))[kept]
        shared = None if asked.shared is None else SharedDraw(asked.shared, self.bits, len(items))
        values = NoisyValues(
            asked.scores[kept],
            asked.noises,
            [its_words[kept] for its_words in words],
            self.bits,
            unit=asked.unit,
            radius=asked.radius,
            shared=shared,
            margin=self.margin,
        )
        positions = np.arange(len(items))
        if asked.at_least is not None:
            positions = positions[values.reach(asked.at_least)]
        positions = values.sorted(positions, asked.k)
        rounded = np.empty(0) if asked.digits is None else values.rounded(positions, asked.digits)
        return Ordered(items[positions], rounded)

    def rounded_down(
        self, scores: Ints, noise: Noise, grid: RoundingGrid, *, unit: float = UNIT
    ) -> Ints:
        if are_quick(noise, len(scores), grid.step * unit):
            by_balls = self.margin > 0
            return rounded_normals(scores, noise, grid, unit, self.bits, by_balls=by_balls)
        words, multiples = self.bits.words(len(scores)), np.empty(len(scores), np.int64)

        def of(places: slice | Ints) -> NoisyValues:
            return NoisyValues(
                scores[places], [noise], [words[places]], self.bits, unit=unit, margin=self.margin
            )

        def look(first: int, last: int, unclear: list[Ints]) -> None:
            for block in blocks(first, last):
                multiples[block], known = of(block).certain_multiples(grid.step)
                unclear.append(np.flatnonzero(~known) + block.start)

        looked = share(parts(len(scores)), look, lambda: [[]])
        rest = np.concatenate(
            [places for (unclear,) in looked for places in unclear] or [scores[:0]]
        )
        # In this thread: which bits each value gets must follow from the seed alone.
        multiples[rest] = of(rest).multiples(grid.step)
        return grid.clipped(multiples)


@dataclass
class _Urn:
    """A random share that is never drawn: a coin whose answers depend on its earlier ones."""

    weights: Candidates
    late: int = 0
    early: int = 0

    def is_late(self, draws: Draws) -> bool:
        answer = bool(draws.coin(UrnChance(self.weights, self.late, self.early))[0])
        self.late += answer
        self.early += not answer
        return answer


def first_accepted(candidates: Candidates, draws: Draws) -> int:
    """Draw an item by exact permute-and-flip, and return its class.

    Permute-and-flip visits all items in random order and takes the first that is accepted, each
    with its class's chance. Give every item a uniform arrival time: then accepted items of class i
    arrive at the rate size · chance · (1 - y) / (1 - chance · y) per unit of
    z = -ln(1 - y), which is at most the class's weight. So arrivals are proposed at the rate
    of the weights, and a proposal at time y is kept with probability
    (1 - y) / (1 - chance · y). To draw that, toss a coin of chance 1 - y, and keep the proposal
    when it succeeds; when it fails, toss a coin of the class's chance: if that succeeds, begin
    again, and if it fails, drop the proposal.

    y itself is never drawn. 1 - y is a product of independent shares, one for each proposal so
    far. Each share has the law of an urn's, so the chance of its next answer is known
    (`UrnChance`). On average there are fewer than two proposals.
    """
    urns: list[_Urn] = []
    while (i := candidates.pick(draws)) != 0:  # class 0 has chance 1
        urns.append(_Urn(candidates))
        while any(urn.is_late(draws) for urn in urns):
            if not draws.coin(candidates.chance(i))[0]:
                break
        else:
            break
    return i
