"""Each user's items: grouped, bounded, weighed."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiling import kernel

__all__ = [
    "draw_bounds",
    "group",
    "keep_items",
    "keep_within",
    "map_items",
    "partition",
    "pick_subsets",
    "place_items",
    "rows_per_bucket",
    "weigh",
]


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
    within = (1 << shift) - 1
    for row in range(first, last):
        bucket = users[row] >> shift
        pairs[cursors[bucket]] = np.uint64(users[row] & within) << 32 | np.uint64(items[row])
        cursors[bucket] += 1


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
        first_user, last_user = first_users[bucket], first_users[bucket + 1]
        cursor = ends[bucket]
        for run in range(len(runs)):
            for place in range(runs[run, bucket], runs[run, bucket + 1]):
                sizes[first_user + np.int64(pairs[place] >> 32)] += 1
            cursor -= runs[run, bucket + 1] - runs[run, bucket]
        for user in range(first_user, last_user):
            starts[user] = cursor
            cursor += sizes[user]
            sizes[user] = 0
        for run in range(len(runs)):
            for place in range(runs[run, bucket], runs[run, bucket + 1]):
                user = first_user + np.int64(pairs[place] >> 32)
                out[starts[user] + sizes[user]] = np.uint32(pairs[place] & 0xFFFFFFFF)
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


@kernel("void(int64[::1], int64[::1], uint32[::1], int64[::1])")
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


@kernel("void(int64[::1], int64[::1], uint32[::1], int64, int64, int64[::1], int64[::1])")
def weigh(starts, sizes, items, first, last, weight_of_size, weights):
    """Add each user's weight, which depends on the number of items held, to all these items."""
    for user in range(first, last):
        weight = weight_of_size[sizes[user]]
        for place in range(starts[user], starts[user] + sizes[user]):
            weights[items[place]] += weight


@kernel(
    "void(int64[::1], int64[::1], uint32[::1], uint32[::1], int64, int64, "
    "int64[::1], uint32[::1], int64[::1])"
)
def map_items(starts, sizes, items, images, first, last, mapped, seen, counts):
    """Put the image of each item of the users first .. last - 1 in its place, each image once.

    Sets their numbers in `mapped` and adds to the images' `counts`. `seen` is scratch space, one
    entry an image, initially 0: one more than the last user met with it. The items are overwritten.
    """
    for user in range(first, last):
        kept = np.int64(0)
        for place in range(starts[user], starts[user] + sizes[user]):
            image = images[items[place]]
            if seen[image] != user + 1:
                seen[image] = user + 1
                counts[image] += 1
                items[starts[user] + kept] = image
                kept += 1
        mapped[user] = kept


@kernel(
    "void(int64[::1], int64[::1], uint32[::1], uint32[::1], int64[::1], int64[::1], uint32[::1], "
    "int64, int64, int64[::1], int64[::1])"
)
def keep_within(
    starts, sizes, items, images, kept_starts, kept_sizes, kept, first, last, left, counts
):
    """Of the items of the users first .. last - 1 keep those whose image is one the user keeps.

    Sets the numbers of those in `left`, and adds to the items' `counts`. The items are moved.
    """
    for user in range(first, last):
        n = np.int64(0)
        for place in range(starts[user], starts[user] + sizes[user]):
            item = items[place]
            for other in range(kept_starts[user], kept_starts[user] + kept_sizes[user]):
                if kept[other] == images[item]:
                    items[starts[user] + n] = item
                    counts[item] += 1
                    n += 1
                    break
        left[user] = n


@kernel(
    "void(int64[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], int64[::1], int64[::1], "
    "int64, int64, int64, int64[::1], int64[::1])"
)
def place_items(
    starts, sizes, items, lines, columns, of_line, of_column, width, first, last, left, counts
):
    """Of the items of the users first .. last - 1 keep those with a place, and put it instead.

    The place is that of the item's line, times the width, and that of its column: both 0 or more.
    Sets the numbers of those in `left`, and adds to the places' `counts`.
    """
    for user in range(first, last):
        n = np.int64(0)
        for place in range(starts[user], starts[user] + sizes[user]):
            item = items[place]
            line, column = of_line[lines[item]], of_column[columns[item]]
            if line >= 0 and column >= 0:
                new = line * width + column
                counts[new] += 1
                items[starts[user] + n] = new
                n += 1
        left[user] = n
