"""How good the answers are on real tables: `DiscoverThenRank` beside the published mechanism."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

from bench import real, report
from bench.plotting import Axis, Look, against_k
from bench.seeds import draws_of
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import DiscoverThenRank, Mechanism, WeightedGaussianPeeling
from shortlist.metrics import top_k_l1, top_k_missing_mass
from shortlist.table import open_table

__all__ = [
    "MEASURES",
    "MECHANISMS",
    "beside",
    "compare",
    "means_of",
    "plot",
    "ratios",
    "trials_of",
    "tune",
    "verdict",
]

SIZES = (5, 10, 20, 50, 100, 200)
EPSILONS = (1.0, 0.1)
DELTA = 1e-5
BOUND = 100
PAPER = {"paper": WeightedGaussianPeeling}
MECHANISMS = {"new": DiscoverThenRank} | PAPER
DISCOVERY_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
THRESHOLD_SHARES = (0.3, 0.5, 0.7)
DEFAULT = (DiscoverThenRank.discovery_share, DiscoverThenRank.threshold_share)
MEASURES = ("missing mass", "l1 loss")
LOOKS = {
    "DiscoverThenRank (default)": Look("#0b6e99"),
    "WeightedGaussianPeeling (published)": Look("#d1701a"),
}
AXIS = Axis(
    "missing mass",
    values=[1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1],
    labels="datum.value <= 1e-5 ? '0' : format(datum.value, '~g')",
)
FLOOR = 1e-4  # added to both sides of a ratio of missing masses, of which many are 0
CELL = ["table", "epsilon", "k"]
_SETTINGS = (
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
    means = means_of(trials)
    cells = pl.concat([beside(means, measure) for measure in MEASURES])
    judged, shares = verdict(cells), ratios(means)
    report.show("Accuracy by cell", cells)
    report.show("Ratios of missing masses, new / paper", shares)
    print(judged)
    notes = [
        "new: `DiscoverThenRank`; paper: `WeightedGaussianPeeling` (Dick et al. 2026, Alg. 2).",
        _SETTINGS.format(runs=runs),
        "Ratios are geometric means of (new + 1e-4) / (paper + 1e-4) of the missing mass.",
        judged,
        "![Missing mass against k](accuracy.svg)",
    ]
    tables = {"Cells": cells, "Ratios": shares}
    report.write("accuracy", "Accuracy of top-k on real tables", tables, notes)
    plot(means, real.TABLES, "accuracy")


def tune(runs: int) -> None:
    """Other shares for `DiscoverThenRank` than its own, in the geometric mean over all cells."""
    shares = sorted({DEFAULT, *product(DISCOVERY_SHARES, THRESHOLD_SHARES)})
    kinds: dict[str, partial[Mechanism] | type[Mechanism]] = {
        _label(*pair): partial(DiscoverThenRank, discovery_share=pair[0], threshold_share=pair[1])
        for pair in shares
    }
    trials = trials_of(real.find(), kinds | PAPER, runs)
    if trials.is_empty():
        return
    default, means = _label(*DEFAULT), means_of(trials)
    rows = []
    for pair in shares:
        row: dict[str, object] = {"discovery_share": pair[0], "threshold_share": pair[1]}
        for measure in MEASURES:
            cells = beside(means, measure, new=_label(*pair))
            row[f"worse in {measure}"] = int(cells["new is worse"].sum())
        for name, part in _groups(trials):
            ratio, error = _against(part, _label(*pair), default)
            row[name] = ratio
            if name == "all":
                row["±"] = error
        rows.append(row)
    table = pl.DataFrame(rows)
    report.show(f"Missing mass over that of {default}, geometric means", table)
    meaning = (
        f"Geometric means of missing mass + 1e-4, over those of the default {default}: below 1 is "
        "better. ± is the standard error of the ratio's logarithm, by resampling the runs. "
        "Worse: in how many cells (table, epsilon, k) they are worse than the "
        "published mechanism by more than twice the combined error."
    )
    notes = [meaning, _SETTINGS.format(runs=runs)]
    report.write("tuning", "Shares of DiscoverThenRank", {"Ratios": table}, notes)


def plot(means: pl.DataFrame, titles: Mapping[str, str], stem: str) -> None:
    """Missing mass against k, with bands of two standard errors; a column for each table."""
    mean, error = pl.col("missing mass"), 2 * pl.col("missing mass error")
    data = means.select(
        row=pl.format("ε = {}", pl.col("epsilon")).str.replace(r"\.0$", ""),
        column=pl.col("table").replace(titles),
        series=pl.col("mechanism").replace(dict(zip(MECHANISMS, LOOKS, strict=True))),
        k="k",
        low=(mean - error).clip(AXIS.values[0]),
        middle=mean.clip(AXIS.values[0]),
        high=(mean + error).clip(AXIS.values[0]),
    )
    against_k(
        data,
        report.path_of(stem),
        axis=AXIS,
        looks=LOOKS,
        title="Private top-k of private items: what is missing from the answer",
        subtitle="Share of all (user, item) pairs that the true top k holds and the answer does "
        "not: less is better. Mean ± 2 standard errors, below 1e-5 drawn as 0; δ = 1e-5, at most "
        "100 items a user.",
    )


# Running


def trials_of(
    paths: Mapping[str, Path],
    kinds: Mapping[str, partial[Mechanism] | type[Mechanism]],
    runs: int,
) -> pl.DataFrame:
    """One row for each table, epsilon, k, mechanism and run."""
    parts = [_of_table(name, path, kinds, runs) for name, path in paths.items()]
    return pl.concat(parts) if parts else pl.DataFrame()


def _of_table(
    name: str, path: Path, kinds: Mapping[str, partial[Mechanism] | type[Mechanism]], runs: int
) -> pl.DataFrame:
    users, items = open_table(path, user="user", items=["item"]).pairs()
    held = Contributions.of_rows(users.codes, items.codes, n_users=users.size, n_items=items.size)
    asked = {"delta": DELTA, "max_items_per_user": BOUND}
    built = [
        (epsilon, k, label, kind(k=k, epsilon=epsilon, **asked))
        for epsilon, k, (label, kind) in product(EPSILONS, SIZES, kinds.items())
    ]
    rows = []
    for run in range(runs):
        draws = draws_of(name, run)
        evidence = held.bounded(BOUND, draws).weigh()
        for epsilon, k, label, mechanism in built:
            positions = mechanism.select(evidence, draws).positions
            mass = top_k_missing_mass(held.counts, positions, k)
            rows.append((name, epsilon, k, label, run, mass, top_k_l1(held.counts, positions, k)))
    print(f"{name}: {len(held.sizes):,} users, {items.size:,} items, {runs} runs done.")
    columns = [*CELL, "mechanism", "run", "missing mass", "l1 loss"]
    return pl.DataFrame(rows, schema=columns, orient="row")


# Summing up


def means_of(trials: pl.DataFrame) -> pl.DataFrame:
    """Mean and standard error of both measures, for each cell and mechanism."""
    error = [pl.col(m).std() / pl.len().sqrt() for m in MEASURES]
    return trials.group_by([*CELL, "mechanism"], maintain_order=True).agg(
        *(pl.col(m).mean().alias(m) for m in MEASURES),
        *(e.alias(f"{m} error") for m, e in zip(MEASURES, error, strict=True)),
    )


def beside(means: pl.DataFrame, measure: str, *, new: str = "new") -> pl.DataFrame:
    """New and paper side by side, and whether new is worse beyond twice the combined error."""
    sides = [
        means.filter(mechanism=name).select(
            *CELL, pl.col(measure).alias(side), pl.col(f"{measure} error").alias(f"± {side}")
        )
        for side, name in {"new": new, "paper": "paper"}.items()
    ]
    both = sides[0].join(sides[1], on=CELL, maintain_order="left")
    margin = 2 * (pl.col("± new") ** 2 + pl.col("± paper") ** 2).sqrt()
    worse = (pl.col("new") - pl.col("paper") > margin).alias("new is worse")
    return both.select(pl.lit(measure).alias("measure"), pl.all(), worse)


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


def ratios(means: pl.DataFrame) -> pl.DataFrame:
    """Geometric means of the ratio of missing masses, over all cells and over parts of them."""
    rows = []
    for name, part in _groups(means):
        masses = [part.filter(mechanism=side)["missing mass"] + FLOOR for side in MECHANISMS]
        logs = np.log(masses[0].to_numpy() / masses[1].to_numpy())
        rows.append({"cells": name, "number": len(logs), "ratio": math.exp(logs.mean())})
    return pl.DataFrame(rows)


def _groups(frame: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    yield "all", frame
    for epsilon in EPSILONS:
        yield f"epsilon={epsilon:g}", frame.filter(epsilon=epsilon)
    for table in frame["table"].unique(maintain_order=True):
        yield table, frame.filter(table=table)


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
    wide = trials.sort(CELL).pivot(on="run", index=CELL, values="missing mass")
    return wide.drop(CELL).to_numpy().T
