"""Items against their scores, with how far the noise reaches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from shortlist.charts.look import MARK, dressed, require_altair

if TYPE_CHECKING:
    import altair as alt

__all__ = ["WIDE", "Interval", "intervals"]

WIDE = 720
_UNSEEN = "\u200b"
_STEP = 24  # height of a line
_BESIDE = 0.58  # of the width, at least, that labels leave
_NOTE, _TITLE = 6.1, 8.7  # the pixels of a letter
_ISOLATED = "\u2068{}\u2069"  # its rank stays at the left of what reads from the right


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

    labels = _told_apart([f"{line.rank}  {_ISOLATED.format(line.label)}" for line in lines])
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
        width=width, height=alt.Step(_STEP), autosize=fit
    )
    beside = width * _BESIDE  # the labels, above which nothing stands
    told = [line for note in notes for line in wrap(note, round(beside / _NOTE))]
    return dressed(sized, wrap(title, round(beside / _TITLE)) or [""], told)


def _told_apart(labels: Sequence[str]) -> list[str]:
    """The labels, of which none is another's: what nobody sees makes the difference."""
    times: Counter[str] = Counter()
    apart = []
    for label in labels:
        apart.append(label + _UNSEEN * times[label])
        times[label] += 1
    return apart
