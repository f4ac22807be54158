"""Which table it is: where it lies, since when it is as it is, and if a list is the table itself.

None of it is public: the size of a file tells how many rows there are. A budget keeps a keyed hash.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from shortlist.errors import InputError, Words

if TYPE_CHECKING:
    import polars as pl

    from shortlist.table.part import TablePart

_UNIDENTIFIED = re.compile(r"\bDF \[|python|in-mem|other sources|\bSeries\[|://", re.IGNORECASE)
"""What stands in the words for a query that reads something else than a few files that are here."""
_SCANNED = re.compile(r"\bSCAN \[([^]]+)\]")
_FIRST_SCANNED = re.compile(r" SCAN \[(.*?)(?:, \.\.\. [^\]]*)?\]$", re.MULTILINE)


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
    """The identities of those files that are there."""
    return [identity_of_file(path) for path in paths if os.path.exists(path)]  # noqa: PTH110 - as above


def identity_of_database(path: str | os.PathLike[str], *endings: str) -> list[object]:
    """The identity of a file and of those beside it: what waits there is not in the file yet.

    Of the latter, the change of status does not count: SQLite sets the owner whenever it reads.

    Raises:
        OSError, ValueError: As `identity_of_file`.
    """
    beside = identities_of_files(f"{os.fspath(path)}{ending}" for ending in endings)
    return [identity_of_file(path), *(found[:-1] for found in beside)]


def identity_of_part(part: TablePart) -> list[object]:
    """The identity of all its files, and how they are read; of a lazy frame, also of its query.

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


def is_frame(part: TablePart) -> bool:
    """Whether it is held in memory alone, so that its columns are all that its identity has."""
    lazy = type(part.held).__name__ == "LazyFrame"
    return part.held is not None and not (part.places or part.files or lazy)


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
    if _UNIDENTIFIED.search(query) or not scanned:
        raise ValueError
    digest = hashlib.sha256(frame.serialize()).hexdigest()
    return [digest, *(_identities(file) for file in scanned)]


def _identities(name: str) -> list[object]:
    found = glob.glob(name, recursive=True)  # noqa: PTH207 - as they are read
    if not found:
        raise ValueError
    return [identity_of_file(file) for file in sorted(found)]


def refuse_same(public: Iterable[TablePart], table: list[TablePart], remedy: Words) -> None:
    """Refuse a public list that is read from what the sensitive table is read from.

    Under whatever names: a link, a glob or directory that holds the file, a lazy frame that scans
    it, the same frame. A copy, or a column that was taken out, cannot be told from a list that
    everybody knows. Nothing is read.

    Raises:
        InputError: It is the same, in whole or in part; nothing of it is quoted.
    """
    files = {place for part in table for place in _places(part)}
    frames = [part.held for part in table if part.held is not None]
    for part in public:
        same = any(part.held is frame for frame in frames)
        if same or files.intersection(_places(part)) or _share_memory(part.held, frames):
            raise _refusal(remedy)


def refuse_taken_out(values: object, table: list[TablePart], remedy: Words) -> None:
    """Refuse values that are a column of the sensitive table, as far as can be known.

    Raises:
        InputError: They are; nothing of them is quoted.
    """
    frames = [part.held for part in table if part.held is not None]
    columns = [column for held in frames if isinstance(held, Mapping) for column in held.values()]
    if any(values is column for column in columns) or _share_memory(values, frames):
        raise _refusal(remedy)


def _refusal(remedy: Words) -> InputError:
    return InputError(
        "this is the sensitive table itself, and what everybody knows cannot depend on it",
        "{remedy}",
        given={"public_items": ...},
        remedy=remedy,
    )


def _share_memory(one: object, others: list[object]) -> bool:
    """Whether values of Polars or Arrow lie in the memory of those others."""
    mine = _memory(one)
    return bool(mine) and any(mine & _memory(other) for other in others)


def _memory(held: object) -> set[int]:
    """Where the values lie, by the addresses of their buffers; nothing where that is not known."""
    import polars as pl

    if isinstance(held, pl.LazyFrame):
        held = held.collect() if _is_in_memory(held) else None
    if isinstance(held, pl.Series):
        held = held.to_frame()
    if not isinstance(held, pl.DataFrame):
        return set()
    with contextlib.suppress(Exception):  # without PyArrow, or of types that it has not
        level = pl.CompatLevel.newest()
        arrays = [column.to_arrow(compat_level=level) for column in held.get_columns()]
        buffers = [buffer for array in arrays for buffer in array.buffers()]
        return {buffer.address for buffer in buffers if buffer is not None and buffer.size}
    return set()


def _is_in_memory(frame: pl.LazyFrame) -> bool:
    """Whether it is a frame made lazy, or columns of one: then collecting computes nothing."""
    with contextlib.suppress(Exception):  # a plan that cannot be shown is not known
        lines = [line.strip() for line in frame.explain(optimized=False).splitlines()]
        return all(
            re.match(r'DF \[|SELECT \[col\("[^"]*"\)(, col\("[^"]*"\))*\]$', x) for x in lines
        )
    return False


def _places(part: TablePart) -> set[tuple[int, int]]:
    """The files of a part, by device and number."""
    places = set()
    for path in (*part.files, *_scanned(part.held)):
        with contextlib.suppress(OSError, ValueError):
            status = os.stat(path)  # noqa: PTH116 - a path of any library
            places.add((status.st_dev, status.st_ino))
    return places


def _scanned(frame: object) -> list[str]:
    """The files that a lazy frame says it scans; of many it names but the first."""
    import polars as pl

    if not isinstance(frame, pl.LazyFrame):
        return []
    with contextlib.suppress(Exception):  # a plan that cannot be shown is not known
        plan = frame.explain(optimized=False)
        scans = _FIRST_SCANNED.findall(plan)
        return [*scans, *(path for paths in scans for path in paths.split(", "))]
    return []
