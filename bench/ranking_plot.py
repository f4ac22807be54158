"""The share of the true best that is found, against epsilon: a panel for each table."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl

from bench.plotting import styled

__all__ = ["BY_USER", "COUNT", "OF_ALL", "PUBLISHED", "SPECTRAL", "plot"]

COUNT, BY_USER = "WinCount", "WinCount, by user"
OF_ALL = "SpectralRanking, all pairs, no promise"
SPECTRAL = "SpectralRanking, conditional"
PUBLISHED = "the same, published noise"
COLOURS = {
    COUNT: "#0b6e99",
    BY_USER: "#58b4d8",
    OF_ALL: "#2f7d32",
    SPECTRAL: "#d1701a",
    PUBLISHED: "#888888",
}
_HOW = (
    "Mean and 95 % band. Dotted: by numbers of wins without noise. Conditional: contraction 0.8, "
    "0.9 and 0.9, picked by looking"
)
_LIMIT = (
    "at these outcomes; only outcomes that keep it are protected from each other. So that is not "
    "private for all outcomes."
)


def plot(figures: pl.DataFrame, limits: pl.DataFrame, path: Path) -> None:
    """Draw the means with their bands, as PNG and SVG.

    Args:
        figures: Columns comparisons, mechanism, epsilon, found, "2.5 %" and "97.5 %".
        limits: Columns comparisons, "found by wins" and "found by shares": without noise.
        path: Where to write, without suffix.
    """
    panels = limits["comparisons"].to_list()
    data = figures.rename({"2.5 %": "low", "97.5 %": "high"})
    data = data.join(limits.select("comparisons", "found by wins"), on="comparisons")
    data = data.sort(pl.col("mechanism").cast(pl.Enum(list(COLOURS))), maintain_order=True)
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    legend = alt.Legend(title=None, labelLimit=0, symbolOpacity=1, orient="top")
    across = alt.X(
        "epsilon:Q",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(title="epsilon", values=[0.001, 0.01, 0.1, 1, 10, 100], format="~g"),
    )
    base = alt.Chart(data).encode(across, alt.Color("mechanism:N", scale=scale, legend=legend))
    up = alt.Axis(title="share of the true 10 best", format="%")
    percent = alt.Scale(domain=[0, 1])
    band = base.mark_area(opacity=0.15).encode(alt.Y("low:Q", scale=percent, axis=up), y2="high:Q")
    line = base.mark_line(point=alt.OverlayMarkDef(size=26)).encode(
        alt.Y("found:Q", scale=percent, axis=up),
        strokeDash=alt.condition(
            f"datum.mechanism == '{PUBLISHED}'", alt.value([5, 3]), alt.value([1, 0])
        ),
    )
    ceiling = alt.Chart(data).mark_rule(color="#0b6e99", strokeDash=[2, 3], size=1)
    ceiling = ceiling.encode(alt.Y("mean(found by wins):Q", scale=percent, axis=up))
    title = alt.Title(
        "Private ranking from comparisons: how many of the 10 best are named",
        subtitle=[_HOW, _LIMIT],
        anchor="start",
    )
    layers = (band + ceiling + line).properties(width=250, height=240)
    column = alt.Column("comparisons:N", sort=panels, title=None)
    chart = styled(layers.facet(column=column).properties(title=title))
    chart.save(path.with_suffix(".png"), ppi=144)
    chart.save(path.with_suffix(".svg"))
