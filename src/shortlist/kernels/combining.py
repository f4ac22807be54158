"""Several items of one user at once."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiling import inner_kernel, kernel


@inner_kernel("void(int64[::1])")
def next_combination(combination):
    """The rising places that come next, where the last of them leads."""
    place = 0
    while place + 1 < len(combination) and combination[place] + 1 == combination[place + 1]:
        combination[place] = place
        place += 1
    combination[place] += 1


@kernel("void(int64[::1], int64[::1], uint32[::1], int64, int64, uint32[:, ::1])")
def combine(starts, sizes, items, first, last, out):
    """Write all combinations of their items that the users first .. last - 1 hold, one a column.

    The codes of each rise.
    """
    of, written = len(out), 0
    combination = np.empty(of, np.int64)
    for user in range(first, last):
        held = np.sort(items[starts[user] : starts[user] + sizes[user]])
        for place in range(of):
            combination[place] = place
        while combination[of - 1] < sizes[user]:
            for place in range(of):
                out[place, written] = held[combination[place]]
            written += 1
            next_combination(combination)


@kernel("void(int64[::1], int64[::1], uint32[::1], int64, int64, int64[::1])")
def count_pairs(starts, sizes, items, first, last, counts):
    """Add up the pairs of items that users hold: that of i < j at j (j - 1) / 2 + i."""
    for user in range(first, last):
        begin = starts[user]
        for place in range(begin, begin + sizes[user]):
            one = np.int64(items[place])
            for before in range(begin, place):
                other = np.int64(items[before])
                low, high = min(one, other), max(one, other)
                counts[high * (high - 1) // 2 + low] += 1
