"""Charts of points of which some are marked: evidence against rank."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from shortlist.charts.curves_and_intervals import WIDE
from shortlist.charts.look import MARK, MUTED, dressed, require_altair

if TYPE_CHECKING:
    import altair as alt

_HEIGHT = 280
_LETTER_OF_NOTES, _LETTER_OF_TITLES = 6.1, 8.7  # pixels
_LEAST = 1e-3  # below, points stand at the foot


class MarkedPoint(NamedTuple):
    """An item: its rank, how strong the evidence is, and whether it is named."""

    rank: int
    strength: float
    marked: bool


def marked_points(
    points: Sequence[MarkedPoint],
    *,
    title: str,
    notes: Sequence[str],
    across: str,
    up: str,
    width: int = WIDE,
) -> alt.LayerChart:
    """A point for each, on a logarithmic axis; those that are marked are filled.

    Args:
        points: At least one.
        title: What is drawn; "" for neither a title nor notes.
        notes: How to read it.
        across: What the horizontal axis has.
        up: What the vertical one has.
        width: Of all that is drawn, in pixels.

    Raises:
        InputError: Altair is not installed.
    """
    require_altair()
    import altair as alt

    rows = [p._asdict() | {"strength": max(p.strength, _LEAST)} for p in points]
    upwards = alt.Y(
        "strength:Q", scale=alt.Scale(type="log"), axis=alt.Axis(title=up, format="~e", tickCount=6)
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X("rank:Q", axis=alt.Axis(title=across, tickMinStep=1)), upwards
    )
    strong = alt.datum.marked == True  # noqa: E712 - in the words of Vega
    others = base.transform_filter(~strong).mark_point(size=40, color=MUTED, opacity=1)
    marked = base.transform_filter(strong).mark_point(filled=True, size=56, color=MARK, opacity=1)
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    sized = alt.LayerChart(layer=[others, marked]).properties(
        width=width, height=_HEIGHT, autosize=fit
    )
    wrapped = [line for note in notes for line in wrap(note, round(width / _LETTER_OF_NOTES))]
    headings = wrap(title, round(width / _LETTER_OF_TITLES)) or [""]
    return dressed(sized, headings, wrapped)
