"""A uniform number whose bits are fetched as decisions need them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from shortlist.bits import Bits

if TYPE_CHECKING:
    from flint import arb

__all__ = ["Uniform", "is_positive", "settle"]

_SPARE = 128  # bits of precision that balls have beyond the known bits: they decide if those can
T = TypeVar("T")


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
        """Learn 64 more bits."""
        self._numerator = self._numerator << 64 | int(self._source.words(1)[0])
        self.bits += 64

    def ball(self) -> arb:
        """The interval in which the number is known to lie."""
        from flint import arb, fmpq

        unit = 2 ** (self.bits + 1)
        return arb(fmpq(2 * self._numerator + 1, unit), fmpq(1, unit))


def settle(uniforms: Sequence[Uniform], decide: Callable[[], T | None]) -> T:
    """What `decide` says as soon as it knows; None from it means that more bits are needed."""
    from flint import ctx

    while True:
        with ctx.workprec(sum(uniform.bits for uniform in uniforms) + _SPARE):
            decision = decide()
        if decision is not None:
            return decision
        for uniform in uniforms:
            uniform.fetch()


def is_positive(ball: arb) -> bool | None:
    """Whether every number of the ball is positive (True), negative (False), or neither (None)."""
    if ball > 0:
        return True
    return False if ball < 0 else None
