"""Values as people read them: harmless wherever they stand, and no digit that says nothing."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable
from decimal import Decimal

_MOST_CHARACTERS = 200
# What nobody sees, though `isprintable` takes it for marks, letters and symbols.
_UNSEEN = re.compile(
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
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def harmless(text: str) -> str:
    """As `visible`, but never cut."""
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


def number(value: object) -> str:
    """A float to four digits, a large one to six, one just below 1 to more; others as they are.

    >>> number(10.4399), number(0.02293744), number(123456.7), number(20), number(0.999999)
    ('10.44', '0.02294', '123457', '20', '0.999999')
    >>> number((3, 10))
    '[3, 10]'
    """
    if isinstance(value, list | tuple):  # a release that was loaded has lists
        return f"[{', '.join(map(number, value))}]"
    if not isinstance(value, float):
        return str(value)
    if 1 - 1e-4 < value < 1:
        return f"{value:.10g}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


def without_idle_digits(values: Iterable[float | int], noise_sd: float) -> list[str]:
    """Scores to the second digit of their noise: what lies beyond says nothing.

    >>> without_idle_digits([123.45000000000001, -0.01], noise_sd=4.88)
    ['123.5', '0.0']
    >>> without_idle_digits([17.0, 3.0], noise_sd=4.88)
    ['17', '3']
    """
    values = list(map(float, values))
    if all(map(float.is_integer, values)):
        return [f"{value:z.0f}" for value in values]
    if not 0 < noise_sd < math.inf:
        return [number(value) for value in values]
    decimals = min(max(0, 1 - math.floor(math.log10(noise_sd))), 12)
    return [f"{value:z.{decimals}f}" for value in values]


def with_commas(numbers: Iterable[str]) -> list[str]:
    """Numbers with a comma before every three digits.

    >>> with_commas(["1234", "-0.5"])
    ['1,234', '-0.5']
    """
    return [f"{Decimal(number):,}" for number in numbers]
