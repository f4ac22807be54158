"""A question's default beside other mechanisms, in all cells (table, epsilon, k or bound)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import real
from bench.common.cells import BOUND, DELTA, Beside, curves, means
from bench.common.plotting import Look
from bench.common.seeds import bits_of
from shortlist.mechanisms import Mechanism
from shortlist.metrics import compare
from shortlist.questions import Question

__all__ = [
    "CLEARLY",
    "DEFAULT",
    "EPSILONS",
    "SETTINGS",
    "Kinds",
    "Measure",
    "Study",
    "lines",
    "overall",
]

EPSILONS = (0.1, 1.0, 3.0)
DEFAULT = "default"
Kinds = Mapping[str, type[Mechanism] | partial[Mechanism]]
CLEARLY = (
    "Clearly: by more than twice the combined standard error; were both equal, each would be so in "
    "two or three cells of a hundred."
)
SETTINGS = (
    f"delta={DELTA:g}, epsilon {', '.join(f'{epsilon:g}' for epsilon in EPSILONS)}; {{runs}} runs "
    "of everything from fixed seeds (so nothing here is private)."
)


@dataclass(frozen=True)
class Measure:
    """What is measured of an answer.

    Attributes:
        column: Of the frame of `shortlist.metrics.compare`.
        floor: Added to both sides of a ratio, since some figures are 0.
        more_is_better: Of items named, say.
    """

    column: str
    floor: float
    more_is_better: bool = False

    def better(self, beside: Beside) -> pl.DataFrame:
        """The cells where new is better by more than the margin."""
        return beside.larger if self.more_is_better else beside.smaller

    def worse(self, beside: Beside) -> pl.DataFrame:
        """The cells where new is worse by more than the margin."""
        return beside.smaller if self.more_is_better else beside.larger


@dataclass(frozen=True, kw_only=True)
class Study:
    """What is asked of every table, and of which mechanisms.

    Attributes:
        title: What is asked.
        note: What is measured, and beside what.
        questions: One, or one for each k.
        across: What a cell has beside table and epsilon: "k" or "max_items_per_user".
        bounds: On the items of a user.
        others: Mechanisms beside the default, by the names to show.
        of_counts: Further ones, which see nothing but whole counts and know no bound.
        measures: By the names to show.
        chosen_on: Tables that the default's parameters were chosen on.
        unseen: Tables that they were not chosen on.
    """

    title: str
    note: str
    chosen_on: Sequence[str]
    unseen: Sequence[str]
    questions: Sequence[Question]
    others: Kinds
    measures: Mapping[str, Measure]
    across: str = "k"
    bounds: Sequence[int] = (BOUND,)
    of_counts: Kinds = field(default_factory=dict)

    def told(self, names: Iterable[str]) -> str:
        """The note, with the tables of these names."""
        return (
            f"{self.title}. {self.note} Tables: {', '.join(real.TABLES[name] for name in names)}."
        )

    def figures(self, names: Iterable[str], runs: int) -> pl.DataFrame:
        """Means and standard errors: columns table, epsilon, k or bound, mechanism, measures.

        Args:
            names: Of the tables.
            runs: Of each mechanism in each cell.
        """
        parts = [
            found.with_columns(table=pl.lit(real.TABLES[name]))
            for name, path in real.find(names).items()
            for found in self._of_table(name, path, runs)
        ]
        if not parts:
            return pl.DataFrame()
        named = {measure.column: name for name, measure in self.measures.items()}
        columns = ["table", "epsilon", self.across, "mechanism", "run", *named.values()]
        trials = pl.concat([part.rename(named).select(columns) for part in parts])
        return means(trials, tuple(self.measures))

    def _of_table(self, name: str, path: Path, runs: int) -> Iterator[pl.DataFrame]:
        source = sl.pairs(path, user="user", item="item")
        asked = {"epsilon": EPSILONS, "delta": DELTA, "runs": runs, "random": bits_of(name)}
        bounds = self.bounds
        bounded = sl.pairs(path, user="user", item="item", max_items_per_user=bounds[0])
        kinds = {DEFAULT: bounded.default_for(self.questions[0]), **self.others}
        yield compare(
            source, self.questions, mechanisms=kinds, max_items_per_user=bounds, **asked
        ).runs
        if self.of_counts:
            rows = pl.read_parquet(path).group_by("item", maintain_order=True).len("count")
            whole = sl.counts(rows, item="item", count="count")
            yield compare(whole, self.questions, mechanisms=self.of_counts, **asked).runs
        print(f"{name}: {runs} runs of {self.questions[0].name} done.")

    def summary(self, figures: pl.DataFrame) -> pl.DataFrame:
        """The default beside each other mechanism: ratios, and cells where it is clearly apart."""
        rows = [
            {"measure": name, "beside": other, **told}
            for name, other, beside in self._besides(figures)
            for told in self._told(beside, self.measures[name])
        ]
        return pl.DataFrame(rows)

    def losses(self, figures: pl.DataFrame) -> pl.DataFrame:
        """The cells where the default is clearly worse than another mechanism."""
        parts = [
            self.measures[name]
            .worse(beside)
            .select(
                pl.lit(name).alias("measure"),
                pl.lit(other).alias("beside"),
                *("table", "epsilon", self.across),
                *(pl.col("new").alias("default"), pl.col("new error").alias("± default")),
                *(pl.col("old").alias("other"), pl.col("old error").alias("± other")),
            )
            for name, other, beside in self._besides(figures)
        ]
        return pl.concat(parts)

    def _besides(self, figures: pl.DataFrame) -> Iterator[tuple[str, str, Beside]]:
        """The default beside each other mechanism, by the measure's and the mechanism's name."""
        for name, other in product(self.measures, (*self.others, *self.of_counts)):
            yield name, other, Beside.of(figures, name, new=DEFAULT, old=other)

    def _told(self, beside: Beside, measure: Measure) -> Iterator[dict[str, object]]:
        """Of all cells, and of the parts of each epsilon, k or bound, and table."""
        parts = {"all": beside}
        for column in ("epsilon", self.across, "table"):
            for value in beside.cells[column].unique(maintain_order=True):
                label = value if column == "table" else f"{column}={value:g}"
                parts[label] = beside.where(**{column: value})
        for label, part in parts.items():
            new, old = (part.cells[side].to_numpy() + measure.floor for side in ("new", "old"))
            yield {
                "of": label,
                "cells": len(part.cells),
                "ratio": math.exp(np.log(new / old).mean()),
                "clearly better": len(measure.better(part)),
                "clearly worse": len(measure.worse(part)),
            }


def overall(summary: pl.DataFrame) -> pl.DataFrame:
    """Over all cells alone."""
    return summary.filter(of="all").drop("of")


def lines(
    figures: pl.DataFrame, measure: str, looks: Mapping[str, Look], default: str
) -> pl.DataFrame:
    """What `bench.common.plotting.against` draws, with the name to show for the default."""
    named = figures.with_columns(pl.col("mechanism").replace({DEFAULT: default}))
    return curves(named, measure, {table: table for table in figures["table"]}, looks)
