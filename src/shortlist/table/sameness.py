"""Whether the list of public items is the sensitive table itself."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from shortlist.errors import InputError

if TYPE_CHECKING:
    from shortlist.table.part import Part

__all__ = ["refuse_same"]

_SCANNED = re.compile(r" SCAN \[(.*?)(?:, \.\.\. [^\]]*)?\]$", re.MULTILINE)


def refuse_same(public: Iterable[Part], table: list[Part], remedy: str) -> None:
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
        if any(part.held is frame for frame in frames) or files.intersection(_places(part)):
            raise InputError(
                "public_items: this is the sensitive table itself, and what everybody knows cannot "
                f"depend on it; {remedy}"
            )


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
