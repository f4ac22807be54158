"""Other shares for `DiscoverThenRank` than its own, on the tables that they were chosen on."""

from __future__ import annotations

import math
from functools import partial
from itertools import product

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
from shortlist.mechanisms import DiscoverThenRank

__all__ = ["compare"]

DISCOVERY_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
THRESHOLD_SHARES = (0.3, 0.5, 0.7)
DEFAULT = (DiscoverThenRank.discovery_share, DiscoverThenRank.threshold_share)


def compare(runs: int) -> None:
    """All shares beside the default ones, in the geometric mean over all cells."""
    shares = sorted({DEFAULT, *product(DISCOVERY_SHARES, THRESHOLD_SHARES)})
    kinds: Kinds = {
        _label(*pair): partial(DiscoverThenRank, discovery_share=pair[0], threshold_share=pair[1])
        for pair in shares
    }
    trials = trials_of(real.find(), {**kinds, **PAPER}, runs)
    if trials.is_empty():
        return
    figures = means(trials, MEASURES)
    table = pl.DataFrame([_row(trials, figures, pair) for pair in shares])
    meaning = (
        f"Geometric means of missing mass + 1e-4, over those of the default {_label(*DEFAULT)}: "
        "below 1 is better. ± is the standard error of the ratio's logarithm, by resampling the "
        "runs. Worse: in how many cells (table, epsilon, k) they are worse than the "
        "published mechanism by more than twice the combined error."
    )
    notes = [meaning, SETTINGS.format(runs=runs)]
    report.write("tuning", "Shares of DiscoverThenRank", {"Ratios": table}, notes)


def _row(
    trials: pl.DataFrame, figures: pl.DataFrame, pair: tuple[float, float]
) -> dict[str, object]:
    """One pair of shares beside the paper's mechanism, and beside the default."""
    row: dict[str, object] = {"discovery_share": pair[0], "threshold_share": pair[1]}
    for measure in MEASURES:
        cells = beside(figures, measure, new=_label(*pair))
        row[f"worse in {measure}"] = int(cells["new is worse"].sum())
    for name, part in groups(trials):
        ratio, error = _against(part, _label(*pair), _label(*DEFAULT))
        row[name] = ratio
        if name == "all":
            row["±"] = error
    return row


def _label(discovery: float, threshold: float) -> str:
    return f"({discovery:g}, {threshold:g})"


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
