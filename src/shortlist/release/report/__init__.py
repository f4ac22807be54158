"""A release as one page: a file of HTML that loads nothing, for a screen, a phone and paper."""

from __future__ import annotations

import base64
import hashlib
import json
import warnings
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from shortlist.charts import INK, MARK, MUTED, RULE, drawn, require_altair
from shortlist.errors import InputError
from shortlist.release._columns import columns_for_people
from shortlist.release._difference_faces import (
    chart_of_differences,
    in_short,
    meaning,
    of_both,
    table_of_differences,
)
from shortlist.release._in_words import UNPROVEN, answers, identity, note_of, of_budget, title
from shortlist.release._promises import cautions, cost, plainly
from shortlist.release._score_intervals import DRAWN, chart_of, how_bars_are_read, is_drawn
from shortlist.release.differences import Difference, diff
from shortlist.release.json_values import as_json, described
from shortlist.release.readable import harmless, intact
from shortlist.release.sheet import notes

if TYPE_CHECKING:
    import altair as alt
    import jinja2

    from shortlist.release.release import Release

__all__ = ["SUFFIXES", "report", "require_report"]

SUFFIXES = (".html", ".htm")
_UNDRAWN = "The chart could not be drawn here, perhaps for want of memory."
_MOST_WITHOUT_SEARCH = 10  # a longer list can be searched and sorted
_PIXELS = {"wide": 700, "narrow": 326}


class PageTable(NamedTuple):
    """The list of a report.

    Attributes:
        headings: Of each column.
        kinds: What each column holds: "n r" ranks, "n s" scores, "n i" intervals; of items and
            their groups "n" numbers and "" texts.
        rows: The cells of all rows.
    """

    headings: list[str]
    kinds: list[str]
    rows: list[tuple[str, ...]]


def require_report() -> None:
    """Refuse where a library is missing that the page is made with.

    Without its chart the page could be made, but then the same release would not give the same
    bytes everywhere.

    Raises:
        InputError: One is not installed.
    """
    try:
        import jinja2  # noqa: F401 - whether it is there

        require_altair()
        is_there = find_spec("vl_convert") is not None  # which is loaded by another process
    except (ImportError, InputError):
        is_there = False
    if not is_there:
        raise InputError(
            "a report is made with Jinja2, Altair and vl-convert, and not all are installed",
            'run pip install "shortlist[report]"',
        )


def report(release: Release, since: Release | None = None) -> str:
    """The page: the same text for the same release, wherever its chart can be drawn.

    With an earlier list, it says what changed since.

    The chart is drawn by another process. Where that fails, the page is without it and says so.

    Raises:
        InputError: A library that it is made with is not installed.
    """
    require_report()
    style, script = _asset("style.css") + _colours(), _asset("list.js")
    charts = _charts(release)
    if charts is None:
        warnings.warn(f"{_UNDRAWN} The report is without it.", RuntimeWarning, stacklevel=3)
    return _template().render(
        {
            **_words(release),
            "style": style,
            "script": script,
            "policy": _policy(style, script),
            "charts": charts,
            "undrawn": _UNDRAWN if charts is None else "",
            "list": _listed(release),
            "since": None if since is None else _changed(since, release),
            "is_long": len(release) > _MOST_WITHOUT_SEARCH,
        }
    )


def _words(release: Release) -> dict[str, Any]:
    """All words of the page."""
    guarantee, values = release.guarantee, described(release)
    return {
        "title": title(release),
        "identity": identity(release),
        "note": " ".join(note_of(release)),
        "question": harmless(release.question),
        "named": len(release),
        "asked": release.k,
        "by": ", ".join(map(harmless, release.by)),
        "private": guarantee.private,
        "cautions": cautions(guarantee),
        "epsilon": f"{guarantee.epsilon:g}",
        "delta": plainly(guarantee.delta),
        "cost": cost(guarantee, release.question),
        "unproven": UNPROVEN,
        "protects": harmless(guarantee.protects),
        "answers": answers(release),
        "parameters": notes(guarantee, release.mechanism, release.about),
        "budget": of_budget(release),
        "version": values["library"],
        "plan": json.dumps(values, indent=2),  # ASCII
        "file": _file(release),
        "drawn": len(release) if release.associations else min(len(release), DRAWN),
        "points": bool(release.associations),
        "bars": how_bars_are_read(release),
    }


def _file(release: Release) -> str:
    return base64.b64encode(as_json(release).encode()).decode()


class PageChanges(NamedTuple):
    """What a report says of an earlier list.

    Attributes:
        summary: How many items are new, gone or moved.
        both: What the two lists are of.
        headings: Of the table.
        numeric: Which of them are of numbers.
        rows: Its cells.
        meaning: How to read it, a paragraph each.
        file: The earlier list, in base64.
        charts: As of the list itself.
    """

    summary: str
    both: tuple[str, ...]
    headings: tuple[str, ...]
    numeric: tuple[bool, ...]
    rows: list[tuple[str, ...]]
    meaning: list[str]
    file: str
    charts: dict[str, str]


def _changed(before: Release, release: Release) -> PageChanges:
    """What changed since an earlier list.

    Raises:
        InputError: That is of something else.
    """
    found = diff(before, release)
    table = table_of_differences(found)
    return PageChanges(
        in_short(found),
        of_both(found),
        *table,
        meaning(found),
        _file(before),
        {} if release.by or not found.changes else _slopes(found),
    )


def _slopes(found: Difference) -> dict[str, str]:
    """The chart of what moved; none where drawing fails, of which the page says so above."""
    charts = [chart_of_differences(found, width=w, titled=False) for w in _PIXELS.values()]
    pictures = drawn([_unread(chart) for chart in charts])
    return {} if pictures is None else dict(zip(_PIXELS, pictures, strict=True))


def _listed(release: Release) -> PageTable:
    """All rows, every item whole."""
    columns = columns_for_people(release)
    cells = [column.cells(release, len(release)) for column in columns]
    return PageTable(
        [intact(column.name) for column in columns],
        [column.mark for column in columns],
        list(zip(*cells, strict=True)),
    )


def _charts(release: Release) -> dict[str, str] | None:
    """The chart as SVG for a wide place and for a narrow one; None where drawing fails.

    An SVG names nothing outside of it. Where there are no scores for people, there is nothing to
    draw.
    """
    if not is_drawn(release):
        return {}
    pictures = drawn([_chart(release, width) for width in _PIXELS.values()])
    return None if pictures is None else dict(zip(_PIXELS, pictures, strict=True))


def _chart(release: Release, width: int) -> dict[str, Any]:
    return _unread(chart_of(release, width=width, titled=False))


def _unread(chart: alt.LayerChart) -> dict[str, Any]:
    """The chart in the words of Vega-Lite, which leaves reading aloud to the table."""
    told: dict[str, Any] = chart.to_dict()
    told["config"]["aria"] = False
    return told


@cache
def _template() -> jinja2.Template:
    import jinja2

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_asset("page.html.jinja"))


@cache
def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _colours() -> str:
    """The colours of charts in the words of the page, which change with light and dark."""
    names = {INK: "ink", MUTED: "muted", RULE: "rule", MARK: "accent"}
    kinds = (("fill", "fill"), ("stroke", "stroke"))
    return "".join(
        f'.chart [{attribute}="{colour}"]{{{rule}:var(--{name})}}\n'
        for colour, name in names.items()
        for attribute, rule in kinds
    )


def _policy(style: str, script: str) -> str:
    """What a browser may run and load of the page: its own style and script, and nothing else."""
    own = {"style-src": style, "script-src": script}
    allowed = [f"{kind} 'sha256-{_digest(text)}'" for kind, text in own.items()]
    return "; ".join(["default-src 'none'", *allowed, "base-uri 'none'", "form-action 'none'"])


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
