"""A plot of a comparison, by Altair: means and two standard errors, a line for each mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from shortlist.charts import COLOURS, dressed, require_altair
from shortlist.errors import InputError, in_quotes, nearest
from shortlist.metrics.trials import constant, measures_of

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

_ACROSS = ("epsilon", "k", "max_items_per_user", "delta")
_SIZE_OF_A_PANEL = (210, 200)
_SIZE_ALONE = (440, 300)
_HEIGHT_OF_A_MECHANISM = 36
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_TITLES = {
    "missing_mass": "missing mass (share of all pairs)",
    "items": "items named",
    "l1": "ℓ1 error (users)",
    "linf": "ℓ∞ error (users)",
    "relative": "k-relative error (users)",
    "largest_missed": "largest item missed (share of all pairs)",
    "missed_users": "users missed",
    "beyond_greedy": "users missed beyond the greedy choice",
}
# From this largest mean over the smallest on, equal ratios are equally far.
_WIDE = 30
_Drawn = TypeVar("_Drawn", bound="alt.LayerChart | alt.FacetChart")


def plotted(
    frame: pl.DataFrame,
    measure: str | None,
    *,
    question: str | None,
    across: str | None,
    note: str,
) -> alt.LayerChart | alt.FacetChart:
    """As `Trials.plot`, with a note under the title."""
    require_altair()
    shown = frame.filter(question=_question(frame, question))
    measure = _measure(shown, measure)
    varies = [name for name in _ACROSS if shown[name].n_unique() > 1]
    across = _across(varies, across)
    panels = [name for name in varies if name != across]
    chart = _drawn(_prepared(shown, measure, panels), measure, across, panels)
    return _titled(chart, shown, measure, note)


def _question(frame: pl.DataFrame, asked: str | None) -> str:
    known = frame["question"].unique(maintain_order=True).to_list()
    if asked is None and len(known) == 1:
        return str(known[0])
    if asked is None or asked not in known:
        raise InputError(
            "a plot is of one question",
            "give one of {known}",
            given={"question": asked},
            known=", ".join(f'"{name}"' for name in known),
        )
    return asked


def _measure(frame: pl.DataFrame, asked: str | None) -> str:
    known = measures_of(frame)
    if asked is None:
        return known[0]
    if asked not in known:
        raise InputError(
            "is not measured here",
            "there are {known}.{hint}",
            given={"measure": in_quotes(asked)},
            known=", ".join(known),
            hint=nearest(asked, known),
        )
    return asked


def _across(varies: list[str], asked: str | None) -> str | None:
    if asked is None:
        return varies[0] if varies else None
    if asked not in varies:
        raise InputError(
            "takes one value here",
            "compare several, or omit it",
            given={"across": in_quotes(asked)},
        )
    return asked


def _prepared(frame: pl.DataFrame, measure: str, panels: list[str]) -> pl.DataFrame:
    """The rows with the ends of their error bars, and the titles of their panels."""
    import polars as pl

    mean, error = pl.col(measure), pl.col(f"{measure}_se").fill_null(0)
    column, *rows = panels or ("",)
    return frame.select(
        *_ACROSS,
        "mechanism",
        mean.alias("mean"),
        (mean - 2 * error).alias("low"),
        (mean + 2 * error).alias("high"),
        _panel([column] if column else []).alias("column"),
        _panel(rows).alias("row"),
    )


def _panel(names: list[str]) -> pl.Expr:
    import polars as pl

    if not names:
        return pl.lit("")
    settings = [
        pl.lit(f"{name} = ") + pl.col(name).map_elements(lambda x: f"{x:g}", pl.String)
        for name in names
    ]
    return pl.concat_str(settings, separator=", ")


def _drawn(
    data: pl.DataFrame, measure: str, across: str | None, panels: list[str]
) -> alt.LayerChart | alt.FacetChart:
    layers = _points(data, measure) if across is None else _lines(data, measure, across)
    if not panels:
        return layers
    import altair as alt

    rows, columns = (data[side].unique(maintain_order=True).to_list() for side in ("row", "column"))
    header = alt.Header(title=None, labelFontSize=12, labelFontWeight="bold")
    column = alt.Column("column:N", sort=columns, header=header)
    layers = layers.properties(width=_SIZE_OF_A_PANEL[0], height=_SIZE_OF_A_PANEL[1])
    if len(rows) == 1:
        return layers.facet(column=column, spacing=16)
    return layers.facet(column=column, row=alt.Row("row:N", sort=rows, header=header), spacing=16)


def _lines(data: pl.DataFrame, measure: str, across: str) -> alt.LayerChart:
    """A line for each mechanism, from setting to setting."""
    import altair as alt

    given = _figure_axis(data, measure)
    last_on_top = data.reverse()  # so that the default is
    base = alt.Chart(last_on_top).encode(_across_axis(data, across), _colour(data, legend=True))
    bars = base.mark_rule(strokeWidth=1.5, opacity=0.7, clip=True)
    points = base.mark_point(filled=True, size=60, opacity=1)
    mean = alt.Y("mean:Q", **given)
    layers = [
        bars.encode(alt.Y("low:Q", **given), alt.Y2("high:Q")),
        base.mark_line(strokeWidth=2).encode(mean),
        points.encode(mean, _shape(data)),
    ]
    return alt.LayerChart(layer=layers).properties(width=_SIZE_ALONE[0], height=_SIZE_ALONE[1])


def _points(data: pl.DataFrame, measure: str) -> alt.LayerChart:
    """A line below the other for each mechanism, where there is one setting."""
    import altair as alt

    given = _figure_axis(data, measure)
    y = alt.Y("mechanism:N", sort=_names(data), title=None, axis=alt.Axis(labelLimit=0, grid=True))
    base = alt.Chart(data).encode(y, _colour(data, legend=False))
    bars = base.mark_rule(strokeWidth=2, clip=True)
    points = base.mark_point(filled=True, size=70, opacity=1)
    layers = [
        bars.encode(alt.X("low:Q", **given), alt.X2("high:Q")),
        points.encode(alt.X("mean:Q", **given)),
    ]
    return alt.LayerChart(layer=layers).properties(
        width=_SIZE_ALONE[0], height=alt.Step(_HEIGHT_OF_A_MECHANISM)
    )


def _colour(data: pl.DataFrame, *, legend: bool) -> alt.Color:
    import altair as alt

    key = alt.Legend(title=None, labelLimit=0) if legend else None
    names = _names(data)
    scale = alt.Scale(domain=names, range=_first(COLOURS, names))
    return alt.Color("mechanism:N", scale=scale, legend=key)


def _shape(data: pl.DataFrame) -> alt.Shape:
    """With the same legend as the colours, so that both are one."""
    import altair as alt

    names = _names(data)
    scale = alt.Scale(domain=names, range=_first(_SHAPES, names))
    return alt.Shape("mechanism:N", scale=scale, legend=alt.Legend(title=None, labelLimit=0))


def _first(of: Sequence[str], names: Sequence[str]) -> list[str]:
    """One for each name, from the beginning again where they run out."""
    return [of[place % len(of)] for place in range(len(names))]


def _names(data: pl.DataFrame) -> list[str]:
    return data["mechanism"].unique(maintain_order=True).to_list()


def _titled(chart: _Drawn, frame: pl.DataFrame, measure: str, note: str) -> _Drawn:
    """With a title, what all panels have in common, and how to read it."""
    same = constant(frame)
    question = str(same.pop("question"))
    given = ", ".join(f"{name} = {value:g}" for name, value in same.items())
    better = "More is better" if measure == "items" else "Less is better"
    runs = int(frame["runs"][0])
    shown = "1 run" if runs == 1 else f"Mean of {runs} runs ± 2 standard errors"
    read = f"{better}. {shown}. {given}"
    name, _, _ = _title_of(measure).partition(" (")  # the axis has the unit
    return dressed(chart, f"{question}: {name}", [read, note])


def _title_of(measure: str) -> str:
    return _TITLES.get(measure, measure)


def _across_axis(data: pl.DataFrame, across: str) -> alt.X:
    """The setting: every value that was asked for has a tick, and equal ratios are equally far."""
    import altair as alt

    values = data[across].unique().sort().to_list()
    kind: Any = "linear" if values[0] == 0 else "log"
    return alt.X(
        f"{across}:Q",
        scale=alt.Scale(type=kind, nice=False, padding=12, zero=False),
        axis=alt.Axis(values=values, format="~g", title=across, grid=False),
    )


def _figure_axis(data: pl.DataFrame, measure: str) -> dict[str, Any]:
    """The scale and the axis of the means: from 0 or, where they are far apart, logarithmic.

    On a logarithmic axis what is 0 is drawn at the lower end, whose label then is 0.
    """
    import altair as alt

    title = _title_of(measure)
    means = data["mean"]
    above = means.filter(means > 0).to_list()
    if (means < 0).any() or not above or max(above) < _WIDE * min(above):
        return {"scale": alt.Scale(zero=True), "axis": alt.Axis(title=title, tickCount=6)}
    has_zero = (means == 0).any()
    first = math.floor(math.log10(min(above))) - has_zero
    last = math.ceil(math.log10(max(above)))
    ends = [10.0**first, max(10.0**last, float(data["high"].max()))]  # type: ignore[arg-type]
    plain = "format(datum.value, datum.value < 9e-4 ? '~e' : datum.value < 9e3 ? '~g' : '~s')"
    labels = f"datum.value < {ends[0] * 2} ? '0' : {plain}" if has_zero else plain
    ticks = [10.0**power for power in range(first, last + 1)]
    return {
        "scale": alt.Scale(type="log", domain=ends, clamp=True, nice=False),
        "axis": alt.Axis(title=title, values=ticks, labelExpr=labels),
    }
