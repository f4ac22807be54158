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

__all__ = [
    "Partial",
    "SharedDraw",
    "Uniform",
    "UniformProduct",
    "is_positive",
    "precision",
    "settle",
]

_SPARE = 128  # bits of precision that balls have beyond the known bits: they decide if those can
T = TypeVar("T")

_PRECISION_IN_USE = RLock()


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Compute with so many bits, and give the caller's precision back, whatever happens.

    One thread at a time: two that set it in turns would compute with each other's, and the last to
    leave would give back what the other had set. A fork waits, too, so that no child begins with
    a lock that nobody opens or with a precision that nobody takes back.

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
    """A random number of which ever more bits are known.

    Attributes:
        bits: How many are known.
    """

    bits: int

    def fetch(self) -> None:
        """Learn 64 more bits."""

    def ball(self) -> arb:
        """The interval in which the number is known to lie."""


class Uniform:
    """A uniform number of which ever more bits are known.

    Attributes:
        bits: How many are known.
    """

    def __init__(self, source: Bits, word: int) -> None:
        self._source = source
        self._numerator = word
        self.bits = 64

    def fetch(self) -> None:
        self._numerator = self._numerator << 64 | int(self._source.words(1)[0])
        self.bits += 64

    def ball(self) -> arb:
        from flint import arb, fmpq

        unit = 2 ** (self.bits + 1)
        return arb(fmpq(2 * self._numerator + 1, unit), fmpq(1, unit))


class UniformProduct:
    """The product of many uniform numbers of which ever more bits are known, of all alike.

    Attributes:
        bits: How many are known of each.
    """

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
        """The interval in which the product is known to lie.

        Computed once for as many bits, at the precision these deserve: it takes a second for a
        million numbers.
        """
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
    """One draw of a noise for each row of values, added to all values of the row.

    Nothing is drawn before a value is asked for, and the bits that one value took stay known to
    the others: all of a row are moved by the same number, of which ever more is known.
    """

    def __init__(self, noise: Noise, bits: Bits, n: int, n_rows: int = 1) -> None:
        """For n values in rows of as many each, one row after another."""
        self._noise, self._bits, self._n_rows, self._width = noise, bits, n_rows, n // n_rows
        self._uniforms: dict[int, Partial] = {}

    @cached_property
    def _words(self) -> Words:
        return self._bits.words(self._n_rows)

    def interval(self) -> tuple[Floats, Floats]:
        """Ends of what is added to each value, shape (n,), given its first 64 bits."""
        low, high = self._noise.interval(self._words)
        return np.repeat(low, self._width), np.repeat(high, self._width)

    def known(self, i: int) -> Partial:
        """The uniform of what is added to value i: the same object for all of its row."""
        row = i // self._width
        if row not in self._uniforms:
            self._uniforms[row] = Uniform(self._bits, int(self._words[row]))
        return self._uniforms[row]

    def ball(self, i: int) -> arb:
        return self._noise.ball(0, self.known(i).ball())


def settle(numbers: Sequence[Partial], decide: Callable[[], T | None]) -> T:
    """What `decide` says as soon as it knows; None from it means that more bits are needed.

    The precision is that of the number known best, and a spare: rounding at that precision is far
    below what the unknown bits leave open, and further below the errors that floats are granted,
    so balls decide whatever floats decide, before any bit is fetched. More bits bring more
    precision, so an end is reached.
    """
    while True:
        with precision(max(number.bits for number in numbers) + _SPARE):
            decision = decide()
        if decision is not None:
            return decision
        for number in numbers:
            number.fetch()


def is_positive(ball: arb) -> bool | None:
    """Whether every number of the ball is positive (True), negative (False), or neither (None)."""
    if ball > 0:
        return True
    return False if ball < 0 else None
