"""Numbers alone: tallied, looked up, added up, compared."""

from __future__ import annotations

import math

import numpy as np

from shortlist.kernels.compiling import kernel

_LARGE = 1e200  # what grows is turned into its logarithm before it overflows


@kernel("void(int64[::1], int64, int64[::1], int64[::1])")
def tally(counts, low, sizes, beyond):
    """Add up how many counts are low, low + 1, …, and how many lie beyond the end of `sizes`."""
    for position in range(len(counts)):
        place = counts[position] - low
        if place < len(sizes):
            sizes[place] += 1
        else:
            beyond[0] += 1


@kernel("void(int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1], int64[::1])")
def find_members(counts, values, firsts, cursors, places, seen, positions):
    """Where in `counts` the wanted members of the wanted values are.

    The wanted `values` are rising; the `places`, among the items of that value, that are wanted of
    value number v are firsts[v] .. firsts[v + 1] - 1 of `places`, rising. `cursors` and `seen`
    are scratch space, initially the firsts and 0. Most counts lie below all wanted values, and are
    passed over at once.
    """
    least, left = values[0], len(places)
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


@kernel("void(int64[::1], int64[::1], int64, int64[::1], int64[::1], float64[::1])")
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


@kernel(
    "int64(int64[::1], float64[::1], float64[::1], float64[::1], uint64[::1], float64, float64, "
    "int64[::1])"
)
def choose(counts, left, decays, sums, words, relative, rest, chosen):
    """Choose one after another: which weight a share of all weights, laid end to end, falls in.

    Number i weighs decays[counts[best] - counts[i]] times what is left of it, of falling counts;
    the best is the first of which any is left. Those that the decays do not reach weigh at most
    `rest` together. Each word is a share, in multiples of 2^-64, and what it chooses is one less
    then. `sums` is scratch space. Each end is known up to `relative` times the total, and the rest.

    Returns how many choices are certain, up to the first that is not.
    """
    best = 0
    for done in range(len(words)):
        while left[best] == 0:
            best += 1
        most, end, high = counts[best], best, len(counts)  # the decays reach all before the end
        while end < high:
            middle = (end + high) // 2
            if most - counts[middle] < len(decays):
                end = middle + 1
            else:
                high = middle
        total = 0.0
        for i in range(best, end):
            # Unsigned, it is not looked at whether it counts from the end.
            total += decays[np.uint64(most - counts[i])] * left[i]
            sums[i] = total
        point, error = words[done] * 2.0**-64 * total, relative * total + rest
        low, high = best, end  # sums before `low` are at most point - error, from `high` on above
        while low < high:
            middle = (low + high) // 2
            if sums[middle] > point - error:
                high = middle
            else:
                low = middle + 1
        if low == end or sums[low] <= point + error:
            return done
        chosen[done] = low
        left[low] -= 1
    return len(words)


@kernel("void(float64[::1], float64[::1])")
def add_up(terms, sums):
    """Running sums of positive terms, each as if added up in twice the precision."""
    total, lost = 0.0, 0.0
    for i in range(len(terms)):
        larger, smaller = max(total, terms[i]), min(total, terms[i])
        total = larger + smaller
        lost += smaller - (total - larger)
        sums[i] = total + lost


@kernel("void(float64[:, ::1], int64, int64, float64[::1])", fastmath={"reassoc", "nsz"})
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
