"""A table larger than memory: Parquet files in a DuckDB that may hold 1 GB of them."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import polars as pl

from bench.common import report
from bench.common.timing import once

__all__ = ["measure"]

_ROWS, _FILES = 200_000_000, 20
_JOBS = {
    "exact_beyond_memory": "exact count, not private",
    "beyond_memory": "default",
    "beyond_memory_in_one_round": "one round",
}
_FILE = """
COPY (
    SELECT hash(floor({users} * power(random(), 1.5))::BIGINT) >> 1 AS "user",
        hash(floor(power({items}, random()))::BIGINT) >> 1 AS item
    FROM range({rows})
) TO '{path}' (FORMAT parquet)
"""


def measure(scale: float = 1.0) -> None:
    """Write the files, ask once in a fresh process each, and write the result.

    Args:
        scale: Of the rows; at 1 the files take 2.7 GB, and DuckDB's own up to 20 GB more.
    """
    rows = int(_ROWS * scale)
    with TemporaryDirectory() as folder:
        read = _write(rows, Path(folder))
        taken = {title: once(job, folder) for job, title in _JOBS.items()}
    figures = [
        {"job": title, "seconds": seconds, "peak memory, MB": peak / 1e6}
        for title, (seconds, peak) in taken.items()
    ]
    notes = (
        f"{rows:,} rows of random 64-bit integers in {_FILES} Parquet files of {read / 1e9:.2g} "
        f"GB, {rows // 10:,} users and {rows // 40:,} items to choose from, with popularity by "
        "Zipf. A DuckDB relation over the files, with memory_limit = 1 GB. top_k: k=100, "
        "epsilon=1, delta=1e-6, max_items_per_user=100; one run, in a process of its own. The "
        "peak is that of the whole process: Python, libraries, Arrow and the items' sums included."
    )
    title = "A table larger than memory"
    report.write("engines-larger", title, {"Figures": pl.DataFrame(figures)}, [notes])


def _write(rows: int, folder: Path) -> int:
    """The files, of so many bytes."""
    shape = {"users": rows // 10, "items": rows // 40, "rows": rows // _FILES}
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        for number in range(_FILES):
            connection.execute(_FILE.format(path=folder / f"part-{number:02}.parquet", **shape))
    return sum(path.stat().st_size for path in folder.glob("*.parquet"))
