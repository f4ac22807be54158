"""How much of a table a set of items covers, and how fast the table's counts fall.

They read private data: for experiments only.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import written
from shortlist.metrics._positions import Positions, positions_of

_LARGEST = 700.0  # logarithm of a float
_ROUNDING = 2.0**-40  # relative: so that no count is above the curve by the rounding of floats


class Zipf(NamedTuple):
    """That the r-th largest count is at most a share C/r^s of all pairs, for every rank r.

    Attributes:
        C: The share that the largest count may have.
        s: How fast counts fall with their rank.
    """

    C: float
    s: float


def missing_mass(
    counts: NDArray[np.integer],
    positions: Positions,
    p: float = 1,
) -> float:
    """MM_p: the ℓp norm of the missed items' counts, as shares of all pairs.

    p = 1 is the share of all pairs that are of items not named; p = inf the share of the most
    frequent item not named; p = 0 the number of items not named. Items that nobody holds are no
    part of it.

    Reads private data: for experiments only.

    Args:
        counts: How many users hold each item, shape (n,).
        positions: The items named, as positions in `counts`, in any order.
        p: 0, 1 or inf.

    Returns:
        Where there are no pairs: 0.

    Raises:
        ValueError: A position is no item's, or p another number.

    Source: Dick et al. (2026), Definition 2.2 and equation 1.

    >>> counts = np.array([6, 3, 1, 0])
    >>> [missing_mass(counts, [0], p) for p in (0, 1, np.inf)]
    [2.0, 0.4, 0.3]
    """
    counts = np.asarray(counts, np.int64)
    missed = counts.copy()
    missed[positions_of(positions, len(counts))] = 0
    total = max(int(counts.sum()), 1)
    if p == 0:
        return float(np.count_nonzero(missed))
    if p == 1:
        return int(missed.sum()) / total
    if p == math.inf:
        return int(missed.max(initial=0)) / total
    raise ValueError(f"p={written(p)}: must be 0, 1 or inf.")


def zipf_fit(counts: NDArray[np.integer], s: float | None = None) -> Zipf:
    """The smallest C with which the counts are (C, s)-Zipfian: N_(r)/N <= C/r^s for all ranks r.

    C and s are what the bounds of `shortlist.bounds` assume about a table. Take them from public
    or synthetic data that resembles it: this function reads private data, and its C and s say
    something about single users.

    Args:
        counts: How many users hold each item, shape (n,); items that nobody holds are left out.
        s: How fast counts fall. By default as fast as in the tail: the slope of a line fitted by
            least squares to the logarithms of counts and ranks, from rank sqrt(n) on, where equal
            distances on the axis weigh the same.

    Returns:
        C, rounded up, and s.

    Raises:
        ValueError: Nobody holds anything, the tail has one count alone and so no slope, or s is no
            number or so large that C is none.

    Source: Dick et al. (2026), Definition 3.1.

    >>> zipf_fit(np.array([400, 100, 44, 25, 16, 11, 8, 6, 4, 4]), s=2.0).C  # 400/r² and less
    0.647249190...
    """
    falling = np.sort(np.asarray(counts, np.int64))[::-1]
    falling = falling[falling > 0]
    if not len(falling):
        raise ValueError("counts: nobody holds any item, so there is nothing to fit.")
    # Of equal counts the last is the one that the curve must reach.
    last = np.flatnonzero(np.diff(falling, append=0))
    ranks = (last + 1).astype(np.float64)
    shares = falling[last] / falling.sum()
    if s is None:
        s = _tail_slope(ranks, falling[last])
    steep = s * np.log(ranks) if math.isfinite(s) else np.inf
    log_c = float(np.max(np.log(shares) + steep))
    if not log_c < _LARGEST:
        raise ValueError(f"s={written(s)}: must be a number for which C is one that floats hold.")
    return Zipf(math.exp(log_c) * (1 + _ROUNDING), float(s))


def _tail_slope(ranks: NDArray[np.float64], counts: NDArray[np.int64]) -> float:
    tail = ranks >= math.sqrt(ranks[-1])
    if np.count_nonzero(tail) < 2:
        raise ValueError("s=None: the tail has one count alone, and no slope; give s.")
    # On a logarithmic axis, values near a count lie as densely as the count is large.
    dense = 1 / np.sqrt(counts[tail])
    slope, _ = np.polyfit(np.log(ranks[tail]), np.log(counts[tail]), 1, w=dense)
    return -float(slope)
