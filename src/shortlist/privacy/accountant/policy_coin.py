"""The best coin for items that one user moves by a whole unit, one item alone."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property

from shortlist.errors import InputError

_GUARD = 128  # bits of the chances below those of delta
_LONGEST = 1 << 20  # units, at most, that are needed to be named for certain
_FAR = 1000.0  # e^-1000 is below 2^-bits for any float delta: a larger epsilon changes no chance
_OFF = Fraction(1, 10**80)  # of an exponential, relatively


@dataclass(frozen=True)
class UnitCoin:
    """The largest chances p(n) to name an item of n units, if a user moves one item by one unit.

    p(0) = 0 and p(n+1) = min(e^epsilon p(n) + delta, 1 - e^-epsilon (1 - p(n) - delta), 1). No
    coin with the same guarantee names an item of any number of units more often.

    The chances are whole multiples of 2^-bits, rounded down; for each two neighbours as they are,
    both conditions of (epsilon, delta)-DP hold exactly. p(1) is delta itself.

    Source: Desfontaines, Voss & Gipson (2022), "Differentially private partition selection",
    Theorem 1. Proof note: `docs/proofs/policy-greedy.md`.

    Attributes:
        epsilon: Of the guarantee, above 0.
        delta: Of the guarantee, in (0, 1).

    >>> coin = UnitCoin(1.0, 1e-6)
    >>> [round(float(coin.chance(n)) * 1e6, 3) for n in range(4)], coin.certain
    ([0.0, 1.0, 3.718, 11.107], 28)
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if not (0 < self.epsilon < math.inf and 0 < self.delta < 1):
            raise InputError(
                "must be above 0, and in (0, 1)",
                given={"epsilon": self.epsilon, "delta": self.delta},
            )

    @property
    def bits(self) -> int:
        return _GUARD - math.frexp(self.delta)[1]

    @property
    def needed(self) -> float:
        """About how many units are named for certain, known without climbing there.

        The chance is about 1/2 where e^(n epsilon) is (e^epsilon - 1) / (2 delta).
        """
        growth = math.expm1(min(self.epsilon, 1.0))
        return 2 * math.log1p(growth / self.delta) / self.epsilon

    @cached_property
    def numerators(self) -> tuple[int, ...]:
        """The chances of 0, 1, 2 .. units in units of 2^-bits, up to the first that is 1.

        Raises:
            InputError: More than 2^20 units are needed to be named for certain.
        """
        return tuple(self._climb())

    @property
    def certain(self) -> int:
        return len(self.numerators) - 1

    def units_for(self, chance: Fraction) -> int:
        """The least number of units that is named with this chance at least, at most 1.

        >>> UnitCoin(1.0, 1e-6).units_for(Fraction(1, 2))
        14
        """
        return bisect_left(self.numerators, math.ceil(chance * (1 << self.bits)))

    def chance(self, units: int) -> Fraction:
        return Fraction(self.numerators[min(units, self.certain)], 1 << self.bits)

    def _climb(self) -> Iterator[int]:
        one = 1 << self.bits
        delta = math.floor(Fraction(self.delta) * one)
        epsilon = min(self.epsilon, _FAR)
        growth = max(math.floor(_exp(epsilon) * (1 - _OFF) * one), one)
        decay = min(math.ceil(_exp(-epsilon) * (1 + _OFF) * one), one)
        chance = 0
        self._require_an_end()
        while chance < one:
            yield chance
            left = max(one - chance - delta, 0)
            above = one - (-(-decay * left // one))
            chance = min(growth * chance // one + delta, above, one)
        yield one

    def _require_an_end(self) -> None:
        if self.needed > _LONGEST:
            raise InputError(
                "so small that an item would need {n} units to be named for certain",
                given={"epsilon": self.epsilon, "delta": self.delta},
                n=f"{self.needed:.0f}",
            )


def _exp(x: float) -> Fraction:
    """e^x, off by less than 10^-80 of it: the decimal is rounded correctly to 90 digits."""
    return Fraction(Context(prec=90, Emin=-999999, Emax=999999).exp(Decimal(x)))
