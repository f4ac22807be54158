"""What tells one table from another: where it is, and since when it has been as it is.

None of it is public: the size of a file tells how many rows there are. A budget keeps a keyed hash.
"""

from __future__ import annotations

import glob
import hashlib
import os
import re
import stat
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shortlist.table.part import Part

__all__ = ["identities_of_files", "identity_of_database", "identity_of_file", "identity_of_part"]

_UNTOLD = re.compile(r"\bDF \[|python|in-mem|other sources|\bSeries\[|://", re.IGNORECASE)
"""What stands in the words for a query that reads something else than a few files that are here."""
_SCANNED = re.compile(r"\bSCAN \[([^]]+)\]")


def identity_of_file(path: str | os.PathLike[str]) -> list[object]:
    """Where a file really is, which one it is there, how long it is, and when it was changed.

    By links as by its name. Of the two times, nobody can set the one of the last change of status.

    Raises:
        OSError: It is not there.
        ValueError: It is no regular file.
    """
    found = os.stat(path)  # noqa: PTH116 - the standard input is none that Path could resolve
    if not stat.S_ISREG(found.st_mode):  # what comes through a pipe is gone
        raise ValueError
    times = found.st_mtime_ns, found.st_ctime_ns
    return [os.path.realpath(path), found.st_ino, found.st_size, *times]


def identities_of_files(paths: Iterable[str | os.PathLike[str]]) -> list[list[object]]:
    """Of those that are there."""
    return [identity_of_file(path) for path in paths if os.path.exists(path)]  # noqa: PTH110 - as above


def identity_of_database(path: str | os.PathLike[str], *endings: str) -> list[object]:
    """Of a file, and of those that are beside it: what waits there is not in the file yet.

    Of these, the change of status does not count: SQLite sets the owner whenever it reads.

    Raises:
        OSError, ValueError: As `identity_of_file`.
    """
    beside = identities_of_files(f"{os.fspath(path)}{ending}" for ending in endings)
    return [identity_of_file(path), *(found[:-1] for found in beside)]


def identity_of_part(part: Part) -> list[object]:
    """Of all its files, and how they are read; of a lazy frame, also of its query.

    A frame in memory has none.

    Raises:
        OSError: A file is not there any more.
        ValueError: A lazy frame reads something else than files that are here; or a dataset of
            PyArrow reads other files than Parquet, or not all of their rows.
    """
    held: Any = part.held
    if type(held).__module__.startswith("polars.") and type(held).__name__ == "LazyFrame":
        return _identity_of_query(held)
    if not _is_known(held):
        raise ValueError
    files = sorted(part.places or part.files)
    return [part.kind, part.separator, part.encoding, *map(identity_of_file, files)]


def _is_known(held: Any) -> bool:
    """Whether columns and files tell how it is read; a dataset may have a filter or a format."""
    if not hasattr(held, "to_table"):
        return True
    kind = getattr(getattr(held, "format", None), "default_extname", None)
    return kind == "parquet" and not getattr(held, "_scan_options", None)


def _identity_of_query(frame: Any) -> list[object]:
    """Its files and all of what is done to them, which `explain` would shorten; without a row."""
    query = frame.explain(optimized=False)
    scanned = [file for names in _SCANNED.findall(query) for file in names.split(", ")]
    if _UNTOLD.search(query) or not scanned:
        raise ValueError
    digest = hashlib.sha256(frame.serialize()).hexdigest()
    return [digest, *(_identities(file) for file in scanned)]


def _identities(name: str) -> list[object]:
    """Of the files of one path or glob."""
    found = glob.glob(name, recursive=True)  # noqa: PTH207 - as they are read
    if not found:
        raise ValueError
    return [identity_of_file(file) for file in sorted(found)]
