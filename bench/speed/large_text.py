"""How much memory a large table of text takes: rows are read in pieces, and names are kept once."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import duckdb
import polars as pl
import psutil

from bench.common import report
from bench.common.timing import once

__all__ = ["measure"]

_ROWS, _FILES = 100_000_000, 20
_AIM = 4e9  # bytes
_JOBS = {"top_k": "top-k", "domain": "domain"}
_FILE = """
COPY (
    SELECT 'person ' || hex(hash(floor({users} * power(random(), 1.5))::BIGINT)) AS "user",
        'title ' || hex(hash(floor(power({items}, random()))::BIGINT)) AS item
    FROM range({rows})
) TO '{path}' (FORMAT parquet)
"""


def measure(scale: float = 1.0) -> None:
    """Write the files, ask each question once in a fresh process, and write the result.

    Args:
        scale: Of the rows.
    """
    rows = int(_ROWS * scale)
    with TemporaryDirectory() as folder:
        read = _write(rows, Path(folder))
        figures = [_figure(job, title, folder) for job, title in _JOBS.items()]
    note = (
        f"{rows:,} rows of text in {_FILES} Parquet files of {read / 1e9:.2g} GB, {rows // 10:,} "
        f"users and {rows // 100:,} items to choose from, with popularity by Zipf. top_k(100) and "
        "domain(); epsilon=1, delta=1e-6; one run, in a process of its own. The peak is that of "
        "the whole process, libraries included. CPU seconds: of all cores."
    )
    title = "Memory of a large table of text"
    report.write("large-text", title, {"Figures": pl.DataFrame(figures)}, [note])


def _figure(job: str, title: str, folder: str) -> dict[str, object]:
    before = _worked()
    seconds, peak = once(job, folder)
    return {
        "question": title,
        "seconds": seconds,
        "CPU seconds": _worked() - before,
        "peak memory, GB": peak / 1e9,
        "aim": _AIM / 1e9,
        "met": "yes" if peak <= _AIM else "no",
    }


def _worked() -> float:
    used = psutil.Process().cpu_times()
    return float(used.children_user + used.children_system)


def _write(rows: int, folder: Path) -> int:
    """The files, of so many bytes."""
    shape = {"users": rows // 10, "items": rows // 100, "rows": rows // _FILES}
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        for number in range(_FILES):
            connection.execute(_FILE.format(path=folder / f"part-{number:02}.parquet", **shape))
    return sum(path.stat().st_size for path in folder.glob("*.parquet"))
