"""Texts that are shown: harmless wherever they are, and items as their scripts write them."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["harmless", "intact", "shortened", "visible"]

_LONGEST = 200  # characters of one item
_UNSEEN = re.compile(  # that `isprintable` takes for marks, letters and symbols
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U0001d159\U000e0100-\U000e01ef]"
)

_PICTURE = "\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff"
_JOINING = "\u0600-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc"
_KEPT = re.compile(
    rf"((?<=[{_PICTURE}#*0-9])\ufe0f"  # in colour,
    rf"|(?<=[{_PICTURE}\ufe0f])\u200d(?=[{_PICTURE}])"  # families and the like,
    rf"|(?<=[{_JOINING}])[\u200c\u200d](?=[{_JOINING}]))"  # spelling: Persian, Hindi and others
)


def visible(value: object) -> str:
    r"""The text of `value` in characters that move no cursor, hide nothing and turn no line.

    Controls, line ends, direction marks and whatever shows nothing, such as joiners, variation
    selectors and fillers, become escapes; every letter, mark, emoji and space that can be seen
    stays. Very long texts are cut.

    >>> print(visible("red \x1b[31m, turned \u202e, día 日本, filled \u3164"))
    red \x1b[31m, turned \u202e, día 日本, filled \u3164
    """
    return harmless(_cut(str(value)))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def harmless(text: str) -> str:
    """As `visible`, whole."""
    return "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    seen = character.isprintable() or unicodedata.category(character) == "Zs"
    if seen and not _UNSEEN.match(character):
        return character
    return character.encode("unicode_escape").decode("ascii")


def intact(value: object, *, cut: bool = False) -> str:
    r"""The text of a value as `harmless` has it, but with the joiners that its script needs.

    What has no sight of its own stays only where it belongs to a picture or to a word of a script
    that is written with it; anywhere else it would make two items look the same, and is shown.
    Of a text without any letter there would be nothing to see: it stands in quotes.

    >>> print(intact("\u2764\ufe0f, a\u200db, \x1b[31m"), intact(""))
    ❤️, a\u200db, \x1b[31m ""
    """
    text = _cut(str(value)) if cut else str(value)
    if not text.strip():
        return f'"{harmless(text)}"'
    parts = _KEPT.split(text)  # what is kept has the odd places
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
