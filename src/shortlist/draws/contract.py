"""The contract between mechanisms and random draws. It imports nothing of the package.

`Draws` names the few random operations that mechanisms use. `ExactDraws` implements them by random
bits. The audit puts implementations of its own in their place, and so runs the same code along
every branch in turn, or makes many draws at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flint import arb

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]

UNIT = 2.0**-32  # the fixed-point unit of weights, thresholds and scores, which are integers in it


class Reals(Protocol):
    """A vector of real numbers, known by floats with a proven error and by balls."""

    def __len__(self) -> int: ...

    def approximate(self) -> tuple[Floats, Floats]:
        """Floats and bounds of their absolute errors, both of shape (n,)."""

    def ball(self, i: int) -> arb:
        """An enclosure of number i, at flint's present precision."""


class Candidates(Reals, Protocol):
    """Classes of equally good items: the weight of each is its size times its items' `chance`.

    Class 0 is the best: its chance is 1.

    Attributes:
        shift: The numbers are the weights divided by exp(shift).
    """

    @property
    def shift(self) -> float:
        """The logarithm of what the weights are divided by."""

    def pick(self, draws: Draws) -> int:
        """Draw a class with probability proportional to its weight."""

    def chance(self, i: int) -> Reals:
        """The probability that an item of class i is accepted, as a vector of one number."""


class Stock(Candidates, Protocol):
    """Candidates that are left out one after another."""

    def in_turn(self, pick: Callable[[Self], int]) -> Iterator[int]:
        """The classes of all items, each picked from what those before leave.

        Args:
            pick: How the next one is picked. It is not asked before the next one is.
        """


class Noise(Protocol):
    """Independent noise for n items, each a function of a uniform of its own."""

    @abstractmethod
    def interval(self, words: Words) -> tuple[Floats, Floats]:
        """Lower and upper ends of each noise, perhaps infinite, from 64 bits of its uniform."""

    @abstractmethod
    def ball(self, i: int, uniform: arb) -> arb:
        """Noise i, given a ball of its uniform."""

    def quick_upper_bound(self, words: Words) -> Floats | None:  # noqa: ARG002 - of those that know
        """Upper bounds that are cruder than the interval's, and quicker; None if there are none."""
        return None


class SharedFactor(Protocol):
    """A random factor of all items' noise, a function of a product of uniforms."""

    @property
    def shape(self) -> int:
        """How many uniforms are multiplied."""

    def interval(self, words: Words) -> tuple[float, float]:
        """Lower and upper end of the factor, from 64 bits of each uniform, shape (shape,)."""

    def ball(self, product: arb) -> arb:
        """The factor, given a ball of the product."""


class RoundingGrid(NamedTuple):
    """The multiples of a step that noisy values are rounded down to.

    Attributes:
        step: The distance between neighbouring multiples, in the unit of the scores: a power of 2.
        lowest: The lowest multiple, in steps; everything below it becomes the multiple before it.
        highest: The highest multiple, in steps; everything above becomes it.
    """

    step: int
    lowest: int = -(2**61)
    highest: int = 2**61

    def clipped(self, multiples: Ints) -> Ints:
        """The multiples, in steps, with the grid's ends in place of those that lie beyond."""
        within: Ints = np.clip(multiples, self.lowest - 1, self.highest)
        return within


@dataclass(frozen=True, eq=False)
class Order:
    """A request to `Draws.order`: which noisy values are largest, and what they round to.

    Attributes:
        scores: Integers in multiples of `unit`, below 2^62 in absolute value, shape (n,).
        noises: Independent noises; their sum is what is added to the scores.
        digits: Decimals that the values are rounded to (tens, hundreds where negative); None where
            values are not wanted.
        unit: A power of 2: `UNIT` for weights, 1 for counts.
        radius: A random factor that multiplies the noise of every item.
        shared: A noise that is drawn once and added to every value. It does not change the order,
            but it does change which values reach a bound, and what they round to. `radius` does not
            multiply it.
        at_least: Only items whose noisy value is at least this, in `unit`, shape (n,).
        k: Only the best k of these; None for all.
    """

    scores: Ints
    noises: Sequence[Noise]
    _: KW_ONLY
    digits: int | None = None
    unit: float = UNIT
    radius: SharedFactor | None = None
    shared: Noise | None = None
    at_least: Ints | None = None
    k: int | None = None


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
        """The values in the order of the items; only where all items are in the answer."""
        values = np.empty_like(self.values)
        values[self.positions] = self.values
        return values


class Draws(Protocol):
    """The random operations of mechanisms: nothing else about a mechanism is random."""

    @abstractmethod
    def coin(self, chances: Reals) -> NDArray[np.bool_]:
        """Independent Bernoulli draws: True with probability `chances[i]`, shape (n,)."""

    @abstractmethod
    def choices(self, weights: Reals, n: int) -> Ints:
        """`n` independent draws of i with probability weights[i] / sum of weights, shape (n,)."""

    def choice(self, weights: Reals) -> int:
        """A draw of i with probability weights[i] / sum of weights."""
        return int(self.choices(weights, 1)[0])

    def choices_in_turn(self, weights: Stock, k: int) -> Ints:
        """The classes of `k` items, or of all: each is a `choice` among those left; shape (k,)."""
        return np.fromiter(islice(weights.in_turn(lambda left: left.pick(self)), k), np.int64)

    @abstractmethod
    def permute_and_flip(self, candidates: Candidates) -> int:
        """Draw an item by permute-and-flip, and return its class.

        Items are visited in random order. Each is accepted with the chance of its class, and the
        first accepted one is drawn.
        """

    @abstractmethod
    def integer(self, bounds: NDArray[np.integer]) -> Ints:
        """Independent uniform integers, number i in 0 .. bounds[i] - 1, shape (n,).

        Bounds are from 1 to 2^63 - 1.
        """

    @abstractmethod
    def order(self, asked: Order) -> Ordered:
        """Add noise to scores; return the largest values in order and, if asked for, rounded."""

    @abstractmethod
    def rounded_down(
        self, scores: Ints, noise: Noise, grid: RoundingGrid, *, unit: float = UNIT
    ) -> Ints:
        """The multiple, in steps, that each score + noise is rounded down to, shape (n,).

        Args:
            scores: As in `Order`.
            noise: Independent noise with the same law for all.
            grid: The multiples to round down to.
            unit: As in `Order`.
        """
