"""Rows brought together by user as far as the processor's caches need it."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import Ints
from shortlist.errors import InputError
from shortlist.runtime.threads import parts, share, zeros

Codes = NDArray[np.uint32]

# 2^13 users are grouped at a time: their rows fit the processor's caches.
_SHIFT = 13
# About as many rows are in a bucket of users without codes.
_ROWS = 2**15
# As many rows are sorted into buckets at a time.
_CHUNK = 2**19
# At most 2^12 buckets are few enough places to write to.
_MOST_BITS = 12
# Two odd numbers. Buckets are the same in each run, so that a seed decides all: whoever has chosen
# users of one bucket makes its table large, and no more than that.
_BUCKETS = np.array([0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93], np.uint64)
MOST_USERS = 2**30
"""As many weights of at most 2^32 units fit an int64."""


@dataclass(frozen=True)
class Buckets:
    """Rows, those of some users together, so that what is done to them stays in cache.

    Attributes:
        pairs: The number of the user within the bucket and the item code of each row, packed, shape
            (n_rows,).
        runs: Where the rows of each bucket begin in each run of the rows, and where the last end,
            shape (n_runs, n_buckets + 1).
        first_users: The code of the first user of each bucket; at the end, how many codes there
            are; shape (n_buckets + 1,).
    """

    pairs: NDArray[np.uint64]
    runs: Ints
    first_users: Ints

    @classmethod
    def of_rows(
        cls, users: Codes | NDArray[np.uint64], items: Codes, n_users: int | None
    ) -> Buckets:
        """Move each row to its bucket.

        Args:
            users: Codes below `n_users`; or, where that is None, any numbers of 64 bits. Either
                is not to be used any more.
            items: Codes, not to be used any more.
            n_users: How many codes of users there are.

        Raises:
            InputError: There are too many users.
        """
        if n_users is None:
            return cls._of_numbers(users.astype(np.uint64, copy=False), items)
        _check(n_users)
        return cls._of_codes(users.astype(np.uint32, copy=False), items, n_users)

    @classmethod
    def _of_codes(cls, users: Codes, items: Codes, n_users: int) -> Buckets:
        """Buckets of so many neighbouring codes each."""
        n_buckets = (n_users >> _SHIFT) + 1
        ranges = parts(len(users))
        counted = share(
            ranges, partial(kernels.rows_per_bucket, users, _SHIFT), lambda: [zeros(n_buckets)]
        )
        # Within a bucket the rows of each part come one after another: where each begins.
        sizes = np.array([scratch[0] for scratch in counted])
        ends = sizes.sum(axis=0).cumsum()
        cursors = iter(ends - sizes.sum(axis=0) + np.cumsum(sizes, axis=0) - sizes)
        pairs = np.empty(len(users), np.uint64)
        share(
            ranges,
            partial(kernels.partition, users, items, _SHIFT),
            lambda: [next(cursors), pairs],
        )
        first_users = np.minimum(np.arange(n_buckets + 1) << _SHIFT, n_users)
        return cls(pairs, np.append(0, ends)[None], first_users)

    @classmethod
    def _of_numbers(cls, users: NDArray[np.uint64], items: Codes) -> Buckets:
        """A bucket is the users whose numbers are mixed to the same first bits.

        All is done in place: the pairs are where the users were.
        """
        bits = min(max((len(users) // _ROWS).bit_length(), 1), _MOST_BITS)
        n_chunks = -(-len(users) // _CHUNK)
        runs = np.zeros((n_chunks, 2**bits + 1), np.int64)
        share(
            parts(len(users), np.minimum(np.arange(1, n_chunks + 1) * _CHUNK, len(users))),
            partial(kernels.sort_chunks, users, items, _BUCKETS, bits, _CHUNK),
            lambda: [runs, np.empty(_CHUNK, np.uint64), np.empty(_CHUNK, np.uint32)],
        )
        n_users = zeros(2**bits)
        # Drawn anew, so that nobody can choose users that meet at one place of the tables.
        odd = np.array([secrets.randbits(64) | 1 for _ in range(2)], np.uint64)
        share(
            parts(len(users), _ends(runs)),
            partial(kernels.name_users, users, items, odd, runs),
            lambda: [n_users],
        )
        first_users = np.append(0, np.cumsum(n_users))
        _check(int(first_users[-1]))
        return cls(users, runs, first_users)

    @property
    def n_users(self) -> int:
        return int(self.first_users[-1])

    @property
    def ends(self) -> Ints:
        """How many rows there are up to the end of each bucket, shape (n_buckets,)."""
        return _ends(self.runs)


def _ends(runs: Ints) -> Ints:
    ends: Ints = (runs[:, 1:] - runs[:, :1]).sum(axis=0)
    return ends


def _check(n_users: int) -> None:
    if n_users > MOST_USERS:
        raise InputError("too many users: a table may hold about a billion of them")
