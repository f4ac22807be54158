"""Value functions at the losses that a coin moves to, computed once for each question."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache, partial

from shortlist.privacy._curves import zcdp_delta
from shortlist.privacy.accountant._directions import Reading, both_directions
from shortlist.privacy.accountant._grid import Grid
from shortlist.privacy.accountant._normal import gaussian_curve
from shortlist.privacy.accountant._resolution import spacing
from shortlist.privacy.accountant._value import Valuation
from shortlist.privacy.accountant.stages import Stages, is_gaussian, mu_of

__all__ = ["Reader", "reader", "valuation"]

_LEAST = 1e-300  # of what may be left out
_LEFT_OUT = 1e-6  # of delta, at the ends of windows
_FAR = 4.0  # standard deviations of the loss, up to which a coin moves it on a grid


@dataclass(frozen=True)
class Reader:
    """Value functions of some stages at one epsilon, rounded up; those computed once are kept.

    Attributes:
        stages: They.
        epsilon: Of the guarantee.
        fineness: Of the grid.
        rho: Of all stages.
    """

    stages: Stages
    epsilon: float
    fineness: float
    rho: float

    def value(self, shared: float, lost: float) -> float:
        """The worst of both directions, for a user of these novel items."""
        if lost >= 1:
            return 1.0
        far = _FAR * math.sqrt(2 * self.rho)
        if not is_gaussian(self.stages) and -math.log1p(-lost) > far:
            # No grid reaches so far. Between R and R = 0, the function is below its chord.
            return lost + (1 - lost) * self.value(shared, 0.0)
        return both_directions(self._reading(shared, lost), lost)

    def value_beside(self, shared: float, lost: float) -> float:
        """The same where what is lost says nothing: it may hang together with all else."""
        return min(lost + self.value(shared, 0.0), 1.0)

    def _reading(self, shared: float, lost: float) -> Reading:
        if is_gaussian(self.stages):
            return partial(self._curve, mu_of(self.stages, shared) * (1 + 2.0**-49))
        valuation = self._valuation(0.0)
        if (moved := -math.log1p(-lost)) > valuation.grid.step:
            valuation = self._valuation(2.0 ** math.ceil(math.log2(moved)))
        profile = valuation.value(self.stages, shared)
        return partial(valuation.grid.at, profile)

    def _curve(self, mu: float, loss: float) -> float:
        excess = self.epsilon - loss
        excess -= 2.0**-51 * (self.epsilon + abs(loss))
        return float(gaussian_curve(excess, mu, up=True))

    @lru_cache(maxsize=4)  # noqa: B019 - the readers are few, and kept in a small cache themselves
    def _valuation(self, start: float) -> Valuation:
        return valuation(self.stages, self.epsilon, self.fineness, self.rho, start, up=True)


@lru_cache(maxsize=16)
def reader(stages: Stages, epsilon: float, fineness: float, rho: float) -> Reader:
    """One for each of the last few questions."""
    return Reader(stages, epsilon, fineness, rho)


def valuation(
    stages: Stages, epsilon: float, fineness: float, rho: float, start: float, *, up: bool
) -> Valuation:
    """Value functions on a grid for losses from -start to start."""
    precision = min(max(zcdp_delta(rho, max(epsilon, 0.0)) * _LEFT_OUT, _LEAST), 1e-4)
    grid = Grid(*spacing(stages, fineness, up=up), epsilon, up, precision)
    return Valuation(grid, start)
