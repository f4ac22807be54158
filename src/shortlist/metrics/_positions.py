"""What an answer must be to be measured: positions of items, and a k that counts some."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shortlist.errors import is_whole, written

Positions = Sequence[int] | NDArray[np.integer]


def positions_of(positions: Positions, n_items: int) -> NDArray[np.int64]:
    """The positions as an array.

    Raises:
        ValueError: One is no whole number, or not below `n_items`.
    """
    given = np.asarray(positions)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise ValueError("positions: must be whole numbers, a sequence of them.")
    if given.size and not (given.min() >= 0 and given.max() < n_items):
        raise ValueError(f"positions: must be from 0 to {n_items - 1}, of {n_items} items.")
    return given.astype(np.int64)


def require_k(k: int) -> None:
    if not (is_whole(k) and k >= 1):
        raise ValueError(f"k={written(k)}: must be a whole number, at least 1.")
