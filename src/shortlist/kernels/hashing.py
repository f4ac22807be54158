"""Keys of 64 bits, coded by hash tables in which only equal keys are taken for one."""

from __future__ import annotations

import numpy as np

from shortlist.kernels.compiling import inner_kernel, kernel

NOWHERE = 2**32 - 1
"""In the place of a code: there is none."""

BLOCK = 128
"""Keys that are looked for at once."""

_FEW = 512  # users of a bucket, before its table must grow


@kernel("uint64(uint64, uint64, uint64)")
def place_of(key, one, other):
    """Mix a key by two odd numbers: its first bits are its place in a table of 2^bits.

    Multiplying by an odd number that nobody knows puts any two keys at one place with a probability
    of at most 2 / 2^bits (Dietzfelbinger et al. 1997), whoever chose them.
    """
    mixed = key * one
    return (mixed ^ (mixed >> np.uint64(32))) * other


@inner_kernel("int64(uint32[::1])")
def bits_of(slots):
    """How often a power of two can be halved."""
    bits = 0
    while 1 << bits < len(slots):
        bits += 1
    return bits


@kernel("void(uint64[::1], uint64[::1], int64, uint32[::1], int64[::1])")
def fill(held, odd, n, slots, room):
    """Enter the first n keys held into an empty table; `room` is that of `look_up`."""
    one, other, shift = odd[0], odd[1], np.uint64(64 - bits_of(slots))
    for begin in range(0, n, BLOCK):
        block = BLOCK if n - begin > BLOCK else n - begin
        for i in range(block):  # first all are looked at: see `look_up`
            room[i] = np.int64(place_of(held[begin + i], one, other) >> shift)
        for i in range(block):
            room[BLOCK + i] = slots[room[i]] != 0
        for i in range(block):
            slot = (room[i] + room[BLOCK + i]) & (len(slots) - 1)
            while slots[slot]:
                slot = (slot + 1) & (len(slots) - 1)
            slots[slot] = begin + i + 1


@kernel(
    "UniTuple(int64, 2)(Array(uint64, 1, 'C', readonly=True), "
    "uint64[::1], uint32[::1], uint64[::1], int64, int64, uint32[::1], int64[::1])"
)
def look_up(keys, odd, slots, held, n, first, codes, room):
    """Write the code of each key: the number of different keys that came before its first.

    Args:
        keys: Any 64 bits.
        odd: Two odd numbers, as `place_of` needs them.
        slots: The table, a power of two long, 0 or one more than a code; open addressing.
        held: Room for the key of each code, for half as many as there are slots. When there is none
            left, the table must grow.
        n: How many codes there are.
        first: The first key to look up.
        codes: To be written, one entry a key.
        room: Scratch space, twice as long as a `BLOCK`. Numba takes 0.2 s longer to compile a loop
            that makes its own.

    Returns:
        The first key that is left, since the table is full, or how many keys there are; and how
        many codes there are now.
    """
    one, other, shift = odd[0], odd[1], np.uint64(64 - bits_of(slots))
    for begin in range(first, len(keys), BLOCK):
        block = BLOCK if len(keys) - begin > BLOCK else len(keys) - begin
        # First each is looked for where it should be. These loops have no branch, so that the
        # processor asks the memory for many at once. With one, it would wait for each key of which
        # it guesses wrong whether it is there.
        for i in range(block):
            room[i] = np.int64(place_of(keys[begin + i], one, other) >> shift)
        for i in range(block):
            room[BLOCK + i] = slots[room[i]]
        for i in range(block):
            code = room[BLOCK + i]
            room[BLOCK + i] = code if held[code - (code > 0)] == keys[begin + i] else 0
        for i in range(block):
            code = room[BLOCK + i]
            if not code:  # it comes first, or stands further on, or came first in this block
                key, slot = keys[begin + i], room[i]
                code = np.int64(slots[slot])
                while code and held[code - 1] != key:
                    slot = (slot + 1) & (len(slots) - 1)
                    code = np.int64(slots[slot])
                if not code:
                    if n == len(held):
                        return begin + i, n
                    held[n] = key
                    n += 1
                    code = n
                    slots[slot] = code
            codes[begin + i] = code - 1
    return len(keys), n


@kernel("int64(Array(uint32, 1, 'C', readonly=True), uint32[::1], int64, uint32[::1], uint32[::1])")
def number_anew(numbers, known, n, codes, first_rows):
    """Write the code of each number, as `look_up` does for keys, by an array over all numbers.

    Args:
        numbers: Each below the length of `known`.
        known: Of each number 0 or one more than its code.
        n: How many codes there are.
        codes: To be written, one entry a number.
        first_rows: To be written: of each new code the row where it comes first.

    Returns:
        How many codes there are now.
    """
    before = n
    for row in range(len(numbers)):
        code = known[numbers[row]]
        if not code:
            first_rows[n - before] = row
            n += 1
            code = np.uint32(n)
            known[numbers[row]] = code
        codes[row] = code - np.uint32(1)
    return n


@kernel(
    "void(uint64[::1], uint32[::1], uint64[::1], int64, int64, "
    "int64, int64, int64[:, ::1], uint64[::1], uint32[::1])"
)
def sort_chunks(users, items, odd, bits, length, first, last, starts, moved_users, moved_items):
    """Within the chunks first .. last - 1 bring the rows of each of 2^bits buckets together.

    Each chunk is sorted by itself, in place, so that memory for a second table is not needed.

    Args:
        users: Any 64 bits, by whose place the bucket is chosen.
        items: Moved with the users.
        odd: As `place_of` needs them.
        bits: Above 0.
        length: Of a chunk; the last may be shorter.
        first: The first chunk.
        last: One more than the last.
        starts: To be written: where each bucket begins in each chunk, shape (n_chunks, 2^bits + 1).
        moved_users: Scratch space of the length of a chunk.
        moved_items: The same.
    """
    one, other, shift = odd[0], odd[1], np.uint64(64 - bits)
    for chunk in range(first, last):
        begin, end = chunk * length, min((chunk + 1) * length, len(users))
        starts[chunk] = 0
        for row in range(begin, end):
            starts[chunk, np.int64(place_of(users[row], one, other) >> shift) + 1] += 1
        starts[chunk, 0] = begin
        for bucket in range(1 << bits):
            starts[chunk, bucket + 1] += starts[chunk, bucket]
        cursors = starts[chunk].copy()
        for row in range(begin, end):
            which = np.int64(place_of(users[row], one, other) >> shift)
            place = cursors[which] - begin
            moved_users[place] = users[row]
            moved_items[place] = items[row]
            cursors[which] += 1
        for place in range(end - begin):
            users[begin + place] = moved_users[place]
            items[begin + place] = moved_items[place]


@kernel("void(uint64[::1], uint32[::1], uint64[::1], int64[:, ::1], int64, int64, int64[::1])")
def name_users(users, items, odd, starts, first, last, n_users):
    """Number the users of the buckets first .. last - 1, each bucket's from 0.

    Puts this number, packed with the item, in the place of the user. The table of one bucket fits
    the processor's caches; one of all users would not.
    """
    room = np.empty(2 * BLOCK, np.int64)
    for bucket in range(first, last):
        held = np.empty(_FEW, np.uint64)
        slots = np.zeros(2 * _FEW, np.uint32)
        n = 0
        for chunk in range(len(starts)):
            begin, end = starts[chunk, bucket], starts[chunk, bucket + 1]
            codes = np.empty(end - begin, np.uint32)
            done, n = look_up(users[begin:end], odd, slots, held, n, 0, codes, room)
            while done < end - begin:
                longer = np.empty(2 * n, np.uint64)
                for code in range(n):
                    longer[code] = held[code]
                held = longer
                slots = np.zeros(4 * n, np.uint32)
                fill(held, odd, n, slots, room)
                done, n = look_up(users[begin:end], odd, slots, held, n, done, codes, room)
            for place in range(begin, end):
                users[place] = np.uint64(codes[place - begin]) << 32 | np.uint64(items[place])
        n_users[bucket] = n
