"""The bounds of `shortlist.bounds` beside what discovery measures, as tables of one shape grow."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import report
from bench.common.axes import Across, Axis
from bench.common.plotting import Look, against
from bench.common.seeds import bits_of
from shortlist.bounds import WeightedGaussianBounds, least_missing_mass_of_counts
from shortlist.draws import Ints
from shortlist.mechanisms import WeightedGaussian
from shortlist.metrics import Zipf, compare, zipf_fit

__all__ = ["measure"]

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
EXPONENTS = (1.2, 1.5, 2.0)
BUDGET = {"epsilon": 1.0, "delta": 1e-6}
BETA = 0.05
RANKS = 10**6
LOWER, UPPER = "least of any algorithm (Lemma D.1)", "upper bound (Theorem 3.3)"
MEASURED = "WeightedGaussian, measured"
LOOKS = {
    UPPER: Look("#d1701a", dashed=True),
    MEASURED: Look("#0b6e99"),
    LOWER: Look("#555555", dashed=True),
}


@dataclass(frozen=True)
class Sets:
    """How many items a user holds, and how many of them count."""

    size: int
    kept: int

    def __str__(self) -> str:
        return f"{self.size} held, {self.kept} kept" if self.size > 1 else "1 item a user"


SETS = (Sets(1, 1), Sets(20, 20), Sets(20, 5))


def measure(scale: float = 1.0, runs: int = 5) -> None:
    """Measure, print, write and draw.

    Args:
        scale: Of the largest size.
        runs: Answers for each figure.
    """
    sizes = [n for n in SIZES if n <= SIZES[-1] * scale]
    rows = [_cell(s, n, sets, runs) for sets in SETS for s in EXPONENTS for n in sizes]
    figures = pl.DataFrame(rows)
    table = (
        "All users hold as many items. Counts fall like (rank + h)^-s; h = 0 where users hold one "
        "item, and elsewhere so large that the first item fits once into each set. "
        f"`WeightedGaussian` at epsilon={BUDGET['epsilon']:g}, delta={BUDGET['delta']:g}, {runs} "
        "runs from fixed seeds."
    )
    columns = (
        f"upper: the bound of Theorem 3.3, with probability {1 - BETA:g}, for all tables of this "
        "N, C, s and largest set. published: the same with the constants that the paper's proof "
        "ends with, which are not always enough (`docs/bounds.md`). lower: no private algorithm "
        "misses less of these counts, in expectation (Lemma D.1). missed count: the most users of "
        "an item that was missed in any run, beside its bound (Theorem 3.6)."
    )
    pictures = {"bounds.png": "Missing mass against the number of pairs"}
    notes = [table, columns]
    report.write("bounds", "Bounds of discovery", {"Figures": figures}, notes, pictures)
    _plot(figures)


def _cell(s: float, n: int, sets: Sets, runs: int) -> dict[str, object]:
    counts = _counts(s, n, sets.size)
    rows, pairs = _dealt(counts, sets.size), int(counts.sum())
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=sets.kept)
    bounds = WeightedGaussianBounds(
        n_pairs=pairs,
        largest_set=sets.size,
        sigma=mechanism.sigma,
        threshold=mechanism.threshold,
        max_items_per_user=sets.kept,
    )
    found = compare(
        sl.pairs(rows, user="user", item="item", max_items_per_user=sets.kept),
        sl.Domain(),
        **BUDGET,
        mechanisms=WeightedGaussian,
        runs=runs,
        random=bits_of("bounds", s, n, sets),
    ).runs
    fit, mean = zipf_fit(counts, s), found["missing_mass"].mean()
    upper = bounds.missing_mass(C=fit.C, s=s, beta=BETA)
    return {
        "users": str(sets),
        "s": s,
        "pairs": pairs,
        "C": fit.C,
        "lower": least_missing_mass_of_counts(counts, **BUDGET),
        "measured": mean,
        "largest": found["missing_mass"].max(),
        "upper": upper,
        "published": _published(bounds, fit),
        "upper / measured": upper / mean,
        "missed count": round(found["largest_missed"].max() * pairs),
        "its bound": bounds.missed_count(beta=BETA),
    }


def _published(bounds: WeightedGaussianBounds, fit: Zipf) -> float:
    """Theorem 3.3 as the last line of its proof has it."""
    kept = min(bounds.max_items_per_user, bounds.largest_set)
    share = kept / bounds.largest_set
    noise = bounds.sigma * math.sqrt(2 * math.log(6 * bounds.n_pairs / BETA))
    heavy = (fit.C * bounds.n_pairs) ** (1 / fit.s)
    most = max(math.sqrt(kept) * (bounds.threshold + noise), math.log(3 * heavy / BETA))
    power = (fit.s - 1) / fit.s
    return min(
        1.0, fit.C ** (1 / fit.s) / (fit.s - 1) * (9 * most / share / bounds.n_pairs) ** power
    )


def _counts(s: float, n: int, set_size: int) -> Ints:
    """Counts of about n pairs, the largest of them at most n / set_size."""
    ranks = np.arange(1.0, RANKS + 1)
    shift = 0.0
    while True:
        shares = (ranks + shift) ** -s
        if set_size == 1 or shares[0] * set_size <= 0.99 * shares.sum():
            break
        shift += 1
    counts = np.floor(n * shares / shares.sum()).astype(np.int64)
    return counts[counts > 0]


def _dealt(counts: Ints, set_size: int) -> pl.DataFrame:
    """Items one after another to users in turn, so that each gets an item once."""
    items = np.repeat(np.arange(len(counts)), counts)
    n_users = -(-len(items) // set_size)
    return pl.DataFrame({"user": np.arange(len(items)) % n_users, "item": items})


def _plot(figures: pl.DataFrame) -> None:
    """What was measured, between its bounds: a panel for each shape of table."""
    sides = {MEASURED: "measured", LOWER: "lower", UPPER: "upper"}
    data = figures.select(
        "pairs",
        *(pl.col(column).alias(series) for series, column in sides.items()),
        row="users",
        column=pl.format("s = {}", "s"),
    ).unpivot(index=["row", "column", "pairs"], variable_name="series", value_name="middle")
    lowest = math.floor(math.log10(data["middle"].min()))
    sizes = data["pairs"].to_list()
    against(
        data.with_columns(low="middle", high="middle"),
        report.path_of("bounds.png"),
        across=Across(
            "pairs",
            "(user, item) pairs",
            [10**exponent for exponent in range(3, 9)],
            (min(sizes) / 1.3, max(sizes) * 1.3),
            labels="format(datum.value, '~s')",
        ),
        axis=Axis(
            "missing mass",
            [10.0**exponent for exponent in range(lowest, 1)],
            labels="format(datum.value, '~g')",
        ),
        looks=LOOKS,
        title="Discovery: how much is missed, and what was known before",
        subtitle="Share of all pairs that are of items not named: less is better. ε = 1, "
        "δ = 1e-6, β = 0.05. Counts fall like 1 / rank^s.",
        size=(210, 150),
    )
