"""Users who give weight to their items within accounts, and pairs that are found among others."""

from __future__ import annotations

import math

import numpy as np

from shortlist.kernels.compiling import kernel


@kernel("void(int64[::1], int64[::1], int64[::1], int64[::1], int64, int64[::1], int64[::1])")
def spend(users, places, boosts, left, least_total, sums, spent):
    """Add each user's weights, in multiples of 2^-20, to the sums of the items.

    The square of a weight is the share of the item's boost, of what is left to the user: of the sum
    of all boosts of the user, or of the least total where they have less. All are whole numbers and
    rounded down. `spent` gets the squares of what was really added.

    Args:
        users: Codes, rising: one for each item that gets a weight.
        places: Where the items' sums are.
        boosts: Of each item, by its place.
        left: What each user may add, below 2^41.
        least_total: Above 0.
        sums: Of each item, by its place.
        spent: By each user.
    """
    first, n = 0, len(users)
    while first < n:
        user, end, total = users[first], first, np.int64(0)
        while end < n and users[end] == user:
            total += boosts[places[end]]
            end += 1
        total = max(total, least_total)
        for i in range(first, end):
            square = left[user] * boosts[places[i]] // total
            weight = np.int64(math.sqrt(np.float64(square)))  # of at most 2^41: exact
            sums[places[i]] += weight
            spent[user] += weight * weight
        first = end


@kernel("void(int64[::1], int64[::1], bool_[::1])")
def mark(rising, among, found):
    """Note for each of the rising numbers whether it is one of the others, which rise, too."""
    at = 0
    for i in range(len(rising)):
        while at < len(among) and among[at] < rising[i]:
            at += 1
        found[i] = at < len(among) and among[at] == rising[i]
