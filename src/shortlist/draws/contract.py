"""What draws are, and what they are asked. It imports nothing of the package.

`Draws` are a few operations, with which a mechanism decides. `ExactDraws` make them from random
bits. Whoever puts others in their place runs the same code another way: the audit takes every
branch in turn, or makes many draws at once.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flint import arb

__all__ = [
    "UNIT",
    "Candidates",
    "Draws",
    "Floats",
    "Ints",
    "Noise",
    "Order",
    "Ordered",
    "Reals",
    "RoundingGrid",
    "SharedFactor",
    "Words",
]

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
        """The logarithm that the weights are divided by."""

    def pick(self, draws: Draws) -> int:
        """A class, drawn by its weight."""

    def chance(self, i: int) -> Reals:
        """The one number with which an item of class i is accepted."""


class Noise(Protocol):
    """Independent noise for n items, each a function of a uniform of its own."""

    @abstractmethod
    def interval(self, words: Words) -> tuple[Floats, Floats]:
        """Ends of each noise, given the first 64 bits of its uniform; infinite where it may be."""

    @abstractmethod
    def ball(self, i: int, uniform: arb) -> arb:
        """Noise i, given a ball of its uniform."""

    def quick_upper_bound(self, words: Words) -> Floats | None:  # noqa: ARG002 - of those that know
        """Upper bounds that take less time than the interval and may be cruder; None if none do."""
        return None


class SharedFactor(Protocol):
    """A random factor of all items' noise, a function of a product of uniforms."""

    @property
    def shape(self) -> int:
        """How many uniforms."""

    def interval(self, words: Words) -> tuple[float, float]:
        """Ends of the factor, given the first 64 bits of each uniform, shape (shape,)."""

    def ball(self, product: arb) -> arb:
        """The factor, given a ball of the product."""


class RoundingGrid(NamedTuple):
    """The numbers that noisy values are rounded down to: some multiples of a step.

    Attributes:
        step: The distance of neighbouring numbers, in the unit of the scores: a power of 2.
        lowest: The lowest multiple, in steps; what is below it becomes the multiple before.
        highest: That of the highest, which stands for all above too.
    """

    step: int
    lowest: int = -(2**61)
    highest: int = 2**61

    def clipped(self, multiples: Ints) -> Ints:
        """The multiples, in steps, with the ends of the grid in place of those beyond."""
        within: Ints = np.clip(multiples, self.lowest - 1, self.highest)
        return within


@dataclass(frozen=True, eq=False)
class Order:
    """What `Draws.order` is asked: the best of some noisy values, and these rounded.

    Attributes:
        scores: Integers in multiples of `unit`, below 2^62 in absolute value, shape (n,).
        noises: Independent noises; their sum is what is added to the scores.
        digits: Values are rounded to this many decimals (to tens, hundreds where negative); None
            if they are not wanted.
        unit: A power of 2: `UNIT` for weights, 1 for counts.
        radius: A random factor that all items' noise shares.
        shared: A noise, the same for all items, of which one draw is added to every value. It
            changes no order, but what reaches a bound and what is rounded. No `radius` stretches
            it.
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
        """The values in the order of the items, where none was left out."""
        values = np.empty_like(self.values)
        values[self.positions] = self.values
        return values


class Draws(Protocol):
    """The draws that mechanisms decide with: nothing else of theirs is random."""

    @abstractmethod
    def coin(self, chances: Reals) -> NDArray[np.bool_]:
        """Independent Bernoulli draws: True with probability `chances[i]`, shape (n,)."""

    @abstractmethod
    def choices(self, weights: Reals, n: int) -> Ints:
        """`n` independent draws of i with probability weights[i] / sum of weights, shape (n,)."""

    def choice(self, weights: Reals) -> int:
        """A draw of i with probability weights[i] / sum of weights."""
        return int(self.choices(weights, 1)[0])

    @abstractmethod
    def permute_and_flip(self, candidates: Candidates) -> int:
        """The class of the item that permute-and-flip names.

        All items are visited in random order, and the first that is accepted is named; each is
        accepted with its class's chance.
        """

    @abstractmethod
    def integer(self, bounds: NDArray[np.integer]) -> Ints:
        """Independent uniform integers, number i in 0 .. bounds[i] - 1, shape (n,).

        Bounds are from 1 to 2^63 - 1.
        """

    @abstractmethod
    def order(self, asked: Order) -> Ordered:
        """The order of score + noise, and the noisy values rounded."""

    @abstractmethod
    def rounded_down(
        self, scores: Ints, noise: Noise, grid: RoundingGrid, *, unit: float = UNIT
    ) -> Ints:
        """The multiple, in steps, that each score + noise is rounded down to, shape (n,).

        Args:
            scores: As of an `Order`.
            noise: Independent noise with the same law for all.
            grid: What is rounded down to.
            unit: A power of 2, as of an `Order`.
        """
