"""What leaves an engine: rows and bytes of all that is fetched for a question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import polars as pl

import shortlist as sl
from bench.common import report
from shortlist.mechanisms import DiscoverThenRank, WeightedGaussian

__all__ = ["measure"]

_ROWS, _ITEMS = 50_000_000, 10_000_000
_ASKED: Mapping[str, Any] = {"epsilon": 1.0, "delta": 1e-6}
_TABLE = """
CREATE TABLE plays AS
SELECT floor({users} * random())::BIGINT AS "user",
    CASE WHEN range < {items} THEN range ELSE floor(power({items}, random()))::BIGINT END AS item
FROM range({rows})
"""


def measure(scale: float = 1.0) -> None:
    """Make the table in DuckDB, ask, and write the result."""
    shape = {"rows": int(_ROWS * scale), "items": int(_ITEMS * scale)}
    shape["users"] = shape["rows"] // 10
    with TemporaryDirectory() as folder, duckdb.connect(Path(folder) / "plays.db") as connection:
        connection.execute(f"SELECT setseed(0.5); {_TABLE.format(**shape)}")
        rows = connection.table("plays")
        figures = list(_figures(sl.pairs(rows, user="user", item="item", pull=False)))
    notes = (
        f"A table in DuckDB: {shape['rows']:,} rows, {shape['users']:,} users, {shape['items']:,} "
        "items, each in a row at least, with popularity by Zipf beyond that. epsilon=1, "
        "delta=1e-6, max_items_per_user=100, k=100. All that is fetched from the engine: of heavy "
        "items weight, holders and number; of light ones how many there are, and the few that are "
        "asked for by rank; the names of what is named; some numbers besides. all items: number "
        "and sum of each, as where all of them are shown."
    )
    title = "What leaves an engine"
    report.write("engines-leaving", title, {"Figures": pl.DataFrame(figures)}, [notes])


def _figures(source: sl.Pairs) -> Iterator[dict[str, object]]:
    jobs: dict[str, Callable[[], sl.Release]] = {
        "domain, WeightedGaussian": lambda: source.domain(mechanism=WeightedGaussian, **_ASKED),
        "top_k, DiscoverThenRank": lambda: source.top_k(100, mechanism=DiscoverThenRank, **_ASKED),
        "top_k, default (all items)": lambda: source.top_k(100, **_ASKED),
    }
    for name, job in jobs.items():
        with _counted(source) as fetched:
            named = len(job().items)
        rows, held = (sum(each) for each in zip(*fetched, strict=True))
        yield {"question": name, "named": named, "rows": rows, "bytes": held}


@contextmanager
def _counted(source: sl.Pairs) -> Iterator[list[tuple[int, int]]]:
    """The rows and bytes of each answer of the engine."""
    dialect = source._engine._in_engine.dialect  # noqa: SLF001 - what everything is fetched through
    fetched: list[tuple[int, int]] = []

    def fetch(query: object) -> object:
        rows = type(dialect).fetch(dialect, query)
        fetched.append((rows.num_rows, rows.nbytes))
        return rows

    dialect.fetch = fetch
    try:
        yield fetched
    finally:
        del dialect.fetch
