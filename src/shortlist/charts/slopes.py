"""Charts of slopes: from the ranks of one list to those of the next."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from shortlist.charts.curves_and_intervals import WIDE
from shortlist.charts.look import INK, MARK, MUTED, dressed, require_altair

if TYPE_CHECKING:
    import altair as alt

_HEIGHT_OF_A_LINE = 24
_SHARE_BETWEEN = 0.3  # of the width, between the two columns of names
_LETTER_OF_NOTES, _LETTER_OF_TITLES = 6.1, 8.7  # pixels
_SIDES = "before", "now"
_ISOLATED = "\u2068{}\u2069"  # its rank stays at its side of an item that reads from the right


class Slope(NamedTuple):
    """An item: its rank and name at either end, None where it is not listed there."""

    before: tuple[int, str] | None
    now: tuple[int, str] | None
    marked: bool


def slopes(
    lines: Sequence[Slope], *, title: str, notes: Sequence[str], width: int = WIDE
) -> alt.LayerChart:
    """The names of two lists side by side, best above, with a line between those of one item.

    Args:
        lines: At least one.
        title: What is drawn; "" for neither a title nor notes.
        notes: How to read it.
        width: Of all that is drawn, in pixels.

    Raises:
        InputError: Altair is not installed.
    """
    require_altair()
    import altair as alt

    rows = [row for number, line in enumerate(lines) for row in _ends(number, line)]
    across = alt.X(
        "side:N",
        scale=alt.Scale(domain=list(_SIDES), padding=0.5),
        axis=alt.Axis(title=None, orient="top", ticks=False, domain=False, labelAngle=0),
    )
    deepest = max(end[0] for line in lines for end in line[:2] if end is not None)
    # Equal ranks of the two lists are at one height.
    depths = alt.Scale(domain=[0.4, deepest + 0.6], reverse=True, zero=False, nice=False)
    down = alt.Y("rank:Q", scale=depths, axis=None)
    base = alt.Chart(alt.InlineData(values=rows)).encode(across, down)
    strong = alt.datum.marked == True  # noqa: E712 - in the words of Vega
    colour = alt.when(strong).then(alt.value(MARK)).otherwise(alt.value(MUTED))
    thick = alt.when(strong).then(alt.value(3)).otherwise(alt.value(1))
    joined = base.mark_line().encode(detail="line:N", color=colour, strokeWidth=thick)
    points = base.mark_point(filled=True, size=40, opacity=1).encode(color=colour)
    text = base.encode(text="label:N")
    left, right = (text.transform_filter(alt.datum.side == side) for side in _SIDES)
    names = [
        left.mark_text(align="right", dx=-10, color=INK, fontSize=12),
        right.mark_text(align="left", dx=10, color=INK, fontSize=12),
    ]
    between = round(width * _SHARE_BETWEEN)
    sized = alt.LayerChart(layer=[joined, points, *names]).properties(
        width=2 * between, height=_HEIGHT_OF_A_LINE * deepest
    )
    wrapped = [line for note in notes for line in wrap(note, round(width / _LETTER_OF_NOTES))]
    headings = wrap(title, round(width / _LETTER_OF_TITLES)) or [""]
    chart: alt.LayerChart = dressed(sized, headings, wrapped).configure_view(stroke=None)
    return chart


def _ends(number: int, line: Slope) -> list[dict[str, object]]:
    """The points of a line."""
    ends = ((side, end) for side, end in zip(_SIDES, line[:2], strict=True) if end is not None)
    return [
        {
            "line": number,
            "side": side,
            "rank": end[0],
            "label": _labelled(side, *end),
            "marked": line.marked,
        }
        for side, end in ends
    ]


def _labelled(side: str, rank: int, name: str) -> str:
    """The rank stands beside the line."""
    named = _ISOLATED.format(name)
    return f"{named}  {rank}" if side == _SIDES[0] else f"{rank}  {named}"
