"""The one error that a caller can mend."""

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Something the caller wrote cannot be used; the message says what, the rule and the remedy.

    A message holds only what the caller wrote and what is public: never a row, an item or a count.
    """


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint at the known name that resembles `name` most, or nothing.

    >>> nearest("usr", ["user", "item"])
    ' Did you mean "user"?'
    """
    matches = difflib.get_close_matches(name, list(names), n=1)
    return f' Did you mean "{matches[0]}"?' if matches else ""
