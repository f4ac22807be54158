"""Compiled loops over plain arrays.

Each kernel works on the users first .. last - 1 alone, so that threads can share the work: they
release the interpreter's lock. One signature each, compiled once and cached on disk; where no cache
can be written they are compiled again in each process.
"""

from __future__ import annotations

from collections.abc import Callable

import numba

__all__ = ["draw_bounds", "pick_subsets", "remove_repeats", "rows_per_user", "scatter", "weigh"]

Kernel = Callable[..., None]


def _kernel(signature: str) -> Callable[[Kernel], Kernel]:
    def compile_(function: Kernel) -> Kernel:
        try:
            kernel: Kernel = numba.njit(signature, cache=True, nogil=True)(function)
        except RuntimeError:  # no folder can be written to
            kernel = numba.njit(signature, nogil=True)(function)
        return kernel

    return compile_


@_kernel("void(uint32[::1], int64, int64, int64[::1])")
def rows_per_user(users, first, last, sizes):
    """Count each user's rows into `sizes`."""
    for user in users:
        if first <= user < last:
            sizes[user] += 1


@_kernel("void(uint32[::1], uint32[::1], int64, int64, int64[::1], uint32[::1])")
def scatter(users, items, first, last, cursors, out):
    """Write each user's items side by side, from `cursors[user]` on; advances the cursors."""
    for row in range(len(users)):
        user = users[row]
        if first <= user < last:
            out[cursors[user]] = items[row]
            cursors[user] += 1


@_kernel("void(int64[::1], int64[::1], uint32[::1], int64, int64, int64[::1], int64[::1])")
def remove_repeats(starts, sizes, items, first, last, seen, counts):
    """Move each user's distinct items to the front, shrink `sizes`, add to the items' `counts`.

    `seen` is scratch space, one entry an item, initially -1: the last user met with the item.
    """
    for user in range(first, last):
        end = starts[user]
        for place in range(starts[user], starts[user] + sizes[user]):
            item = items[place]
            if seen[item] != user:
                seen[item] = user
                counts[item] += 1
                items[end] = item
                end += 1
        sizes[user] = end - starts[user]


@_kernel("void(int64[::1], int64[::1], uint32[::1], int64, int64, int64[::1], int64[::1])")
def weigh(starts, sizes, items, first, last, weight_of_size, weights):
    """Add each user's weight, which depends on the number of items held, to all these items."""
    for user in range(first, last):
        weight = weight_of_size[sizes[user]]
        for place in range(starts[user], starts[user] + sizes[user]):
            weights[items[place]] += weight


@_kernel("void(int64[::1], int64[::1], int64[::1])")
def draw_bounds(sizes, steps, bounds):
    """For each user with m items, the sizes m, m-1, … of what a shuffle's steps choose from."""
    place = 0
    for user in range(len(sizes)):
        for step in range(steps[user]):
            bounds[place] = sizes[user] - step
            place += 1


@_kernel("void(int64[::1], int64[::1], int64[::1], uint32[::1])")
def pick_subsets(starts, steps, choices, items):
    """The first steps of a Fisher-Yates shuffle: a uniform subset comes to each user's front."""
    place = 0
    for user in range(len(starts)):
        for step in range(steps[user]):
            here = starts[user] + step
            there = here + choices[place]
            items[here], items[there] = items[there], items[here]
            place += 1
