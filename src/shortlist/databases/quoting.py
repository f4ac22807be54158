"""Names and texts as SQL writes them, whatever characters are in them."""

from __future__ import annotations


def quoted(name: str) -> str:
    """A name.

    >>> print(quoted('say "hi" twice'))
    "say ""hi"" twice"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text.

    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"
