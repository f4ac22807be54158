"""How many times as long as the exact count: a panel for each engine, a line for each job."""

from __future__ import annotations

from pathlib import Path

import altair as alt
import polars as pl

from bench.common.plotting import save

__all__ = ["plot"]

CLOCK, CPU = "by the clock", "of CPU"
COLOURS = {CLOCK: "#0b6e99", CPU: "#d1701a"}


def plot(figures: pl.DataFrame, path: Path) -> None:
    """Draw ratios, and as ticks what was aimed at.

    Args:
        figures: Lines of engines and jobs, each followed by that of its ratio.
        path: Where to write.
    """
    parts = pl.col("job").str.split_exact(": ", 2).struct
    aims = figures.filter(pl.col("aim").is_not_null()).select(
        engine=parts[0], named=parts[1], aim="aim"
    )
    data = (
        figures.filter(pl.col("ratio").is_not_null())
        .select(
            engine=parts[0], named=parts[1], **{CLOCK: pl.col("ratio"), CPU: pl.col("ratio of CPU")}
        )
        .join(aims, on=["engine", "named"], how="left")
        .unpivot([CLOCK, CPU], index=["engine", "named", "aim"], variable_name="kind")
    )
    names = data["named"].unique(maintain_order=True).to_list()
    colours = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    legend = alt.Legend(title=None, orient="top")
    base = alt.Chart(data).encode(alt.Y("named:N", sort=names, title=None))
    across = alt.X("value:Q", title="times the exact count", scale=alt.Scale(domainMin=0))
    points = base.mark_point(filled=True, size=60, opacity=1).encode(
        across, alt.Color("kind:N", scale=colours, legend=legend)
    )
    ticks = base.mark_tick(thickness=2, size=18, color="#444").encode(x="aim:Q")
    panels = (ticks + points).properties(width=210, height=130)
    engines = data["engine"].unique(maintain_order=True).to_list()
    chart = panels.facet(column=alt.Column("engine:N", sort=engines, title=None))
    subtitle = "Medians, in turns with count(DISTINCT user) per item there; ticks are the aims."
    save(chart, path, "Private answers of tables that stay where they are", subtitle)
