"""`python -m bench audit`: the tables of `docs/audit.md`, written anew."""

from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

from bench.common import report
from shortlist import audit

__all__ = ["write_tables"]

_DOCUMENT = Path(__file__).parents[2] / "docs" / "audit.md"


_MARKS = {
    False: ("<!-- exact -->", "<!-- end -->"),
    True: ("<!-- samples -->", "<!-- end samples -->"),
}


def write_tables(folder: Path | None = None) -> None:
    """Run the whole audit by all instruments and put what they found into the document.

    Each table goes into the document as it is when the table is found: that may take an hour, and
    what was edited meanwhile stays.

    Args:
        folder: Where to write a copy of the document with these tables, and leave it alone itself.
    """
    target = _DOCUMENT if folder is None else report.path_of(_DOCUMENT.name)
    if target != _DOCUMENT:
        shutil.copy(_DOCUMENT, target)
    for statistical, (first, last) in _MARKS.items():
        table = f"{first}\n\n{_table(statistical=statistical)}\n{last}"
        between = re.compile(re.escape(first) + ".*?" + re.escape(last), re.DOTALL)
        target.write_text(between.sub(lambda _, table=table: table, target.read_text()))


def _table(*, statistical: bool) -> str:
    start = time.perf_counter()
    found = audit.run(statistical=statistical, processes=os.cpu_count() or 1)
    print(found)
    print(f"{time.perf_counter() - start:.0f} s")
    return found.to_markdown()
