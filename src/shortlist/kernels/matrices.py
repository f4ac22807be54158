"""Rows of a matrix: how far apart they are."""

from __future__ import annotations

from shortlist.kernels.compiling import kernel

__all__ = ["farthest"]


@kernel("void(float64[:, ::1], int64, int64, float64[::1])", fastmath={"reassoc", "nsz"})
def farthest(rows, first, last, distances):
    """The largest ℓ1 distance of each row from first to last - 1 to one at or behind first.

    Sums may be taken in any order, so that several terms are added at once.
    """
    for j in range(first, len(rows)):
        for i in range(first, last):
            distance = 0.0
            for k in range(rows.shape[1]):
                distance += abs(rows[i, k] - rows[j, k])
            distances[i] = max(distances[i], distance)
