"""Means of trials, and two mechanisms beside each other in every cell (table, epsilon, k)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from bench.common.plotting import Look

__all__ = [
    "BOUND",
    "DELTA",
    "EPSILONS",
    "SIZES",
    "Beside",
    "best_of",
    "curves",
    "each_epsilon",
    "mean_and_band",
    "means",
    "wide",
]

EPSILONS = (1.0, 0.1)
DELTA = 1e-5
BOUND = 100  # items of a user, where they are discovered
SIZES = (5, 10, 20, 50, 100, 200)  # of the answers: k


def mean_and_band(values: Sequence[float]) -> dict[str, float]:
    """The mean, and between what 95 % of the runs are, as columns of a table."""
    low, high = np.quantile(values, [0.025, 0.975])
    return {"mean": float(np.mean(values)), "2.5 %": float(low), "97.5 %": float(high)}


def means(trials: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Mean and standard error of each measure, over the runs of a cell and mechanism."""
    cell = [name for name in trials.columns if name not in {"run", *measures}]
    return trials.group_by(cell, maintain_order=True).agg(
        *(pl.col(m).mean().alias(m) for m in measures),
        *((pl.col(m).std() / pl.len().sqrt()).alias(f"{m} error") for m in measures),
    )


def best_of(figures: pl.DataFrame, names: Sequence[str], measure: str, label: str) -> pl.DataFrame:
    """The figures, and with them in each cell the least of these mechanisms under a name."""
    cell = _cell(figures)
    least = (
        figures.filter(pl.col("mechanism").is_in(list(names)))
        .sort(measure, maintain_order=True)
        .group_by(cell, maintain_order=True)
        .first()
        .with_columns(mechanism=pl.lit(label))
    )
    return pl.concat([figures, least.select(figures.columns)])


@dataclass(frozen=True)
class Beside:
    """One mechanism beside another, in all cells.

    Attributes:
        cells: Columns of the cell, new and old with their standard errors, and the margin: twice
            the combined one.
    """

    cells: pl.DataFrame

    @classmethod
    def of(cls, figures: pl.DataFrame, measure: str, *, new: str, old: str) -> Beside:
        """In each cell, means and margin."""
        cell = _cell(figures)
        sides = [
            figures.filter(mechanism=name).select(
                *cell,
                pl.col(measure).alias(side),
                pl.col(f"{measure} error").alias(f"{side} error"),
            )
            for side, name in {"new": new, "old": old}.items()
        ]
        both = sides[0].join(sides[1], on=cell, maintain_order="left")
        margin = 2 * (pl.col("new error") ** 2 + pl.col("old error") ** 2).sqrt()
        return cls(both.with_columns(margin=margin))

    def where(self, **cell: object) -> Beside:
        """Those cells alone."""
        return Beside(self.cells.filter(**cell))

    @property
    def smaller(self) -> pl.DataFrame:
        """Where new is smaller by more than the margin."""
        return self.cells.filter(pl.col("old") - pl.col("new") > pl.col("margin"))

    @property
    def larger(self) -> pl.DataFrame:
        """Where new is larger by more than the margin."""
        return self.cells.filter(pl.col("new") - pl.col("old") > pl.col("margin"))

    def tally(self) -> dict[str, int]:
        """In how many cells new is smaller, within the margin, and larger."""
        smaller, larger = len(self.smaller), len(self.larger)
        even = len(self.cells) - smaller - larger
        return {"smaller": smaller, "within the error": even, "larger": larger}


def wide(figures: pl.DataFrame, measure: str) -> pl.DataFrame:
    """Means of a measure, a column for each mechanism."""
    cell = _cell(figures)
    return figures.pivot(on="mechanism", index=cell, values=measure)


def curves(
    figures: pl.DataFrame, measure: str, titles: Mapping[str, str], looks: Mapping[str, Look]
) -> pl.DataFrame:
    """What `bench.common.plotting.against` draws: means, and bands of two standard errors.

    Args:
        figures: From `means`.
        measure: What goes up.
        titles: Of the columns of panels, by table.
        looks: Of the mechanisms to be drawn.
    """
    mean, error = pl.col(measure), 2 * pl.col(f"{measure} error").fill_null(0)
    return figures.filter(pl.col("mechanism").is_in(list(looks))).with_columns(
        row=pl.format("ε = {}", pl.col("epsilon")).str.replace(r"\.0$", ""),
        column=pl.col("table").replace_strict(titles),
        series=pl.col("mechanism"),
        low=(mean - error).clip(0),
        middle=mean,
        high=mean + error,
    )


def each_epsilon(tell: Callable[[float], str]) -> str:
    """The same told for each epsilon."""
    return "; ".join(f"{tell(epsilon)} at ε = {epsilon:g}" for epsilon in EPSILONS)


def _cell(figures: pl.DataFrame) -> list[str]:
    return figures.columns[: figures.columns.index("mechanism")]
