"""`python -m bench audit`: the tables of `docs/audit.md`, written anew."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from bench.common import report
from shortlist import audit

__all__ = ["write_tables"]

_DOCUMENT = Path(__file__).parents[2] / "docs" / "audit.md"


def write_tables(folder: Path | None = None) -> None:
    """Run the whole audit by all instruments and put what they found into the document.

    Args:
        folder: Where to write a copy of the document with these tables, and leave it alone itself.
    """
    target = _DOCUMENT if folder is None else report.path_of(_DOCUMENT.name)
    text = _with_table(_DOCUMENT.read_text(), "<!-- exact -->", "<!-- end -->", statistical=False)
    target.write_text(text)
    first, last = "<!-- samples -->", "<!-- end samples -->"
    target.write_text(_with_table(text, first, last, statistical=True))


def _with_table(text: str, first: str, last: str, *, statistical: bool) -> str:
    """The text with the table of one instrument between these two lines."""
    start = time.perf_counter()
    found = audit.run(statistical=statistical, processes=os.cpu_count() or 1)
    print(found)
    print(f"{time.perf_counter() - start:.0f} s")
    table = f"{first}\n\n{found.to_markdown()}\n{last}"
    between = re.compile(re.escape(first) + ".*?" + re.escape(last), re.DOTALL)
    return between.sub(lambda _: table, text)
