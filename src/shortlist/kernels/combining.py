"""Several items of one user at once: all of them, or some that were drawn."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiling import inner_kernel, kernel


@inner_kernel("int64(int64, int64)")
def choose_up_to(n, of):
    """How many combinations of so many out of n there are: below 2^63 for what is asked here."""
    found = np.int64(1)
    for place in range(of):
        found = found * (n - place) // (place + 1)
    return found


@inner_kernel("void(int64, int64, int64[::1])")
def combination_of(rank, n, combination):
    """Write the combination of a rank, from 0 on: rising places out of n, the last one leads."""
    for place in range(len(combination) - 1, -1, -1):
        low, high = np.int64(place), np.int64(n)  # the largest with no more below it than the rank
        while high - low > 1:
            middle = (low + high) // 2
            if choose_up_to(middle, place + 1) <= rank:
                low = middle
            else:
                high = middle
        combination[place] = low
        rank -= choose_up_to(low, place + 1)
        n = low


@inner_kernel("void(int64[::1])")
def first_combination(combination):
    """The one of rank 0."""
    for place in range(len(combination)):
        combination[place] = place


@inner_kernel("void(int64[::1])")
def next_combination(combination):
    """The one of the next rank."""
    place = 0
    while place + 1 < len(combination) and combination[place] + 1 == combination[place + 1]:
        combination[place] = place
        place += 1
    combination[place] += 1


@inner_kernel("void(int64, int64[::1], int64[::1], int64[::1])")
def draw_ranks(n, choices, ranks, slots):
    """A uniform subset of the ranks below n, as many as there are choices (Floyd's algorithm).

    Of step s, of S, the choice is uniform below n - S + s + 1. `slots` is scratch space, of twice
    as many places as there are ranks or more, a power of 2.
    """
    for slot in range(len(slots)):
        slots[slot] = -1
    mask = np.int64(len(slots) - 1)
    for step in range(len(choices)):
        last = n - len(choices) + step
        rank = choices[step]
        slot = rank & mask
        while slots[slot] >= 0 and slots[slot] != rank:
            slot = (slot + 1) & mask
        if slots[slot] == rank:  # it was drawn before: then the last one is new
            rank, slot = last, last & mask
            while slots[slot] >= 0:
                slot = (slot + 1) & mask
        slots[slot] = ranks[step] = rank


@kernel(
    "void(int64[::1], int64[::1], uint32[::1], int64[::1], int64[::1], int64[::1], int64[::1], "
    "int64, int64, uint32[:, ::1])"
)
def combine(starts, sizes, items, begins, kept, drawn, choices, first, last, out):
    """Write which combinations of their items the users first .. last - 1 hold, one a column.

    They are those of rising codes, `kept[user]` of them from column `begins[user]` on: all that
    there are, or a uniform subset by the choices from `drawn[user]` on, where that is not below 0.
    """
    of = len(out)
    combination = np.empty(of, np.int64)
    ranks, slots = np.empty(0, np.int64), np.empty(0, np.int64)
    for user in range(first, last):
        n = kept[user]
        if n == 0:
            continue
        held = np.sort(items[starts[user] : starts[user] + sizes[user]])
        some = drawn[user] >= 0
        if some:
            if len(ranks) < n:
                ranks, size = np.empty(n, np.int64), np.int64(2)
                while size < 2 * n:
                    size *= 2
                slots = np.empty(size, np.int64)
            whole = choose_up_to(sizes[user], of)
            draw_ranks(whole, choices[drawn[user] : drawn[user] + n], ranks, slots)
        else:
            first_combination(combination)
        for place in range(n):
            if some:
                combination_of(ranks[place], sizes[user], combination)
            for part in range(of):
                out[part, begins[user] + place] = held[combination[part]]
            if not some:
                next_combination(combination)
