"""Uniform numbers whose bits are fetched as decisions need them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist.draws.contract import Floats, Noise, Words
from shortlist.draws.random_bits import Bits

if TYPE_CHECKING:
    from flint import arb

_SPARE = 128  # bits of precision that balls have beyond the known bits: they decide if those can
T = TypeVar("T")

_PRECISION_IN_USE = RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with this many bits, and restore the caller's precision afterwards.

    Flint's precision belongs to the process, so one thread at a time may set it. A fork waits too,
    so that no child begins with a locked lock, or with a precision that nobody restores.

    >>> from flint import ctx
    >>> with precision(300):
    ...     print(ctx.prec)
    300
    """
    from flint import ctx

    with _PRECISION_IN_USE, ctx.workprec(bits):
        yield


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_PRECISION_IN_USE.acquire,
        after_in_parent=_PRECISION_IN_USE.release,
        after_in_child=_PRECISION_IN_USE.release,
    )


class Partial(Protocol):
    """A random number that is known by its leading bits.

    Attributes:
        bits: How many bits are known.
    """

    bits: int

    def fetch(self) -> None:
        """Learn 64 more bits."""

    def ball(self) -> arb:
        """The interval in which the number is known to lie."""


class Uniform:
    """A uniform number, known by its leading bits."""

    def __init__(self, source: Bits, word: int, bits: int = 64) -> None:
        """A word of so many bits is known."""
        self._source = source
        self._numerator = word
        self.bits = bits

    def fetch(self) -> None:
        self._numerator = self._numerator << 64 | int(self._source.words(1)[0])
        self.bits += 64

    def ball(self) -> arb:
        from flint import arb, fmpq

        unit = 2 ** (self.bits + 1)
        return arb(fmpq(2 * self._numerator + 1, unit), fmpq(1, unit))


class UniformProduct:
    """The product of many uniform numbers, each known by as many leading bits."""

    def __init__(self, source: Bits, words: NDArray[np.uint64]) -> None:
        self._source = source
        self._words = [words]
        self._ball: arb | None = None
        self.bits = 64

    def fetch(self) -> None:
        self._words.append(self._source.words(len(self._words[0])))
        self._ball = None
        self.bits += 64

    def ball(self) -> arb:
        # Kept for as long as no bit is added: a product of a million numbers takes a second.
        from flint import arb

        if self._ball is None:
            with precision(self.bits + _SPARE):
                product = arb(1)
                for words in zip(*(words.tolist() for words in self._words), strict=True):
                    numerator = 0
                    for word in words:
                        numerator = numerator << 64 | word
                    product *= arb(2 * numerator + 1, 1)
                self._ball = product * arb(2) ** (-(self.bits + 1) * len(self._words[0]))
        return self._ball


class SharedDraw:
    """A noise that is drawn once for each row of values, and added to all values of the row.

    Nothing is drawn before a value is needed. Bits fetched for one value are known to all of its
    row.
    """

    def __init__(self, noise: Noise, bits: Bits, n: int, n_rows: int = 1) -> None:
        """Take n values in rows of equal length, one row after another."""
        self._noise, self._bits, self._n_rows, self._width = noise, bits, n_rows, n // n_rows
        self._uniforms: dict[int, Partial] = {}

    @cached_property
    def _words(self) -> Words:
        return self._bits.words(self._n_rows)

    def interval(self) -> tuple[Floats, Floats]:
        """Ends of what is added to each value, shape (n,), from its first 64 bits."""
        low, high = self._noise.interval(self._words)
        return np.repeat(low, self._width), np.repeat(high, self._width)

    def known(self, i: int) -> Partial:
        """The uniform behind what is added to value i: one object for the whole row."""
        row = i // self._width
        if row not in self._uniforms:
            self._uniforms[row] = Uniform(self._bits, int(self._words[row]))
        return self._uniforms[row]

    def ball(self, i: int) -> arb:
        return self._noise.ball(0, self.known(i).ball())


def settle(numbers: Sequence[Partial], decide: Callable[[], T | None]) -> T:
    """Fetch bits until `decide` returns a decision, which None is not.

    The precision is that of the best known number, and some spare bits. So rounding is far below
    what the unknown bits leave open, and further below the errors that floats are allowed: what
    floats decide, balls decide as well before any bit is fetched. More bits raise the precision, so
    an end is reached.
    """
    while True:
        with precision(max(number.bits for number in numbers) + _SPARE):
            decision = decide()
        if decision is not None:
            return decision
        for number in numbers:
            number.fetch()


def is_positive(ball: arb) -> bool | None:
    """True if every number of the ball is positive, False if every one is negative, else None."""
    if ball > 0:
        return True
    return False if ball < 0 else None
