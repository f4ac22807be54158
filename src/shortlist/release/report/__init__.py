"""A release as one page: a file of HTML that loads nothing, for a screen, a phone and paper."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from shortlist.charts import require_altair
from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.release import Release

__all__ = ["SUFFIXES", "report", "require_report"]

SUFFIXES = (".html", ".htm")


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


def report(release: Release) -> str:
    """The page: the same text for the same release, wherever its chart can be drawn.

    The chart is drawn by another process. Where that fails, the page is without it and says so.

    Raises:
        InputError: A library that it is made with is not installed.
    """
    require_report()
    from shortlist.release.report.page import rendered

    return rendered(release)
