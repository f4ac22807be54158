"""How many items `domain` names at each bound on a user's items, and at one chosen privately."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import polars as pl

import shortlist as sl
from bench.accuracy.study import EPSILONS
from bench.common import real, report
from bench.common.axes import Across, Axis
from bench.common.cells import BOUND, DELTA, means
from bench.common.plotting import Look, against
from bench.common.seeds import bits_of
from bench.common.shapes import SHAPES
from shortlist.mechanisms import AdaptiveGaussian, ChosenBound, Mechanism
from shortlist.metrics import compare
from shortlist.sources.pairs import Pairs

__all__ = ["measure"]

BOUNDS = (3, 10, 30, 100, 300, 1000, 3000)
ITEMS = "items named"
_TUNED_ON = (
    "steam_200k",
    "amazon_magazine",
    "anime_5k",
    "reddit_title_tokens",
    "fimi_retail",
)
"""Tables by whose figures at each bound the private choice was designed."""

_CHOSEN = "chosen"
_USUAL = str(BOUND)
_MORE = 4  # times as many runs, where small differences count
_CELL = ("table", "epsilon")
_APART = 1.1  # times as many items at the best bound as at the usual one
_OTHER = Look("#b0b0b0")
_ODD = "odd shape"


def measure(runs: int) -> None:
    """Measure, print, write and draw.

    Args:
        runs: Of each cell.
    """
    parts = [_of_table(name, real.TABLES[name], path, runs) for name, path in real.find().items()]
    parts += [_of_table(name, name, made(), runs) for name, made in SHAPES.items()]
    figures = means(pl.concat(parts), (ITEMS,))
    cells = _cells(figures)
    setting = (
        f"`AdaptiveGaussian` at each bound, and `ChosenBound`, at delta={DELTA:g}; {runs} runs, "
        f"and {_MORE * runs} at {BOUND} and of `ChosenBound`, from fixed seeds. held: how many "
        "items a user holds, at the median and at the ninth of ten."
    )
    worth = (
        f"best / usual: items at the best of the {len(BOUNDS)} bounds, over those at {BOUND} "
        "(items + 1 in both). That is the most that a choice of the bound could gain, if it cost "
        "nothing. The best of several means is a little too high where few items are named. "
        f"{_CHOSEN}: the items that `ChosenBound` named, at a bound that it chose privately and "
        "paid for. Odd shapes are made here, of users who hold much beside users who hold little; "
        "no table is unseen: the choice's constants were settled with all in view."
    )
    pictures = {"which-bound.png": "Items named against the bound"}
    tables = {"Over all cells": _overall(cells), "Cells": cells, "Figures": figures}
    report.write("which-bound", "Which bound on a user's items", tables, [setting, worth], pictures)
    real_ones = figures.filter(pl.col("bound") != _CHOSEN, pl.col("kind") != _ODD)
    _plot(real_ones, _apart(cells.filter(pl.col("kind") != _ODD)))


def _of_table(name: str, title: str, rows: Path | pl.DataFrame, runs: int) -> pl.DataFrame:
    source = sl.pairs(rows, user="user", item="item")
    others = [bound for bound in BOUNDS if bound != BOUND]
    most = ChosenBound.max_items_per_user
    parts = [
        _named(source, name, AdaptiveGaussian, others, runs),
        _named(source, name, AdaptiveGaussian, [BOUND], _MORE * runs),
        _named(source, name, ChosenBound, [most], _MORE * runs).with_columns(bound=pl.lit(_CHOSEN)),
    ]
    held = real.read(rows).sizes
    print(f"{name}: done.")
    median, ninth = np.quantile(held, [0.5, 0.9])
    return pl.concat(parts).select(
        pl.lit(title).alias("table"),
        pl.lit(_kind(name)).alias("kind"),
        pl.lit(f"{median:.0f}, {ninth:.0f}").alias("held"),
        "epsilon",
        "bound",
        "run",
        ITEMS,
    )


def _kind(name: str) -> str:
    if name in SHAPES:
        return _ODD
    return "tuned on" if name in _TUNED_ON else "other"


def _named(
    source: Pairs, name: str, mechanism: type[Mechanism], bounds: list[int], runs: int
) -> pl.DataFrame:
    """How many items it names at each epsilon and bound."""
    trials = compare(
        source,
        sl.Domain(),
        epsilon=EPSILONS,
        delta=DELTA,
        max_items_per_user=bounds,
        mechanisms=mechanism,
        runs=runs,
        random=bits_of("bound", name, mechanism.__name__, len(bounds)),
    )
    return trials.runs.select(
        "epsilon",
        "run",
        pl.col("max_items_per_user").cast(pl.String).alias("bound"),
        pl.col("items").alias(ITEMS),
    )


def _cells(figures: pl.DataFrame) -> pl.DataFrame:
    """A row for each table and epsilon, a column for each bound."""
    index, bounds = [*_CELL, "kind", "held"], [str(bound) for bound in BOUNDS]
    wide = figures.pivot(on="bound", index=index, values=ITEMS).select(*index, *bounds, _CHOSEN)
    usual = pl.col(_USUAL) + 1
    best = pl.max_horizontal(bounds) + 1
    return wide.with_columns(
        (best / usual).alias("best / usual"),
        ((pl.col(_CHOSEN) + 1) / usual).alias("chosen / usual"),
    )


def _overall(cells: pl.DataFrame) -> pl.DataFrame:
    """Geometric means of both ratios, and the ends of what the choice gains."""
    found = cells.filter(pl.col("kind") != _ODD)
    usual = found.filter(~pl.col("table").is_in(_apart(found)))
    parts = {
        "all real tables": found,
        "tuned on": found.filter(kind="tuned on"),
        "other": found.filter(kind="other"),
        f"all real ones but {' and '.join(_apart(found))}": usual,
        "other among these": usual.filter(kind="other"),
        "odd shapes": cells.filter(kind=_ODD),
    }
    parts = {name: part for name, part in parts.items() if len(part)}
    return pl.DataFrame([{"tables": name, **_ratios(part)} for name, part in parts.items()])


def _apart(cells: pl.DataFrame) -> list[str]:
    """The tables where another bound than the usual one is much better."""
    return cells.filter(pl.col("best / usual") > _APART, epsilon=1.0)["table"].to_list()


def _ratios(cells: pl.DataFrame) -> dict[str, float]:
    best, chosen = (cells[name].to_numpy() for name in ("best / usual", "chosen / usual"))
    return {
        "best / usual": math.exp(np.log(best).mean()),
        "chosen / usual": math.exp(np.log(chosen).mean()),
        "chosen / best": math.exp(np.log(chosen / best).mean()),
        "least": float(chosen.min()),
        "most": float(chosen.max()),
    }


def _plot(figures: pl.DataFrame, apart: list[str]) -> None:
    """A line for each table; those stand out whose best bound is far from the usual one."""
    looks = {name: _OTHER for name in dict.fromkeys(figures["table"]) if name not in apart}
    looks |= {name: Look("#0b6e99", width=3) for name in sorted(apart)}
    usual = figures.filter(bound=_USUAL).select(*_CELL, usual=pl.col(ITEMS) + 1)
    ratio = (pl.col(ITEMS) + 1) / pl.col("usual")
    error = 2 * pl.col(f"{ITEMS} error").fill_null(0) / pl.col("usual")
    drawn = figures.join(usual, on=list(_CELL)).select(
        pl.lit("").alias("row"),
        pl.format("ε = {}", pl.col("epsilon")).str.replace(r"\.0$", "").alias("column"),
        pl.col("table").alias("series"),
        pl.col("bound").cast(pl.Int64).alias("max_items_per_user"),
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
