"""The look that all charts share, and how they become pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from shortlist.errors import InputError

if TYPE_CHECKING:
    import altair as alt

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
"""What is to be distinguished, in this order."""

_MOST_SECONDS = 120.0  # for what takes one or two
# vl-convert brings V8, which reserves so much address space that it aborts where that is limited.
# Nothing is imported from the working folder (-I), and the libraries from where they are here.
_DRAWING = """
import json, sys
given = json.load(sys.stdin)
sys.path[:] = given["path"]
import vl_convert
json.dump([vl_convert.vegalite_to_svg(chart) for chart in given["charts"]], sys.stdout)
"""

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
    heading = alt.Title(lines, subtitle=list(notes), anchor="start", frame="group")
    made: _Drawn = (
        chart.properties(title=heading)
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


def drawn(charts: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Charts, in the words of Vega-Lite, as SVG; None if they cannot be drawn, for any reason."""
    if getattr(sys, "frozen", False):  # a program of its own, which is no Python to be run
        return None
    given = json.dumps({"path": sys.path, "charts": list(charts)})
    try:
        done = subprocess.run(  # noqa: S603 - this Python, with these words
            [sys.executable, "-I", "-c", _DRAWING],
            input=given,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=True,
            timeout=_MOST_SECONDS,
        )
        pictures: list[str] = json.loads(done.stdout)
    except (OSError, MemoryError, ValueError, subprocess.SubprocessError):
        return None
    return pictures
