"""Users who fill a histogram one after another, by the items still below a cutoff."""

from __future__ import annotations

import math

import numpy as np

from shortlist.kernels.compiling import kernel

_LIMB = 21  # bits: three make a number below 2^63, and products of two leave room for sums
_LOW = 2**_LIMB - 1
_SHIFT = 2.0**_LIMB


@kernel("void(int64[::1], int64[::1], uint32[::1], uint32[::1], int64, int64, int64[::1])")
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


@kernel("void(int64[::1], int64[::1], uint32[::1], uint32[::1], uint32[::1], int64, int64[::1])")
def count_units(starts, sizes, items, order, ranks, cutoff, counts):
    """Each user in turn adds 1 to the first in rank of the items held that are below the cutoff.

    If none is, it is the first of all.
    """
    full = np.int64(1) << 32
    for turn in range(len(order)):
        first = starts[order[turn]]
        chosen, least = np.int64(-1), full << 1
        for place in range(first, first + sizes[order[turn]]):
            item = np.int64(items[place])
            rank = np.int64(ranks[item]) + (full if counts[item] >= cutoff else np.int64(0))
            if rank < least:
                chosen, least = item, rank
        if chosen >= 0:
            counts[chosen] += 1
