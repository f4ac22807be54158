"""The kernels of hash tables against dictionaries."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import kernels

fixed = settings(derandomize=True, deadline=None, max_examples=80)
KEYS = st.builds(  # up to three blocks of keys that are looked for at once
    lambda keys, times: keys * times,
    st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 9), max_size=80),
    st.integers(1, 4),
)
ODD = np.array([0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93], np.uint64)
ALIKE = np.array([1 << 63 | 1, 1], np.uint64)  # every number below 2^32 begins with the same bits


def codes_by_dictionary(keys):
    """The number of different keys before the first of each."""
    codes = {}
    return [codes.setdefault(key, len(codes)) for key in keys]


def table(n_slots):
    return np.zeros(n_slots, np.uint32), np.empty(n_slots // 2, np.uint64)


def room():
    return np.empty(2 * kernels.BLOCK, np.int64)


def place(key, odd):
    mixed = key * int(odd[0]) % 2**64
    return (mixed ^ mixed >> 32) * int(odd[1]) % 2**64


@fixed
@given(key=st.integers(0, 2**64 - 1))
def test_a_place_is_two_products(key):
    assert kernels.place_of(key, ODD[0], ODD[1]) == place(key, ODD)


@pytest.mark.parametrize("odd", [ODD, ALIKE])
@fixed
@given(keys=KEYS)
def test_codes_are_those_of_a_dictionary(odd, keys):
    slots, held = table(256)
    codes = np.empty(len(keys), np.uint32)
    numbers = np.array(keys, np.uint64)
    numbers.setflags(write=False)  # as what Polars holds
    done, n = kernels.look_up(numbers, odd, slots, held, 0, 0, codes, room())
    assert (done, n) == (len(keys), len(set(keys)))
    assert codes.tolist() == codes_by_dictionary(keys)
    assert held[:n].tolist() == list(dict.fromkeys(keys))
    again = np.empty_like(codes)
    assert kernels.look_up(numbers, odd, slots, held, n, 0, again, room()) == (done, n)
    assert again.tolist() == codes.tolist()


@fixed
@given(pieces=st.lists(st.lists(st.integers(0, 50))))
def test_numbers_get_the_codes_of_a_dictionary(pieces):
    known, n, found, first_rows = np.zeros(51, np.uint32), 0, [], []
    for piece in pieces:
        codes, rows = np.empty(len(piece), np.uint32), np.empty(len(piece), np.uint32)
        before, n = n, kernels.number_anew(np.array(piece, np.uint32), known, n, codes, rows)
        first_rows += [piece[row] for row in rows[: n - before]]
        found += codes.tolist()
    numbers = [number for piece in pieces for number in piece]
    assert found == codes_by_dictionary(numbers)
    assert first_rows == list(dict.fromkeys(numbers))


@pytest.mark.parametrize("odd", [ODD, ALIKE])
@fixed
@given(keys=KEYS)
def test_a_full_table_says_where_it_stopped_and_goes_on_when_it_has_grown(odd, keys):
    slots, held = table(2)
    numbers, codes = np.array(keys, np.uint64), np.empty(len(keys), np.uint32)
    done, n = kernels.look_up(numbers, odd, slots, held, 0, 0, codes, room())
    while done < len(keys):
        assert n == len(held) == len(set(keys[:done]))
        assert keys[done] not in keys[:done]
        held = np.append(held, np.empty_like(held))
        slots = np.zeros(2 * len(held), np.uint32)
        kernels.fill(held, odd, n, slots, room())
        done, n = kernels.look_up(numbers, odd, slots, held, n, done, codes, room())
    assert codes.tolist() == codes_by_dictionary(keys)


@pytest.mark.parametrize(("bits", "length"), [(1, 7), (3, 16), (4, 100)])
@fixed
@given(users=KEYS)
def test_each_chunk_is_sorted_into_buckets(bits, length, users):
    numbers, items = np.array(users, np.uint64), np.arange(len(users), dtype=np.uint32)
    starts = _sorted_in_chunks(numbers, items, bits, length)
    assert numbers.tolist() == [users[item] for item in items]
    for chunk, begin in enumerate(range(0, len(users), length)):
        rows = items[begin : begin + length].tolist()
        buckets = [place(users[row], ODD) >> 64 - bits for row in range(begin, begin + len(rows))]
        assert rows == sorted(range(begin, begin + len(rows)), key=lambda r: buckets[r - begin])
        ends = begin + np.cumsum(np.bincount(buckets, minlength=2**bits))
        assert starts[chunk].tolist() == [begin, *ends.tolist()]


@fixed
@given(users=KEYS)
def test_users_are_numbered_within_their_bucket(users):
    bits, length = 2, 9
    numbers, items = np.array(users, np.uint64), np.arange(len(users), dtype=np.uint32)
    starts = _sorted_in_chunks(numbers, items, bits, length)
    n_users = np.zeros(2**bits, np.int64)
    kernels.name_users(numbers, items, ODD, starts, 0, 2**bits, n_users)
    assert (numbers & np.uint64(2**32 - 1)).tolist() == items.tolist()
    for bucket in range(2**bits):
        places = [p for run in starts for p in range(run[bucket], run[bucket + 1])]
        held = [users[items[place]] for place in places]
        assert [int(numbers[place]) >> 32 for place in places] == codes_by_dictionary(held)
        assert n_users[bucket] == len(set(held))


def test_a_bucket_of_many_users_lets_its_table_grow():
    rng = np.random.default_rng(1)
    users = rng.integers(0, 5000, 20_000).astype(np.uint64)
    numbers, items = users.copy(), np.arange(len(users), dtype=np.uint32)
    starts, n_users = np.array([[0, len(users)]]), np.zeros(1, np.int64)
    kernels.name_users(numbers, items, ODD, starts, 0, 1, n_users)
    assert (numbers >> np.uint64(32)).tolist() == codes_by_dictionary(users.tolist())
    assert n_users.tolist() == [len(np.unique(users))]


def _sorted_in_chunks(numbers, items, bits, length):
    n_chunks = -(-len(numbers) // length)
    starts = np.full((n_chunks, 2**bits + 1), -1)
    scratch = np.empty(length, np.uint64), np.empty(length, np.uint32)
    kernels.sort_chunks(numbers, items, ODD, bits, length, 0, n_chunks, starts, *scratch)
    return starts
