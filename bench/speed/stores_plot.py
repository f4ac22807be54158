"""Milliseconds of each job: a panel for each store and shape of the counts."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl

from bench.common.plotting import save

__all__ = ["plot"]

PRIVATE, OTHER = "#0b6e99", "#888888"


def plot(figures: pl.DataFrame, path: Path) -> None:
    """Draw medians with quartiles.

    Args:
        figures: Columns store, items, counts, job, milliseconds, "quartile 1" and "quartile 3".
        path: Where to write.
    """
    sizes = {m: f"{m / 1e6:.3g} M" for m in figures["items"].unique().to_list()}
    jobs = figures["job"].unique(maintain_order=True).to_list()
    data = figures.select(
        "job",
        row=pl.format("{} counts", "counts"),
        column=pl.format("{}, {} items", "store", pl.col("items").replace_strict(sizes)),
        low="quartile 1",
        middle="milliseconds",
        high="quartile 3",
    )
    middles = data["middle"].to_list()
    ends = [min(middles), max(middles)]
    scale = alt.Scale(type="log", domain=[ends[0] / 2, ends[1] * 6], nice=False)
    ticks = [10.0**exponent for exponent in range(-3, 6) if ends[0] / 2 <= 10**exponent]
    axis = alt.Axis(
        title="milliseconds", values=ticks, labelExpr="format(datum.value, '~g')", grid=True
    )
    colour = alt.condition(
        "indexof(datum.job, 'private') == 0", alt.value(PRIVATE), alt.value(OTHER)
    )
    base = alt.Chart(data).encode(alt.Y("job:N", sort=jobs, title=None), color=colour)
    middle = alt.X("middle:Q", scale=scale, axis=axis)
    points = base.mark_point(filled=True, size=55, opacity=1).encode(middle)
    quartiles = base.mark_rule(strokeWidth=2).encode(alt.X("low:Q", scale=scale), x2="high:Q")
    texts = base.mark_text(align="left", dx=8).encode(
        middle, text=alt.Text("middle:Q", format=",.3~r")
    )
    panels = (quartiles + points + texts).properties(width=230, height=110)
    columns = data["column"].unique(maintain_order=True).to_list()
    rows = data["row"].unique(maintain_order=True).to_list()
    chart = panels.facet(
        row=alt.Row("row:N", sort=rows, title=None),
        column=alt.Column("column:N", sort=columns, title=None),
    )
    save(
        chart,
        path,
        "Private top 100 of a store: the time it takes",
        "Median and quartiles in milliseconds; in grey what is not private. ε = 1.",
    )
