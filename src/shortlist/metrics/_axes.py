"""The axes of a comparison's plot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

__all__ = ["across_scale", "asked_ticks", "scale_of", "title_of"]

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
_WIDE = 30  # largest over smallest, from which on equal ratios are equally far


def title_of(measure: str) -> str:
    """What a measure is, in words."""
    return _TITLES.get(measure, measure)


def across_scale(data: pl.DataFrame, across: str) -> alt.Scale:
    """Equal ratios are equally far, unless 0 was asked for."""
    import altair as alt

    zero = data[across].min() == 0
    return alt.Scale(type="linear" if zero else "log", nice=False, padding=12)


def asked_ticks(data: pl.DataFrame, across: str) -> list[float]:
    """Every value that was asked for has a tick."""
    return data[across].unique().sort().to_list()


def scale_of(data: pl.DataFrame) -> alt.Scale:
    """Linear from 0; logarithmic where means are far apart, and linear again near 0."""
    import altair as alt
    import polars as pl

    above = data.filter(pl.col("mean") > 0)["mean"]
    if not len(above) or float(above.max()) < _WIDE * float(above.min()):  # type: ignore[arg-type]
        return alt.Scale(type="linear", zero=True)
    if len(above) == len(data) and data["low"].min() > 0:  # type: ignore[operator]
        return alt.Scale(type="log")
    return alt.Scale(type="symlog", constant=float(above.min()))  # type: ignore[arg-type]
