"""A release as Markdown, as GitHub and CommonMark read it: nothing in an item is interpreted."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shortlist.release.sheet import Sheet

__all__ = ["markdown"]

_MARKUP = re.compile(
    r"""[\\`*_{}\[\]<>&|~$@^]   # code, emphasis, links, HTML, cells, templates, formulas, names
      | (?<=www) \. | : (?=//)  # what would become a link by itself
      | : (?=[\w+-]+:)          # and what would become an emoji""",
    re.VERBOSE | re.IGNORECASE,
)


def markdown(sheet: Sheet) -> str:
    """The sheet as Markdown: a table, and the guarantee as a list below it."""
    warning = [f"**{_plain(sheet.warning)}**", ""] if sheet.warning else []
    rule = ("---:" if number else ":---" for number in sheet.numeric)
    lines = [
        *(f"**{_plain(sheet.title)}**", ""),
        *warning,
        _row(map(_plain, sheet.columns)),
        _row(rule),
        *(_row(map(_plain, row)) for row in sheet.rows),
        "",
        *(f"- {label}: {_plain(line)}" for label, line in sheet.notes),
    ]
    last = [_plain(line) for line in (sheet.closing, sheet.advice) if line]
    return "\n".join([*lines, *(["", *last] if last else []), ""])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    r"""The text with a backslash before whatever Markdown would interpret.

    >>> print(_plain("a|b *c* <b>www.example.org</b> 12:30"))
    a\|b \*c\* \<b\>www\.example.org\</b\> 12:30
    """
    return _MARKUP.sub(r"\\\g<0>", text)
