"""What of a caller's words a message may repeat: what is so short that no data can be in it."""

import difflib
import numbers
from collections.abc import Iterable
from contextlib import suppress

__all__ = ["is_short", "nearest", "shown", "written"]

_LONGEST = 200  # characters of what the caller wrote that a message repeats at most


def shown(text: str) -> str:
    r"""The text as the caller wrote it, if it is short and of one line: else it may be data.

    Of a URL nothing, since a password may be anywhere in it.

    >>> shown("items"), shown("postgresql://reader:secret@db.example.org/shop")
    ('items', '…://…')
    >>> shown("user,item\nAnn,Emma\n")
    '…'
    """
    if "://" in text:
        return "…://…"
    return text if is_short(text) else "…"


def is_short(text: str) -> bool:
    """Whether it can be a name or a path, and no table: one line of at most 200 characters."""
    return len(text) <= _LONGEST and (not text or text.splitlines() == [text])


def nearest(name: str, names: Iterable[str], *, but_for_case: bool = False) -> str:
    """A hint at the known name that resembles `name` most, or nothing.

    With `but_for_case`, at one that has the same letters, whatever their case.

    >>> nearest("usr", ["user", "item"]), nearest("user id", ["User ID", "item"])
    (' Did you mean "user"?', ' Did you mean "User ID"?')
    """
    alike = {_alike(known): known for known in names}
    matches = difflib.get_close_matches(
        _alike(name), list(alike), n=1, cutoff=1.0 if but_for_case else 0.6
    )
    return f' Did you mean "{shown(alike[matches[0]])}"?' if matches else ""


def _alike(name: str) -> str:
    """What names that differ in their case and spaces have in common."""
    return name.strip().casefold().replace(" ", "_").replace("-", "_")


def written(value: object) -> str:
    """What the caller wrote, if it is so small that no data can be in it, or else its type.

    >>> written(42), written("peeling"), written([1, 2])
    ('42', "'peeling'", 'a value of type list')
    """
    if isinstance(value, str):
        return repr(shown(value))
    if isinstance(value, type):
        return shown(value.__name__)
    if value is None or isinstance(value, numbers.Number):
        with suppress(ValueError):  # of an integer too long to be written
            return shown(repr(value))
    return f"a value of type {shown(type(value).__name__)}"
