"""Several curves in one chart, a colour and a dash for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from shortlist.charts.look import COLOURS, dressed, require_altair

if TYPE_CHECKING:
    import altair as alt

__all__ = ["Curve", "curves"]

_SIZE = (560, 320)
_DASHES = ([1, 0], [6, 3], [2, 3], [8, 3, 2, 3])


class Curve(NamedTuple):
    """A name, and points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


def curves(
    drawn: Sequence[Curve], *, title: str, notes: Sequence[str], across: str, up: str
) -> alt.LayerChart:
    """Chances, from 0 to 1, on a logarithmic axis of numbers above 0.

    Args:
        drawn: At least one; a legend names them, if there are several.
        title: What is drawn.
        notes: How to read it.
        across: What the horizontal axis has.
        up: What the vertical one has.

    Raises:
        InputError: Altair is not installed.
    """
    require_altair()
    import altair as alt

    rows = [{"curve": curve.name, "across": x, "up": y} for curve in drawn for x, y in curve.points]
    names = [curve.name for curve in drawn]
    n = len(names)
    legend = None if n == 1 else alt.Legend(title=None, labelLimit=0, symbolType="stroke")
    colours, dashes = (
        [COLOURS[i % len(COLOURS)] for i in range(n)],
        [_DASHES[i % 4] for i in range(n)],
    )
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X("across:Q", scale=alt.Scale(type="log", nice=False), axis=alt.Axis(title=across)),
        alt.Y("up:Q", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(title=up, format="%")),
        alt.Color("curve:N", scale=alt.Scale(domain=names, range=colours), legend=legend),
    )
    dash = alt.StrokeDash("curve:N", scale=alt.Scale(domain=names, range=dashes), legend=legend)
    layers = [
        base.mark_line(strokeWidth=2).encode(dash),
        base.mark_point(filled=True, size=24, opacity=1),
    ]
    sized = alt.LayerChart(layer=layers).properties(width=_SIZE[0], height=_SIZE[1])
    return dressed(sized, title, notes)
