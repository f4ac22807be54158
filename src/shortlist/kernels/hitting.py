"""Users reached by picked items, and items in the order of how many they would reach yet."""

from __future__ import annotations

from shortlist.kernels.compiling import kernel

__all__ = ["distinct", "find_hit", "invert", "lower", "reach", "sort_falling"]


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


@kernel("void(int64, int64[::1], int64[::1], int64[::1], int64[::1])")
def lower(place, counts, at_least, order, ranks):
    """Make a count smaller by 1: it changes places with the last of those equal to it."""
    count, rank = counts[place], ranks[place]
    last = at_least[count] - 1
    other = order[last]
    order[rank], ranks[other] = other, rank
    order[last], ranks[place] = place, last
    counts[place], at_least[count] = count - 1, last


@kernel(
    "void(uint32[::1], bool_[::1], int64[::1], int64[::1], uint32[::1], int64[::1], "
    "int64[::1], int64[::1], int64[::1], int64[::1])"
)
def reach(holders, reached, starts, sizes, items, places, counts, at_least, order, ranks):
    """Mark these users as reached; of those who were not, the items count one user less."""
    for i in range(len(holders)):
        user = holders[i]
        if not reached[user]:
            reached[user] = True
            for j in range(starts[user], starts[user] + sizes[user]):
                place = places[items[j]]
                if place >= 0:
                    lower(place, counts, at_least, order, ranks)


@kernel("int64(int64[::1], int64[::1], int64[::1], int64[::1])")
def distinct(counts, at_least, order, values):
    """Write the distinct counts of the first at_least[0] of the order; return how many they are."""
    found, rank = 0, 0
    while rank < at_least[0]:
        values[found] = counts[order[rank]]
        rank = at_least[values[found]]
        found += 1
    return found
