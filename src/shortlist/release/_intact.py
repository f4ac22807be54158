"""Texts as their scripts write them, and yet harmless: for pages and charts."""

from __future__ import annotations

import re

from shortlist.release.sheet import harmless

__all__ = ["intact", "shortened"]

_PICTURE = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_JOINING = "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_KEPT = re.compile(
    rf"((?<=[{_PICTURE}#*0-9])\ufe0f"  # in colour,
    rf"|(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])"  # families and the like,
    rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}]))"  # spelling: Persian, Hindi and others
)


def intact(value: object) -> str:
    r"""The text of a value as `harmless` has it, but with the joiners that its script needs.

    What has no sight of its own stays only where it belongs to a picture or to a word of a script
    that is written with it; anywhere else it would make two items look the same, and is shown.

    >>> print(intact("\u2764\ufe0f, a\u200db, \x1b[31m"))
    ❤️, a\u200db, \x1b[31m
    """
    parts = _KEPT.split(str(value))  # what is kept has the odd places
    return "".join(part if at % 2 else harmless(part) for at, part in enumerate(parts))


def shortened(text: str, cells: int) -> str:
    """The text cut to so many cells of a terminal, of which a wide character takes two.

    >>> shortened("進撃の巨人", 10), shortened("進撃の巨人", 8)
    ('進撃の巨人', '進撃の…')
    """
    from rich.cells import cell_len, set_cell_size

    if cell_len(text) <= cells:
        return text
    return f"{set_cell_size(text, cells - 1).rstrip()}…"
