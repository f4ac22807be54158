"""How far top-k of counts is from the truth: the comparison of Gillenwater et al. (2022)."""

from __future__ import annotations

from functools import partial

import polars as pl

import shortlist as sl
from bench.common import real, report
from bench.common.axes import Axis
from bench.common.plotting import Look, against_k
from bench.common.seeds import bits_of
from shortlist.draws import Ints
from shortlist.mechanisms import (
    Accounting,
    Gamma,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    LimitedDomain,
    Mechanism,
    OneShotExponential,
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
)
from shortlist.metrics import compare as compare_runs

__all__ = ["PURE", "WITH_DELTA", "Kinds", "compare"]

SIZES = range(5, 196, 10)
SHOWN = (5, 15, 35, 75, 125, 195)  # in the digest
EPSILON, DELTA = 1.0, 1e-6
PUBLISHED = "Peeling, Lemma 4.2"
Kinds = dict[str, type[Mechanism] | partial[Mechanism]]
WITH_DELTA: Kinds = {
    "JointOrPeel": JointOrPeel,
    "Peeling": Peeling,
    PUBLISHED: partial(Peeling, accounting=Accounting.PUBLISHED),
}
PURE: Kinds = {
    "Joint": Joint,
    "JointPermuteAndFlip": JointPermuteAndFlip,
    "PermuteAndFlip": PermuteAndFlip,
    "OneShotExponential": OneShotExponential,
    "OneShotLaplace": OneShotLaplace,
    "Gamma": Gamma,
}
OF_PRIVATE_ITEMS: Kinds = {"LimitedDomain": LimitedDomain}
LOOKS = {
    "Gamma": Look("#a0795b"),
    "OneShotExponential": Look("#5c6fc9"),
    "OneShotLaplace": Look("#8e4fa8"),
    "PermuteAndFlip": Look("#3a8f3a"),
    PUBLISHED: Look("#e8b27d"),
    "Peeling": Look("#d1701a"),
    "JointPermuteAndFlip": Look("#58b4d8"),
    "Joint": Look("#0b6e99"),
    "JointOrPeel": Look("#111111", dashed=True, width=2.5),
}
MEASURES = ("l1", "l-infinity", "k-relative")
PANELS = {"l1": "ℓ1 error", "l-infinity": "ℓ∞ error", "k-relative": "k-relative error"}
CELL = ["histogram", "k", "measure"]


def compare(runs: int) -> None:
    """All mechanisms on all histograms: tables and a plot."""
    parts = [_of_histogram(name, counts, runs) for name, counts in real.histograms().items()]
    if not parts:
        return
    errors = _quartiles(pl.concat(parts))
    shares = _summary(errors)
    settings = (
        "The comparison of Gillenwater et al. (2022), Section 5, on histograms of real data: "
        "epsilon=1 and, where it is used, delta=1e-6; one user is added or removed, and may be in "
        f"any counts. {runs} runs each from fixed seeds (so nothing here is private). Errors are "
        "those of `shortlist.metrics`, in users; l-infinity is the largest of the k differences "
        "that l1 sums."
    )
    others = (
        "LimitedDomain is for private items, which is harder, and may name fewer than k: a place "
        "that is not filled counts in full."
    )
    reading = (
        "Summary: median error + 1, over the least of all mechanisms in the same cell; geometric "
        "means over all histograms and k = 5, 15, …, 195, and, for l1, over each histogram's. The "
        "other tables show medians for some k, the plot quartiles for all."
    )
    tables = {"Summary": shares} | {f"Median {name}": _digest(errors, name) for name in MEASURES}
    pictures = {"errors.png": "Errors against k"}
    notes = [settings, others, reading]
    report.write("errors", "Errors of top-k of counts", tables, notes, pictures)
    _plot(errors, runs)


# Running


def _of_histogram(histogram: str, counts: Ints, runs: int) -> pl.DataFrame:
    """One row for each mechanism, k, run and measure."""
    frame = pl.DataFrame({"item": range(len(counts)), "count": counts})
    public = sl.counts(frame, item="item", count="count", public_items=sl.IN_TABLE)
    private = sl.counts(frame, item="item", count="count")
    asked = ((public, DELTA, WITH_DELTA), (public, 0.0, PURE), (private, DELTA, OF_PRIVATE_ITEMS))
    found = [
        compare_runs(
            source,
            [sl.TopK(k) for k in SIZES],
            epsilon=EPSILON,
            delta=delta,
            mechanisms=kinds,
            runs=runs,
            random=bits_of(histogram, *kinds),
        ).runs
        for source, delta, kinds in asked
    ]
    print(f"{histogram}: {len(counts):,} items, {runs} runs done.")
    trials = pl.concat(found).rename({"linf": "l-infinity", "relative": "k-relative"})
    trials = trials.with_columns(histogram=pl.lit(histogram))
    index = ["histogram", "k", "mechanism"]
    return trials.unpivot(MEASURES, index=index, variable_name="measure", value_name="error")


# Summing up


def _quartiles(trials: pl.DataFrame) -> pl.DataFrame:
    """Of the errors in each cell."""
    error = pl.col("error")
    return trials.group_by([*CELL, "mechanism"], maintain_order=True).agg(
        error.quantile(0.25, "linear").alias("quartile 1"),
        error.median().alias("median"),
        error.quantile(0.75, "linear").alias("quartile 3"),
    )


def _summary(errors: pl.DataFrame) -> pl.DataFrame:
    """How far each mechanism is from the best, by measure, and for ℓ1 by histogram."""
    errors = errors.with_columns(pl.col("histogram").replace(real.HISTOGRAMS))
    logs = ((pl.col("median") + 1) / (pl.col("median").min() + 1).over(CELL)).log()
    parts = [
        *errors.partition_by("measure"),
        *errors.filter(measure="l1").partition_by("histogram"),
    ]
    names = [*MEASURES, *(f"l1 {name}" for name in errors["histogram"].unique(maintain_order=True))]
    columns = [
        part.with_columns(logs=logs)
        .group_by("mechanism", maintain_order=True)
        .agg(pl.col("logs").mean().exp().alias(name))
        for name, part in zip(names, parts, strict=True)
    ]
    table = columns[0]
    for column in columns[1:]:
        table = table.join(column, on="mechanism", maintain_order="left")
    return table


def _digest(errors: pl.DataFrame, measure: str) -> pl.DataFrame:
    """Medians of one measure for some k, a column for each mechanism."""
    some = errors.filter(pl.col("k").is_in(SHOWN), measure=measure)
    named = some.with_columns(pl.col("histogram").replace(real.HISTOGRAMS))
    return named.pivot(on="mechanism", index=["histogram", "k"], values="median")


def _plot(errors: pl.DataFrame, runs: int) -> None:
    shown = errors.filter(pl.col("mechanism").is_in(list(LOOKS)))
    data = shown.select(
        row=pl.col("measure").replace(PANELS),
        column=pl.col("histogram").replace(real.HISTOGRAMS),
        series="mechanism",
        k="k",
        low="quartile 1",
        middle="median",
        high="quartile 3",
    )
    against_k(
        data,
        report.path_of("errors.png"),
        axis=Axis("users", [0, 1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7], "symlog"),
        looks=LOOKS,
        title="Private top-k of counts: how far the answer is from the truth",
        subtitle=f"Users by which the answer falls short: less is better. Median and quartiles of "
        f"{runs} runs; ε = 1, and δ = 1e-6 where it is used.",
        size=(205, 190),
        spacing="linear",
    )
