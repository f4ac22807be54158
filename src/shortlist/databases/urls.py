"""The URLs of databases, of which messages show no more than the kind: they may hold passwords."""

from __future__ import annotations

import re
from pathlib import Path

from shortlist.errors import InputError, Words

_ROOT = "a path from the root has one slash more, as in {kind}:////data/plays.db"


def scheme_of(url: str) -> str | None:
    """The kind of a URL, in small letters; None for what is no URL."""
    found = re.match(r"([A-Za-z][A-Za-z0-9+.-]*)://", url)
    return found and found[1].lower()


def path_of(url: str) -> str:
    """The file that a URL names, unescaped: four slashes are for a path from the root.

    >>> path_of("duckdb:///plays.db"), path_of("duckdb:////data/my%20plays.db")
    ('plays.db', '/data/my%20plays.db')
    """
    return url.partition("://")[2].removeprefix("/")


def require_file(url: str, origin: Words, *, never: str = "") -> None:
    """Refuse a file that is not there, if the URL names one; its path is not shown.

    Messages call it by its origin, and say by `never` that none is made where one may be expected.
    """
    path = path_of(url)
    if not path or Path(path).is_file():
        return
    raise InputError(
        "{origin}: there is no such file{where}{never}",
        "{remedy}",
        origin=origin,
        where="" if "/" in path else " in this folder",
        never=never,
        remedy="check its path" if path.startswith("/") else _ROOT.format(kind=scheme_of(url)),
    )
