"""The coding of a table's columns: piece by piece, and all columns at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from shortlist.table._codings import Joint
from shortlist.table._integers import IntegerCoder, UserCoder
from shortlist.table._text import ValueCoder
from shortlist.table.key_types import fits_numpy
from shortlist.table.keys import Keys, RawKeys

if TYPE_CHECKING:
    import polars as pl

__all__ = ["code", "code_grouped", "code_pairs", "join", "read_pieces"]

_PIECE = 2**17  # rows: few enough for the processor's caches, and to be held beside the codes


def code(columns: Sequence[pl.Series]) -> Keys:
    """Codes of the rows of one or several columns of one length.

    Args:
        columns: Strings, integers, dates or datetimes without nulls, each under its own name.

    Raises:
        InputError: The keys need 2^32 codes or more.

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
) -> IntegerCoder | ValueCoder:
    kind = of_integers if fits_numpy(like.to_physical().dtype) else ValueCoder
    return kind(like, n_rows)


def join(left: Keys, right: Keys) -> Keys:
    """Keys of several columns: codes of pairs of codes, row by row."""
    import polars as pl

    coder = IntegerCoder(pl.Series("pair", dtype=pl.UInt64), len(left.codes))
    for start in range(0, len(left.codes), _PIECE):
        here = slice(start, start + _PIECE)
        # Two sizes below 2^32 multiply within 64 bits.
        numbers = left.codes[here] * np.uint64(right.size) + right.codes[here]
        coder.append(pl.Series("pair", numbers))
    pairs: Keys = coder.keys()
    coding = Joint(left.coding, right.coding, right.size, pairs.coding)
    return Keys(pairs.codes, pairs.size, coding)


def code_pairs(
    pieces: Iterable[pl.DataFrame], types: Mapping[str, pl.DataType], n_rows: int
) -> tuple[Keys | RawKeys, Keys]:
    """Codes of users, or their numbers, and codes of items; rows with a null are left out.

    Args:
        pieces: Rows of a user and one or several columns of the item.
        types: The names and types of these columns.
        n_rows: How many rows may be expected.

    Raises:
        InputError: As in `code`.
    """
    users, *others = _code_each(pieces, types, n_rows)
    return users, reduce(join, others)


def code_grouped(
    pieces: Iterable[pl.DataFrame], types: Mapping[str, pl.DataType], n_rows: int, n_by: int
) -> tuple[Keys | RawKeys, Keys, Keys]:
    """As `code_pairs`, where the first `n_by` columns behind the user are of the group."""
    users, *others = _code_each(pieces, types, n_rows)
    return users, reduce(join, others[:n_by]), reduce(join, others[n_by:])


def _code_each(
    pieces: Iterable[pl.DataFrame], types: Mapping[str, pl.DataType], n_rows: int
) -> Iterator[Any]:
    """Codes of each column, or the users' numbers."""
    import polars as pl

    user, *items = (pl.Series(name, dtype=dtype) for name, dtype in types.items())
    coders = [
        _coder(user, n_rows, UserCoder),
        *(_coder(like, n_rows, IntegerCoder) for like in items),
    ]
    with ThreadPoolExecutor(len(coders)) as pool:
        for piece in pieces:
            columns = piece.get_columns()
            if any(values.null_count() for values in columns):
                columns = piece.drop_nulls().get_columns()
            list(pool.map(lambda coder, values: coder.append(values), coders, columns))
    return (coder.keys() for coder in coders)


def read_pieces(rows: pl.LazyFrame, *, streamed: bool) -> tuple[int, Iterator[pl.DataFrame]]:
    """How many rows there are, and the rows, a piece at a time.

    Args:
        rows: What is to be read.
        streamed: Whether a piece is read when it is asked for: of files that say how many rows
            they have. All else is read whole.
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
    for piece in pieces:
        missing -= len(piece)
        yield piece
    if missing:
        raise EOFError
