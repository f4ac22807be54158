"""Users who weight their items by what earlier rounds released of each."""

from __future__ import annotations

import math

import numpy as np

from shortlist.kernels.compiling import kernel

FOUND, DROPPED = -1, -2
"""In the place of a boost: of an item that is found, and of one that is dropped, for good."""

_ONE = 2**40  # the square of a weight of 1
_SHORT = 1 - 2.0**-50  # what is multiplied by it is not rounded up, in three operations


def steer(starts, sizes, items, first, last, left, kept, dropped, boosts, floors, caps, sums):
    """Add each user's weights, in multiples of 2^-20, to the sums of the items that are left.

    The square of a weight is the floor of the user's size, and a part of what is left, in
    proportion to the square of the item's boost; at most the square of the size's cap. So the
    squares of any m of the weights add up to at most 1 - (n - m) floor, of n items not found: an
    item that is dropped keeps its floor, which is added to no sum. Everything is rounded down, and
    no place in an array plays a part: squares and their sum are whole numbers, and floats are
    multiplied and rooted alone, one by one.

    `left` is how many of each user's items were left so far, which come first; what is still left
    is written to `kept`, which may be `items`, and counted in `left`, and what is dropped in
    `dropped`. `boosts` are from 0 to 2^11, of each item; or `FOUND` or `DROPPED`. `floors` and
    `caps`, of each size, are in multiples of 2^-40.
    """
    room = np.empty(len(floors))  # in a loop Numba would load all that it knows of arrays for it
    arrays = left, kept, dropped, boosts, floors, caps, room, sums
    steer_within(starts, sizes, items, first, last, *arrays)


@kernel(
    "void(int64[::1], int64[::1], uint32[::1], int64, int64, int64[::1], uint32[::1], "
    "int64[::1], int16[::1], int64[::1], int64[::1], float64[::1], int64[::1])"
)
def steer_within(
    starts, sizes, items, first, last, left, kept, dropped, boosts, floors, caps, room, sums
):
    """Do what `steer` says, with room for the squares of one user: whole numbers, exact."""
    for user in range(first, last):
        n, gone, squares, start = np.int64(0), np.int64(0), np.int64(0), starts[user]
        for place in range(start, start + left[user]):  # without a branch: none could be foreseen
            item = items[place]
            boost = np.int64(boosts[item])
            kept[start + n] = item
            room[n] = boost * boost
            n += boost >= 0
            gone += boost == DROPPED
            squares += boost * boost if boost >= 0 else 0
        left[user] = n
        dropped[user] += gone
        if n == 0:
            continue
        size = sizes[user]
        rest = _ONE - (n + dropped[user]) * floors[size]
        share = rest / squares * _SHORT if squares else 0.0
        floor, cap = np.float64(floors[size]), np.float64(caps[size])
        for i in range(n):
            square = floor + np.floor(room[i] * share)
            room[i] = math.sqrt(square if square < cap else cap)
        for i in range(n):
            weight = np.int64(room[i])
            if weight:  # where it is 0, nothing is looked up for nothing
                sums[kept[start + i]] += weight


@kernel("int64(int64[::1], int64, int64, int64[::1], int64[::1], int64[::1], int64[::1])")
def hear(noisy, part, bar, items, so_far, left, found):
    """Add the noisy sum of each item, `part` times, to those so far.

    Items that reach the bar are written to `found`, others to `left`, and the sums of these to the
    front of `so_far`. Returns how many are found.
    """
    n = np.int64(0)
    for i in range(len(items)):
        now = so_far[i] + part * noisy[i]
        if now >= bar:
            found[n] = items[i]
            n += 1
        else:
            left[i - n] = items[i]
            so_far[i - n] = now
    return n


@kernel("int64(int64[::1], int64[::1], int16[::1], int16[::1])")
def spread_boosts(items, so_far, boosts, of_all):
    """Write the items' boosts to their places among those of all.

    What is dropped leaves the items and the sums so far; how many are left is returned.
    """
    n = np.int64(0)
    for i in range(len(items)):
        of_all[items[i]] = boosts[i]
        items[n], so_far[n] = items[i], so_far[i]
        n += boosts[i] != DROPPED
    return n


@kernel("void(int64[::1], int16[::1], int64, int64, int16[::1])")
def look_up_boosts(so_far, table, shift, base, boosts):
    """The entry of each sum's cell, of 2^shift, counted from `base`; that of an end beyond it."""
    last = len(table) - 1
    for i in range(len(so_far)):
        cell = (so_far[i] >> shift) - base
        cell = cell if cell > 0 else 0
        boosts[i] = table[cell if cell < last else last]
