"""How many scores the sublinear top-k reads, beside its bound and beside reading everything."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import polars as pl

from bench import real, report
from bench.accesses_plot import plot
from bench.seeds import draws_of
from shortlist.mechanisms import ThresholdTopK
from shortlist.reals import Ints
from shortlist.stores import View
from shortlist.threshold import one_by_one

__all__ = ["measure"]

SIZES = (10**4, 10**5, 10**6, 10**7, 10**8)
LENGTHS = (1, 10, 100)
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
PAGED, SINGLE = "in pages", "one by one"
FEW = 20_000  # accesses, up to which the bound lets them be made one by one
REAL = "counts_reddit_posts_all"


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


class OneByOne(ThresholdTopK):
    """As published: one row and one random id in each round."""

    def _lengths(self, _: View) -> Iterator[tuple[int, int]]:
        return ((a, b) for a, b in one_by_one(2))


def measure(scale: float = 1.0, runs: int = 30) -> None:
    """Count accesses on all shapes and sizes, print, write and draw them.

    Args:
        scale: Of the largest size.
        runs: Answers for each figure; a third as many from ten million ids on.
    """
    sizes = [m for m in SIZES if m <= SIZES[-1] * scale]
    rows = [row for m in sizes for row in _of_size(m, runs)]
    found = real.find([REAL])
    if found:
        counts = np.sort(real.histograms()[REAL])[::-1]
        rows += [row for k in LENGTHS for row in _cell("Reddit posts", counts, k, runs)]
    figures = pl.DataFrame(rows, orient="row")
    _tell(figures, runs)


def _of_size(m: int, runs: int) -> Iterator[dict[str, object]]:
    runs = runs if m < 10**7 else max(runs // 3, 2)
    ranks = np.arange(1, m + 1, dtype=np.float64)
    shapes: dict[str, Callable[[int], Ints]] = {
        "Zipf": lambda _: np.ceil(2e5 / ranks**1.1).astype(np.int64),
        "flat": lambda _: np.full(m, 1000),
        "hard": partial(_hard, m),
    }
    for shape, scores in shapes.items():
        for k in LENGTHS:
            yield from _cell(shape, scores(k), k, runs)


def _hard(m: int, k: int) -> Ints:
    """Wu et al. (2023), Theorem 5.4: sqrt(mk) scores of n, 1/k of them n - 1, all others 0."""
    scores, size = np.zeros(m, np.int64), round(math.sqrt(m * k))
    scores[:size] = 1000
    scores[size - size // k : size] = 999
    return scores


def _cell(shape: str, scores: Ints, k: int, runs: int) -> Iterator[dict[str, object]]:
    m = len(scores)
    bound = 2 * (math.sqrt(m * k) + math.sqrt(m / 2))
    ways = {PAGED: ThresholdTopK} | ({SINGLE: OneByOne} if bound <= FEW else {})
    for way, kind in ways.items():
        mechanism, view = kind(k=k, **BUDGET), Ranked(scores)
        mechanism.parameters()
        draws, counted, seconds = draws_of(shape, m, k, way), [], []
        for _ in range(runs):
            view.accesses, start = 0, time.perf_counter()
            mechanism.select(view, draws)
            seconds.append(time.perf_counter() - start)
            counted.append(view.accesses)
        low, high = np.quantile(counted, [0.025, 0.975])
        mean = float(np.mean(counted))
        yield {
            "counts": shape,
            "items": m,
            "k": k,
            "read": way,
            "mean": mean,
            "2.5 %": float(low),
            "97.5 %": float(high),
            "bound": bound,
            "over the bound": mean / bound,
            "share of all": mean / m,
            "milliseconds": float(np.median(seconds)) * 1000,
        }
    print(f"{shape}, {m:,} items, k={k}: done.")


def _tell(figures: pl.DataFrame, runs: int) -> None:
    report.show("Accesses to scores", figures)
    settings = (
        "Rows read and ids looked up by `ThresholdTopK` with Gumbel noise, epsilon=1, delta=1e-6; "
        f"{runs} answers each, a third as many from ten million items on, from fixed seeds (so "
        "nothing here is private). Zipf: 2e5 / r^1.1 at rank r, rounded up. Flat: all equal. Hard: "
        "the family of Wu et al. (2023), Theorem 5.4, where no algorithm reads fewer than the "
        "order of sqrt(mk). Scores are arrays in memory; the milliseconds are medians of `select`."
    )
    bound = (
        "Bound: 2 (sqrt(mk) + sqrt(m/2)), of the expected number, whatever the counts, where rows "
        "are read one by one. In pages that double it may be twice that. With sorted accesses "
        "alone, or random ones alone, every algorithm reads of the order of all m items on some "
        "counts (Theorems 5.1 and 5.3): the last column is what both kinds together leave of it."
    )
    notes = [settings, bound, "![Accesses against the number of items](accesses.svg)"]
    report.write("accesses", "Accesses of the sublinear top-k", {"Figures": figures}, notes)
    plot(figures.filter(pl.col("read") == PAGED), report.RESULTS / "accesses")
