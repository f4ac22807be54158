"""`python -m bench audit`: the tables of `docs/audit.md`, written anew."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from bench.common import report
from shortlist import audit

__all__ = ["write_tables"]

_DOCUMENT = Path(__file__).parents[2] / "docs" / "audit.md"


_MARKS = {
    False: ("<!-- exact -->", "<!-- end -->"),
    True: ("<!-- samples -->", "<!-- end samples -->"),
}


def write_tables(folder: Path | None = None, names: Sequence[str] | None = None) -> None:
    """Run the audit by all instruments and put what it found into the document.

    What was found goes into the document at once: all may take an hour, and what was edited
    meanwhile stays.

    Args:
        folder: Where to write a copy of the document with these tables, and leave it alone itself.
        names: Of which mechanisms and series, as the command takes them: their rows alone are
            written anew. None for all.
    """
    target = _DOCUMENT if folder is None else report.path_of(_DOCUMENT.name)
    if target != _DOCUMENT:
        shutil.copy(_DOCUMENT, target)
    asked: Sequence[str | None] = names or [None]
    for name in asked:
        for statistical, marks in _MARKS.items():
            _put(_found(name, statistical=statistical), target, marks, keep=name is not None)


def _found(name: str | None, *, statistical: bool) -> audit.Audit:
    start = time.perf_counter()
    found = audit.run(name, statistical=statistical, processes=os.cpu_count() or 1)
    print(found)
    print(f"{time.perf_counter() - start:.0f} s", flush=True)
    return found


def _put(found: audit.Audit, target: Path, marks: tuple[str, str], *, keep: bool) -> None:
    """Write the rows between two marks, in the order of names.

    Args:
        found: What the rows say.
        target: The document.
        marks: What stands before the table and behind it.
        keep: Whether rows stay of what nothing was found of.
    """
    heading, aligned, *rows = found.to_markdown().splitlines()
    first, last = marks
    before, between, after = re.split(f"(?<={first})|(?={last})", target.read_text())
    new = set(map(_name, rows))
    if keep:
        _, _, *old = between.strip().splitlines()
        rows += [row for row in old if _name(row) not in new]
    table = "\n".join([heading, aligned, *sorted(rows, key=_name)])
    target.write_text(f"{before}\n\n{table}\n\n{after}")


def _name(row: str) -> str:
    return row.split("|")[1].strip()
