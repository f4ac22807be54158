"""Plots of figures, as PNG and SVG."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl

from bench.real import TABLES

__all__ = ["missing_mass"]

_ZERO = 1e-5  # where a log scale shows 0, and all that is smaller
_NAMES = {"new": "DiscoverThenRank (default)", "paper": "WeightedGaussianPeeling (published)"}
_COLOURS = ["#0b6e99", "#d1701a"]


def missing_mass(means: pl.DataFrame, path: Path) -> None:
    """Missing mass against k, a panel for each table and epsilon, with bands of two errors.

    Args:
        means: Columns table, epsilon, k, mechanism, "missing mass" and "missing mass error".
        path: Where to write, without suffix.
    """
    mean, error = pl.col("missing mass"), 2 * pl.col("missing mass error")
    data = means.select(
        pl.col("table").replace(TABLES),
        "k",
        pl.format("ε = {}", pl.col("epsilon")).str.replace(r"\.0$", "").alias("budget"),
        pl.col("mechanism").replace(_NAMES),
        mean.clip(_ZERO).alias("mean"),
        (mean - error).clip(_ZERO).alias("low"),
        (mean + error).clip(_ZERO).alias("high"),
    )
    titles = [title for title in TABLES.values() if title in data["table"].to_list()]
    base = alt.Chart(data).encode(
        alt.X(
            "k:Q",
            scale=alt.Scale(type="log", domain=[4.4, 227]),
            axis=alt.Axis(values=[5, 10, 20, 50, 100, 200], format="d", title="k"),
        ),
        alt.Color(
            "mechanism:N",
            scale=alt.Scale(domain=list(_NAMES.values()), range=_COLOURS),
            legend=alt.Legend(
                title=None, orient="top", labelLimit=0, symbolSize=120, symbolOpacity=1
            ),
        ),
    )
    label = f"datum.value <= {_ZERO} ? '0' : format(datum.value, '~g')"
    axis = alt.Axis(
        values=[_ZERO, 1e-4, 1e-3, 1e-2, 1e-1, 1],
        labelExpr=label,
        title="missing mass",
    )
    scale = alt.Scale(type="log", domain=[_ZERO, 1], clamp=True)
    y = alt.Y("mean:Q", scale=scale, axis=axis)
    band = base.mark_area(opacity=0.22).encode(alt.Y("low:Q", scale=scale, axis=axis), y2="high:Q")
    marks = base.mark_line(strokeWidth=2).encode(y) + base.mark_point(
        size=34, filled=True, opacity=1
    ).encode(
        y,
        shape=alt.Shape("mechanism:N", legend=None, scale=alt.Scale(domain=list(_NAMES.values()))),
    )
    panel = (band + marks).properties(width=175, height=150)
    chart = panel.facet(
        row=alt.Row("budget:N", sort=["ε = 1", "ε = 0.1"], title=None),
        column=alt.Column("table:N", sort=titles, title=None),
        spacing={"row": 14, "column": 14},
    )
    chart = chart.properties(
        title=alt.Title(
            "Private top-k of private items: what is missing from the answer",
            subtitle="Share of all (user, item) pairs that the true top k holds and the answer "
            "does not: less is better. Mean ± 2 standard errors, below 1e-5 drawn as 0; δ = 1e-5, "
            "at most 100 items a user.",
            anchor="start",
        )
    )
    chart = (
        chart.configure(font="sans-serif", padding=14)
        .configure_view(stroke="#d9d9d9")
        .configure_axis(gridColor="#ececec", domainColor="#999", tickColor="#999")
        .configure_header(labelFontSize=13, labelFontWeight="bold")
        .configure_title(fontSize=16, subtitleFontSize=12, subtitleColor="#555", offset=12)
        .configure_legend(labelFontSize=12)
    )
    chart.save(path.with_suffix(".png"), ppi=144)
    chart.save(path.with_suffix(".svg"))
