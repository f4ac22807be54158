"""Integer columns of files, coded batch by batch: whole columns are never in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shortlist.table.keys import Keys, OffsetCoder

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
    schema = rows.collect_schema()
    coders = [OffsetCoder(pl.Series(name, dtype=dtype), n_rows) for name, dtype in schema.items()]
    for batch in rows.collect_batches(maintain_order=True):
        held = batch.get_columns()
        if any(values.null_count() for values in held):
            held = batch.drop_nulls().get_columns()
        for coder, values in zip(coders, held, strict=True):
            if not coder.append(values):
                return None
    return [coder.keys() for coder in coders] if n_rows else None
