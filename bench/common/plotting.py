"""Plots of figures against k or another size: small multiples of lines with bands, as PNG."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import altair as alt
import polars as pl
from PIL import Image

from bench.common.axes import Across, Axis

__all__ = ["Look", "against", "against_k", "save"]

_DASHES = {False: [1, 0], True: [5, 3]}
_FEW = 12  # places across a panel, up to which each of them gets a point
_IN_A_LINE = 3  # series that the legend names above the panels


@dataclass(frozen=True)
class Look:
    """How one line of a plot is drawn.

    Attributes:
        colour: As in CSS.
        dashed: For what stands beside.
        width: Of the line.
        points: Whether places get points, where they are few.
    """

    colour: str
    dashed: bool = False
    width: float = 2.0
    points: bool = True


def against_k(data: pl.DataFrame, path: Path, *, spacing: str = "log", **drawn: Any) -> None:
    """`against` k, which is a column of the data, in "log" or "linear" spacing."""
    first, last = float(data["k"].min()), float(data["k"].max())
    ends, ticks = (first * 0.88, last * 1.13), [5, 10, 20, 50, 100, 200]  # a little wide
    if spacing == "linear":
        ends, ticks = (0, last + first), list(range(0, int(last), 50))
    against(data, path, across=Across("k", "k", ticks, ends, spacing), **drawn)


def against(
    data: pl.DataFrame,
    path: Path,
    *,
    across: Across,
    axis: Axis,
    looks: Mapping[str, Look],
    title: str,
    subtitle: str | list[str],
    size: tuple[int, int] = (175, 150),
) -> None:
    """A panel for each row and column, in it a line with a band for each series.

    Args:
        data: Columns row and column, of which the panels are in the order of their first figures,
            and whose titles may have several lines; series, low, middle and high; and the column
            across.
        path: Where to write.
        across: The horizontal axis.
        axis: The vertical axis.
        looks: By series, in the order of the legend; later ones lie on top.
        title: Of the whole.
        subtitle: What is shown, and how.
        size: Width and height of a panel.
    """
    titles = {side: data[side].unique(maintain_order=True).to_list() for side in ("row", "column")}
    data = data.sort(pl.col("series").cast(pl.Enum(list(looks))), maintain_order=True)
    panel = _panel(data.with_columns(pl.col("series").cast(pl.String)), across, axis, looks)
    header = alt.Header(labelExpr=r"split(datum.label, '\n')")
    chart = panel.properties(width=size[0], height=size[1]).facet(
        row=alt.Row("row:N", sort=titles["row"], title=None),
        column=alt.Column("column:N", sort=titles["column"], title=None, header=header),
        spacing={"row": 14, "column": 14},
    )
    if axis.values is None:
        chart = chart.resolve_scale(y="independent")
    save(chart, path, title, subtitle)


def _panel(
    data: pl.DataFrame, across: Across, axis: Axis, looks: Mapping[str, Look]
) -> alt.LayerChart:
    series = alt.Scale(domain=list(looks), range=[look.colour for look in looks.values()])
    legend = alt.Legend(
        title=None,
        orient="top" if len(looks) <= _IN_A_LINE else "right",
        labelLimit=0,
        symbolOpacity=1,
        symbolSize=300,
        symbolStrokeWidth=3,
        symbolType="stroke",
    )
    base = alt.Chart(data).encode(
        across.of(),
        alt.Color("series:N", scale=series, legend=legend),
    )
    band = base.mark_area(opacity=0.18).encode(axis.of("low"), y2="high:Q")
    line = base.mark_line().encode(
        axis.of("middle"),
        strokeDash=_by_series(looks, [_DASHES[look.dashed] for look in looks.values()]),
        strokeWidth=_by_series(looks, [look.width for look in looks.values()]),
    )
    places = data.group_by("row", "column").agg(pl.col(across.column).n_unique())
    if places[across.column].max() > _FEW:
        return band + line
    dotted = alt.FieldOneOfPredicate(
        "series", [name for name, look in looks.items() if look.points]
    )
    points = base.mark_point(size=30, filled=True, opacity=1).encode(axis.of("middle"))
    return band + line + points.transform_filter(dotted)


def _by_series(looks: Mapping[str, Look], values: list[object]) -> dict[str, object]:
    scale = alt.Scale(type="ordinal", domain=list(looks), range=values)
    return {"field": "series", "type": "nominal", "scale": scale, "legend": None}


def save(chart: alt.FacetChart, path: Path, title: str, subtitle: str | list[str]) -> None:
    """Write the chart, with a title and the look that all plots share, in a palette of colours."""
    chart = (
        chart.properties(title=alt.Title(title, subtitle=subtitle, anchor="start"))
        .configure(font="sans-serif", padding=14)
        .configure_view(stroke="#d9d9d9")
        .configure_axis(gridColor="#ececec", domainColor="#999", tickColor="#999")
        .configure_header(labelFontSize=13, labelFontWeight="bold")
        .configure_title(fontSize=16, subtitleFontSize=12, subtitleColor="#555", offset=12)
        .configure_legend(labelFontSize=12)
    )
    drawn = BytesIO()
    chart.save(drawn, format="png", ppi=144)
    flat = Image.open(drawn).convert("RGB")
    flat.quantize(dither=Image.Dither.NONE).save(path, optimize=True)
