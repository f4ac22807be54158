"""Set union in rounds: users weight the items that earlier rounds' noisy sums make out as near.

Every noisy sum is a multiple of a public step. All that is decided by it, in whole numbers or by a
table over these, is the same wherever the item stands. Proof note:
`docs/proofs/adaptive-gaussian.md`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.algorithms.rounding_grids import BITS_OF_WEIGHTS, FARTHEST, UNIT_OF_WEIGHTS
from shortlist.draws import Draws, Floats, Ints, RoundingGrid
from shortlist.draws.noise import Normal
from shortlist.draws.reals import NormalCDF
from shortlist.evidence import UserSets
from shortlist.evidence.user_sets import Steering
from shortlist.privacy import round_up
from shortlist.privacy.accountant.rounds import Limits, Schedule, sd_of_round
from shortlist.runtime.phases import phase

__all__ = ["BOOSTS", "Aim", "Found", "Heard", "Progress", "Rounds"]

BOOSTS = 2**11  # a boost is a multiple of one in so many
_CELLS = 2**14  # of a table of boosts, at most
_FAR = 4.1  # standard deviations from where on every boost is rounded to 0: e^(-_FAR²/2) < 2^-12


class Aim(Enum):
    """Which test users move their weight for."""

    LAST = "last"
    """That of the last round: to name as many items as possible."""

    NEXT = "next"
    """That of the next round: to name items early."""


@dataclass
class Progress:
    """What the rounds so far have heard: private, but for what is found.

    Attributes:
        held: Users' bounded sets.
        steering: The same users, as they weight their items after the first round.
        items: Positions of the items that anybody holds, shape (n,).
        sums: What users add in the round to come, of every item there could be.
        boosts: How much weight each of the items was worth in it, shape (n,).
        so_far: The noisy sums of all rounds, part by part, in steps, shape (n,).
        found: Whether each was found, shape (n,).
        rounds: How many rounds were heard.
    """

    held: UserSets
    steering: Steering
    items: Ints
    sums: Ints
    boosts: NDArray[np.int16]
    so_far: Ints
    found: NDArray[np.bool_]
    rounds: int = 0


class Heard(NamedTuple):
    """What one round told.

    Attributes:
        left: The places in `Progress.items` of those that were not found before, shape (m,).
        multiples: The noisy sum of each, in steps, shape (m,).
    """

    left: Ints
    multiples: Ints


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
        grid: What noisy sums are rounded down to, in multiples of the unit of weights.
        boldness: How much an item is expected to gain by what users move, as a factor.
        aim: Which test users move their weight for.
    """

    plan: Schedule
    sigma: float
    limits: Limits
    grid: RoundingGrid
    boldness: float
    aim: Aim = Aim.LAST

    @property
    def step(self) -> float:
        """Between two noisy sums."""
        return self.grid.step * UNIT_OF_WEIGHTS

    def found(self, held: UserSets, draws: Draws) -> Found:
        """The items that all rounds find, of users' bounded sets.

        In the last round nothing is asked but whether an item is found, so that it is a coin.
        """
        progress = self.begin(held)
        first = self.hear(progress, draws).multiples
        for _ in range(len(self.plan.parts) - 2):
            self.steer(progress)
            self.hear(progress, draws)
        self.steer(progress)
        self._toss(progress, draws)
        weights = first[progress.found].astype(np.float64) * self.step
        return Found(progress.items[progress.found], weights)

    def begin(self, held: UserSets) -> Progress:
        """Each user spreads weight evenly."""
        sums = held.added_by_size(self._even_weights(held.largest))
        items = np.flatnonzero(sums)  # nobody else has any
        boosts, so_far = np.full(len(items), BOOSTS, np.int16), np.zeros(len(items), np.int64)
        found = np.zeros(len(items), np.bool_)
        return Progress(held, held.steering(), items, sums, boosts, so_far, found)

    def hear(self, progress: Progress, draws: Draws) -> Heard:
        """Add noise to what users add; find what reaches the bar by all that was heard."""
        r, left = progress.rounds, np.flatnonzero(~progress.found)
        multiples = self._noisy(progress.sums[progress.items[left]], r, draws)
        progress.so_far[left] += self.plan.parts[r] * multiples
        progress.found[left] = progress.so_far[left] >= self._bar(r)
        progress.rounds += 1
        return Heard(left, multiples)

    def steer(self, progress: Progress) -> None:
        """Let users weight the items anew, by what was heard of each."""
        held, left = progress.held, np.flatnonzero(~progress.found)
        progress.boosts[left] = self._boosts(progress.rounds - 1, progress.so_far[left])
        boosts = np.full(held.n_items, -1, np.int16)
        boosts[progress.items[left]] = progress.boosts[left]
        limits = self._floors(held.largest), self._caps(held.largest)
        rounds = len(self.plan.parts)
        with phase("round {n} of {rounds}", n=progress.rounds + 1, rounds=rounds):
            progress.sums = progress.steering.sums(boosts, *limits)

    def _toss(self, progress: Progress, draws: Draws) -> None:
        """Find what the last round would find, without its noise."""
        left = np.flatnonzero(~progress.found)
        sums = progress.sums[progress.items[left]]
        progress.found[left] = draws.coin(self._last(progress.so_far[left], sums))

    def _noisy(self, sums: Ints, r: int, draws: Draws) -> Ints:
        """The sums of round r in noise, in steps; what is below the grid is out for good."""
        noise = Normal(sd_of_round(self.plan, self.sigma, r))
        multiples = draws.rounded_down(sums, noise, self.grid, unit=UNIT_OF_WEIGHTS)
        return np.where(multiples < self.grid.lowest, -FARTHEST // self.grid.step, multiples)

    def _last(self, so_far: Ints, sums: Ints) -> NormalCDF:
        """The chance that an item is found by the last round, which adds these sums in noise."""
        part = self.plan.parts[-1]
        sd = round_up(part * Fraction(sd_of_round(self.plan, self.sigma, -1)))
        bar = self._bar(len(self.plan.parts) - 1, 1)
        return NormalCDF(so_far * self.grid.step + part * sums - bar, sd, UNIT_OF_WEIGHTS)

    def _bar(self, r: int, step: int | None = None) -> int:
        """What the noisy sums must add up to, part by part, to be found in round r: rounded up."""
        mean = Fraction(self.limits.thresholds[r])
        size = (step or self.grid.step) * Fraction(UNIT_OF_WEIGHTS)
        return math.ceil(sum(self.plan.parts[: r + 1]) * mean / size)

    def _boosts(self, r: int, so_far: Ints) -> NDArray[np.int16]:
        """How much weight an item is worth after round r, from 0 to `BOOSTS`.

        A table over cells of the noisy sums so far says it, so that it depends on nothing else.
        """
        table, base, shift = self._table(r)
        cells = np.clip((so_far >> shift) - base, 0, len(table) - 1)
        boosts: NDArray[np.int16] = table[cells]
        return boosts

    def _table(self, r: int) -> tuple[NDArray[np.int16], int, int]:
        """Boosts by cells of 2^shift steps, from cell `base` on; 0 in the first and the last."""
        size = self.grid.step * UNIT_OF_WEIGHTS / self.plan.whole
        least = self._least_hopeful(r)
        top = self._ahead(r).bar
        shift = max(math.ceil(math.log2((top - least) / size / _CELLS)), 0) if top > least else 0
        base = math.floor(least / size / 2**shift) - 1
        n = max(math.ceil((top - least) / size / 2**shift), 0) + 3
        means = (base + np.arange(n)) * (2.0**shift * size)
        boosts = np.rint(BOOSTS * self._worth(r, means)).astype(np.int16)
        boosts[0] = boosts[-1] = 0
        return boosts, base, shift

    def _least_hopeful(self, r: int) -> float:
        """The noisy sum so far, in parts of the whole, below which boosts are rounded to 0."""
        ahead = self._ahead(r)
        level = ahead.bar / ahead.rest - _FAR * ahead.spread
        return level / (1 / ahead.rest + self.boldness / ahead.done)

    def _worth(self, r: int, sums: Floats) -> Floats:
        """Of an item with these noisy sums so far, in parts of the whole: near 1 if it just lacks.

        The mean so far is likely to go on, times the boldness. The more weight it takes beyond that
        to be found, the less likely it is; and the less is lacking, the less weight is needed.
        """
        ahead = self._ahead(r)
        needed = np.maximum(0.0, (ahead.bar - sums) / ahead.rest)
        mean = sums / ahead.done
        excess = np.maximum(0.0, (needed - self.boldness * mean) / ahead.spread)
        lacking = needed / np.maximum(np.maximum(mean, needed), np.finfo(float).tiny)
        worth: Floats = lacking * np.exp(-(excess**2) / 2)
        return worth

    def _ahead(self, r: int) -> _Ahead:
        """The test that users move their weight for after round r."""
        last = len(self.plan.parts) - 1
        test = last if self.aim is Aim.LAST else min(r + 1, last)
        done, after = self._share(r), self._share(test)
        rest = after - done
        spread = self.sigma * math.sqrt(self.boldness**2 / done + 1 / rest)
        return _Ahead(done, rest, after * self.limits.thresholds[test], spread)

    def _share(self, r: int) -> float:
        """The precision of all rounds up to r, of the whole."""
        return sum(self.plan.parts[: r + 1]) / self.plan.whole

    def _even_weights(self, largest: int) -> Ints:
        """The weight of each item of a user in the first round, by the user's number of items."""
        squares = 2 ** (2 * BITS_OF_WEIGHTS) // np.maximum(np.arange(largest + 1), 1)
        return np.array([math.isqrt(square) for square in squares.tolist()], np.int64)

    def _floors(self, largest: int) -> Ints:
        """The least square of a weight, in multiples of 2^(-2 BITS_OF_WEIGHTS), rounded up."""
        numerator = self.plan.floor.numerator * 2 ** (2 * BITS_OF_WEIGHTS)
        sizes = np.maximum(np.arange(largest + 1), 1) * self.plan.floor.denominator
        floors: Ints = -(-numerator // sizes)
        return floors

    def _caps(self, largest: int) -> Ints:
        """The largest square of a weight, rounded down."""
        block = np.searchsorted(self.limits.first, np.arange(largest + 1), side="right") - 1
        caps = np.floor(self.limits.caps[np.maximum(block, 0)] * 2.0**BITS_OF_WEIGHTS).astype(
            np.int64
        )
        squares: Ints = caps**2
        return squares


class _Ahead(NamedTuple):
    """A test to come.

    Attributes:
        done: The precision of the rounds heard, of the whole.
        rest: That of the rounds up to the test.
        bar: The least noisy sum to pass it, in parts of the whole.
        spread: The standard deviation of what a guess at the rest is off by.
    """

    done: float
    rest: float
    bar: float
    spread: float
