"""Other shares for `DiscoverThenRank` than its own, on the tables that it was chosen on."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import polars as pl

from bench.accuracy.top_k import (
    CELL,
    FLOOR,
    MASS,
    MEASURES,
    PAPER,
    SETTINGS,
    Kinds,
    beside,
    groups,
    trials_of,
)
from bench.common import real, report
from bench.common.cells import means
from shortlist.mechanisms import Accounting, DiscoverThenRank

__all__ = ["compare"]

SHARES = (0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5)
DEFAULT = DiscoverThenRank.discovery_share
ZCDP: Kinds = {"zCDP": partial(DiscoverThenRank, accounting=Accounting.ZCDP)}


def compare(runs: int) -> None:
    """All shares beside the default one, in the geometric mean over all cells."""
    shares = sorted({DEFAULT, *SHARES})
    kinds: Kinds = {f"{x:g}": partial(DiscoverThenRank, discovery_share=x) for x in shares}
    trials = trials_of(real.find(), {**kinds, **ZCDP, **PAPER}, runs)
    if trials.is_empty():
        return
    figures = means(trials, MEASURES)
    table = pl.DataFrame([_row(trials, figures, label) for label in (*kinds, *ZCDP)])
    meaning = (
        f"Geometric means of missing mass + 1e-4, over those of the default share {DEFAULT:g}: "
        "below 1 is better. The last row is the default where stages are composed in zCDP. ± is "
        "the standard error of the ratio's logarithm, by resampling the runs. Worse: in how many "
        "cells (table, epsilon, k) they are worse than the published mechanism by more than twice "
        "the combined error."
    )
    notes = [meaning, SETTINGS.format(runs=runs)]
    report.write("tuning", "The share of DiscoverThenRank", {"Ratios": table}, notes)


def _row(trials: pl.DataFrame, figures: pl.DataFrame, label: str) -> dict[str, object]:
    """One share beside the paper's mechanism, and beside the default."""
    row: dict[str, object] = {"discovery_share": label}
    for measure in MEASURES:
        cells = beside(figures, measure, new=label)
        row[f"worse in {measure}"] = int(cells["new is worse"].sum())
    for name, part in groups(trials):
        ratio, error = _against(part, label, f"{DEFAULT:g}")
        row[name] = ratio
        if name == "all":
            row["±"] = error
    return row


def _against(trials: pl.DataFrame, label: str, default: str) -> tuple[float, float]:
    """Ratio of the geometric means over the cells, and the error of its logarithm."""
    masses = [_by_run(trials.filter(mechanism=name)) for name in (label, default)]

    def log_ratio(runs: np.ndarray) -> float:
        logs = [np.log(mass[runs].mean(axis=0) + FLOOR) for mass in masses]
        return float((logs[0] - logs[1]).mean())

    n = len(masses[0])
    rng = np.random.default_rng(1)
    resampled = [log_ratio(rng.integers(0, n, n)) for _ in range(200)]
    return math.exp(log_ratio(np.arange(n))), float(np.std(resampled))


def _by_run(trials: pl.DataFrame) -> np.ndarray:
    """Missing masses, shape (runs, cells)."""
    wide = trials.sort(CELL).pivot(on="run", index=CELL, values=MASS)
    return wide.drop(CELL).to_numpy().T
