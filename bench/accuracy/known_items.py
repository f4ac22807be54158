"""Lists week after week: with and without `known_items` from the lists before."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import real, report
from bench.common.axes import Across, Axis
from bench.common.plotting import Look, against
from bench.common.seeds import bits_of
from shortlist.mechanisms import PolicyGreedy
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.questions import Question

__all__ = ["measure"]

EPSILONS = (0.3, 1.0)
DELTA = 1e-7
K = 20
_GREEDY = f"{sl.Domain().name}, PolicyGreedy"
_ASKED: Mapping[str, tuple[Question, type[Mechanism] | None]] = {
    sl.Domain().name: (sl.Domain(), None),
    _GREEDY: (sl.Domain(), PolicyGreedy),
    sl.TopK(K).name: (sl.TopK(K), None),
    sl.HittingSet(K).name: (sl.HittingSet(K), None),
}
WITHOUT, LAST, ALL = "nothing", "last list", "all lists"
NAMED, UNHELD, NEW, MISSED = "named", "held by nobody", "new", "missed"
_MEASURES = (NAMED, UNHELD, NEW, MISSED)
_SHORT = 12  # weeks: too few for a plot
_CELL = ("table", "split", "question", "epsilon")
_LOOKS = {WITHOUT: Look("#8a9a01"), LAST: Look("#d1701a"), ALL: Look("#0b6e99", width=3)}


@dataclass(frozen=True)
class Split:
    """How a table is divided into weeks.

    Attributes:
        weeks: How many.
        by: "users" or "rows" at random, or the number of days of a week.
    """

    weeks: int
    by: str | int = "users"

    def __str__(self) -> str:
        how = f"{self.by} at random" if isinstance(self.by, str) else f"{self.by} days each"
        return f"{self.weeks}, {how}"

    def parts(self, rows: pl.DataFrame, *more: str) -> list[pl.DataFrame]:
        """The users and items of each week, and more columns.

        What lies before the first week is left out.
        """
        if isinstance(self.by, int):
            days = rows["day"].cast(pl.Int32).to_numpy()
            week = self.weeks - 1 - (days.max() - days) // self.by
        else:
            alike = rows["user"].to_numpy() if self.by == "users" else np.arange(len(rows))
            week = np.random.default_rng(1).integers(0, self.weeks, int(alike.max()) + 1)[alike]
        placed = rows.with_columns(week=week)
        return [placed.filter(week=w).select("user", "item", *more) for w in range(self.weeks)]


SPLITS = {
    "movietweetings_2013_days": Split(26, 7),
    "amazon_grocery_5core_days": Split(24, 30),
    "fimi_retail": Split(52),
    "reddit_title_tokens": Split(52),
    "imdb_reviews_tokens": Split(12),
    "amazon_magazine": Split(12),
    "steam_200k": Split(12, "rows"),
    "anime_5k": Split(12, "rows"),
    "twitter_airline_tokens": Split(12, "rows"),
    "amazon_video_games_5core": Split(12, "rows"),
    "reddit_askreddit_1pct_tokens": Split(12, "rows"),
}


def measure(runs: int) -> None:
    """Measure, print, write and draw.

    Args:
        runs: Series of lists in each cell.
    """
    parts = [
        found
        for name, path in real.find(SPLITS).items()
        for found in _of_table(name, pl.read_parquet(path), runs)
    ]
    if not parts:
        return
    weekly = pl.concat(parts)
    cells = _cells(weekly.filter(pl.col("week") > 1))
    worse = cells.filter(pl.col("more missed") > pl.col("±"))
    setting = (
        f"A list a week, each at delta={DELTA:g} and the epsilon of the cell; {runs} series from "
        "fixed seeds (so nothing here is private). Known are no items, those of the last list, or "
        "those of all lists before. Means of all weeks but the first, in which nothing is known. "
        "The same weeks are compared; clearly: by more than two standard errors of the difference."
    )
    told = (
        f"{NEW}: named, and not known. {MISSED}: of domains, the share of all pairs of user and "
        f"item that are of items not named; of top-{K}, the share of what the {K} best items hold "
        f"that those named do not; of hitting sets of {K}, the share of all users."
    )
    pictures = {"known-items.png": "Items that domains name, week by week"}
    tables = {
        "Over all cells": _overall(cells),
        "Domains that know all lists: PolicyGreedy beside the default": _greedy_beside(cells),
        "Clearly more missed than without": worse,
        "Cells": cells,
    }
    report.write(
        "known-items", "Lists that know the lists before", tables, [setting, told], pictures
    )
    _plot(weekly)


def _of_table(name: str, rows: pl.DataFrame, runs: int) -> Iterator[pl.DataFrame]:
    split = SPLITS[name]
    weeks = split.parts(rows)
    for question, epsilon, known, run in product(_ASKED, EPSILONS, _LOOKS, range(runs)):
        figures = list(_series(weeks, question, epsilon, known, f"{name} {run}"))
        yield pl.DataFrame(figures).select(
            pl.lit(real.TABLES.get(name, _DATED.get(name))).alias("table"),
            pl.lit(str(split)).alias("split"),
            pl.lit(question).alias("question"),
            pl.lit(epsilon).alias("epsilon"),
            pl.lit(known).alias("known"),
            pl.lit(run).alias("run"),
            pl.int_range(1, pl.len() + 1).alias("week"),
            *_MEASURES,
        )
    print(f"{name}: done.")


_DATED = {"movietweetings_2013_days": "Films by day", "amazon_grocery_5core_days": "Grocery by day"}


def _series(
    weeks: Sequence[pl.DataFrame], asked: str, epsilon: float, known: str, label: str
) -> Iterator[dict[str, float]]:
    """The figures of a list a week."""
    before: list[object] = []
    question, mechanism = _ASKED[asked]
    for number, week in enumerate(weeks):
        source = sl.pairs(week, user="user", item="item", known_items=before or None)
        random = bits_of(label, number)
        plan = source.plan(question, epsilon=epsilon, delta=DELTA, mechanism=mechanism)
        items = plan.run(random=random).items
        yield _figures(week, question, items, set(before))
        kept = {WITHOUT: [], LAST: items, ALL: dict.fromkeys([*before, *items])}
        before = list(kept[known])


def _figures(
    week: pl.DataFrame, question: Question, items: Sequence[object], known: set[object]
) -> dict[str, float]:
    counts: dict[object, int] = dict(week.group_by("item").len().iter_rows())
    held = [counts.get(item, 0) for item in items]
    return {
        NAMED: len(items),
        UNHELD: held.count(0),
        NEW: len(set(items) - known),
        MISSED: _MISSED[type(question)](week, counts, items),
    }


def _of_pairs(_: pl.DataFrame, counts: Mapping[object, int], items: Sequence[object]) -> float:
    return 1 - sum(counts.get(item, 0) for item in items) / sum(counts.values())


def _of_best(_: pl.DataFrame, counts: Mapping[object, int], items: Sequence[object]) -> float:
    best = sum(sorted(counts.values(), reverse=True)[:K])
    return 1 - sum(counts.get(item, 0) for item in items) / best


def _of_users(week: pl.DataFrame, _: Mapping[object, int], items: Sequence[object]) -> float:
    reached = week.filter(pl.col("item").is_in(list(items)))["user"].n_unique()
    return 1 - reached / week["user"].n_unique()


_Missed = Callable[[pl.DataFrame, Mapping[object, int], Sequence[object]], float]
_MISSED: Mapping[type[Question], _Missed] = {
    sl.Domain: _of_pairs,
    sl.TopK: _of_best,
    sl.HittingSet: _of_users,
}


def _cells(later: pl.DataFrame) -> pl.DataFrame:
    """Each way to know beside knowing nothing, week by week: means, and how sure the difference."""
    without = later.filter(known=WITHOUT).drop("known")
    beside = later.filter(pl.col("known") != WITHOUT)
    both = beside.join(without, on=[*_CELL, "run", "week"], suffix=" without")
    more = pl.col(MISSED) - pl.col(f"{MISSED} without")
    return both.group_by(*_CELL, "known", maintain_order=True).agg(
        *(pl.col(name, f"{name} without").mean() for name in (NAMED, MISSED)),
        pl.col(UNHELD, NEW).mean(),
        more.mean().alias("more missed"),
        (2 * more.std() / pl.len().sqrt()).alias("±"),
    )


def _overall(cells: pl.DataFrame) -> pl.DataFrame:
    """Geometric means of ratios, by question and what is known."""
    parts = cells.partition_by("question", "known", maintain_order=True)
    return pl.DataFrame([_ratios(part) for part in parts])


def _greedy_beside(cells: pl.DataFrame) -> pl.DataFrame:
    """The items that both name, and those of one over the other."""
    cell = ("table", "split", "epsilon")
    all_lists = cells.filter(known=ALL).select(*cell, "question", NAMED)
    default = all_lists.filter(question=sl.Domain().name).drop("question")
    greedy = all_lists.filter(question=_GREEDY).drop("question").rename({NAMED: _GREEDY})
    both = default.join(greedy, on=cell)
    ratio = ((pl.col(_GREEDY) + 1) / (pl.col(NAMED) + 1)).alias("ratio")
    return both.with_columns(ratio).sort("ratio", descending=True)


def _ratios(part: pl.DataFrame) -> dict[str, object]:
    named, missed = (
        math.exp(np.log((part[column] + floor) / (part[f"{column} without"] + floor)).mean())
        for column, floor in ((NAMED, 1.0), (MISSED, 1e-4))
    )
    return {
        "question": part["question"][0],
        "known": part["known"][0],
        "cells": len(part),
        f"{NAMED}, over without": named,
        f"{MISSED}, over without": missed,
        "of those named, held by nobody": part[UNHELD].sum() / part[NAMED].sum(),
        "clearly fewer missed": (part["more missed"] < -part["±"]).sum(),
        "clearly more missed": (part["more missed"] > part["±"]).sum(),
    }


def _plot(weekly: pl.DataFrame) -> None:
    """Items named by domains at the larger epsilon, a panel for each of the longer series."""
    drawn = (
        weekly.filter(pl.col("week").max().over("table") > _SHORT)
        .filter(question=sl.Domain().name, epsilon=EPSILONS[-1])
        .group_by("table", "known", "week", maintain_order=True)
        .agg(low=pl.col(NAMED).min(), middle=pl.col(NAMED).mean(), high=pl.col(NAMED).max())
        .rename({"known": "series", "table": "column"})
        .with_columns(row=pl.lit(""))
    )
    against(
        drawn,
        report.path_of("known-items.png"),
        across=Across("week", "week", (1, 13, 26, 39, 52), (1, 52), "linear"),
        axis=Axis("items named", [1, 10, 100, 1000]),
        looks=_LOOKS,
        title="Domain: items named, by what is known",
        subtitle=f"More is better. A list a week; ε = {EPSILONS[-1]:g}, δ = {DELTA:g} each.",
        size=(190, 170),
    )
