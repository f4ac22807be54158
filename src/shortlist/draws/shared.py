"""A draw of noise that several values share."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shortlist.bits import Bits
from shortlist.draws._uniform import Partial, Uniform
from shortlist.draws.contract import Floats, Noise, Words

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Shared"]


class Shared:
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
        """What is added to value i."""
        return self._noise.ball(0, self.known(i).ball())
