"""What the defaults name beside the published mechanisms, at one setting, at a glance."""

from __future__ import annotations

import polars as pl

from bench.accuracy import domain, top_k
from bench.accuracy.study import DEFAULT
from bench.common import report
from bench.common.axes import Across
from bench.common.cells import BOUND, DELTA
from bench.common.dumbbells import Panel, dumbbells

__all__ = ["plot"]

EPSILON, K = 1.0, 100
LEAST = 1e-5  # of the missing mass that is drawn
_RATIO = pl.col("default") / pl.col("published")
_LOOKS = {"published": "#d1701a", "default": "#0b6e99"}


def plot(ranked: pl.DataFrame, found: pl.DataFrame, name: str) -> None:
    """Items named by `domain`, and what is missing from a top 100: a line for each table.

    Args:
        ranked: Figures of `top_k`.
        found: Figures of `domain`.
        name: Of the file.
    """
    at_bound = found.filter(epsilon=EPSILON, max_items_per_user=BOUND)
    at_k = ranked.filter(epsilon=EPSILON, k=K)
    named = _ends(at_bound, domain.ITEMS, domain.PUBLISHED).with_columns(
        told=pl.format("{}×", _RATIO.round(2))
    )
    ends = _ends(at_k, top_k.MASS, top_k.PUBLISHED)
    whole = ends.filter(pl.max_horizontal("default", "published") < LEAST)["table"]
    missing = ends.join(
        whole.to_frame(), on="table", how="anti", maintain_order="left"
    ).with_columns(told=pl.format("{}×", _RATIO.round_sig_figs(2)))
    items = Across("value", "items, more is better", [10, 100, 1000, 10_000], (10, 5000))
    mass = Across(
        "value",
        "missing, less is better",
        [LEAST, 1e-4, 1e-3, 1e-2, 1e-1, 1],
        (LEAST, 1),
        labels="format(datum.value, '~%')",
    )
    beside = f"{domain.DEFAULT_NAME} beside {domain.PUBLISHED}"
    ranks = f"{top_k.DEFAULT_NAME} beside {top_k.PUBLISHED}"
    setting = f"ε = {EPSILON:g}, δ = {DELTA:g}, at most {BOUND} items a user."
    of_whole = f"Nothing is missing from either top {K} of {' and '.join(whole)}."
    dumbbells(
        [
            Panel("Domain: how many items are named", beside, named, items),
            Panel(f"Top {K}: the part of the true list that is missing", ranks, missing, mass),
        ],
        report.path_of(name),
        colours=_LOOKS,
        title="What the defaults name, beside the published mechanisms",
        subtitle=[setting, of_whole] if len(whole) else [setting],
    )


def _ends(figures: pl.DataFrame, measure: str, published: str) -> pl.DataFrame:
    """Columns table, default and published."""
    wide = figures.pivot(on="mechanism", index="table", values=measure)
    return wide.select("table", default=DEFAULT, published=published).sort(
        "default", descending=True
    )
