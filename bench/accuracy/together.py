"""Pairs of items that users hold together: by how many of one user's count, or items first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

import polars as pl

from bench.common import real, report
from bench.common.cells import means
from bench.common.seeds import bits_of
from shortlist import TopK, pairs
from shortlist.draws import ExactDraws
from shortlist.mechanisms import ItemsThenPairs

__all__ = ["compare"]

DELTA = 1e-6
EPSILONS = (0.3, 1.0)
SIZES = (20, 100)
LARGEST = {"105": 15, "496": 32, "2,016": 64, "4,950": 100}
"""The largest user who counts whole, by how many pairs of a user count at most."""
_ITEMS_FIRST = "items first"
TABLES = {
    name: real.TABLES[name]
    for name in (
        *("steam_200k", "twitter_airline_tokens", "reddit_askreddit_1pct_tokens"),
        *("fimi_retail", "amazon_video_games_5core", "amazon_grocery_5core"),
        *("amazon_magazine", "anime_5k"),
    )
}
_MISSING, _FOUND = "missing", "items found"


def compare(runs: int) -> None:
    """Measure, print and write.

    Args:
        runs: Of every bound in each cell.
    """
    found = real.find(TABLES)
    rows = [row for name, path in found.items() for row in _of_table(name, path, runs)]
    if not rows:
        return
    items = [row for name, path in found.items() for row in _items_found(name, path, runs)]
    figures = means(pl.DataFrame(rows), [_MISSING])
    beside = figures.pivot(on="bound", index=["table", "epsilon", "k"], values=_MISSING)
    how = (
        "What is missing from the k pairs of items that most users hold: the users of the pairs "
        "named, over those of the best k, taken from 1. By how many pairs of one user count at "
        "most; the default is 2,016. Items first: by ItemsThenPairs, of the items that it finds in "
        f"its rounds. delta={DELTA:g}; means of {runs} runs from fixed seeds (so nothing here is "
        "private)."
    )
    tables = {"Missing": beside, "Items found": means(pl.DataFrame(items), [_FOUND])}
    report.write("together", "Pairs of items that users hold together", tables, [how])


def _of_table(name: str, path: Path, runs: int) -> Iterator[dict[str, object]]:
    every = _Pairs(path)
    ways = [(bound, most, None) for bound, most in LARGEST.items()]
    ways.append((_ITEMS_FIRST, None, ItemsThenPairs))
    for epsilon, k, (bound, most, mechanism) in product(EPSILONS, SIZES, ways):
        cell = {"table": TABLES[name], "epsilon": epsilon, "k": k, "bound": bound}
        source = pairs(path, user="user", item="item", max_items_per_user=most).together(2)
        plan = source.plan(TopK(k), epsilon=epsilon, delta=DELTA, mechanism=mechanism)
        for run in range(runs):
            named = plan.run(bits_of("together", name, *cell.values(), run)).to_polars()
            yield cell | {_MISSING: every.missing(named, k)}


def _items_found(name: str, path: Path, runs: int) -> Iterator[dict[str, object]]:
    """How many items the rounds find, whatever k."""
    source = pairs(path, user="user", item="item").together(2)
    for epsilon in EPSILONS:
        plan = source.plan(TopK(1), epsilon=epsilon, delta=DELTA, mechanism=ItemsThenPairs)
        cell = {"table": TABLES[name], "epsilon": epsilon}
        for run in range(runs):
            draws = ExactDraws(bits_of("together", name, *cell.values(), run))
            with plan.engine.show(plan.mechanism.wants, draws) as shown:
                held = shown.evidence.sets.bounded(plan.mechanism.most_items, draws)
                yield cell | {_FOUND: len(plan.mechanism.search.found(held, draws).items)}


class _Pairs:
    """How many users hold each pair of items of a table."""

    def __init__(self, path: Path) -> None:
        rows = pl.read_parquet(path).with_columns(code=pl.col("item").rank("dense"))
        self._codes = dict(rows.select("item", "code").unique().iter_rows())
        held = rows.lazy().select("user", "code")
        both = held.join(held, on="user").filter(pl.col("code") < pl.col("code_right"))
        counts = both.group_by("code", "code_right").len().collect()
        self._counts = counts.sort("len", descending=True)

    def missing(self, named: pl.DataFrame, k: int) -> float:
        """The share of the users of the best k that those named have not."""
        pairs = named.select("item_1", "item_2").rows()
        codes = pl.DataFrame(
            [(self._codes[first], self._codes[second]) for first, second in pairs],
            schema={"code": pl.UInt32, "code_right": pl.UInt32},
            orient="row",
        )
        found = codes.join(self._counts, on=["code", "code_right"], how="left")["len"].sum()
        return 1 - found / int(self._counts["len"].head(k).sum())
