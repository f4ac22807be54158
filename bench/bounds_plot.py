"""Missing mass against the number of pairs, between its bounds: a panel for each shape of table."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl

from bench.plotting import styled

__all__ = ["plot"]

LOWER, UPPER = "least of any algorithm (Lemma D.1)", "upper bound (Theorem 3.3)"
MEASURED = "WeightedGaussian, measured"
COLOURS = {UPPER: "#d1701a", MEASURED: "#0b6e99", LOWER: "#555555"}


def plot(figures: pl.DataFrame, path: Path) -> None:
    """Draw one line for each bound and for what was measured, as PNG and SVG.

    Args:
        figures: Columns users, s, pairs, lower, measured and upper.
        path: Where to write, without suffix.
    """
    data = figures.select(
        "pairs",
        pl.col("measured").alias(MEASURED),
        pl.col("lower").alias(LOWER),
        pl.col("upper").alias(UPPER),
        row="users",
        column=pl.format("s = {}", "s"),
    ).unpivot(index=["row", "column", "pairs"], variable_name="series", value_name="mass")
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    legend = alt.Legend(title=None, labelLimit=0, symbolOpacity=1, orient="top")
    dashes = alt.condition(f"datum.series == '{MEASURED}'", alt.value([1, 0]), alt.value([5, 3]))
    ends = [10 ** float(f"{data['mass'].log10().floor().min():.0f}"), 1]
    base = alt.Chart(data).encode(
        alt.X(
            "pairs:Q",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(title="(user, item) pairs", format="~s", tickCount=3),
        ),
        alt.Y(
            "mass:Q",
            scale=alt.Scale(type="log", domain=ends),
            axis=alt.Axis(title="missing mass", format="~g", values=[0.001, 0.01, 0.1, 1]),
        ),
        alt.Color("series:N", scale=scale, legend=legend),
    )
    lines = base.mark_line().encode(strokeDash=dashes)
    points = base.mark_point(filled=True, size=30, opacity=1)
    chart = (
        (lines + points)
        .properties(width=210, height=150)
        .facet(
            row=alt.Row(
                "row:N", sort=figures["users"].unique(maintain_order=True).to_list(), title=None
            ),
            column=alt.Column("column:N", title=None),
        )
        .properties(
            title=alt.Title(
                "Discovery: how much is missed, and what was known before",
                subtitle="Share of all pairs that are of items not named: less is better. ε = 1, "
                "δ = 1e-6, β = 0.05. Counts fall like 1 / rank^s.",
                anchor="start",
            )
        )
    )
    chart = styled(chart)
    chart.save(path.with_suffix(".png"), ppi=144)
    chart.save(path.with_suffix(".svg"))
