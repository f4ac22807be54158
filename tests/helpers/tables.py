"""A table in every form that is read."""

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa


def as_file(write, suffix):
    def make(frame, folder):
        path = folder / f"table{suffix}"
        getattr(frame, write)(path)
        return path

    return make


FORMS = {
    "polars": lambda frame, _: frame,
    "polars lazy": lambda frame, _: frame.lazy(),
    "polars categorical": lambda frame, _: frame.cast({pl.String: pl.Categorical}),
    "pandas": lambda frame, _: pd.DataFrame(frame.to_dict(as_series=False)),
    "pandas objects": lambda frame, _: pd.DataFrame(frame.to_dict(as_series=False), dtype=object),
    "pandas categories": lambda frame, _: pd.DataFrame(
        frame.to_dict(as_series=False), dtype="category"
    ),
    "narwhals": lambda frame, _: nw.from_native(frame),
    "narwhals lazy": lambda frame, _: nw.from_native(frame.lazy()),
    "pyarrow": lambda frame, _: pa.table(frame.to_dict(as_series=False)),
    "pyarrow dictionary": lambda frame, _: pa.table(
        {name: pa.array(frame[name].to_list()).dictionary_encode() for name in frame.columns}
    ),
    "parquet": as_file("write_parquet", ".parquet"),
    "parquet as text": lambda frame, folder: str(FORMS["parquet"](frame, folder)),
    "csv": as_file("write_csv", ".csv"),
    "ndjson": as_file("write_ndjson", ".ndjson"),
    "jsonl": as_file("write_ndjson", ".JSONL"),
}

AS_TEXT = {"csv", "ndjson", "jsonl"}
OF_CATEGORIES = {"pandas categories", "pyarrow dictionary"}  # refused as they are opened, if floats
