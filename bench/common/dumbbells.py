"""Plots of two figures for each table, joined by a line: panels side by side, as PNG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import polars as pl

from bench.common.axes import Across
from bench.common.plotting import save

__all__ = ["Panel", "dumbbells"]

_ROW, _WIDTH = 34, 290  # height of a line, and width of a panel


@dataclass(frozen=True)
class Panel:
    """One panel.

    Attributes:
        title: Of the panel.
        subtitle: Which mechanisms stand beside each other.
        data: A row for each table: columns table, published, default, and told, which is written
            above the line between them.
        across: The axis of the figures.
    """

    title: str
    subtitle: str
    data: pl.DataFrame
    across: Across


def dumbbells(
    panels: Sequence[Panel],
    path: Path,
    *,
    colours: Mapping[str, str],
    title: str,
    subtitle: list[str],
) -> None:
    """A line for each table, from what was published to the default.

    Args:
        panels: From left to right.
        path: Where to write.
        colours: By side: of the columns published and default.
        title: Of the whole.
        subtitle: What is shown, and how, by lines.
    """
    save(
        alt.hconcat(*(_panel(panel, colours) for panel in panels), spacing=40),
        path,
        title,
        subtitle,
    )


def _panel(panel: Panel, colours: Mapping[str, str]) -> alt.LayerChart:
    """Rules, points at their ends, and what is told above them."""
    wide = panel.data.with_columns(middle=(pl.col("default") * pl.col("published")).sqrt())
    table = alt.Y("table:N", sort=wide["table"].to_list(), title=None, axis=alt.Axis(grid=False))
    base = alt.Chart(wide).encode(table)
    rule = base.mark_rule(strokeWidth=3, color="#c9c9c9").encode(
        _at(panel.across, "published"), x2="default:Q"
    )
    told = base.mark_text(dy=-11, fontSize=11, fontWeight="bold", color="#444").encode(
        _at(panel.across, "middle"), text="told:N"
    )
    sides = wide.unpivot(list(colours), index="table", variable_name="side")
    scale = alt.Scale(domain=list(colours), range=list(colours.values()))
    legend = alt.Legend(title=None, orient="top", symbolSize=120, labelFontSize=13)
    points = (
        alt.Chart(sides)
        .mark_point(size=120, filled=True, opacity=1)
        .encode(table, panel.across.of(), alt.Color("side:N", scale=scale, legend=legend))
    )
    return (rule + told + points).properties(
        title=alt.Title(
            panel.title, subtitle=panel.subtitle, anchor="start", fontSize=13, offset=8
        ),
        width=_WIDTH,
        height=_ROW * len(wide),
    )


def _at(across: Across, column: str) -> alt.X:
    """Another column on the same axis."""
    drawn = across.of()
    drawn.shorthand = f"{column}:Q"
    return drawn
