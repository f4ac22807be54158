"""The coding of a table's columns: piece by piece, and all columns at once.

A coder takes the pieces of one column, none with a null, and keeps what is needed to tell its
values apart. So whole columns are never in memory.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial, reduce
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.errors import InputError
from shortlist.runtime.phases import measured
from shortlist.table.key_types import fits_numpy, is_numbered_once, is_of_categories
from shortlist.table.keys import (
    CodedPairs,
    Coding,
    Distinct,
    DistinctTexts,
    Keys,
    Offsets,
    RawKeys,
    values_of,
)

if TYPE_CHECKING:
    import polars as pl

# Rows coded at once: few enough for the processor's caches, and to be held beside the codes.
_PIECE = 2**17
_LEAST_TEXT = 2**17
# How many pieces may wait to be coded.
_AHEAD = 4
# The most codes of integers that are coded by distance.
_NEAR = 2**30
# Turns of Polars' own hash, before one that is cryptographic.
_FAST_TURNS = 2
# Codes are uint32.
_LIMIT = 2**32
# So many that a small table never grows: what fills a larger one need not be compiled for it.
_FIRST_SLOTS = 2**16
# How many times as long a full table becomes.
_GROWTH = 4

_T = TypeVar("_T", bound=np.generic)


def code(columns: Sequence[pl.Series]) -> Keys:
    """Codes of the rows of columns without nulls; refused if they need 2^32 codes or more.

    >>> import polars as pl
    >>> keys = code([pl.Series("country", ["fr", "fr", "ch"]), pl.Series("page", [7, 8, 7])])
    >>> len(set(keys.codes.tolist()))
    3
    """
    return reduce(join, map(_code_column, columns))


def _code_column(column: pl.Series) -> Keys:
    coder = _coder(column.clear(), len(column), IntegerCoder)
    for start in range(0, len(column), _PIECE):
        coder.append(column.slice(start, _PIECE))
    keys: Keys = coder.keys()
    return keys


def _coder(
    like: pl.Series, n_rows: int, of_integers: type[IntegerCoder]
) -> IntegerCoder | ValueCoder | CategoryCoder:
    if is_of_categories(like.dtype):
        return CategoryCoder(like, n_rows)
    kind = of_integers if fits_numpy(like.to_physical().dtype) else ValueCoder
    return kind(like, n_rows)


def join(left: Keys, right: Keys) -> Keys:
    """Keys of several columns: codes of pairs of codes, row by row."""
    import polars as pl

    coder = IntegerCoder(pl.Series("pair", dtype=pl.UInt64), len(left.codes))
    for start in range(0, len(left.codes), _PIECE):
        here = slice(start, start + _PIECE)
        numbers = _pair_numbers(left.codes[here], right.codes[here], right.size)
        coder.append(pl.Series("pair", numbers))
    pairs: Keys = coder.keys()
    coding = CodedPairs(left.coding, right.coding, right.size, pairs.coding)
    return Keys(pairs.codes, pairs.size, coding)


def join_pieces(
    pieces: Iterable[NDArray[np.uint32]], codings: Sequence[Coding], size: int, n_rows: int
) -> Keys:
    """As `join`, of columns of the same values, a piece at a time: never are all held unjoined.

    Args:
        pieces: Codes below `size`: shape (columns, rows).
        codings: What the codes of each column stand for.
        size: How many codes there are in a column.
        n_rows: How many rows all pieces have.
    """
    import polars as pl

    *tables, _ = (HashTable() for _ in codings[1:])
    like = pl.Series("pair", dtype=pl.UInt64)
    coder = IntegerCoder(like, n_rows)
    for first, *columns, last in pieces:
        codes = first
        for table, column in zip(tables, columns, strict=True):
            numbers = _pair_numbers(codes, column, size)
            codes = np.empty_like(column)
            table.look_up(numbers, codes)
        coder.append(pl.Series("pair", _pair_numbers(codes, last, size)))
    known = [Distinct(values_of(like, table.keys)) for table in tables]
    joined: Keys = coder.keys()
    coding = codings[0]
    for other, pairs in zip(codings[1:], [*known, joined.coding], strict=True):
        coding = CodedPairs(coding, other, size, pairs)
    return Keys(joined.codes, joined.size, coding)


def _pair_numbers(
    left: NDArray[np.uint32], right: NDArray[np.uint32], size: int
) -> NDArray[np.uint64]:
    """One number for each two codes: two sizes below 2^32 multiply within 64 bits."""
    return left * np.uint64(size) + right


def code_each(
    pieces: Iterable[pl.DataFrame],
    types: Mapping[str, pl.DataType],
    n_rows: int,
    *beside: PlainNumbers,
) -> Iterator[Any]:
    """Codes of each column; of users, the first of them, perhaps their numbers.

    Rows with a null are left out; about `n_rows` are expected. What is `beside` takes the columns
    behind these.
    """
    import polars as pl

    user, *items = (pl.Series(name, dtype=dtype) for name, dtype in types.items())
    coders = [
        _coder(user, n_rows, UserCoder),
        *(_coder(like, n_rows, IntegerCoder) for like in items),
        *beside,
    ]
    with ExitStack() as threads:
        # Only text is worth a thread: another one takes longer to get memory than to code integers.
        queues = [
            _Queue(each, threads) if isinstance(each, ValueCoder) else each for each in coders
        ]
        for piece in pieces:
            columns = piece.get_columns()
            if any(values.null_count() for values in columns):
                columns = piece.drop_nulls().get_columns()
            for queue, values in zip(queues, columns, strict=True):
                queue.append(values)
    return (queue.keys() for queue in queues)


class _Queue:
    """Pieces of a column, coded by a thread of its own while more are read."""

    def __init__(self, coder: ValueCoder, threads: ExitStack) -> None:
        self._coder, self._thread = coder, threads.enter_context(ThreadPoolExecutor(1))
        self._waiting: deque[Future[None]] = deque()

    def append(self, values: pl.Series) -> None:
        self._waiting.append(self._thread.submit(self._coder.append, values))
        if len(self._waiting) > _AHEAD:
            self._waiting.popleft().result()

    def keys(self) -> Keys:
        for job in self._waiting:
            job.result()  # or what the thread raised
        return self._coder.keys()


def read_pieces(rows: pl.LazyFrame, *, streamed: bool) -> tuple[int, Iterator[pl.DataFrame]]:
    """How many rows there are, and the rows, a piece at a time.

    A piece is read when it is asked for, if rows are `streamed`: of files that say how many they
    have. All else is read whole.
    """
    import polars as pl

    if streamed and hasattr(rows, "collect_batches"):  # since Polars 1.34
        n_rows: int = rows.select(pl.len()).collect().item()
        return n_rows, _all_of(rows.collect_batches(maintain_order=True), n_rows)
    held = rows.collect()
    return len(held), held.iter_slices(_PIECE)


def _all_of(pieces: Iterable[pl.DataFrame], n_rows: int) -> Iterator[pl.DataFrame]:
    """The pieces, and an error if rows are missing: a panic in Polars just ends its stream."""
    missing = n_rows
    with measured(lambda: 1 - missing / n_rows if n_rows else None):
        for piece in pieces:
            missing -= len(piece)
            yield piece
    if missing:
        raise EOFError


class _NearCoder:
    """Codes that are distances from the smallest value.

    Until all have come, the last 32 bits of each are kept, the smallest and the largest value.
    """

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        self._like, self._n_rows = like, n_rows
        self._bits = Growing(np.uint32, n_rows)
        self._low, self._high = 2**64, -(2**64)  # beyond all values

    def append(self, integers: NDArray[np.integer]) -> bool:
        """Take more integers; False, and none is taken, if all so far lie too far apart."""
        if not len(integers):
            return True
        low, high = min(self._low, int(integers.min())), max(self._high, int(integers.max()))
        # An array over all values between is no waste for so many rows.
        if high - low >= min(max(4 * self._n_rows, 2**20), _NEAR):
            return False
        self._low, self._high = low, high
        np.copyto(self._bits.room(len(integers)), integers, casting="unsafe")
        return True

    def keys(self) -> Keys:
        size = max(self._high - self._low + 1, 0)
        return Keys(self._codes(), size, Offsets(self._like, self._low if size else 0, size))

    def numbers(self) -> NDArray[np.uint64]:
        """All that came, as 64 bits; nothing else can be had any more."""
        numbers: NDArray[np.uint64] = self._codes() + np.uint64(self._low % 2**64)
        return numbers

    def _codes(self) -> NDArray[np.uint32]:
        """The distances; modulo 2^32 these are exact, as all are less."""
        codes = self._bits.filled
        codes -= np.uint32(self._low % 2**32)
        return codes


class _FarCoder:
    """Codes of integers that may lie anywhere, by a hash table."""

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        self._like, self._table = like, HashTable()
        self._codes = Growing(np.uint32, n_rows)

    def append(self, numbers: NDArray[np.uint64]) -> None:
        self._table.look_up(numbers, self._codes.room(len(numbers)))

    def keys(self) -> Keys:
        values = values_of(self._like, self._table.keys)
        return Keys(self._codes.filled, len(self._table), Distinct(values))


class _Kept:
    """Such integers themselves."""

    def __init__(self, like: pl.Series, n_rows: int) -> None:  # noqa: ARG002 - as `_FarCoder`
        self._numbers = Growing(np.uint64, n_rows)

    def append(self, numbers: NDArray[np.uint64]) -> None:
        self._numbers.room(len(numbers))[:] = numbers

    def keys(self) -> RawKeys:
        return RawKeys(self._numbers.filled)


class IntegerCoder:
    """Codes of integers or times: distances as long as all are near each other."""

    _far_kind: type[_FarCoder | _Kept] = _FarCoder

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        """Take an empty column of the name and type, and how many rows are expected."""
        self._near = _NearCoder(like, n_rows)
        self._far: _FarCoder | _Kept | None = None
        self._expected = like, n_rows
        self._are_times = like.dtype.is_temporal()

    def append(self, values: pl.Series) -> None:
        numbers = values.to_physical() if self._are_times else values
        for chunk in numbers.get_chunks():
            integers = chunk.to_numpy()
            if self._far is None and not self._near.append(integers):
                self._far = self._far_kind(*self._expected)
                self._far.append(self._near.numbers())
                del self._near
            if self._far is not None:
                self._far.append(_as_64_bits(integers))

    def keys(self) -> Any:
        return self._near.keys() if self._far is None else self._far.keys()


class UserCoder(IntegerCoder):
    """Codes of users who are near each other, and else their numbers: no user is ever shown."""

    _far_kind = _Kept


def _as_64_bits(integers: NDArray[np.integer]) -> NDArray[np.uint64]:
    wide = np.int64 if integers.dtype.kind == "i" else np.uint64
    return np.ascontiguousarray(integers, wide).view(np.uint64)


class PlainNumbers:
    """Whole numbers that say no key, as they are."""

    def __init__(self, n_rows: int) -> None:
        self._numbers = Growing(np.int64, n_rows)

    def append(self, values: pl.Series) -> None:
        self._numbers.room(len(values))[:] = values.to_numpy()

    def keys(self) -> NDArray[np.int64]:
        return self._numbers.filled


class ValueCoder:
    """Codes of values by their hashes, of which Polars makes 64 bits each.

    Two values are one where they are equal, not where their hashes are: each is compared with the
    first of its hash, and where that is another, its code is sought by a second hash, and so on.
    The seeds of the hashes are drawn anew, so that nobody can choose values that all have one; the
    few values that are left after two hashes get one that is cryptographic.
    """

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        self._values = like
        self._codes = Growing(np.uint32, n_rows)
        self._table = HashTable()
        self._seeds: list[int] = []
        self._waiting = [like]

    def append(self, values: pl.Series) -> None:
        self._waiting.append(values)
        # To hold new values, all are copied: that is worth while for a share of as many rows.
        if sum(map(len, self._waiting)) >= max(_LEAST_TEXT, len(self._values) // 2):
            self._code()

    def keys(self) -> Keys:
        self._code()
        return Keys(self._codes.filled, len(self._values), Distinct(self._values))

    def _code(self) -> None:
        import polars as pl

        values = pl.concat(self._waiting)
        self._waiting = [values.clear()]
        codes, rows = self._codes.room(len(values)), pl.arange(len(values), eager=True)
        for turn in count():
            found = self._first_of_hash(values, turn)
            codes[rows.to_numpy()] = found
            others = (self._values.gather(found) != values).arg_true()
            if others.is_empty():
                return
            values, rows = values.gather(others), rows.gather(others)

    def _first_of_hash(self, values: pl.Series, turn: int) -> pl.Series:
        """For each value the code of the first that had its hash."""
        import polars as pl

        known = len(self._table)
        codes = np.empty(len(values), np.uint32)
        self._table.look_up(self._hashes(values, turn), codes)
        new = np.flatnonzero(codes >= known)
        # New codes rise: each stands for the value where it is the largest so far.
        largest = np.maximum.accumulate(codes[new].astype(np.int64))
        first = new[np.diff(largest, prepend=known - 1) > 0]
        self._values = pl.concat([self._values, _apart(values.gather(first))], rechunk=True)
        return pl.Series(codes)

    def _hashes(self, values: pl.Series, turn: int) -> NDArray[np.uint64]:
        if turn == len(self._seeds):
            self._seeds.append(secrets.randbits(64))
        seed = self._seeds[turn]
        return _keyed(values, seed) if turn >= _FAST_TURNS else values.hash(seed).to_numpy()


class CategoryCoder:
    """Codes of texts that come as numbers: only the first text of each number is looked at.

    What no row holds gets no code.
    """

    def __init__(self, like: pl.Series, n_rows: int) -> None:
        self._codes, self._n = Growing(np.uint32, n_rows), 0
        self._of_number = np.empty(0, np.uint32)  # one more than the code; 0 where there is none
        self._firsts = [like]  # the first value of each code, whose text may be asked for
        self._are_distinct = is_numbered_once(like.dtype)

    def append(self, values: pl.Series) -> None:
        if values.is_empty():
            return
        numbers = np.ascontiguousarray(values.to_physical().to_numpy(), np.uint32)
        self._make_room(int(numbers.max()) + 1)
        codes, firsts = self._codes.room(len(numbers)), np.empty(len(numbers), np.uint32)
        known = self._n
        self._n = kernels.number_anew(numbers, self._of_number, known, codes, firsts)
        if self._n > known:
            self._firsts.append(values.gather(firsts[: self._n - known]))

    def keys(self) -> Keys:
        codes, coding = self._codes.filled, DistinctTexts(self._firsts)
        if self._are_distinct:
            return Keys(codes, self._n, coding)
        once = code([coding.values])
        return Keys(once.codes[codes], once.size, once.coding)

    def _make_room(self, n: int) -> None:
        held = self._of_number
        if n > len(held):
            self._of_number = np.zeros(max(n, 2 * len(held)), np.uint32)
            self._of_number[: len(held)] = held


def _keyed(values: pl.Series, seed: int) -> NDArray[np.uint64]:
    """Hashes that nobody can make equal without the seed, whatever Polars does with its own."""
    import polars as pl

    hashed = partial(hashlib.blake2b, key=seed.to_bytes(8), digest_size=8)
    texts = values.cast(pl.String).to_list()
    digests = b"".join(hashed(text.encode()).digest() for text in texts)
    return np.frombuffer(digests, np.uint64)


def _apart(values: pl.Series) -> pl.Series:
    """The same text in memory of its own: else all text of the piece it is from would be kept."""
    import polars as pl

    if values.dtype != pl.String:
        return values
    return values.cast(pl.Binary).cast(pl.List(pl.UInt8)).cast(pl.Binary).cast(pl.String)


class HashTable:
    """Keys and their codes.

    Where a key stands depends on numbers that are drawn anew for each table by the operating
    system: nobody can choose keys that all meet at one place, so that each takes long to find.
    """

    def __init__(self) -> None:
        self._odd = np.array([secrets.randbits(64) | 1 for _ in range(2)], np.uint64)
        self._slots = np.zeros(_FIRST_SLOTS, np.uint32)
        self._held = np.empty(_FIRST_SLOTS // 2, np.uint64)
        self._room = np.empty(2 * kernels.BLOCK, np.int64)
        self._n = 0

    def __len__(self) -> int:
        return self._n

    @property
    def keys(self) -> NDArray[np.uint64]:
        return self._held[: self._n]

    def look_up(self, keys: NDArray[np.uint64], codes: NDArray[np.uint32]) -> None:
        """Write the code of each key, C-contiguous; one that comes first gets the next."""
        done = 0
        while True:
            table = self._odd, self._slots, self._held
            done, self._n = kernels.look_up(keys, *table, self._n, done, codes, self._room)
            if self._n >= _LIMIT:
                raise InputError("a column holds 2^32 different values or more", "split the table")
            if done == len(keys):
                return
            self._grow()

    def _grow(self) -> None:
        held, self._held = self._held, np.empty(_GROWTH * len(self._held), np.uint64)
        self._held[: self._n] = held[: self._n]  # memory behind it costs nothing until it is used
        self._slots = np.zeros(2 * len(self._held), np.uint32)
        kernels.fill(self._held, self._odd, self._n, self._slots, self._room)


class Growing(Generic[_T]):
    """An array of which the first entries are filled.

    >>> numbers = Growing(np.int64, 1)
    >>> numbers.room(2)[:] = 7
    >>> numbers.filled
    array([7, 7])
    """

    def __init__(self, dtype: type[_T], length: int) -> None:
        # Memory costs nothing until it is filled.
        self._array: NDArray[_T] = np.empty(length, dtype)
        self._end = 0

    def room(self, n: int) -> NDArray[_T]:
        """The next n entries, to be filled."""
        if self._end + n > len(self._array):
            longer = np.empty(max(2 * len(self._array), self._end + n), self._array.dtype)
            longer[: self._end] = self.filled
            self._array = longer
        self._end += n
        return self._array[self._end - n : self._end]

    @property
    def filled(self) -> NDArray[_T]:
        return self._array[: self._end]
