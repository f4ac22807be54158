"""Compiled loops over plain arrays.

Those with `first` and `last` do one part of the work, so that threads share it: they release the
interpreter's lock. One signature each, compiled once and cached on disk; where no cache
can be written they are compiled again in each process.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numba

__all__ = [
    "add_up",
    "draw_bounds",
    "farthest",
    "find_members",
    "group",
    "keep_items",
    "partition",
    "pick_subsets",
    "rows_per_bucket",
    "slack_jumps",
    "tally",
    "weigh",
]

Kernel = Callable[..., None]
_LARGE = 1e200  # what grows is turned into its logarithm before it overflows


def _kernel(signature: str, **options: object) -> Callable[[Kernel], Kernel]:
    def compile_(function: Kernel) -> Kernel:
        try:
            kernel: Kernel = numba.njit(signature, cache=True, nogil=True, **options)(function)
        except RuntimeError:  # no folder can be written to
            kernel = numba.njit(signature, nogil=True, **options)(function)
        return kernel

    return compile_


@_kernel("void(uint32[::1], int64, int64, int64, int64[::1])")
def rows_per_bucket(users, shift, first, last, sizes):
    """Count the rows first .. last - 1 of each bucket of 2^shift users."""
    for row in range(first, last):
        sizes[users[row] >> shift] += 1


@_kernel("void(uint32[::1], uint32[::1], int64, int64, int64, int64[::1], uint64[::1])")
def partition(users, items, shift, first, last, cursors, pairs):
    """Write the rows first .. last - 1 to where their bucket's cursor points, user and item packed.

    Few buckets are few places to write to, which the processor's caches follow.
    """
    for row in range(first, last):
        bucket = users[row] >> shift
        pairs[cursors[bucket]] = numba.uint64(users[row]) << 32 | numba.uint64(items[row])
        cursors[bucket] += 1


@_kernel(
    "void(uint64[::1], int64[::1], int64, int64, int64, "
    "int64[::1], int64[::1], uint32[::1], uint32[::1], int64[::1])"
)
def group(pairs, bucket_starts, shift, first, last, starts, sizes, out, seen, counts):
    """Group the pairs of the buckets first .. last - 1 by user, each item once.

    Writes each user's items side by side to `out`, from `starts[user]` on, sets `sizes` to the
    number of distinct ones, and adds to the items' `counts`. `seen` is scratch space, one entry an
    item, initially 0: one more than the last user met with the item.
    """
    for bucket in range(first, last):
        begin, end = bucket_starts[bucket], bucket_starts[bucket + 1]
        for place in range(begin, end):
            sizes[pairs[place] >> 32] += 1
        first_user = bucket << shift
        last_user = min(first_user + (1 << shift), len(starts))
        cursor = begin
        for user in range(first_user, last_user):
            starts[user] = cursor
            cursor += sizes[user]
            sizes[user] = 0
        for place in range(begin, end):
            user = pairs[place] >> 32
            item = numba.uint32(pairs[place] & 0xFFFFFFFF)
            out[starts[user] + sizes[user]] = item
            sizes[user] += 1
        for user in range(first_user, last_user):
            distinct = starts[user]
            for place in range(starts[user], starts[user] + sizes[user]):
                item = out[place]
                if seen[item] != user + 1:
                    seen[item] = user + 1
                    counts[item] += 1
                    out[distinct] = item
                    distinct += 1
            sizes[user] = distinct - starts[user]


@_kernel("void(int64[::1], int64[::1], uint32[::1], int64[::1])")
def keep_items(starts, sizes, items, places):
    """Of each user's items keep those whose entry in `places` is 0 or more, and put that entry."""
    for user in range(len(starts)):
        kept = 0
        for place in range(starts[user], starts[user] + sizes[user]):
            new = places[items[place]]
            if new >= 0:
                items[starts[user] + kept] = new
                kept += 1
        sizes[user] = kept


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


@_kernel("void(int64[::1], int64, int64[::1], int64[::1])")
def tally(counts, low, sizes, beyond):
    """Add up how many counts are low, low + 1, …, and how many lie beyond the end of `sizes`."""
    for position in range(len(counts)):
        place = counts[position] - low
        if place < len(sizes):
            sizes[place] += 1
        else:
            beyond[0] += 1


@_kernel("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def find_members(counts, values, firsts, places, seen, positions):
    """Where in `counts` the wanted members of the wanted values are.

    The wanted `values` are rising; the `places`, among the items of that value, that are wanted of
    value number v are firsts[v] .. firsts[v + 1] - 1 of `places`, rising. `seen` is scratch space,
    initially 0. Most counts lie below all wanted values, and are passed over at once.
    """
    least, left = values[0], len(places)
    cursors = firsts.copy()
    for position in range(len(counts)):
        if counts[position] < least:
            continue
        low, high = 0, len(values)
        while high - low > 1:
            middle = (low + high) // 2
            if values[middle] <= counts[position]:
                low = middle
            else:
                high = middle
        if values[low] != counts[position]:
            continue
        cursor = cursors[low]
        if cursor < firsts[low + 1] and places[cursor] == seen[low]:
            positions[cursor] = position
            cursors[low] += 1
            left -= 1
            if left == 0:
                return
        seen[low] += 1


@_kernel("void(int64[::1], int64[::1], int64, int64[::1], int64[::1], float64[::1])")
def slack_jumps(values, ends, k, near, slacks, jumps):
    """By how much the logarithm of the number of k-sequences jumps, and at which slack.

    The values of groups are falling, and `ends` their running sizes. As the slack reaches the
    distance between a value among the k largest and a smaller value, each place of the first may
    also be taken by the items of the second. For value number t only those before near[t] are
    looked at.
    """
    place, jump = 0, 0
    for top in range(len(near)):
        last = min(ends[top], k)
        for other in range(top + 1, near[top]):
            log, growth = 0.0, 0.0  # sums of positive terms: the error is relative to the sum
            for taken in range(place, last):
                more = (ends[other] - ends[other - 1]) / (ends[other - 1] - taken)
                growth += more + more * growth
                if growth > _LARGE:
                    log += math.log1p(growth)
                    growth = 0.0
            slacks[jump] = values[top] - values[other]
            jumps[jump] = log + math.log1p(growth)
            jump += 1
        place = last


@_kernel("void(float64[::1], float64[::1])")
def add_up(terms, sums):
    """Running sums of positive terms, each as if added up in twice the precision."""
    total, lost = 0.0, 0.0
    for i in range(len(terms)):
        larger, smaller = max(total, terms[i]), min(total, terms[i])
        total = larger + smaller
        lost += smaller - (total - larger)
        sums[i] = total + lost


@_kernel("void(float64[:, ::1], int64, int64, float64[::1])", fastmath={"reassoc", "nsz"})
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
