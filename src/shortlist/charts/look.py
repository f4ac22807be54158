"""The look that all charts share, and what they are drawn with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from shortlist.errors import InputError

if TYPE_CHECKING:
    import altair as alt

__all__ = ["COLOURS", "INK", "MARK", "MUTED", "RULE", "dressed", "require_altair"]

INK = "#1f2428"
"""Titles and labels."""
MUTED = "#57606a"
"""What explains."""
RULE = "#d8dbde"
"""Grids and frames."""
MARK = "#0b6e99"
"""What is measured."""
COLOURS = (
    *("#0b6e99", "#d1701a", "#3a8f3a", "#8e4fa8", "#c23b5a"),
    *("#58b4d8", "#a0795b", "#777777", "#c9a400", "#1b3a4b"),
)
"""What is told apart, in this order."""

_Drawn = TypeVar("_Drawn", bound="alt.LayerChart | alt.FacetChart")


def require_altair() -> None:
    """Refuse where there is no library to draw with.

    Raises:
        InputError: It is not installed.
    """
    try:
        import altair as alt  # noqa: F401 - whether it is there
    except ImportError:
        raise InputError(
            "plots are drawn by Altair, which is not installed",
            'run pip install "shortlist[plot]"',
        ) from None


def dressed(chart: _Drawn, title: str | Sequence[str], notes: Sequence[str]) -> _Drawn:
    """The chart with a title, how to read it, and the look that all share."""
    import altair as alt

    lines = title if isinstance(title, str) else list(title)
    told = alt.Title(lines, subtitle=list(notes), anchor="start", frame="group")
    made: _Drawn = (
        chart.properties(title=told)
        .configure(font="sans-serif", padding=14, background="white")
        .configure_view(stroke=RULE)
        .configure_axis(
            gridColor=RULE,
            domainColor=MUTED,
            tickColor=MUTED,
            labelColor=INK,
            titleColor=MUTED,
            labelFontSize=12,
            titleFontSize=12,
            titleFontWeight="normal",
        )
        .configure_title(
            fontSize=16, color=INK, subtitleFontSize=12, subtitleColor=MUTED, offset=12
        )
        .configure_legend(labelFontSize=12, symbolOpacity=1, symbolStrokeWidth=2)
    )
    return made
