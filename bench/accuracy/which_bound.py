"""How many items `domain` names at each bound on a user's items: what the choice is worth."""

from __future__ import annotations

import math

import numpy as np
import polars as pl

import shortlist as sl
from bench.accuracy.study import EPSILONS
from bench.common import real, report
from bench.common.axes import Across, Axis
from bench.common.cells import BOUND, DELTA, means
from bench.common.plotting import Look, against
from bench.common.seeds import bits_of
from shortlist.mechanisms import AdaptiveGaussian
from shortlist.metrics import compare

__all__ = ["measure"]

BOUNDS = (3, 10, 30, 100, 300, 1000, 3000)
ITEMS = "items named"
_CELL = ("table", "epsilon")
_APART = 1.1  # times as many items at the best bound as at the usual one
_OTHER = Look("#b0b0b0")


def measure(runs: int) -> None:
    """Measure, print, write and draw.

    Args:
        runs: Of each cell.
    """
    parts = [_of_table(name, path, runs) for name, path in real.find().items()]
    if not parts:
        return
    figures = means(pl.concat(parts), (ITEMS,))
    cells = _cells(figures)
    gain = cells["best / usual"]
    mean = math.exp(np.log(gain.to_numpy()).mean())
    setting = (
        f"`AdaptiveGaussian`, the default of `domain`, at delta={DELTA:g}; {runs} runs from fixed "
        "seeds. held: how many items a user holds, at the median and at the ninth of ten."
    )
    worth = (
        f"best / usual: items at the best of the {len(BOUNDS)} bounds, over those at {BOUND} "
        "(items + 1 in both). That is the most that a private choice of the bound could gain, if "
        f"it cost nothing: {mean:.3f} in the geometric mean, {gain.max():.2f} at most. The best of "
        "several means is a little too high where few items are named."
    )
    notes = [setting, worth]
    pictures = {"which-bound.png": "Items named against the bound"}
    tables = {"Cells": cells, "Figures": figures}
    report.write("which-bound", "Which bound on a user's items", tables, notes, pictures)
    _plot(figures)


def _of_table(name: str, path: object, runs: int) -> pl.DataFrame:
    source = sl.pairs(path, user="user", item="item")
    asked = {"epsilon": EPSILONS, "delta": DELTA, "runs": runs, "random": bits_of("bound", name)}
    found = compare(
        source, sl.Domain(), mechanisms=AdaptiveGaussian, max_items_per_user=BOUNDS, **asked
    ).runs
    held = real.read(path).sizes
    print(f"{name}: done.")
    median, most = np.quantile(held, [0.5, 0.9])
    return found.select(
        pl.lit(real.TABLES[name]).alias("table"),
        pl.lit(f"{median:.0f}, {most:.0f}").alias("held"),
        "epsilon",
        "max_items_per_user",
        "run",
        pl.col("items").alias(ITEMS),
    )


def _cells(figures: pl.DataFrame) -> pl.DataFrame:
    """A row for each table and epsilon, a column for each bound."""
    wide = figures.pivot(on="max_items_per_user", index=[*_CELL, "held"], values=ITEMS)
    names = [str(bound) for bound in BOUNDS]
    best = pl.max_horizontal(names) + 1
    return wide.with_columns((best / (pl.col(str(BOUND)) + 1)).alias("best / usual"))


def _plot(figures: pl.DataFrame) -> None:
    """A line for each table; those stand out whose best bound is far from the usual one."""
    cells = _cells(figures)
    apart = set(cells.filter(pl.col("best / usual") > _APART, epsilon=1.0)["table"])
    looks = {name: _OTHER for name in dict.fromkeys(figures["table"]) if name not in apart}
    looks |= {name: Look("#0b6e99", width=3) for name in sorted(apart)}
    usual = figures.filter(max_items_per_user=BOUND).select(*_CELL, usual=pl.col(ITEMS) + 1)
    ratio = (pl.col(ITEMS) + 1) / pl.col("usual")
    error = 2 * pl.col(f"{ITEMS} error").fill_null(0) / pl.col("usual")
    drawn = figures.join(usual, on=list(_CELL)).select(
        pl.lit("").alias("row"),
        pl.format("ε = {}", pl.col("epsilon")).str.replace(r"\.0$", "").alias("column"),
        pl.col("table").alias("series"),
        "max_items_per_user",
        low=ratio - error,
        middle=ratio,
        high=ratio + error,
    )
    against(
        drawn,
        report.path_of("which-bound.png"),
        across=Across("max_items_per_user", "max_items_per_user", BOUNDS, (2.5, 3600)),
        axis=Axis("items named, over those at 100", [0.25, 0.5, 1, 1.5], labels="datum.value"),
        looks=looks,
        title="Domain: which bound on a user's items",
        subtitle=f"More is better. Mean ± 2 standard errors; δ = {DELTA:g}.",
        size=(240, 220),
    )
