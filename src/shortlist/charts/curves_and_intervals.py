"""The two kinds of charts: curves, and items against their scores with intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from shortlist.charts.look import COLOURS, MARK, dressed, require_altair

if TYPE_CHECKING:
    import altair as alt

WIDE = 720
"""The width of what fills a page, in pixels."""
_SIZE_OF_CURVES = (560, 320)
_DASHES = ([1, 0], [6, 3], [2, 3], [8, 3, 2, 3])
_UNSEEN = "\u200b"
_HEIGHT_OF_A_LINE = 24
_SHARE_BESIDE_LABELS = 0.58  # of the width, at least
_PIXELS_OF_A_LETTER_OF_NOTES, _PIXELS_OF_A_LETTER_OF_TITLES = 6.1, 8.7
# Its rank stays at the left of an item that reads from the right.
_ISOLATED = "\u2068{}\u2069"


class NamedCurve(NamedTuple):
    """A curve of a chart: its points from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


def curves(
    drawn: Sequence[NamedCurve], *, title: str, notes: Sequence[str], across: str, up: str
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
    colours = [COLOURS[i % len(COLOURS)] for i in range(n)]
    dashes = [_DASHES[i % len(_DASHES)] for i in range(n)]
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
    sized = alt.LayerChart(layer=layers).properties(
        width=_SIZE_OF_CURVES[0], height=_SIZE_OF_CURVES[1]
    )
    return dressed(sized, title, notes)


def numbers_by_step(
    drawn: NamedCurve, *, title: str, notes: Sequence[str], across: str, up: str
) -> alt.LayerChart:
    """Whole numbers from 0 on, by whole steps from 1 on.

    Args:
        drawn: Its points.
        title: What is drawn.
        notes: How to read it.
        across: What the horizontal axis has.
        up: What the vertical one has.

    Raises:
        InputError: Altair is not installed.
    """
    require_altair()
    import altair as alt

    rows = [{"across": x, "up": y} for x, y in drawn.points]
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        alt.X("across:Q", axis=alt.Axis(title=across, tickMinStep=1)),
        alt.Y("up:Q", axis=alt.Axis(title=up, tickMinStep=1)),
    )
    line = base.mark_line(strokeWidth=2, color=MARK)
    points = base.mark_point(filled=True, size=24, opacity=1, color=MARK)
    sized = alt.LayerChart(layer=[line, points]).properties(
        width=_SIZE_OF_CURVES[0], height=_SIZE_OF_CURVES[1]
    )
    return dressed(sized, title, notes)


class Interval(NamedTuple):
    """One line: an item's rank and name, which fits in half the width, its score and interval."""

    rank: int
    label: str
    score: float
    low: float
    high: float


def intervals(
    lines: Sequence[Interval], *, title: str, notes: Sequence[str], scores: str, width: int = WIDE
) -> alt.LayerChart:
    """One line below the other, best first: a point for the score, a bar for its interval.

    Args:
        lines: At least one.
        title: What is drawn; "" for neither a title nor notes.
        notes: How to read it.
        scores: What the scores are.
        width: Of all that is drawn, in pixels.

    Raises:
        InputError: Altair is not installed.
    """
    require_altair()
    import altair as alt

    labels = _distinct([f"{line.rank}  {_ISOLATED.format(line.label)}" for line in lines])
    rows = [line._asdict() | {"label": label} for line, label in zip(lines, labels, strict=True)]
    # Labels are short enough by now: cut by Vega, one may end in half of a character.
    axis = alt.Axis(title=None, labelLimit=0, ticks=False, domain=False, labelPadding=8)
    y = alt.Y("label:N", sort=[row["label"] for row in rows], axis=axis)
    base = alt.Chart(alt.InlineData(values=rows)).encode(y)
    along = alt.Axis(title=scores, tickCount=max(width // 110, 3))
    bars = base.mark_rule(strokeWidth=6, color=MARK, opacity=0.32, strokeCap="round")
    points = base.mark_point(filled=True, size=64, color=MARK, opacity=1)
    layers = [
        bars.encode(alt.X("low:Q", axis=along), alt.X2("high:Q")),
        points.encode(alt.X("score:Q", axis=along)),
    ]
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    sized = alt.LayerChart(layer=layers).properties(
        width=width, height=alt.Step(_HEIGHT_OF_A_LINE), autosize=fit
    )
    beside = width * _SHARE_BESIDE_LABELS  # nothing stands above the labels
    letters = round(beside / _PIXELS_OF_A_LETTER_OF_NOTES)
    wrapped = [line for note in notes for line in wrap(note, letters)]
    headings = wrap(title, round(beside / _PIXELS_OF_A_LETTER_OF_TITLES)) or [""]
    return dressed(sized, headings, wrapped)


def _distinct(labels: Sequence[str]) -> list[str]:
    """The labels, of which none is another's: what nobody sees makes the difference."""
    times: Counter[str] = Counter()
    apart = []
    for label in labels:
        apart.append(label + _UNSEEN * times[label])
        times[label] += 1
    return apart
