"""Vectors of real numbers, known by floats with a proven error, and by balls of any precision.

`exact.py` decides by the floats where their error allows it, and by the balls where not, so the
floats' errors cost time and never change a decision. Each error bound is checked against the balls
by a test. The library's normal distribution is taken to be within 2^-42 of its value, relatively,
and its quantile within 2^-48, which the same tests check over their whole range.

`UNIT` is the fixed-point unit of weights, thresholds and scores: they are integers in multiples of
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from flint import arb

__all__ = ["UNIT", "ExponentialWeights", "Floats", "Ints", "NormalCDF", "Reals"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

UNIT = 2.0**-32
_ULP = 2.0**-52
_TINY = 2.0**-1000  # a float that underflows stands for a number between 0 and this


class Reals(Protocol):
    """A vector of real numbers."""

    def __len__(self) -> int: ...

    def approximate(self) -> tuple[Floats, Floats]:
        """Floats and bounds of their absolute errors, both of shape (n,)."""

    def ball(self, i: int) -> arb:
        """An enclosure of number i, at flint's present precision."""


@dataclass(frozen=True)
class NormalCDF:
    """Φ(gap / sd) for each gap: the chance that noise of that sd does not exceed it.

    Attributes:
        gaps: Integers in units of `UNIT`, shape (n,), below 2^62 in absolute value.
        sd: The standard deviation, in natural units.
    """

    gaps: Ints
    sd: float

    def __len__(self) -> int:
        return len(self.gaps)

    def approximate(self) -> tuple[Floats, Floats]:
        """The argument z is off by at most 2 ulp, and Φ by |z| (|z| + 1) times that, relatively.

        For z > -32 that and the library's error are below 2^-39; beyond, Φ itself is below 2^-700.
        """
        from scipy.special import ndtr

        values = ndtr(self.gaps / (self.sd / UNIT))
        errors = values * 2.0**-39
        errors += 2.0**-700
        return values, errors

    def ball(self, i: int) -> arb:
        """Φ(z) = erfc(-z / sqrt 2) / 2."""
        from flint import arb

        z = arb(int(self.gaps[i])) * arb(UNIT) / arb(self.sd)
        return (-z / arb(2).sqrt()).erfc() / 2


@dataclass(frozen=True)
class ExponentialWeights:
    """m · exp(epsilon · (c - max c)) for each count c with multiplicity m: unnormalised odds.

    Attributes:
        counts: Distinct counts, shape (n,).
        multiplicities: How many items have each, at least 1, shape (n,).
        epsilon: The exponential mechanism's parameter.
    """

    counts: Ints
    multiplicities: Ints
    epsilon: float

    def __len__(self) -> int:
        return len(self.counts)

    def approximate(self) -> tuple[Floats, Floats]:
        """The exponent x is off by at most |x| ulp: differences of counts are taken as integers."""
        exponents = self.epsilon * (self.counts - self.counts.max())
        values = self.multiplicities * np.exp(exponents)
        return values, values * ((8 - 2 * exponents) * _ULP) + self.multiplicities * _TINY

    def ball(self, i: int) -> arb:
        """The weight, from exact integers and the exact float epsilon."""
        from flint import arb

        gap = int(self.counts[i]) - int(self.counts.max())
        return arb(int(self.multiplicities[i])) * (arb(self.epsilon) * gap).exp()
