"""How long questions take as items become rarer, beside the exact, non-private count of users."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import report, samples
from bench.common.axes import Across, Axis
from bench.common.plotting import Look, against
from bench.common.timing import Times, in_turns

__all__ = ["measure"]

ROWS = (2_000_000, 20_000_000)
ITEMS = (1_000, 10_000, 100_000, 1_000_000, 10_000_000)
KINDS = {"sparse": "random 64-bit integers", "text": "text"}
MOST_TEXT = 2_000_000  # rows: writing names takes longest
ASKED = {"epsilon": 1.0, "delta": 1e-6}
AIM = 1.3  # times the exact count
_TICK = 0.01  # seconds: the system counts those of a process in these
LOOKS = {
    "top-k": Look("#0b6e99", width=3),
    "domain": Look("#111111"),
    "hitting set": Look("#c0562f"),
}


def measure(scale: float = 1.0, runs: int = 3) -> None:
    """Generate the tables, measure, print, write and draw.

    Args:
        scale: Of the data.
        runs: Turns of each question and each exact count.
    """
    rows = []
    with TemporaryDirectory() as name:
        for shape, kind in _tables(scale):
            path = samples.write_with_rare_items(shape, kind, Path(name))
            rows += _figures(path, shape, kind, runs)
            path.unlink()
            print(f"{shape.rows:,} rows, {shape.items:,} items, {kind}: done.", flush=True)
    _tell(pl.DataFrame(rows), runs)


def _tables(scale: float) -> list[tuple[samples.Shape, str]]:
    return [
        (samples.Shape(rows, rows // 10, items).scaled(scale), kind)
        for rows in ROWS
        for kind in KINDS
        for items in ITEMS
        if kind != "text" or rows <= MOST_TEXT
    ]


def _figures(path: Path, shape: samples.Shape, kind: str, runs: int) -> list[dict[str, object]]:
    taken = in_turns({**_questions(path), **_exact(path)}, runs=runs)
    exact = min((taken.pop(query) for query in _exact(path)), key=_cpu)
    held = pl.scan_parquet(path).select(pl.col("item").n_unique()).collect().item()
    about = {"rows": shape.rows, "items": held, "keys": KINDS[kind]}
    return [
        about
        | {"question": question, "CPU seconds": _cpu(times), "exact": _cpu(exact)}
        | {"ratio of CPU": _cpu(times) / _cpu(exact), "ratio": times.median / exact.median}
        for question, times in taken.items()
    ]


def _questions(path: Path) -> dict[str, Callable[[], object]]:
    def pairs() -> sl.Pairs:
        return sl.pairs(path, user="user", item="item")

    return {
        "top-k": lambda: pairs().top_k(100, **ASKED),
        "domain": lambda: pairs().domain(**ASKED),
        "hitting set": lambda: pairs().hitting_set(20, **ASKED),
    }


def _exact(path: Path) -> dict[str, Callable[[], object]]:
    """Two ways to count, of which the faster one is compared with."""
    rows = pl.scan_parquet(path).select("user", "item")
    counted = rows.group_by("item").agg(pl.col("user").n_unique())
    distinct = rows.unique().group_by("item").agg(pl.len().alias("user"))
    return {
        "n_unique": counted.top_k(100, by="user").collect,
        "unique": distinct.top_k(100, by="user").collect,
    }


def _cpu(times: Times) -> float:
    return max(float(np.median(times.cpu)), _TICK)


def _tell(figures: pl.DataFrame, runs: int) -> None:
    settings = (
        "Generated tables: half of the rows take their item by Zipf's law, the other half any "
        "item alike; a user has ten rows on average. Whole questions from a Parquet file, a fresh "
        f"source each time: top_k(100), domain(), hitting_set(20); epsilon={ASKED['epsilon']:g}, "
        f"delta={ASKED['delta']:g}. exact: the faster of two Polars queries that count the users "
        "of each item, by `n_unique`, and by `unique` and `len`. Medians of "
        f"{runs} runs in turns, after one to warm up. ratio of CPU: of the seconds that all cores "
        f"worked; ratio: by the clock. Aimed at: at most {AIM:g}."
    )
    worst = figures.sort("ratio of CPU", descending=True).head(3)
    pictures = {"rare-items.png": "Times the exact count, against the number of items"}
    tables = {"Worst": worst, "All": figures}
    report.write("rare-items", "Speed where items are rare", tables, [settings], pictures)
    _plot(figures)


def _plot(figures: pl.DataFrame) -> None:
    ratio = pl.col("ratio of CPU")
    millions = (pl.col("rows") / 1e6).cast(pl.String).str.strip_suffix(".0")
    table = pl.format("{} M rows,\n{}", millions, "keys")
    data = figures.select(
        "items",
        row=pl.lit(""),
        column=table,
        series="question",
        low=ratio,
        middle=ratio,
        high=ratio,
    )
    against(
        data,
        report.path_of("rare-items.png"),
        across=Across(
            "items",
            "distinct items",
            [10**exponent for exponent in range(3, 8)],
            (figures["items"].min() / 1.3, figures["items"].max() * 1.3),
            labels="format(datum.value, '~s')",
        ),
        axis=Axis("times the exact count (CPU)", [0.2, 0.5, 1, 1.3, 2, 3, 5], labels="datum.value"),
        looks=LOOKS,
        title="The time questions take as items become rarer",
        subtitle=f"CPU seconds over those of the exact count, not private. Aim: {AIM:g}. ε = 1.",
        size=(230, 220),
    )
