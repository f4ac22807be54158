"""Whether the list of public items is the sensitive table itself."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from shortlist.errors import InputError, Words

if TYPE_CHECKING:
    import polars as pl

    from shortlist.table.part import Part

__all__ = ["refuse_same", "refuse_taken_out"]

_SCANNED = re.compile(r" SCAN \[(.*?)(?:, \.\.\. [^\]]*)?\]$", re.MULTILINE)


def refuse_same(public: Iterable[Part], table: list[Part], remedy: Words) -> None:
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


def refuse_taken_out(values: object, table: list[Part], remedy: Words) -> None:
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


def _places(part: Part) -> set[tuple[int, int]]:
    """Where the files of a part are, by device and number."""
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
        scans = _SCANNED.findall(plan)
        return [*scans, *(path for paths in scans for path in paths.split(", "))]
    return []
