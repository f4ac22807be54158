"""Items found in rounds: users weight those that earlier rounds' noisy sums make out as near.

Every noisy sum is a multiple of a public step. All that is decided by it, in whole numbers or by a
table over these, is the same wherever the item stands. A rule that ends the rounds early sees what
they released of the items found; whatever else it looks at, it pays for. Items that everybody knows
take part whether anybody holds them or not, and have lower thresholds. Proof notes:
`docs/proofs/adaptive-gaussian.md`; `docs/proofs/adaptive-top-k.md`, part D;
`docs/proofs/known-items.md`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.algorithms.rounding_grids import (
    BITS_OF_WEIGHTS,
    FARTHEST,
    UNIT_OF_WEIGHTS,
    GridFor,
)
from shortlist.algorithms.thinning import rare_coins
from shortlist.draws import Draws, Floats, Ints, RoundingGrid
from shortlist.draws.noise import Normal
from shortlist.draws.normal_law import normal_quantiles
from shortlist.draws.reals import NormalCDF
from shortlist.evidence import UserSets
from shortlist.evidence.user_sets import Steering
from shortlist.privacy import round_up
from shortlist.privacy.accountant.cost_of_rounds import (
    Limits,
    RoundsRelease,
    Schedule,
    limits_of,
    sd_of_round,
)
from shortlist.runtime.phases import phase

BOOSTS = 2**11
"""A boost is a multiple of one in so many."""

_CELLS = 2**14  # of a table of boosts, at most
_FAR = 4.1  # standard deviations from where on every boost is rounded to 0: e^(-_FAR²/2) < 2^-12
_DROPPED = 2.5  # standard deviations too far from the last bar to be heard of any more
_RARE = 3.0  # standard deviations below the bar: coins of chances below 0.00135 are thinned
_LEAST_BOOST = 0.3  # that an estimate takes for what an item was worth
_BY_MISTAKE = 0.01  # the chance that a known item is found in any round which nobody holds


class Towards(Enum):
    """Which threshold users move their weight towards."""

    LAST_THRESHOLD = "last"
    """That of the last round: to name as many items as possible."""

    NEXT_THRESHOLD = "next"
    """That of the next round: to name items early."""


@dataclass
class Progress:
    """The state of a search: private, but for what is found.

    Attributes:
        held: Users' bounded sets.
        codes: What each item's position is in the table; None where it is the position here.
        steering: The same users, as they weight their items after the first round.
        items: Positions of the items that anybody holds or everybody knows and that were neither
            found nor dropped, rising, shape (n,).
        so_far: The noisy sums of all rounds, part by part, in steps, shape (n,).
        sums: What users add in the round to come, of every item there could be.
        boosts: How much weight each of these is worth in it; None in the first round.
        of_known: By whose thresholds known items are found.
        rounds: How many rounds were run.
        is_known: Whether everybody knows it, of every item there could be; None if of none.
    """

    held: UserSets
    codes: Ints | None
    steering: Steering
    items: Ints
    so_far: Ints
    sums: Ints
    of_known: Search
    boosts: NDArray[np.int16] | None = None
    rounds: int = 0
    is_known: NDArray[np.bool_] | None = None

    @property
    def known(self) -> Ints:
        """Places in `items` of those that everybody knows."""
        none = np.empty(0, np.int64)
        return none if self.is_known is None else np.flatnonzero(self.is_known[self.items])

    def known_from(self, search: Search | None) -> Ints:
        """The known items not found, or of these those that the last round of a search finds."""
        known = self.known
        if search is not None:
            known = known[self.so_far[known] >= search._bars[-1]]  # noqa: SLF001 - of this module
        return self.items[known]

    @property
    def sums_of_items(self) -> Ints:
        """What users add to those that are left."""
        return self.sums if len(self.items) == len(self.sums) else self.sums[self.items]

    def positions(self, items: Ints) -> Ints:
        """In the table."""
        return items if self.codes is None else self.codes[items]

    def weigh(self, boosts: NDArray[np.int16]) -> NDArray[np.int16]:
        """Let items be worth this in the round to come; what is dropped leaves. Boosts of all."""
        of_all = np.full(len(self.sums), kernels.FOUND, np.int16)
        if self.boosts is not None:  # what was dropped before still is
            np.copyto(of_all, self.boosts, where=self.boosts == kernels.DROPPED)
        n = kernels.spread_boosts(self.items, self.so_far, boosts, of_all)
        self.items, self.so_far, self.boosts = self.items[:n], self.so_far[:n], of_all
        return of_all

    def hear(self, noisy: Ints, part: int, bar: int, head_start: int) -> Ints:
        """Add noisy sums, part by part; what reaches the bar leaves. Its positions, rising.

        Known items reach it with a head start, which is not kept.
        """
        if head_start:
            self.so_far[self.known] += head_start
        noisy = np.require(noisy, requirements=["C", "W"])  # what kernels are compiled for
        left, found = np.empty_like(self.items), np.empty_like(self.items)
        n = kernels.hear(noisy, part, bar, self.items, self.so_far, left, found)
        self.items, self.so_far = left[: len(left) - n], self.so_far[: len(left) - n]
        if head_start:
            self.so_far[self.known] -= head_start
        return found[:n].copy()


class Observed(NamedTuple):
    """What one round told.

    Attributes:
        items: The positions of the items that were left before, rising, shape (m,).
        sums: The noisy sum of each, in steps, shape (m,).
        boosts: How much weight each was worth, by position; None in the first round.
        found: The positions of those that it found.
    """

    items: Ints
    sums: Ints
    boosts: NDArray[np.int16] | None
    found: Ints

    def with_found(self, items: Ints) -> Observed:
        """The same, with further items found."""
        return self._replace(found=np.append(self.found, items))

    def of(self, items: Ints) -> tuple[Floats, Floats]:
        """The noisy sums of some of the items, and what they were worth, at least a little."""
        worth = np.ones(len(items)) if self.boosts is None else self.boosts[items] / BOOSTS
        sums = self.sums[np.searchsorted(self.items, items)]
        return sums.astype(np.float64), np.maximum(worth, _LEAST_BOOST)


class Found(NamedTuple):
    """What all rounds found.

    Attributes:
        items: Positions, rising.
        first: The noisy weight of each in the first round.
    """

    items: Ints
    first: Floats


class FoundEarly(NamedTuple):
    """What was found when the rounds stopped.

    Attributes:
        items: Positions, rising.
        first: The noisy weight of each in the first round.
        estimates: How good each seems: no count.
        rounds: How many rounds were run.
    """

    items: Ints
    first: Floats
    estimates: Floats
    rounds: int


class _TableOfBoosts(NamedTuple):
    """Boosts by cells of 2^shift steps, from cell `base` on; 0 in the first and the last."""

    boosts: NDArray[np.int16]
    base: int
    shift: int


@dataclass(frozen=True)
class Search:
    """A search in rounds: everything in it is public.

    Attributes:
        schedule: How the rounds share what may be spent.
        sigma: The standard deviation of the mean of all rounds' noise.
        limits: The thresholds, and the largest weights.
        grid: What noisy sums are rounded down to, in multiples of the unit of weights.
        expected_gain: By what factor an item's mean is expected to grow as users move weight.
        towards: Which threshold users move their weight towards.
    """

    schedule: Schedule
    sigma: float
    limits: Limits
    grid: RoundingGrid
    expected_gain: float
    towards: Towards = Towards.LAST_THRESHOLD

    @classmethod
    def of(
        cls,
        schedule: Schedule,
        release: RoundsRelease,
        bound: int,
        grid: GridFor,
        expected_gain: float,
        towards: Towards = Towards.LAST_THRESHOLD,
    ) -> Search:
        """The search with so much noise and loss, among users of at most `bound` items.

        Raises:
            OverflowError: The noise or a threshold is beyond what fixed-point numbers hold.
        """
        limits = limits_of(schedule, release, bound)
        rounded = grid(release.sigma, max(limits.thresholds))
        return cls(schedule, release.sigma, limits, rounded, expected_gain, towards)

    @property
    def step(self) -> float:
        """Between two noisy sums."""
        return self.grid.step * UNIT_OF_WEIGHTS

    @property
    def thresholds(self) -> tuple[float, ...]:
        """The least mean of the noisy weights so far to be found, after each round."""
        return self.limits.thresholds

    @property
    def threshold(self) -> float:
        """That after the last round."""
        return self.thresholds[-1]

    @property
    def first_sd(self) -> float:
        """The standard deviation of the noise of the first round."""
        return self._sds[0]

    @cached_property
    def _sds(self) -> list[float]:
        return [sd_of_round(self.schedule, self.sigma, r) for r in range(self.schedule.rounds)]

    @cached_property
    def of_known(self) -> Search:
        """The same with the thresholds of items that everybody knows, which protect nobody.

        An item that nobody holds reaches them in any round with a chance of 1 %.
        """
        spread = (self.schedule.whole / self.schedule.so_far(r + 1) for r in range(len(self._sds)))
        chances = np.array(self.schedule.losses) * _BY_MISTAKE
        far = -normal_quantiles(chances) * self.sigma * np.sqrt(list(spread))
        thresholds = tuple(np.minimum(far, self.thresholds).tolist())
        return replace(self, limits=self.limits._replace(thresholds=thresholds))

    def _head_start(self, progress: Progress, r: int, step: int) -> int:
        """By how much less known items need to be found in round r: see `_bar`."""
        if progress.is_known is None:
            return 0
        return self._bar(r, step) - progress.of_known._bar(r, step)  # noqa: SLF001 - of this class

    @cached_property
    def _tables(self) -> list[_TableOfBoosts]:
        """By which users weight the items anew, after each round but the last."""
        return [self._table(r) for r in range(self.schedule.rounds - 1)]

    def found(self, held: UserSets, draws: Draws) -> Found:
        """The items that all rounds find, of users' bounded sets.

        In the last round nothing is asked but whether an item is found, so that it is a coin.
        """
        progress = self.begin(held, self.of_known)
        first = self.observe(progress, draws)
        found = [first.found]
        for _ in range(self.schedule.rounds - 2):
            self.steer(progress)
            found.append(self.observe(progress, draws).found)
        self.steer(progress)
        found.append(self._toss(progress, draws))
        items = np.concatenate(found)
        weights, positions = first.of(items)[0] * self.step, progress.positions(items)
        order = np.argsort(positions)
        return Found(positions[order], weights[order])

    def found_early(
        self,
        stop: StopRule | None,
        held: UserSets,
        draws: Draws,
        last_of_known: Search | None = None,
    ) -> FoundEarly:
        """The items found, of users' bounded sets, until the rule says that these are enough.

        Known items need as much as others: found with less, they would be ranked by fewer rounds.
        If all rounds are run, all known items are among them, or those that reach the last
        threshold of another search.
        """
        progress = self.begin(held)
        told: list[Observed] = []
        items: Ints = np.empty(0, np.int64)
        estimates: Floats = np.empty(0)
        while True:
            told.append(self.observe(progress, draws))
            if progress.rounds == self.schedule.rounds:
                told[-1] = told[-1].with_found(progress.known_from(last_of_known))
            items = np.append(items, told[-1].found)
            estimates = np.append(estimates, self._estimates(told) * self.step)
            n, found = progress.rounds, progress.positions(items)
            if n == self.schedule.rounds or (stop and stop.is_enough(self, n, found, estimates)):
                break
            self.steer(progress)
        weights, order = told[0].of(items)[0] * self.step, np.argsort(found)
        return FoundEarly(found[order], weights[order], estimates[order], n)

    def _estimates(self, told: Sequence[Observed]) -> Floats:
        """Of what the last of these rounds found, in steps.

        Noisy sums over what the item was worth, by least squares: in all rounds until it was found.
        """
        found = told[-1].found
        products, squares = np.zeros(len(found)), np.zeros(len(found))
        for part, observed in zip(self.schedule.parts, told, strict=False):
            sums, worth = observed.of(found)
            products += part * worth * sums
            squares += part * worth * worth
        return products / squares

    def begin(self, held: UserSets, of_known: Search | None = None) -> Progress:
        """Each user spreads weight evenly; known items have thresholds of their own, if given."""
        held, codes = held.renumbered()
        sums, is_known = held.added_by_size(self._even_weights(held.largest)), None
        takes_part = sums > 0  # nobody else has any
        if len(held.public):
            is_known = np.zeros(len(sums), np.bool_)
            is_known[held.public] = True
            takes_part |= is_known
        items = np.flatnonzero(takes_part)
        nothing = np.zeros(len(items), np.int64)
        steering, of_known = held.steering(), of_known or self
        return Progress(held, codes, steering, items, nothing, sums, of_known, is_known=is_known)

    def observe(self, progress: Progress, draws: Draws) -> Observed:
        """Add noise to what users add; find what reaches the bar by all noisy sums so far."""
        r, items = progress.rounds, progress.items
        noisy = self._noisy(progress.sums_of_items, r, draws)
        progress.rounds += 1
        head_start = self._head_start(progress, r, self.grid.step)
        found = progress.hear(noisy, self.schedule.parts[r], self._bars[r], head_start)
        return Observed(items, noisy, progress.boosts, found)

    def steer(self, progress: Progress) -> None:
        """Let users weight the items anew, by the noisy sums of each so far."""
        r, held = progress.rounds - 1, progress.held
        boosts = self._boosts(r, progress.so_far)
        boosts[progress.so_far < self._least_kept[r]] = kernels.DROPPED
        if progress.is_known is not None:
            known = progress.known
            boosts[known] = progress.of_known._boosts(r, progress.so_far[known])  # noqa: SLF001 - likewise
        of_all = progress.weigh(boosts)
        limits = self._floors(held.largest), self._caps(held.largest)
        rounds = self.schedule.rounds
        with phase("round {n} of {rounds}", n=progress.rounds + 1, rounds=rounds):
            progress.sums = progress.steering.sums(of_all, *limits)

    def _toss(self, progress: Progress, draws: Draws) -> Ints:
        """The positions of what the last round finds, without its noise."""
        last = self._last(progress.so_far, progress.sums_of_items)
        if progress.is_known is not None:
            last.gaps[progress.known] += self._head_start(progress, progress.rounds, 1)
        rare_below = math.floor(-_RARE * last.sd / last.unit)
        heads = rare_coins(last.gaps, lambda gaps: replace(last, gaps=gaps), rare_below, draws)
        return progress.items[heads]

    def _noisy(self, sums: Ints, r: int, draws: Draws) -> Ints:
        """The sums of round r in noise, in steps; what is below the grid is out for good."""
        noise = Normal(self._sds[r])
        multiples = draws.rounded_down(sums, noise, self.grid, unit=UNIT_OF_WEIGHTS)
        below = multiples < self.grid.lowest
        return np.where(below, -FARTHEST // self.grid.step, multiples) if below.any() else multiples

    def _last(self, so_far: Ints, sums: Ints) -> NormalCDF:
        """The chance that an item is found by the last round, which adds these sums in noise."""
        part = self.schedule.parts[-1]
        ahead = so_far * self.grid.step + part * sums - self._last_bar
        return NormalCDF(ahead, self._sd_of_last_part, UNIT_OF_WEIGHTS)

    @cached_property
    def _sd_of_last_part(self) -> float:
        return round_up(self.schedule.parts[-1] * Fraction(self._sds[-1]))

    @cached_property
    def _bars(self) -> list[int]:
        """What the noisy sums must add up to, part by part and in steps, to be found in a round."""
        return [self._bar(r, self.grid.step) for r in range(self.schedule.rounds)]

    @cached_property
    def _last_bar(self) -> int:
        """As `_bars`, of the last round, in units of weights."""
        return self._bar(self.schedule.rounds - 1, 1)

    def _bar(self, r: int, step: int) -> int:
        mean, size = Fraction(self.thresholds[r]), step * Fraction(UNIT_OF_WEIGHTS)
        return math.ceil(self.schedule.so_far(r + 1) * mean / size)  # rounded up

    def _boosts(self, r: int, so_far: Ints) -> NDArray[np.int16]:
        """How much weight an item is worth after round r, from 0 to `BOOSTS`.

        A table over cells of the noisy sums so far says it, so that it depends on nothing else.
        """
        table, base, shift = self._tables[r]
        boosts = np.empty(len(so_far), np.int16)
        kernels.look_up_boosts(so_far, table, shift, base, boosts)
        return boosts

    def _table(self, r: int) -> _TableOfBoosts:
        size = self.grid.step * UNIT_OF_WEIGHTS / self.schedule.whole
        least = self._least_hopeful(r)
        top = self._ahead(r).bar
        shift = max(math.ceil(math.log2((top - least) / size / _CELLS)), 0) if top > least else 0
        base = math.floor(least / size / 2**shift) - 1
        n = max(math.ceil((top - least) / size / 2**shift), 0) + 3
        means = (base + np.arange(n)) * (2.0**shift * size)
        boosts = np.rint(BOOSTS * self._worth(r, means)).astype(np.int16)
        boosts[0] = boosts[-1] = 0
        return _TableOfBoosts(boosts, base, shift)

    @cached_property
    def _least_kept(self) -> list[int]:
        """The least sums, part by part and in steps, of items that later rounds hear of.

        None are dropped where users do not look as far as the last threshold.
        """
        if self.towards is not Towards.LAST_THRESHOLD:
            return [-FARTHEST * self.schedule.whole] * (self.schedule.rounds - 1)
        size = self.grid.step * UNIT_OF_WEIGHTS / self.schedule.whole
        rounds = range(self.schedule.rounds - 1)
        return [math.ceil(self._least_hopeful(r, _DROPPED) / size) for r in rounds]

    def _least_hopeful(self, r: int, far: float = _FAR) -> float:
        """The noisy sum so far, in parts of the whole, of an item so far from the last bar.

        By default, boosts are rounded to 0 below it.
        """
        ahead = self._ahead(r)
        level = ahead.bar / ahead.rest - far * ahead.spread
        return level / (1 / ahead.rest + self.expected_gain / ahead.done)

    def _worth(self, r: int, sums: Floats) -> Floats:
        """Of an item with these noisy sums so far, in parts of the whole: near 1 if it just lacks.

        The mean so far is likely to go on, times the expected gain. The more weight it takes beyond
        that to be found, the less likely it is; and the less is lacking, the less weight is needed.
        """
        ahead = self._ahead(r)
        needed = np.maximum(0.0, (ahead.bar - sums) / ahead.rest)
        mean = sums / ahead.done
        excess = np.maximum(0.0, (needed - self.expected_gain * mean) / ahead.spread)
        lacking = needed / np.maximum(np.maximum(mean, needed), np.finfo(float).tiny)
        worth: Floats = lacking * np.exp(-(excess**2) / 2)
        return worth

    def _ahead(self, r: int) -> _Ahead:
        """The test that users move their weight for after round r."""
        last = self.schedule.rounds - 1
        test = last if self.towards is Towards.LAST_THRESHOLD else min(r + 1, last)
        done, after = self._share(r), self._share(test)
        rest = after - done
        spread = self.sigma * math.sqrt(self.expected_gain**2 / done + 1 / rest)
        return _Ahead(done, rest, after * self.thresholds[test], spread)

    def _share(self, r: int) -> float:
        """The precision of all rounds up to r, of the whole."""
        return self.schedule.so_far(r + 1) / self.schedule.whole

    def _even_weights(self, largest: int) -> Ints:
        """The weight of each item of a user in the first round, by the user's number of items."""
        squares = 2 ** (2 * BITS_OF_WEIGHTS) // np.maximum(np.arange(largest + 1), 1)
        return np.array([math.isqrt(square) for square in squares.tolist()], np.int64)

    def _floors(self, largest: int) -> Ints:
        """The least square of a weight, in multiples of 2^(-2 BITS_OF_WEIGHTS), rounded up."""
        numerator = self.schedule.floor.numerator * 2 ** (2 * BITS_OF_WEIGHTS)
        sizes = np.maximum(np.arange(largest + 1), 1) * self.schedule.floor.denominator
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
        done: The precision of the rounds run, of the whole.
        rest: That of the rounds up to the test.
        bar: The least noisy sum to pass it, in parts of the whole.
        spread: The standard deviation of what a guess at the rest is off by.
    """

    done: float
    rest: float
    bar: float
    spread: float


class StopRule(ABC):
    """When rounds stop early, by what they found."""

    @abstractmethod
    def is_enough(self, search: Search, rounds: int, found: Ints, estimates: Floats) -> bool:
        """Whether to stop after so many rounds, but the last.

        Args:
            search: The rounds.
            rounds: How many were run.
            found: The positions of all that they found, shape (n,).
            estimates: How good each of these seems, shape (n,).
        """


@dataclass(frozen=True)
class UntilSafe(StopRule):
    """Stop when the k best of what was found are safe.

    Attributes:
        k: How many are wanted.
        margins: By how many standard deviations of the noise so far the k-th best estimate has to
            be above the threshold, after each round but the last.
    """

    k: int
    margins: tuple[float, ...]

    def is_enough(self, search: Search, rounds: int, found: Ints, estimates: Floats) -> bool:
        """Whether the k-th best is so far above the threshold that better ones are found too."""
        if len(found) < self.k:
            return False
        schedule = search.schedule
        sd = search.sigma * math.sqrt(schedule.whole / schedule.so_far(rounds))
        bar = search.thresholds[rounds - 1] + self.margins[rounds - 1] * sd
        return bool(np.partition(estimates, -self.k)[-self.k] >= bar)


@dataclass(frozen=True)
class UntilMany(StopRule):
    """Stop when so many items are found.

    Attributes:
        enough: How many, after each round but the last.
    """

    enough: tuple[int, ...]

    def is_enough(self, search: Search, rounds: int, found: Ints, estimates: Floats) -> bool:  # noqa: ARG002 - any search
        """Whether there are as many."""
        return len(found) >= self.enough[rounds - 1]
