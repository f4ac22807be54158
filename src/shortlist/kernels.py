"""Compiled loops over plain arrays.

Those with `first` and `last` do one part of the work, so that threads share it: they release the
interpreter's lock. One signature each, compiled at the first call and cached on disk; where no
cache can be written they are compiled again in each process. Numba is loaded with the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np

__all__ = [
    "add_up",
    "count_units",
    "descend",
    "distinct",
    "draw_bounds",
    "farthest",
    "find_hit",
    "find_members",
    "group",
    "invert",
    "keep_items",
    "lower",
    "partition",
    "pick_subsets",
    "reach",
    "rows_per_bucket",
    "slack_jumps",
    "sort_falling",
    "tally",
    "weigh",
]

_LIMB = 21  # bits: three make a number below 2^63, and products of two leave room for sums
_LOW = 2**_LIMB - 1
_SHIFT = 2.0**_LIMB
_LARGE = 1e200  # what grows is turned into its logarithm before it overflows
_COMPILING = RLock()  # threads that share the work call a kernel at once; one may need another


class _Kernel:
    """A loop that is compiled when it is called for the first time, or loaded from the cache."""

    def __init__(self, loop: Callable[..., Any], signature: str, options: dict[str, Any]) -> None:
        self._loop, self._signature, self._options = loop, signature, options

    def __call__(self, *arrays: Any) -> Any:  # noqa: ANN401 - as the loop has them
        return self.compiled(*arrays)

    @property
    def _numba_type_(self) -> Any:  # noqa: ANN401 - Numba's
        """By which a kernel may call another."""
        import numba

        return numba.typeof(self.compiled)

    @cached_property
    def compiled(self) -> Any:  # noqa: ANN401 - Numba's
        """The compiled loop."""
        import numba

        with _COMPILING:
            try:
                return numba.njit(self._signature, cache=True, nogil=True, **self._options)(
                    self._loop
                )
            except RuntimeError:  # no folder can be written to
                return numba.njit(self._signature, nogil=True, **self._options)(self._loop)


def _kernel(signature: str, **options: object) -> Callable[[Callable[..., Any]], _Kernel]:
    return lambda loop: _Kernel(loop, signature, options)


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
        pairs[cursors[bucket]] = np.uint64(users[row]) << 32 | np.uint64(items[row])
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
            item = np.uint32(pairs[place] & 0xFFFFFFFF)
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


@_kernel("void(int64[::1], int64[::1], uint32[::1], boolean[::1], boolean[::1])")
def find_hit(starts, sizes, items, named, hit):
    """Set `hit` for each user who holds one of the items that are `named`."""
    for user in range(len(starts)):
        for place in range(starts[user], starts[user] + sizes[user]):
            if named[items[place]]:
                hit[user] = True
                break


@_kernel("void(int64[::1], int64[::1], uint32[::1], int64[::1], int64[::1], uint32[::1])")
def invert(starts, sizes, items, places, cursors, holders):
    """Write who holds each item whose entry in `places` is 0 or more to where its cursor points."""
    for user in range(len(starts)):
        for i in range(starts[user], starts[user] + sizes[user]):
            place = places[items[i]]
            if place >= 0:
                holders[cursors[place]] = user
                cursors[place] += 1


@_kernel("void(int64[::1], int64[::1], int64[::1], int64[::1])")
def sort_falling(counts, ends, order, ranks):
    """Write the places of the counts to `order`, by falling count, and their ranks to `ranks`.

    `ends[c]` is the number of counts of at least c, and becomes that of counts above c.
    """
    for place in range(len(counts)):
        ends[counts[place]] -= 1
        ranks[place] = ends[counts[place]]
        order[ranks[place]] = place


@_kernel("void(int64, int64[::1], int64[::1], int64[::1], int64[::1])")
def lower(place, counts, at_least, order, ranks):
    """Make a count smaller by 1: it changes places with the last of those equal to it."""
    count, rank = counts[place], ranks[place]
    last = at_least[count] - 1
    other = order[last]
    order[rank], ranks[other] = other, rank
    order[last], ranks[place] = place, last
    counts[place], at_least[count] = count - 1, last


@_kernel(
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


@_kernel("int64(int64[::1], int64[::1], int64[::1], int64[::1])")
def distinct(counts, at_least, order, values):
    """Write the distinct counts of the first at_least[0] of the order; return how many they are."""
    found, rank = 0, 0
    while rank < at_least[0]:
        values[found] = counts[order[rank]]
        rank = at_least[values[found]]
        found += 1
    return found


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


@_kernel("void(int64[::1], int64[::1], uint32[::1], uint32[::1], int64, int64, int64[::1])")
def descend(starts, sizes, items, order, cutoff, one, weights):
    """Each user in turn moves the weights of the items held towards the cutoff, by at most `one`.

    The sum of the gaps' squares is an exact integer, by limbs, so the order of a user's items says
    nothing. As a float it is off by 5 roundings of 2^-53, and the shares computed from it by 7 in
    all; `fits` and `short` are lower by more, so that what is added has norm at most `one`.
    """
    fits, short = one * (1 - 2.0**-50), one * (1 - 2.0**-49)
    for turn in range(len(order)):
        first = starts[order[turn]]
        last = first + sizes[order[turn]]
        hh, hm, hl, mm, ml, ll = 0, 0, 0, 0, 0, 0
        for place in range(first, last):
            gap = cutoff - weights[items[place]]
            high, middle, low = gap >> 2 * _LIMB, gap >> _LIMB & _LOW, gap & _LOW
            hh += high * high
            hm += high * middle
            hl += high * low
            mm += middle * middle
            ml += middle * low
            ll += low * low
        square = ((hh * _SHIFT + 2 * hm) * _SHIFT + (2 * hl + mm)) * _SHIFT
        norm = math.sqrt((square + 2 * ml) * _SHIFT + ll)
        if norm <= fits:
            for place in range(first, last):
                weights[items[place]] = cutoff
        else:
            share = short / norm
            for place in range(first, last):
                gap = cutoff - weights[items[place]]
                weights[items[place]] += np.int64(gap * share)


@_kernel("void(int64[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], int64, int64[::1])")
def count_units(starts, sizes, items, order, ranks, cutoff, counts):
    """Each user in turn adds 1 to the first in rank of the items held that are below the cutoff."""
    for turn in range(len(order)):
        first = starts[order[turn]]
        chosen, least = np.int64(-1), np.int64(1) << 32
        for place in range(first, first + sizes[order[turn]]):
            item = np.int64(items[place])
            if ranks[item] < least and counts[item] < cutoff:
                chosen, least = item, np.int64(ranks[item])
        if chosen >= 0:
            counts[chosen] += 1


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
