"""Accesses against the number of items: a panel for each k, with the bound and with all items."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl

from bench.plotting import styled

__all__ = ["plot"]

BOUND, ALL = "bound: 2 (√(mk) + √(m/2))", "all items (m)"
COLOURS = {
    "hard": "#d1701a",
    "Zipf": "#0b6e99",
    "flat": "#3a8f3a",
    "Reddit posts": "#111111",
    "sorted alone, hard for it": "#8e4fa8",
    "random alone, hard for it": "#a0795b",
    BOUND: "#d62728",
    ALL: "#888888",
}


def plot(figures: pl.DataFrame, alone: pl.DataFrame, path: Path) -> None:
    """Draw the mean of each shape with its band, as PNG and SVG.

    Args:
        figures: Columns counts, items, k, mean, "2.5 %", "97.5 %" and bound.
        alone: With one kind of access: columns access, items, k, mean, "2.5 %" and "97.5 %".
        path: Where to write, without suffix.
    """
    lines = [_line(figures, BOUND, "bound"), _line(figures, ALL, "items")]
    data = pl.concat([_measured(figures, "{}", "counts"), *lines])
    data = pl.concat([data, _measured(alone, "{}, hard for it", "access")])
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    legend = alt.Legend(title=None, labelLimit=0, symbolOpacity=1)
    across = alt.X("items:Q", scale=alt.Scale(type="log"), axis=_axis("items (m)"))
    base = alt.Chart(data).encode(across, alt.Color("series:N", scale=scale, legend=legend))
    up = alt.Y("middle:Q", scale=alt.Scale(type="log"), axis=_axis("accesses to scores"))
    line = base.mark_line().encode(
        up,
        strokeDash=alt.condition(
            f"datum.series == '{BOUND}' || datum.series == '{ALL}'",
            alt.value([5, 3]),
            alt.value([1, 0]),
        ),
    )
    band = base.mark_area(opacity=0.18).encode(alt.Y("low:Q"), y2="high:Q")
    points = base.mark_point(filled=True, size=30, opacity=1).encode(up)
    points = points.transform_filter(f"datum.series != '{BOUND}' && datum.series != '{ALL}'")
    panels = (band + line + points).properties(width=240, height=240)
    title = alt.Title(
        "Private top-k: how much of the data is read",
        subtitle="Mean and 95 % band of the accesses to scores, read in pages that double. ε = 1, "
        "δ = 1e-6, Gumbel noise.",
        anchor="start",
    )
    chart = styled(panels.facet(column=alt.Column("panel:N", title=None)).properties(title=title))
    chart.save(path.with_suffix(".png"), ppi=144)
    chart.save(path.with_suffix(".svg"))


def _axis(title: str) -> alt.Axis:
    return alt.Axis(title=title, format="~s", tickCount=6)


def _measured(figures: pl.DataFrame, name: str, column: str) -> pl.DataFrame:
    return _columns(figures, pl.format(name, column), "2.5 %", "mean", "97.5 %")


def _line(figures: pl.DataFrame, series: str, column: str) -> pl.DataFrame:
    generated = figures.filter(pl.col("counts") == "hard")
    return _columns(generated, pl.lit(series), column, column, column)


def _columns(
    figures: pl.DataFrame, series: pl.Expr, low: str, middle: str, high: str
) -> pl.DataFrame:
    return figures.select(
        panel=pl.format("k = {}", "k"),
        series=series,
        items="items",
        low=pl.col(low).cast(pl.Float64),
        middle=pl.col(middle).cast(pl.Float64),
        high=pl.col(high).cast(pl.Float64),
    )
