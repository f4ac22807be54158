"""How good the answers are on real tables: `DiscoverThenRank` beside the published mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import real, report
from bench.common.axes import MISSING_MASS
from bench.common.cells import BOUND, DELTA, EPSILONS, SIZES, Beside, curves, means
from bench.common.plotting import Look, against_k
from bench.common.seeds import bits_of
from shortlist.mechanisms import DiscoverThenRank, Mechanism, WeightedGaussianPeeling
from shortlist.metrics import compare as compare_runs

__all__ = [
    "CELL",
    "FLOOR",
    "MASS",
    "MEASURES",
    "MECHANISMS",
    "PAPER",
    "SETTINGS",
    "Kinds",
    "beside",
    "compare",
    "groups",
    "plot",
    "ratios",
    "trials_of",
    "verdict",
]

Kinds = Mapping[str, type[Mechanism] | partial[Mechanism]]
PAPER: Kinds = {"paper": WeightedGaussianPeeling}
MECHANISMS: Kinds = {"new": DiscoverThenRank, **PAPER}
MASS = "missing mass"
MEASURES = (MASS, "l1 loss")
LOOKS = {
    "DiscoverThenRank (default)": Look("#0b6e99"),
    "WeightedGaussianPeeling (published)": Look("#d1701a"),
}
FLOOR = 1e-4  # added to both sides of a ratio of missing masses, of which many are 0
CELL = ["table", "epsilon", "k"]
COLUMNS = [*CELL, "mechanism", "run", *MEASURES]
SETTINGS = (
    f"delta={DELTA:g}, max_items_per_user={BOUND}, {{runs}} runs each from fixed seeds (so nothing "
    "here is private). Each run bounds every table anew, and all mechanisms get the same bounded "
    "sets. Missing mass and ℓ1 loss are those of `shortlist.metrics`; the error is the standard "
    "error of the mean."
)


def compare(runs: int) -> None:
    """Both mechanisms, in every cell (table, epsilon, k); tables and a plot."""
    trials = trials_of(real.find(), MECHANISMS, runs)
    if trials.is_empty():
        return
    figures = means(trials, MEASURES)
    cells = pl.concat([beside(figures, measure) for measure in MEASURES])
    judged = verdict(cells)
    print(judged)
    notes = [
        "new: `DiscoverThenRank`; paper: `WeightedGaussianPeeling` (Dick et al. 2026, Alg. 2).",
        SETTINGS.format(runs=runs),
        "Ratios are geometric means of (new + 1e-4) / (paper + 1e-4) of the missing mass.",
        judged,
    ]
    tables = {"Ratios": ratios(figures), "Cells": cells}
    pictures = {"accuracy.png": "Missing mass against k"}
    report.write("accuracy", "Accuracy of top-k on real tables", tables, notes, pictures)
    plot(figures, real.TABLES, "accuracy.png")


def plot(figures: pl.DataFrame, titles: Mapping[str, str], name: str) -> None:
    """Missing mass against k, with bands of two standard errors; a column for each table."""
    labels = dict(zip(MECHANISMS, LOOKS, strict=True))
    named = figures.with_columns(pl.col("mechanism").replace(labels))
    against_k(
        curves(named, MASS, titles, LOOKS),
        report.path_of(name),
        axis=MISSING_MASS,
        looks=LOOKS,
        title="Private top-k of private items: what is missing from the answer",
        subtitle="Share of all (user, item) pairs that the true top k holds and the answer does "
        "not: less is better. Mean ± 2 standard errors, below 1e-5 drawn as 0; δ = 1e-5, at most "
        "100 items a user.",
    )


# Running


def trials_of(paths: Mapping[str, Path], kinds: Kinds, runs: int) -> pl.DataFrame:
    """One row for each table, epsilon, k, mechanism and run."""
    parts = [_of_table(name, path, kinds, runs) for name, path in paths.items()]
    each = [part.filter(epsilon=epsilon) for part in parts for epsilon in EPSILONS]
    return pl.concat(each) if each else pl.DataFrame()


def _of_table(name: str, path: Path, kinds: Kinds, runs: int) -> pl.DataFrame:
    source = sl.pairs(path, user="user", item="item", max_items_per_user=BOUND)
    found = compare_runs(
        source,
        [sl.TopK(k) for k in SIZES],
        epsilon=EPSILONS,
        delta=DELTA,
        mechanisms=kinds,
        runs=runs,
        random=bits_of(name),
    ).runs
    print(f"{name}: {runs} runs done.")
    named = {"missing_mass": MASS, "l1": "l1 loss"}
    return found.with_columns(table=pl.lit(name)).rename(named).select(COLUMNS)


# Summing up


def beside(figures: pl.DataFrame, measure: str, *, new: str = "new") -> pl.DataFrame:
    """New and paper side by side, and whether new is worse beyond twice the combined error."""
    cells = Beside.of(figures, measure, new=new, old="paper").cells
    worse = pl.col("new") - pl.col("old") > pl.col("margin")
    return cells.select(
        pl.lit(measure).alias("measure"),
        *CELL,
        "new",
        pl.col("new error").alias("± new"),
        pl.col("old").alias("paper"),
        pl.col("old error").alias("± paper"),
        worse.alias("new is worse"),
    )


def verdict(cells: pl.DataFrame) -> str:
    """In how many cells new is worse, and in which, in words."""
    worse = cells.filter("new is worse")
    names = [
        f"{row['measure']} of {row['table']} at epsilon={row['epsilon']:g}, k={row['k']}"
        for row in worse.iter_rows(named=True)
    ]
    where = f": {'; '.join(names)}" if names else ""
    return (
        f"New is worse by more than twice the combined error in {len(worse)} of {len(cells)} "
        f"comparisons{where}. (Were both equal, about {len(cells) * 0.023:.0f} would be by chance.)"
    )


def ratios(figures: pl.DataFrame) -> pl.DataFrame:
    """Geometric means of the ratio of missing masses, over all cells and over parts of them."""
    rows = []
    for name, part in groups(figures):
        masses = [part.filter(mechanism=side)[MASS] + FLOOR for side in MECHANISMS]
        logs = np.log(masses[0].to_numpy() / masses[1].to_numpy())
        rows.append({"cells": name, "number": len(logs), "ratio": math.exp(logs.mean())})
    return pl.DataFrame(rows)


def groups(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """All, and the parts of each epsilon and of each table, by name."""
    yield "all", frame
    for epsilon in EPSILONS:
        yield f"epsilon={epsilon:g}", frame.filter(epsilon=epsilon)
    for table in frame["table"].unique(maintain_order=True):
        yield table, frame.filter(table=table)
