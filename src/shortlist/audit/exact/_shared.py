"""The law of values that share a normal draw S: what it is at each S, averaged with a proven error.

Let G(s) be the probability of an outcome given S = s, where n values have normal noise of variance
V of their own. It is an integral of a product of n densities, each an entire function of s, with
|density(x - s - iy)| = density(x - s) exp(y² / 2V). So |G(s + iy)| <= exp(n y² / 2V), and for
f = density of S times G, of variance a, the integral of |f(x + iy)| over x is at most exp(q y² / 2)
with q = 1/a + n/V. Sums at equal steps h then are off by at most

    |h (… + f(-h) + f(0) + f(h) + …) - ∫ f| <= 2 exp(q y² / 2) / (exp(2 pi y / h) - 1)

for every y > 0 (Trefethen & Weideman 2014, Theorem 5.1). What is left out beyond J steps on either
side is at most the mass of S beyond J h, since its density falls and G <= 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from flint import arb

from shortlist.draws import Noise
from shortlist.draws.noise import Normal

__all__ = ["averaged"]

_FINENESS = 0.4  # q h²: the error is then below 1e-21
_REACH = 10  # standard deviations of S on either side

Outcome = TypeVar("Outcome", bound=Hashable)
_Law = dict[Outcome, arb]


def averaged(
    law_at: Callable[[arb], _Law[Outcome]], n: int, noises: Sequence[Noise], shared: Noise
) -> _Law[Outcome]:
    """The law of n values of these noises, from the law for each S that may be added to all.

    Raises:
        TypeError: The noises, or what is shared, are not normal ones known on no side of a bound.
    """
    own = sum((_variance(noise) for noise in noises), arb(0))
    spread = _variance(shared)
    sharpness = 1 / spread + n / own
    step = (arb(_FINENESS) / sharpness).sqrt()
    most = math.ceil(float(_REACH * spread.sqrt() / step))
    law: _Law[Outcome] = {}
    for j in range(-most, most + 1):
        at = j * step
        weight = step * (-at * at / (2 * spread)).exp() / (2 * arb.pi() * spread).sqrt()
        for outcome, p in law_at(at).items():
            law[outcome] = law.get(outcome, arb(0)) + weight * p
    error = _error(step, sharpness) + (most * step / (2 * spread).sqrt()).erfc()
    return {outcome: p + arb(0, error.abs_upper()) for outcome, p in law.items()}


def _variance(noise: Noise) -> arb:
    if not isinstance(noise, Normal) or noise.bounds is not None:
        raise TypeError(f"{noise!r}: beside a shared draw, only the law of normal noise is known")
    return (arb(noise.sd) * arb(noise.weight)) ** 2


def _error(step: arb, sharpness: arb) -> arb:
    """Of sums at equal steps, at the y where the bound is about least."""
    y = 2 * arb.pi() / (step * sharpness)
    return 2 * (sharpness * y * y / 2).exp() / ((2 * arb.pi() * y / step).exp() - 1)
