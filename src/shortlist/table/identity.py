"""What tells one table from another: where it is, and since when it has been as it is.

None of it is public: the size of a file tells how many rows there are. A budget keeps a keyed hash.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.table.part import Part

__all__ = ["files_named_in", "identities_of_files", "identity_of_file", "identity_of_part"]

_QUOTED = re.compile(r"""'((?:[^']|'')+)'|"((?:[^"]|"")+)\"""")
_SCANNED = re.compile(r"\bSCAN \[([^]]+)\]")


def identity_of_file(path: str | os.PathLike[str]) -> list[object]:
    """Where a file really is, how long it is, and when it was changed; by links as by its name.

    Raises:
        OSError: It is not there.
    """
    found = os.stat(path)  # noqa: PTH116 - the standard input is none that Path could resolve
    return [os.path.realpath(path), found.st_size, found.st_mtime_ns]


def identities_of_files(paths: Iterable[str | os.PathLike[str]]) -> list[object]:
    """Of those that are there."""
    return [identity_of_file(path) for path in paths if os.path.exists(path)]  # noqa: PTH110 - as above


def identity_of_part(part: Part) -> list[object]:
    """Of all its files; of a lazy frame, also of its query. A frame in memory has none.

    Raises:
        OSError: A file is not there any more.
    """
    held: Any = part.held
    if type(held).__module__.startswith("polars.") and type(held).__name__ == "LazyFrame":
        query = held.explain(optimized=False)  # without a row
        scanned = (file for names in _SCANNED.findall(query) for file in names.split(", "))
        return [query, *_identities(scanned)]
    return [identity_of_file(file) for file in sorted(part.files)]


def files_named_in(query: str) -> list[object]:
    """The identities of the files whose paths or globs stand in a query of DuckDB.

    They are texts, or names of tables.

    >>> files_named_in("SELECT title FROM 'no-such-file.parquet'")
    []
    """
    quoted = _QUOTED.findall(query)
    return _identities(text.replace("''", "'") or name for text, name in quoted)


def _identities(names: Iterable[str]) -> list[object]:
    found = {file for name in names for file in glob.glob(name, recursive=True)}  # noqa: PTH207 - as they are read
    return [identity_of_file(file) for file in sorted(found)]
