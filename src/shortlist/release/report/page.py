"""The page of a release: its parts are put together here, and laid out by a template."""

from __future__ import annotations

import base64
import hashlib
import json
import warnings
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from shortlist.charts import INK, MARK, MUTED, RULE, drawn
from shortlist.release._answers import UNPROVEN, answers, of_budget, title
from shortlist.release._promises import cautions, cost, plainly
from shortlist.release.formats import about, as_json
from shortlist.release.intervals import DRAWN, chart_of, has_intervals
from shortlist.release.report._list import listed
from shortlist.release.sheet import harmless, notes

if TYPE_CHECKING:
    import jinja2

    from shortlist.release import Release

__all__ = ["rendered"]

_UNDRAWN = "The chart could not be drawn here, perhaps for want of memory."
_LONG = 10  # items, above which a list can be searched and sorted
_WIDTHS = {"wide": 700, "narrow": 326}


def rendered(release: Release) -> str:
    """The whole file, as text."""
    style, script = _asset("style.css") + _colours(), _asset("list.js")
    charts = _charts(release)
    if charts is None:
        warnings.warn(f"{_UNDRAWN} The report is without it.", RuntimeWarning, stacklevel=4)
    return _template().render(
        {
            **_told(release),
            "style": style,
            "script": script,
            "policy": _policy(style, script),
            "charts": charts,
            "undrawn": _UNDRAWN if charts is None else "",
            "list": listed(release),
            "is_long": len(release) > _LONG,
        }
    )


def _told(release: Release) -> dict[str, Any]:
    """All words of the page."""
    guarantee, said = release.guarantee, about(release)
    return {
        "title": title(release),
        "question": harmless(release.question),
        "named": len(release),
        "asked": release.k,
        "by": ", ".join(map(harmless, release.by)),
        "private": guarantee.private,
        "cautions": cautions(guarantee),
        "epsilon": f"{guarantee.epsilon:g}",
        "delta": plainly(guarantee.delta),
        "cost": cost(guarantee),
        "unproven": UNPROVEN,
        "protects": harmless(guarantee.protects),
        "answers": answers(release),
        "parameters": notes(guarantee, release.mechanism),
        "budget": of_budget(release),
        "version": said["library"],
        "plan": json.dumps(said, indent=2),  # ASCII
        "file": base64.b64encode(as_json(release).encode()).decode(),
        "drawn": min(len(release), DRAWN),
    }


def _charts(release: Release) -> dict[str, str] | None:
    """The chart as SVG for a wide place and for a narrow one; None where drawing fails.

    An SVG names nothing outside of it. Where there are no scores, there is nothing to draw.
    """
    if not has_intervals(release):
        return {}
    pictures = drawn([_chart(release, width) for width in _WIDTHS.values()])
    return None if pictures is None else dict(zip(_WIDTHS, pictures, strict=True))


def _chart(release: Release, width: int) -> dict[str, Any]:
    """The chart in the words of Vega-Lite, which leaves reading aloud to the table."""
    chart: dict[str, Any] = chart_of(release, width=width, titled=False).to_dict()
    chart["config"]["aria"] = False
    return chart


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
