"""The axes of a comparison's plot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = ["across_axis", "figure_axis", "title_of"]

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
_WIDE = 30  # largest mean over the smallest, from which on equal ratios are equally far


def title_of(measure: str) -> str:
    """What a measure is, in words."""
    return _TITLES.get(measure, measure)


def across_axis(data: pl.DataFrame, across: str) -> alt.X:
    """The setting: every value that was asked for has a tick, and equal ratios are equally far."""
    import altair as alt

    values = data[across].unique().sort().to_list()
    kind: Any = "linear" if values[0] == 0 else "log"
    return alt.X(
        f"{across}:Q",
        scale=alt.Scale(type=kind, nice=False, padding=12, zero=False),
        axis=alt.Axis(values=values, format="~g", title=across, grid=False),
    )


def figure_axis(data: pl.DataFrame, measure: str) -> dict[str, Any]:
    """The scale and the axis of the means: from 0 or, where they are far apart, logarithmic.

    On a logarithmic axis what is 0 is drawn at the lower end, whose label then is 0.
    """
    import altair as alt

    title = title_of(measure)
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
