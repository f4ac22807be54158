"""How long pairs of items take, beside the engine's exact count of them."""

from __future__ import annotations

import duckdb
import numpy as np
import polars as pl

import shortlist as sl
from bench.common import report
from bench.common.lines import frame, ratio_line, timed_line
from bench.common.timing import in_turns

__all__ = ["measure"]

AIM = 3
ROWS, EACH, ITEMS = 5_000_000, 20, 20_000
ASKED = {"of": 2, "epsilon": 1.0, "delta": 1e-6}
_EXACT = """
WITH held AS (SELECT DISTINCT "user", item FROM plays)
SELECT one.item, other.item, count(*) AS n
FROM held AS one JOIN held AS other ON one."user" = other."user" AND one.item < other.item
GROUP BY ALL ORDER BY n DESC LIMIT 100
"""


def measure(scale: float = 1.0, runs: int = 3) -> None:
    """Generate a table, measure in memory and in DuckDB, print and write."""
    lines = []
    with duckdb.connect() as connection:
        rows = _rows(int(scale * ROWS))  # noqa: F841 - DuckDB finds it by its name
        connection.execute("CREATE TABLE plays AS FROM rows")
        table = connection.table("plays")
        taken = in_turns(
            {
                "exact": lambda: connection.sql(_EXACT).fetchall(),
                "in memory": lambda: _source(table, pull=None).top_k(100, **ASKED),
                "in DuckDB": lambda: _source(table, pull=False).top_k(100, **ASKED),
            },
            runs=runs,
        )
    for where in ("in memory", "in DuckDB"):
        line = timed_line(f"pairs added up {where}", taken[where], "exact", taken["exact"])
        lines += [line, ratio_line(line, aim=AIM)]
    how = (
        f"At scale {scale:g} of {ROWS:,} rows, {EACH} a user, of {ITEMS:,} items by Zipf; {runs} "
        "turns. The best 100 pairs of items, of rows in DuckDB, in turns with DuckDB's own exact "
        "count of them. epsilon=1, delta=1e-6. In memory: what is usual, where memory holds the "
        "rows. Rows are read anew for each question."
    )
    report.write("together-speed", "Pairs of items: time", {"Figures": frame(lines)}, [how])


def _source(table: duckdb.DuckDBPyRelation, *, pull: bool | None) -> sl.Pairs:
    return sl.pairs(table, user="user", item="item", pull=pull)


def _rows(n: int) -> pl.DataFrame:
    chances = 1 / np.arange(1, ITEMS + 1)
    items = np.random.default_rng(1).choice(ITEMS, n, p=chances / chances.sum())
    return pl.DataFrame({"user": np.arange(n) // EACH, "item": items})
