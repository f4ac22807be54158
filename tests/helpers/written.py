"""A small table as text in files."""

import io
import uuid

import polars as pl

ROWS = [("u1", "007"), ("u2", "7"), ("ü\u0301", " 7")]
FRAME = pl.DataFrame(ROWS, schema=["user", "item"], orient="row")


def text(suffix, frame=FRAME):
    content = io.BytesIO()
    if suffix in (".ndjson", ".jsonl"):
        frame.write_ndjson(content)
    elif suffix == ".parquet":
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator="\t" if suffix == ".tsv" else ",")
    return content.getvalue()


MARK = b"\xef\xbb\xbf"
UUIDS = [uuid.UUID(int=7**i) for i in (5, 20, 40)]
