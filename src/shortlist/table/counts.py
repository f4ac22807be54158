"""The rows of a histogram: each item once, with how many users hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.errors import InputError, Words
from shortlist.table.key_types import fits_numpy

if TYPE_CHECKING:
    import polars as pl

    from shortlist.draws import Ints

__all__ = ["align", "check_distinct", "whole_counts"]

_LARGEST = 2**62  # differences and sums of two counts fit 64 bits


def whole_counts(column: pl.Series, written: Words) -> Ints:
    """The counts of a column of integers, or of text that is written as integers are.

    Args:
        column: Shape (n_items,).
        written: The file and the column, for messages.

    Raises:
        InputError: One is null, or no whole number from 0 to 2^62. It is not quoted.

    >>> import polars as pl
    >>> whole_counts(pl.Series(["7", "0"]), Words("count"))
    array([7, 0])
    """
    import polars as pl

    if column.null_count():
        raise InputError(
            "{written} holds a null beside an item",
            "write the count, or leave the row out",
            written=written,
        )
    numbers = column
    if column.dtype == pl.String:
        numbers = column.cast(pl.Int64, strict=False)
        if numbers.null_count() or not (numbers.cast(pl.String) == column).all():
            raise InputError(
                "{written} holds a text that is not a whole number written plainly, such as 42",
                "fix it. The row is private and not shown",
                written=written,
            )
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() <= _LARGEST):  # type: ignore[operator]
        raise InputError(
            "{written} holds a number that is not a count: below 0 or above 2^62",
            "fix it. The row is private and not shown",
            written=written,
        )
    return numbers.cast(pl.Int64).to_numpy(writable=True)


def check_distinct(items: pl.DataFrame, origin: Words) -> None:
    """Refuse a histogram in which an item has two rows. It is not quoted."""
    if items.height and _repeats(items):
        raise InputError(
            "{origin}: an item is in more than one row",
            "give every item one row, with the number of its users. If the rows are of users and "
            "items, use {sl.pairs}",
            origin=origin,
        )


def _repeats(rows: pl.DataFrame) -> bool:
    """Whether a row occurs twice, found as its types allow, so that it costs little to know."""
    if rows.width > 1:
        distinct = rows.lazy().group_by(rows.columns).agg().collect(engine="streaming")
        return distinct.height < rows.height
    values = rows.to_series().to_physical()
    if fits_numpy(values.dtype):
        numbers = values.to_numpy()
        low, high = int(numbers.min()), int(numbers.max())
        if high - low < min(8 * len(numbers), 2**32):
            return _repeats_between(numbers, low, high)
    return values.n_unique() < len(values)


def _repeats_between(numbers: Ints, low: int, high: int) -> bool:
    """The same of integers that lie near each other: a byte for each that could be."""
    # Modulo 2^32 the distances are exact whatever the width of the type.
    shift = np.uint32(low % 2**32)
    seen = np.zeros(high - low + 1, np.bool_)
    seen[np.subtract(numbers, shift, dtype=np.uint32, casting="unsafe")] = True
    return int(np.count_nonzero(seen)) < len(numbers)


def align(items: pl.DataFrame, counts: Ints, wanted: pl.DataFrame) -> Ints:
    """The count of each wanted item, 0 where the histogram has none; other items are dropped.

    Args:
        items: One row per item, as from `Table.counts`.
        counts: The count of each.
        wanted: The same columns, no row twice.

    >>> import polars as pl
    >>> pages = pl.DataFrame({"page": ["a", "b"]})
    >>> align(pages, np.array([3, 4]), pl.DataFrame({"page": ["c", "b"]}))
    array([0, 4])
    """
    import polars as pl

    names = {name: f"item {i}" for i, name in enumerate(items.columns)}  # whatever they are called
    held = items.rename(names).insert_column(0, pl.Series("count", counts))
    places = wanted.rename(names).with_row_index("place")
    found = held.join(places, on=list(names.values()), how="inner")  # looked up in the fewer
    aligned = np.zeros(wanted.height, np.int64)
    aligned[found["place"].to_numpy()] = found["count"].to_numpy()
    return aligned
