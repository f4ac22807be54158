"""Plots of figures against k: small multiples of lines with bands, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import altair as alt
import polars as pl

__all__ = ["Axis", "Look", "against_k", "styled"]

_DASHES = {False: [1, 0], True: [5, 3]}
_FEW = 10  # different k, up to which each of them gets a point
_IN_A_LINE = 3  # series that the legend names above the panels


@dataclass(frozen=True)
class Look:
    """How one line of a plot is drawn.

    Attributes:
        colour: As in CSS.
        dashed: For what stands beside.
        width: Of the line.
    """

    colour: str
    dashed: bool = False
    width: float = 2.0


@dataclass(frozen=True)
class Axis:
    """The vertical axis.

    Attributes:
        title: What is measured.
        values: Where the ticks are, rising; figures beyond the first and last are drawn there.
        kind: "log", or "symlog" where figures may be 0.
        labels: The labels, as a Vega expression of `datum.value`.
    """

    title: str
    values: Sequence[float]
    kind: str = "log"
    labels: str = "format(datum.value, '~s')"

    def of(self, column: str) -> alt.Y:
        """That column on this axis."""
        ends = [self.values[0], self.values[-1]]
        return alt.Y(
            f"{column}:Q",
            scale=alt.Scale(type=self.kind, domain=ends, clamp=True),
            axis=alt.Axis(values=list(self.values), labelExpr=self.labels, title=self.title),
        )


def against_k(
    data: pl.DataFrame,
    path: Path,
    *,
    axis: Axis,
    looks: Mapping[str, Look],
    title: str,
    subtitle: str | list[str],
    size: tuple[int, int] = (175, 150),
    spacing: str = "log",
) -> None:
    """A panel for each row and column, in it a line with a band for each series.

    Args:
        data: Columns row and column, of which the panels are in the order of their first figures;
            series, k, low, middle and high.
        path: Where to write, without suffix.
        axis: The vertical axis.
        looks: By series, in the order of the legend; later ones lie on top.
        title: Of the whole.
        subtitle: What is shown, and how.
        size: Width and height of a panel.
        spacing: Of k, "log" or "linear".
    """
    titles = {side: data[side].unique(maintain_order=True).to_list() for side in ("row", "column")}
    data = data.sort(pl.col("series").cast(pl.Enum(list(looks))), maintain_order=True)
    panel = _panel(data.with_columns(pl.col("series").cast(pl.String)), axis, looks, spacing)
    chart = panel.properties(width=size[0], height=size[1]).facet(
        row=alt.Row("row:N", sort=titles["row"], title=None),
        column=alt.Column("column:N", sort=titles["column"], title=None),
        spacing={"row": 14, "column": 14},
    )
    chart = styled(chart.properties(title=alt.Title(title, subtitle=subtitle, anchor="start")))
    chart.save(path.with_suffix(".png"), ppi=144)
    chart.save(path.with_suffix(".svg"))


def _panel(
    data: pl.DataFrame, axis: Axis, looks: Mapping[str, Look], spacing: str
) -> alt.LayerChart:
    ks = data["k"].unique()
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
        _across(ks, spacing),
        alt.Color("series:N", scale=series, legend=legend),
    )
    band = base.mark_area(opacity=0.18).encode(axis.of("low"), y2="high:Q")
    line = base.mark_line().encode(
        axis.of("middle"),
        strokeDash=_by_series(looks, [_DASHES[look.dashed] for look in looks.values()]),
        strokeWidth=_by_series(looks, [look.width for look in looks.values()]),
    )
    if len(ks) > _FEW:
        return band + line
    return band + line + base.mark_point(size=30, filled=True, opacity=1).encode(axis.of("middle"))


def _across(ks: pl.Series, spacing: str) -> alt.X:
    """The horizontal axis, a little wider than it need be."""
    first, last = float(ks.min()), float(ks.max())
    ends, ticks = [first * 0.88, last * 1.13], [5, 10, 20, 50, 100, 200]
    if spacing == "linear":
        ends, ticks = [0, last + first], list(range(0, int(last), 50))
    scale = alt.Scale(type=spacing, domain=ends, nice=False)
    shown = [tick for tick in ticks if ends[0] <= tick <= ends[1]]
    return alt.X("k:Q", scale=scale, axis=alt.Axis(values=shown, format="d", title="k"))


def _by_series(looks: Mapping[str, Look], values: list[object]) -> dict[str, object]:
    scale = alt.Scale(domain=list(looks), range=values)
    return {"field": "series", "type": "nominal", "scale": scale, "legend": None}


def styled(chart: alt.FacetChart) -> alt.FacetChart:
    """The look that all plots share."""
    return (
        chart.configure(font="sans-serif", padding=14)
        .configure_view(stroke="#d9d9d9")
        .configure_axis(gridColor="#ececec", domainColor="#999", tickColor="#999")
        .configure_header(labelFontSize=13, labelFontWeight="bold")
        .configure_title(fontSize=16, subtitleFontSize=12, subtitleColor="#555", offset=12)
        .configure_legend(labelFontSize=12)
    )
