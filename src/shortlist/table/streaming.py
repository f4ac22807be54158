"""Integer columns of files, coded batch by batch: whole columns are never in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shortlist.table.keys import Keys, Offsets, fit_offsets

if TYPE_CHECKING:
    import polars as pl

__all__ = ["stream_offsets"]


def stream_offsets(rows: pl.LazyFrame) -> list[Keys] | None:
    """Codes of integer columns by their distance from the smallest value, in one pass.

    Rows with a null are left out.

    Returns:
        The keys of each column, or None where the values of one lie too far apart, or where the
        installed Polars gives no batches: then the columns are to be coded whole.
    """
    import polars as pl

    if not hasattr(rows, "collect_batches"):  # until Polars 1.34
        return None
    n_rows = rows.select(pl.len()).collect().item()
    columns = [_Column(name, dtype, n_rows) for name, dtype in rows.collect_schema().items()]
    for batch in rows.collect_batches(maintain_order=True):
        held = batch.get_columns()
        if any(values.null_count() for values in held):
            held = batch.drop_nulls().get_columns()
        for column, values in zip(columns, held, strict=True):
            if not column.append(values):
                return None
    return [column.keys() for column in columns] if n_rows else None


class _Column:
    """A column of which the last 32 bits, the smallest and the largest value are kept."""

    def __init__(self, name: str, dtype: pl.DataType, n_rows: int) -> None:
        import polars as pl

        self._like = pl.Series(name, dtype=dtype)
        self._bits = np.empty(n_rows, np.uint32)
        self._end = 0
        self._low, self._high = 2**64, -(2**64)  # beyond all values

    def append(self, values: pl.Series) -> bool:
        """Take a batch; False if the values lie too far apart by now."""
        for chunk in values.get_chunks():
            numbers = chunk.to_numpy()
            if len(numbers):
                self._low = min(self._low, int(numbers.min()))
                self._high = max(self._high, int(numbers.max()))
                bits = self._bits[self._end : self._end + len(numbers)]
                np.copyto(bits, numbers, casting="unsafe")
                self._end += len(numbers)
        return fit_offsets(self._low, self._high, len(self._bits))

    def keys(self) -> Keys:
        """The keys of all batches."""
        codes = self._bits[: self._end]
        if not self._end:
            return Keys(codes, 0, Offsets(self._like, 0, 0))
        codes -= np.uint32(self._low % 2**32)  # exact modulo 2^32: all distances are below that
        size = self._high - self._low + 1
        return Keys(codes, size, Offsets(self._like, self._low, size))
