"""Set union in rounds: users weight the items that earlier rounds' noisy sums make out as near.

Every noisy sum is a multiple of a public step, and all that is decided by it, in whole numbers or by
a table over these, is the same wherever the item stands. Proof note:
`docs/proofs/adaptive-gaussian.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from shortlist import kernels
from shortlist.draws import Draws, Floats, Ints, Ladder
from shortlist.draws.noise import Normal
from shortlist.draws.reals import NormalCDF
from shortlist.evidence.contributions import Contributions
from shortlist.privacy import round_up
from shortlist.privacy.accountant.rounds import Limits, Plan, sd_of_round

__all__ = ["Found", "Rounds", "few_rungs", "fine"]

_BITS = 20  # weights are multiples of 2^-_BITS
_UNIT = 2.0**-_BITS
_DEAD = 2**54  # so far below 0, in units, that no sums of weights reach a threshold again
_FINE = 10  # binary places of a rung, of the noise's standard deviation
_BOOSTS = 2**11  # a boost is a multiple of one in so many
_CELLS = 2**14  # of a table of boosts, at most
_FAR = 4.1  # standard deviations from where on every boost is rounded to 0: e^(-_FAR²/2) < 2^-12


class Found(NamedTuple):
    """What the rounds found.

    Attributes:
        items: Positions, rising.
        first: The noisy weight of each in the first round.
    """

    items: Ints
    first: Floats


@dataclass(frozen=True)
class Rounds:
    """The rounds of one release: everything in it is public.

    Attributes:
        plan: How the rounds share what may be spent.
        sigma: The standard deviation of the mean of all rounds' noise.
        limits: The thresholds, and the largest weights.
        ladder: What noisy sums are rounded down to, in multiples of the unit of weights.
        boldness: How much an item is expected to gain by what users move, as a factor.
    """

    plan: Plan
    sigma: float
    limits: Limits
    ladder: Ladder
    boldness: float

    def found(self, held: Contributions, draws: Draws) -> Found:
        """The items found, of users' bounded sets.

        The noise of every round is remembered. In the last one nothing is asked but whether an item
        is found, so that it is a coin.
        """
        sums = held.added_up(kernels.weigh, self._even_weights(held.largest))
        items = np.flatnonzero(sums)  # nobody else has any
        so_far, first = np.zeros(len(items), np.int64), np.zeros(len(items), np.int64)
        found = np.zeros(len(items), np.bool_)
        floors, caps = self._floors(held.largest), self._caps(held.largest)
        for r, part in enumerate(self.plan.parts[:-1]):
            left = np.flatnonzero(~found)
            rungs = self._noisy(sums[items[left]], r, draws)
            if r == 0:
                first[:] = rungs
            so_far[left] += part * rungs
            found[left] = so_far[left] >= self._bar(r)
            boosts = np.full(held.n_items, -1, np.int16)
            left = left[~found[left]]
            boosts[items[left]] = self._boosts(r, so_far[left])
            sums = held.added_up(kernels.steer, boosts, floors, caps)
        left = np.flatnonzero(~found)
        found[left] = draws.coin(self._last(so_far[left], sums[items[left]]))
        return Found(items[found], first[found] * (self.ladder.step * _UNIT))

    def _noisy(self, sums: Ints, r: int, draws: Draws) -> Ints:
        """The sums of round r in noise, as rungs; what is below the ladder is out for good."""
        noise = Normal(sd_of_round(self.plan, self.sigma, r))
        rungs = draws.rounded_down(sums, noise, self.ladder, unit=_UNIT)
        return np.where(rungs < self.ladder.lowest, -_DEAD // self.ladder.step, rungs)

    def _last(self, so_far: Ints, sums: Ints) -> NormalCDF:
        """The chance that an item is found by the last round, which adds these sums in noise."""
        part = self.plan.parts[-1]
        sd = round_up(part * Fraction(sd_of_round(self.plan, self.sigma, -1)))
        bar = self._bar(len(self.plan.parts) - 1, 1)
        return NormalCDF(so_far * self.ladder.step + part * sums - bar, sd, _UNIT)

    def _bar(self, r: int, step: int | None = None) -> int:
        """What the noisy sums must add up to, part by part, to be found in round r: rounded up."""
        mean = Fraction(self.limits.thresholds[r])
        size = (step or self.ladder.step) * Fraction(_UNIT)
        return math.ceil(sum(self.plan.parts[: r + 1]) * mean / size)

    def _boosts(self, r: int, so_far: Ints) -> Ints:
        """How much weight an item is worth after round r, from 0 to `_BOOSTS`.

        A table over cells of the noisy sums so far says it, so that it depends on nothing else.
        """
        table, base, shift = self._table(r)
        cells = np.clip((so_far >> shift) - base, 0, len(table) - 1)
        boosts: Ints = table[cells]
        return boosts

    def _table(self, r: int) -> tuple[Ints, int, int]:
        """Boosts by cells of 2^shift rungs, from cell `base` on; 0 in the first and the last."""
        size = self.ladder.step * _UNIT / self.plan.whole
        least = self._least_hopeful(r)
        top = self.limits.thresholds[-1]
        shift = max(math.ceil(math.log2((top - least) / size / _CELLS)), 0) if top > least else 0
        base = math.floor(least / size / 2**shift) - 1
        n = max(math.ceil((top - least) / size / 2**shift), 0) + 3
        means = (base + np.arange(n)) * (2.0**shift * size)
        boosts = np.rint(_BOOSTS * self._worth(r, means)).astype(np.int16)
        boosts[0] = boosts[-1] = 0
        return boosts, base, shift

    def _least_hopeful(self, r: int) -> float:
        """The noisy sum so far, in parts of the whole, below which boosts are rounded to 0."""
        done, rest, spread = self._ahead(r)
        level = self.limits.thresholds[-1] / rest - _FAR * spread
        return level / (1 / rest + self.boldness / done)

    def _worth(self, r: int, sums: Floats) -> Floats:
        """Of an item with these noisy sums so far, in parts of the whole: near 1 if it just lacks.

        The mean so far is likely to go on, times the boldness. The more weight it takes beyond that
        to be found, the less likely it is; and the less is lacking, the less weight is needed.
        """
        done, rest, spread = self._ahead(r)
        needed = np.maximum(0.0, (self.limits.thresholds[-1] - sums) / rest)
        mean = sums / done
        excess = np.maximum(0.0, (needed - self.boldness * mean) / spread)
        lacking = np.minimum(1.0, needed / np.maximum(mean, np.finfo(float).tiny))
        worth: Floats = lacking * np.exp(-(excess**2) / 2)
        return worth

    def _ahead(self, r: int) -> tuple[float, float, float]:
        """The precision of the rounds up to r, of those to come; and how far guesses are off."""
        done = sum(self.plan.parts[: r + 1]) / self.plan.whole
        rest = 1 - done
        return done, rest, self.sigma * math.sqrt(self.boldness**2 / done + 1 / rest)

    def _even_weights(self, largest: int) -> Ints:
        """The weight of each item of a user in the first round, by the user's number of items."""
        squares = 2 ** (2 * _BITS) // np.maximum(np.arange(largest + 1), 1)
        return np.array([math.isqrt(square) for square in squares.tolist()], np.int64)

    def _floors(self, largest: int) -> Ints:
        """The least square of a weight, in multiples of 2^(-2 _BITS), rounded up."""
        numerator = self.plan.floor.numerator * 2 ** (2 * _BITS)
        sizes = np.maximum(np.arange(largest + 1), 1) * self.plan.floor.denominator
        floors: Ints = -(-numerator // sizes)
        return floors

    def _caps(self, largest: int) -> Ints:
        """The largest square of a weight, rounded down."""
        block = np.searchsorted(self.limits.first, np.arange(largest + 1), side="right") - 1
        caps = np.floor(self.limits.caps[np.maximum(block, 0)] * 2.0**_BITS).astype(np.int64)
        squares: Ints = caps**2
        return squares


def fine(sigma: float) -> Ladder:
    """Rungs so close together that rounding down costs nothing worth a word."""
    step = 2 ** max(math.frexp(sigma)[1] - 1 - _FINE + _BITS, 0)
    return Ladder(step, -_DEAD // step, _DEAD // step)


def few_rungs(reached: float) -> Ladder:
    """So few rungs that all that comes of them can be enumerated, up to a weight to be reached."""
    step = 2 ** max(math.frexp(reached / 2)[1] + _BITS, 0)
    return Ladder(step, 0, max(math.ceil(reached / (step * _UNIT)), 1) + 1)
