"""Each user's items: grouped, bounded, weighed."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiling import kernel

__all__ = [
    "NOWHERE",
    "draw_bounds",
    "gather",
    "group",
    "keep_items",
    "partition",
    "pick_subsets",
    "rows_per_bucket",
    "weigh",
]

NOWHERE = 2**32 - 1
"""The place of a code that has none."""


@kernel("void(uint32[::1], int64, int64, int64, int64[::1])")
def rows_per_bucket(users, shift, first, last, sizes):
    """Count the rows first .. last - 1 of each bucket of 2^shift users."""
    for row in range(first, last):
        sizes[users[row] >> shift] += 1


@kernel("void(uint32[::1], uint32[::1], int64, int64, int64, int64[::1], uint64[::1])")
def partition(users, items, shift, first, last, cursors, pairs):
    """Write the rows first .. last - 1 to where their bucket's cursor points.

    A row is packed: the number of the user within the bucket, and the item. Few buckets are few
    places to write to, which the processor's caches follow.
    """
    within = np.uint32((1 << shift) - 1)
    for row in range(first, last):
        bucket = users[row] >> shift
        pairs[cursors[bucket]] = np.uint64(users[row] & within) << 32 | np.uint64(items[row])
        cursors[bucket] += 1


@kernel(
    "void(uint64[::1], int64[:, ::1], int64[::1], int64[::1], int64, "
    "int64[::1], int64[::1], uint32[::1])"
)
def gather(pairs, runs, first_users, ends, bucket, starts, sizes, out):
    """Write the items of each user of a bucket side by side to `out`, in the order of rows.

    They begin at `starts[user]`; `sizes`, at first 0, become their numbers.
    """
    first_user, last_user = first_users[bucket], first_users[bucket + 1]
    base = np.uint64(first_user)  # a place that has no sign costs less to look up
    cursor = ends[bucket]
    for run in range(len(runs)):
        for place in range(runs[run, bucket], runs[run, bucket + 1]):
            sizes[base + (pairs[place] >> np.uint64(32))] += 1
        cursor -= runs[run, bucket + 1] - runs[run, bucket]
    for user in range(first_user, last_user):
        starts[user] = cursor
        cursor += sizes[user]
        sizes[user] = 0
    for run in range(len(runs)):
        for place in range(runs[run, bucket], runs[run, bucket + 1]):
            holder = base + (pairs[place] >> np.uint64(32))
            item = np.uint32(pairs[place] & np.uint64(0xFFFFFFFF))
            out[starts[holder] + sizes[holder]] = item
            sizes[holder] += 1


@kernel(
    "void(uint64[::1], int64[:, ::1], int64[::1], int64[::1], int64, int64, "
    "int64[::1], int64[::1], uint32[::1], uint32[::1], int64[::1])"
)
def group(pairs, runs, first_users, ends, first, last, starts, sizes, out, seen, counts):
    """Group the pairs of the buckets first .. last - 1 by user, each item once.

    Writes each user's items side by side to `out`, from `starts[user]` on, sets `sizes` to the
    number of distinct ones, and adds to the items' `counts`. `seen` is scratch space, one entry an
    item, initially 0: one more than the last user met with the item.
    """
    for bucket in range(first, last):
        gather(pairs, runs, first_users, ends, bucket, starts, sizes, out)
        for user in range(first_users[bucket], first_users[bucket + 1]):
            distinct = starts[user]
            for place in range(starts[user], starts[user] + sizes[user]):
                item = out[place]
                if seen[item] != user + 1:
                    seen[item] = user + 1
                    counts[item] += 1
                    out[distinct] = item
                    distinct += 1
            sizes[user] = distinct - starts[user]


@kernel("void(int64[::1], int64[::1], int64[::1])")
def draw_bounds(sizes, steps, bounds):
    """For each user with m items, the sizes m, m-1, … of what a shuffle's steps choose from."""
    place = 0
    for user in range(len(sizes)):
        for step in range(steps[user]):
            bounds[place] = sizes[user] - step
            place += 1


@kernel("void(int64[::1], int64[::1], int64[::1], uint32[::1])")
def pick_subsets(starts, steps, choices, items):
    """The first steps of a Fisher-Yates shuffle: a uniform subset comes to each user's front."""
    place = 0
    for user in range(len(starts)):
        for step in range(steps[user]):
            here = starts[user] + step
            there = here + choices[place]
            items[here], items[there] = items[there], items[here]
            place += 1


@kernel(
    "void(int64[::1], int64[::1], uint32[::1], uint32[::1], int64, int64, "
    "uint32[::1], int64[::1], int64[::1], int64[::1])"
)
def keep_items(starts, sizes, items, places, first, last, kept, begins, left, n_left):
    """Of the items of the users first .. last - 1 keep those that have a place.

    Their places come side by side in `kept`, none before where the first of these users' items
    were: those of other users are not overwritten, and little memory is touched. Users who keep
    nothing are left out: sets where each other's begin, and how many there are, from number
    `first` on, and how many users these are. Users' items must lie in the order of users.
    """
    cursor, n = np.int64(-1), np.int64(first)
    for user in range(first, last):
        if cursor < 0 and sizes[user] > 0:
            cursor = starts[user]
        begin = cursor
        for place in range(starts[user], starts[user] + sizes[user]):
            new = places[items[place]]
            kept[cursor] = new  # kept or not: a branch would cost more
            cursor += new != NOWHERE
        if cursor > begin:
            begins[n], left[n] = begin, cursor - begin
            n += 1
    n_left[0] = n - first


@kernel("void(int64[::1], int64[::1], uint32[::1], int64, int64, int64[::1], int64[::1])")
def weigh(starts, sizes, items, first, last, weight_of_size, weights):
    """Add each user's weight, which depends on the number of items held, to all these items."""
    for user in range(first, last):
        weight = weight_of_size[sizes[user]]
        for place in range(starts[user], starts[user] + sizes[user]):
            weights[items[place]] += weight
