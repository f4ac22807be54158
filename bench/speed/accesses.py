"""How many scores the sublinear top-k reads, beside its bound and beside reading everything."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import polars as pl

from bench.common import real, report
from bench.common.axes import Across, Axis
from bench.common.cells import mean_and_band
from bench.common.plotting import Look, against
from bench.common.seeds import draws_of
from bench.speed.one_sided import random_alone, sorted_alone
from bench.speed.places import hard, zipf
from shortlist.algorithms.race import Race
from shortlist.algorithms.threshold_algorithm import read
from shortlist.draws import Ints
from shortlist.mechanisms import ThresholdTopK
from shortlist.stores import View

__all__ = ["measure"]

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
LENGTHS = (1, 10, 100)
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
FEW = 20_000  # accesses, up to which the bound lets them be made one by one
REAL = "counts_reddit_posts_all"
ALONE = {"sorted alone": sorted_alone, "random alone": random_alone}
MOST = 10**6  # items, with one kind of access
BOUND, ALL = "bound: 2 (√(mk) + √(m/2))", "all items (m)"
LOOKS = {
    BOUND: Look("#d62728", dashed=True, points=False),
    ALL: Look("#888888", dashed=True, points=False),
    "flat": Look("#3a8f3a"),
    "Zipf": Look("#0b6e99"),
    "hard": Look("#d1701a"),
    "Reddit posts": Look("#111111"),
    "sorted alone, hard for it": Look("#8e4fa8"),
    "random alone, hard for it": Look("#a0795b"),
}


class Ranked:
    """Scores by falling rank, which is the id: labels change no number of accesses."""

    costs = (1.0, 1.0)

    def __init__(self, scores: Ints) -> None:
        self.scores, self.size = scores, len(scores)
        self.accesses = 0

    def sorted_access(self, start: int, n: int) -> tuple[Ints, Ints]:
        """As `shortlist.stores.View`."""
        scores = self.scores[start : start + n]
        self.accesses += len(scores)
        return np.arange(start, start + len(scores)), scores

    def random_access(self, ids: Ints) -> Ints:
        """As `shortlist.stores.View`."""
        self.accesses += len(ids)
        return self.scores[ids]


class Paged(ThresholdTopK):
    """With the race given, so that two ways of reading can share its numbers."""

    def accesses(self, view: Ranked, race: Race) -> int:
        """How many scores are read until the answer is certain."""
        view.accesses = 0
        read([view, race], self.k, self._ahead, self._lengths(view))
        return view.accesses


class OneByOne(Paged):
    """As published: one row and one random id in each round."""

    def _lengths(self, _: View) -> Iterator[tuple[int, int]]:
        return ((n, n) for n in itertools.count(1))


def measure(scale: float = 1.0, runs: int = 30) -> None:
    """Count accesses on all shapes and sizes, print, write and draw them.

    Args:
        scale: Of the largest size.
        runs: Answers for each figure.
    """
    sizes = [m for m in SIZES if m <= SIZES[-1] * scale]
    rows = [row for m in sizes for row in _of_size(m, runs)]
    found = real.find([REAL])
    if found:
        counts = np.sort(real.histograms()[REAL])[::-1]
        rows += [_cell("Reddit posts", counts, k, runs) for k in LENGTHS]
    figures = pl.DataFrame(rows, infer_schema_length=None)
    alone = [_alone(way, m, k, runs) for way in ALONE for m in sizes if m <= MOST for k in LENGTHS]
    _tell(figures, pl.DataFrame(alone))


def _of_size(m: int, runs: int) -> Iterator[dict[str, object]]:
    shapes: dict[str, Callable[[int], Ints]] = {
        "Zipf": partial(zipf, m),
        "flat": lambda _: np.full(m, 1000),
        "hard": partial(hard, m),
    }
    for shape, scores in shapes.items():
        for k in LENGTHS:
            yield _cell(shape, scores(k), k, runs)


def _cell(shape: str, scores: Ints, k: int, runs: int) -> dict[str, object]:
    m = len(scores)
    bound = 2 * (math.sqrt(m * k) + math.sqrt(m / 2))
    view, draws = Ranked(scores), draws_of(shape, m, k)
    paged, single = Paged(k=k, **BUDGET), OneByOne(k=k, **BUDGET)
    counted, beside = [], []
    for _ in range(runs):
        race = Race(m, draws)
        counted.append(paged.accesses(view, race))
        if bound <= FEW:
            beside.append(single.accesses(view, race))
    ratios = np.array(counted) / np.array(beside) if beside else None
    print(f"{shape}, {m:,} items, k={k}: done.")
    return {
        "counts": shape,
        "items": m,
        "k": k,
        "runs": runs,
        **mean_and_band(counted),
        "bound": bound,
        "over the bound": float(np.mean(counted)) / bound,
        "one by one": float(np.mean(beside)) if beside else None,
        "mean ratio": None if ratios is None else float(ratios.mean()),
        "largest ratio": None if ratios is None else float(ratios.max()),
        "share of all": float(np.mean(counted)) / m,
    }


def _alone(way: str, m: int, k: int, runs: int) -> dict[str, object]:
    scale = ThresholdTopK(k=k, **BUDGET).scale
    rng = np.random.default_rng([m, k])
    counted = [ALONE[way](m, k, scale, rng) for _ in range(runs)]
    print(f"{way}, {m:,} items, k={k}: done.")
    return {
        "access": way,
        "items": m,
        "k": k,
        "runs": runs,
        **mean_and_band(counted),
        "share of all": float(np.mean(counted)) / m,
    }


def _tell(figures: pl.DataFrame, alone: pl.DataFrame) -> None:
    settings = (
        "Rows read and ids looked up by `ThresholdTopK` with Gumbel noise, epsilon=1, delta=1e-6, "
        "in pages that double; means, and the band that 95 % of the runs are in, from fixed seeds "
        "(so nothing here is private). Zipf: 2e5 / r^1.1 at rank r, rounded up. Flat: all equal. "
        "Hard: the family of Wu et al. (2023), Theorem 5.4, where no algorithm reads fewer than "
        "the order of sqrt(mk)."
    )
    bound = (
        "Bound: 2 (sqrt(mk) + sqrt(m/2)), of the expected number, whatever the counts, where rows "
        "are read one by one, as published. In pages it may be twice that. One by one: the mean "
        f"of that on the same noise, run by run, where the bound is at most {FEW:,}; the ratios "
        "are those of the same runs."
    )
    one_sided = (
        "With one kind of access: sorted access alone reads rows by falling count, random access "
        "alone looks ids up by falling noise, each until the answer is certain. The noise of all "
        "items is known to them and costs nothing. On its hard family (Theorems 5.3 and 5.1) each "
        "reads about half of all items, as its kind must up to a factor; both kinds together leave "
        "the last column of the first table."
    )
    notes = [settings, bound, one_sided]
    pictures = {"accesses.png": "Accesses against the number of items"}
    tables = {"Figures": figures, "With one kind of access": alone}
    report.write("accesses", "Accesses of the sublinear top-k", tables, notes, pictures)
    _plot(figures, alone)


def _plot(figures: pl.DataFrame, alone: pl.DataFrame) -> None:
    """The mean of each shape with its band, the bound, and all items: a panel for each k."""
    hardest = figures.filter(counts="hard")
    data = pl.concat(
        [
            _curve(figures, pl.col("counts"), "2.5 %", "mean", "97.5 %"),
            _curve(hardest, pl.lit(BOUND), "bound", "bound", "bound"),
            _curve(hardest, pl.lit(ALL), "items", "items", "items"),
            _curve(alone, pl.format("{}, hard for it", "access"), "2.5 %", "mean", "97.5 %"),
        ]
    )
    sizes = data["items"].to_list()
    powers = [10**exponent for exponent in range(9)]
    against(
        data,
        report.path_of("accesses.png"),
        across=Across(
            "items",
            "items (m)",
            powers,
            (min(sizes) / 1.3, max(sizes) * 1.3),
            labels="format(datum.value, '~s')",
        ),
        axis=Axis("accesses to scores", powers[::2]),
        looks=LOOKS,
        title="Private top-k: how much of the data is read",
        subtitle="Mean and 95 % band of the accesses to scores, read in pages that double. ε = 1, "
        "δ = 1e-6, Gumbel noise.",
        size=(240, 240),
    )


def _curve(
    figures: pl.DataFrame, series: pl.Expr, low: str, middle: str, high: str
) -> pl.DataFrame:
    sides = {"low": low, "middle": middle, "high": high}
    return figures.select(
        "items",
        row=pl.lit(""),
        column=pl.format("k = {}", "k"),
        series=series,
        **{side: pl.col(column).cast(pl.Float64) for side, column in sides.items()},
    )
