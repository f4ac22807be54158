"""The walk from losers to winners, and its stationary distribution with a proven error.

From an item the walk moves to one that it was compared with: to each with a probability that is the
share of their comparisons that the other won, over a common degree. So it is often where much was
won against those that win much. Errors are shown in `docs/proofs/spectral-ranking.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shortlist.draws import Floats, Ints
from shortlist.evidence import Outcomes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

GRID = 2.0**-60
"""Shares are integers in multiples of it, and make 2^60 of them together."""

# After so many steps it is measured how far the shares still are from stationary.
_EVERY = 4
# So many steps are those of a walk that leaves each item at about the same pace,
_QUICK = 64
# of which no step is quicker than by this factor,
_SLOWEST = 2.0**-10
# and which is damped, so that shares do not swing between two parts for ever.
_DAMPED = 7 / 8


@dataclass(frozen=True)
class Walk:
    """A random walk on items.

    Attributes:
        into: The probability of a step to i from j, for i other than j, in row i and column j.
        leaving: The probability of any such step from each item, shape (n_items,).
        most: How many others an item was compared with at most.
    """

    into: csr_array
    leaving: Floats
    most: int

    @classmethod
    def of(cls, outcomes: Outcomes, degree: int) -> Walk:
        """The walk on these items; no item was compared with more than `degree` others."""
        from scipy.sparse import coo_array

        each = outcomes.times.astype(np.float64) * degree
        steps = np.concatenate([outcomes.wins / each, (outcomes.times - outcomes.wins) / each])
        to = np.concatenate([outcomes.first, outcomes.second])
        start = np.concatenate([outcomes.second, outcomes.first])
        n = outcomes.n_items
        into = coo_array((steps, (to, start)), shape=(n, n)).tocsr()
        leaving = np.bincount(start, steps, minlength=n).astype(np.float64)  # if there is none
        return cls(into, leaving, int(outcomes.degrees.max(initial=0)))

    @property
    def rounding(self) -> float:
        """A bound of what rounding does to one step of a distribution, in ℓ1 norm."""
        return (self.most + 16) * 2.0**-52 + len(self.leaving) * 2.0**-58

    def change(self, shares: Floats) -> Floats:
        """By how much one step changes each item's share, shape (n_items,)."""
        arriving: Floats = self.into @ shares
        return arriving - self.leaving * shares

    def residual(self, whole: Ints) -> float:
        """A proven bound of the ℓ1 norm of what one step changes, of shares in units of `GRID`."""
        shares = whole.astype(np.float64) * GRID
        return float(np.abs(self.change(shares)).sum()) * (1 + 2.0**-20) + self.rounding

    def stationary(self, *, tolerance: float, steps: int) -> Ints:
        """Shares that one step changes by at most `tolerance` in ℓ1 norm, in units of `GRID`.

        Those after `steps` steps, if no earlier ones do: where each step brings two distributions
        nearer by a factor of at most rho, ln(8 / tolerance) / (1 - rho) steps are enough for a
        tolerance of at least 8 `rounding` / (1 - rho), wherever they begin. They begin where a
        quicker walk of the same balance has come, which most often is near enough.

        Returns:
            0 or more, together exactly 2^60, shape (n_items,).
        """
        n = len(self.leaving)
        shares: Floats = np.full(n, 1 / max(n, 1))
        quicker = _DAMPED / np.maximum(self.leaving, _SLOWEST)
        for step in range(_QUICK + steps):
            if step % _EVERY == 0:
                whole = on_grid(shares)
                if self.residual(whole) <= tolerance:
                    return whole
            shares += self.change(shares) * (quicker if step < _QUICK else 1.0)
            np.maximum(shares, 0, out=shares)  # less than nothing by rounding
            if step < _QUICK:
                shares /= shares.sum()
        return on_grid(shares)


def on_grid(shares: Floats) -> Ints:
    """In units of `GRID`, so that they make one whole exactly; the largest takes what is over."""
    if not len(shares):
        return np.empty(0, np.int64)
    whole: Ints = np.rint(shares / (shares.sum() * GRID)).astype(np.int64)
    whole[whole.argmax()] += round(1 / GRID) - int(whole.sum())
    return whole


def is_connected(outcomes: Outcomes) -> bool:
    """Whether comparisons link each item to each other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if outcomes.n_items <= 1:
        return True
    linked = (np.ones(len(outcomes.first)), (outcomes.first, outcomes.second))
    graph = coo_array(linked, shape=(outcomes.n_items, outcomes.n_items))
    return int(connected_components(graph, directed=False, return_labels=False)) == 1
