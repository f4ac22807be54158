"""Numbers of subsets, which leave the floats: each is a mantissa times 2^(600 · exponent)."""

from __future__ import annotations

import math

from shortlist.kernels.compiling import kernel

SCALE = 600
_LARGE, _SMALL = 2.0**SCALE, 2.0**-SCALE  # powers of 2, so that scaling rounds nothing
_LOG_LARGE = SCALE * math.log(2.0)


_NUMBERS = "float64[::1], int64[::1]"


@kernel(f"void(int64[::1], int64[::1], int64, int64, int64[::1], int64[::1], {_NUMBERS})")
def subset_jumps(values, ends, k, first, near, slacks, mantissas, exponents):
    """How many k-sets more there are, and at which slack.

    The values of groups are falling, and `ends` their running sizes; `first` is the first group
    with items behind the k largest. As the slack reaches the distance between value `top`, of those
    among the k largest, and a value `other` from there on, the sets count that lack an item of the
    first, have all before it, and have as their last an item of the second. For `top` only the
    values before near[top] are looked at; the slack at which the best have none is not added.
    """
    jump = 0
    for other in range(first, near[-1]):
        reach = ends[other]
        before = ends[other - 1] if other > first else 0
        choices, kept, exponent, place = 1.0, 1.0, 0, k
        new = 0.0 if other > first else 1.0
        for top in range(len(near) - 1, -1, -1):
            if near[top] <= other:
                break
            start, number = (ends[top - 1] if top else 0), 0.0
            for u in range(place, start, -1):
                left = reach - u
                choices *= left / (k - u + 1)
                if other > first:  # sums of positive terms: nothing cancels
                    new += kept * ((reach - before) / left)
                    kept *= (before - u) / left
                number += choices * new
                if choices > _LARGE:
                    choices, number, exponent = choices * _SMALL, number * _SMALL, exponent + 1
            place = start
            slacks[jump] = values[top] - values[other]
            mantissas[jump], exponents[jump] = number, exponent
            jump += 1


@kernel("void(int64[::1], float64[::1], int64[::1], float64[::1], int64[::1])")
def add_numbers(places, mantissas, exponents, sums, scales):
    """Add each number to the sum at its place; `sums` and `scales` are the sums, at first 0."""
    for j in range(len(places)):
        i = places[j]
        more = exponents[j] - scales[i]
        if more > 0:
            sums[i] = mantissas[j] + (sums[i] * _SMALL if more == 1 else 0.0)
            scales[i] = exponents[j]
        elif more >= -1:
            sums[i] += mantissas[j] * (_SMALL if more else 1.0)


@kernel("void(float64[::1], int64[::1], float64[::1], float64[::1])")
def add_up_numbers(mantissas, exponents, logs, shares):
    """Logarithms of the running sums of positive numbers, and which share the last one adds.

    Each is added up as if in twice the precision. The first is above 0.
    """
    total, lost, scale = 0.0, 0.0, 0
    for i in range(len(mantissas)):
        more = exponents[i] - scale
        number = mantissas[i]
        if more > 0:
            factor = _SMALL if more == 1 else 0.0
            total, lost, scale = total * factor, lost * factor, exponents[i]
        elif more < 0:
            number *= _SMALL if more == -1 else 0.0
        larger, smaller = max(total, number), min(total, number)
        total = larger + smaller
        lost += smaller - (total - larger)
        logs[i] = scale * _LOG_LARGE + math.log(total + lost)
        shares[i] = number / (total + lost)


@kernel("void(int64[::1], int64[::1], float64[::1], int64[::1])")
def new_subsets(reach, before, mantissas, exponents):
    """How many sets lack number i of the k largest first, and end behind `before`: for each i.

    Items are numbered from 1 by falling count; those of a set that come behind number i are at most
    number reach[i], and not all of them at most number before[i], shapes (k,).
    """
    k = len(reach)
    choices, new, kept, exponent = 1.0, 1.0, 1.0, 0
    last_reach, last_before = 0, 0
    for i in range(k, 0, -1):
        most = reach[i - 1]
        least = before[i - 1] if before[i - 1] > k else 0  # none end so early
        if most <= k or least >= most:
            mantissas[i - 1], exponents[i - 1], last_reach = 0.0, 0, 0
            continue
        again = most != last_reach or least != last_before
        if again:
            choices, new, kept, exponent = 1.0, 0.0 if least else 1.0, 1.0, 0
            last_reach, last_before = most, least
        for u in range(k if again else i, i - 1, -1):
            choices *= (most - u) / (k - u + 1)
            if least:
                new += kept * ((most - least) / (most - u))
                kept *= (least - u) / (most - u)
            if choices > _LARGE:
                choices, exponent = choices * _SMALL, exponent + 1
        mantissas[i - 1], exponents[i - 1] = choices * new, exponent
