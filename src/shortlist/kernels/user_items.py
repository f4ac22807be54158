"""Each user's items: grouped, bounded, weighed, reached."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiling import inner_kernel, kernel
from shortlist.kernels.hashing import NOWHERE


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


@inner_kernel(
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


@kernel("int64(int64[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], int64[::1])")
def renumber(starts, sizes, items, numbers, renumbered, codes):
    """Number the items anew, in the order in which users' sets first have them; how many there are.

    Those that one user has then lie side by side. `numbers`, of each item, are `NOWHERE` at first;
    users' items are written to `renumbered`, and what each of them was to `codes`.
    """
    n = np.int64(0)
    for user in range(len(starts)):
        for place in range(starts[user], starts[user] + sizes[user]):
            number = numbers[items[place]]
            if number == NOWHERE:
                number = np.uint32(n)
                numbers[items[place]] = number
                codes[n] = items[place]
                n += 1
            renumbered[place] = number
    return n


@kernel("void(int64[::1], int64[::1], uint32[::1], int64, int64, int64[::1], int64[::1])")
def weigh(starts, sizes, items, first, last, weight_of_size, weights):
    """Add each user's weight, which depends on the number of items held, to all these items."""
    for user in range(first, last):
        weight = weight_of_size[sizes[user]]
        for place in range(starts[user], starts[user] + sizes[user]):
            weights[items[place]] += weight


@kernel("void(int64[::1], int64[::1], uint32[::1], boolean[::1], boolean[::1])")
def find_hit(starts, sizes, items, named, hit):
    """Set `hit` for each user who holds one of the items that are `named`."""
    for user in range(len(starts)):
        for place in range(starts[user], starts[user] + sizes[user]):
            if named[items[place]]:
                hit[user] = True
                break


@kernel("void(int64[::1], int64[::1], uint32[::1], int64[::1], int64[::1], uint32[::1])")
def invert(starts, sizes, items, places, cursors, holders):
    """Write who holds each item whose entry in `places` is 0 or more to where its cursor points."""
    for user in range(len(starts)):
        for i in range(starts[user], starts[user] + sizes[user]):
            place = places[items[i]]
            if place >= 0:
                holders[cursors[place]] = user
                cursors[place] += 1


@kernel("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def sort_falling(counts, ends, order, ranks):
    """Write the places of the counts to `order`, by falling count, and their ranks to `ranks`.

    `ends[c]` is the number of counts of at least c, and becomes that of counts above c.
    """
    for place in range(len(counts)):
        ends[counts[place]] -= 1
        ranks[place] = ends[counts[place]]
        order[ranks[place]] = place


@kernel("void(int64, int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def lower(place, counts, at_least, order, ranks, falling):
    """Make a count smaller by 1: it changes places with the last of those equal to it.

    `falling` are the counts in the order.
    """
    count, rank = counts[place], ranks[place]
    last = at_least[count] - 1
    other = order[last]
    order[rank], ranks[other] = other, rank
    order[last], ranks[place] = place, last
    counts[place], at_least[count], falling[last] = count - 1, last, count - 1


@kernel(
    "void(uint32[::1], bool_[::1], int64[::1], int64[::1], uint32[::1], int64[::1], "
    "int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])"
)
def reach(holders, reached, starts, sizes, items, places, counts, at_least, order, ranks, falling):
    """Mark these users as reached; of those who were not, the items count one user less."""
    for i in range(len(holders)):
        user = holders[i]
        if not reached[user]:
            reached[user] = True
            for j in range(starts[user], starts[user] + sizes[user]):
                place = places[items[j]]
                if place >= 0:
                    lower(place, counts, at_least, order, ranks, falling)


@kernel("int64(int64[::1], int64[::1], int64[::1], int64[::1])")
def distinct(falling, at_least, values, sizes):
    """Write the distinct ones of the first at_least[0] falling counts, and how many have each.

    Returns how many distinct ones there are.
    """
    found, rank = 0, 0
    while rank < at_least[0]:
        values[found] = falling[rank]
        end = at_least[values[found]]
        sizes[found] = end - rank
        rank = end
        found += 1
    return found
