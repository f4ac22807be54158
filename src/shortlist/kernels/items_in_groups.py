"""Users' items in groups: brought together by user and group, put into tables."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiling import inner_kernel, kernel
from shortlist.kernels.hashing import NOWHERE
from shortlist.kernels.user_items import gather

_FEW = 2**8  # items of a user, before the scratch space must grow
_MANY = 2**14  # keys of a user, from which on they are sorted: a table would be large
_LONGER = 4  # times the keys: a table of what was met
_LOW = np.uint64(0xFFFFFFFF)


@inner_kernel("boolean(uint32[::1], int64, int64, uint64, uint32[::1], uint32[::1], uint64[::1])")
def unpack(codes, start, size, bits, group_of, item_of, keys):
    """Write group and item of so many codes to `keys`, packed in 32 bits each; is it one group?

    A code packs the item below the group, in so many bits; unless there are tables of both.
    """
    low, alone = np.uint64((1 << bits) - 1), True
    for place in range(size):
        code = np.uint64(codes[start + place])
        if len(group_of):
            group, item = np.uint64(group_of[code]), np.uint64(item_of[code])
        else:
            group, item = code >> bits, code & low
        keys[place] = group << np.uint64(32) | item
        alone &= group == keys[0] >> np.uint64(32)
    return alone


@inner_kernel("int64(uint64[::1], int64, uint64, uint64, uint64[::1])")
def keep_first(keys, size, stamp, odd, met):
    """Keep the first of equal items, of so many keys of one group; how many are left.

    What was met is entered into the front of a table. An entry is packed: the stamp, which differs
    from call to call, and the item.
    """
    shift, length = np.uint64(63), np.int64(2)
    while length < _LONGER * size:
        length *= 2
        shift -= np.uint64(1)
    kept = np.int64(0)
    for place in range(size):
        item = keys[place] & _LOW
        entry = stamp << np.uint64(32) | item
        slot = np.int64(item * odd >> shift)
        while met[slot] != entry and met[slot] >> np.uint64(32) == stamp:
            slot = (slot + 1) & (length - 1)
        if met[slot] != entry:
            met[slot] = entry
            keys[kept] = keys[place]
            kept += 1
    return kept


@inner_kernel("int64(uint64[::1], int64)")
def keep_sorted(keys, size):
    """Sort so many keys, and keep one of equal ones; how many are left."""
    keys[:size].sort()
    kept = np.int64(0)
    for place in range(size):
        if kept == 0 or keys[place] != keys[kept - 1]:
            keys[kept] = keys[place]
            kept += 1
    return kept


@inner_kernel("int64(uint64[::1], int64, boolean, uint64, uint64, uint64[::1])")
def keep_distinct(keys, size, alone, stamp, odd, met):
    """Keep one of equal keys, and bring those of one group together; how many are left.

    Args:
        keys: Of one user.
        size: How many there are.
        alone: Whether all are of one group.
        stamp: As `keep_first` needs it.
        odd: The same.
        met: The same.
    """
    if alone and size <= _MANY:
        return keep_first(keys, size, stamp, odd, met)
    return keep_sorted(keys, size)


@inner_kernel(
    "int64(uint64[::1], int64, int64, uint32[::1], int64, uint32[::1], int64[::1], int64[::1])"
)
def write_parts(keys, size, start, out, n, part_groups, part_starts, part_sizes):
    """Write the items of so many keys to `out`, and where those of each group begin.

    Parts are numbered from n on; the number after the last of them.
    """
    for place in range(size):
        group = keys[place] >> np.uint64(32)
        if place == 0 or group != keys[place - 1] >> np.uint64(32):
            part_groups[n], part_starts[n], part_sizes[n] = group, start + place, 0
            n += 1
        part_sizes[n - 1] += 1
        out[start + place] = keys[place] & _LOW
    return n


@kernel(
    "void(uint64[::1], int64[:, ::1], int64[::1], int64[::1], uint64, uint32[::1], uint32[::1], "
    "uint64, int64, int64, int64[::1], int64[::1], uint32[::1], "
    "uint32[::1], int64[::1], int64[::1], int64[::1])"
)
def group_parts(
    pairs,
    runs,
    first_users,
    ends,
    bits,
    group_of,
    item_of,
    odd,
    first,
    last,
    starts,
    sizes,
    out,
    part_groups,
    part_starts,
    part_sizes,
    n_parts,
):
    """Group the pairs of the buckets first .. last - 1 by user and group, each item once.

    A part is what a user holds in a group. Parts are numbered from `n_parts[0]` on, which becomes
    one more than the last; those of each user from `starts[user]` on: `sizes` says how many. The
    items of each part come side by side to `out`.
    """
    keys, met = np.empty(_FEW, np.uint64), np.zeros(2 * _LONGER * _MANY, np.uint64)
    n = n_parts[0]
    for bucket in range(first, last):
        gather(pairs, runs, first_users, ends, bucket, starts, sizes, out)
        for user in range(first_users[bucket], first_users[bucket + 1]):
            start, size = starts[user], sizes[user]
            starts[user] = n
            if len(keys) < size:
                keys = np.empty(size + size // 2, np.uint64)
            alone = unpack(out, start, size, bits, group_of, item_of, keys)
            size = keep_distinct(keys, size, alone, np.uint64(user + 1), odd, met)
            n = write_parts(keys, size, start, out, n, part_groups, part_starts, part_sizes)
            sizes[user] = n - starts[user]
    n_parts[0] = n


@kernel(
    "void(int64[::1], int64[::1], int64[::1], int64[::1], uint32[::1], uint64, "
    "int64, int64, uint32[::1], int64[::1], int64[::1])"
)
def unite_parts(
    starts, sizes, part_starts, part_sizes, items, odd, first, last, out, begins, united
):
    """Put what the users first .. last - 1 hold in any of their parts side by side, each item once.

    Sets where each user's items begin in `out`, and how many there are.
    """
    keys, met = np.empty(_FEW, np.uint64), np.zeros(2 * _LONGER * _MANY, np.uint64)
    for user in range(first, last):
        begin, size = np.int64(len(items)), np.int64(0)
        for part in range(starts[user], starts[user] + sizes[user]):
            begin = min(begin, part_starts[part])
            size += part_sizes[part]
        if len(keys) < size:
            keys = np.empty(size + size // 2, np.uint64)
        n = np.int64(0)
        for part in range(starts[user], starts[user] + sizes[user]):
            for place in range(part_starts[part], part_starts[part] + part_sizes[part]):
                keys[n] = items[place]
                n += 1
        size = keep_distinct(keys, size, True, np.uint64(user + 1), odd, met)
        for place in range(size):
            out[begin + place] = keys[place]
        begins[user], united[user] = begin, size


@kernel(
    "void(int64[::1], int64[::1], uint32[::1], int64[::1], int64[::1], uint32[::1], uint32[::1], "
    "uint32[::1], int64, int64, int64, uint32[::1], int64[::1], int64[::1], int64[::1])"
)
def place_parts(
    starts,
    sizes,
    groups,
    part_starts,
    part_sizes,
    items,
    of_group,
    of_item,
    width,
    first,
    last,
    out,
    begins,
    placed,
    n_placed,
):
    """Of what the users first .. last - 1 hold, list the places in a table of groups and items.

    The place is that of the group, times the width, and that of the item; what has none
    is left out. All come side by side in `out`, and users who have none are left out, as by
    `keep_items`.
    """
    cursor, n = np.int64(-1), np.int64(first)
    for user in range(first, last):
        if cursor < 0 and sizes[user] > 0:
            cursor = np.int64(len(items))
            for part in range(starts[user], starts[user] + sizes[user]):
                cursor = min(cursor, part_starts[part])
        begin = cursor
        for part in range(starts[user], starts[user] + sizes[user]):
            line = np.int64(of_group[groups[part]])
            if line == NOWHERE:
                continue
            for place in range(part_starts[part], part_starts[part] + part_sizes[part]):
                column = of_item[items[place]]
                out[cursor] = line * width + column  # kept or not: a branch would cost more
                cursor += column != NOWHERE
        if cursor > begin:
            begins[n], placed[n] = begin, cursor - begin
            n += 1
    n_placed[0] = n - first
