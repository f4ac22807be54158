"""`python -m bench audit`: the tables of `docs/audit.md`, written anew."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from shortlist import audit

__all__ = ["write_tables"]

_DOCUMENT = Path(__file__).parent.parent / "docs" / "audit.md"


def write_tables() -> None:
    """Run the whole audit by both instruments and put what they found into the document."""
    _write("<!-- exact -->", "<!-- end -->", statistical=False)
    _write("<!-- samples -->", "<!-- end samples -->", statistical=True)


def _write(first: str, last: str, *, statistical: bool) -> None:
    """The table of one instrument, between these two lines."""
    start = time.perf_counter()
    found = audit.run(statistical=statistical, processes=os.cpu_count() or 1)
    print(found)
    print(f"{time.perf_counter() - start:.0f} s")
    table = f"{first}\n\n{found.to_markdown()}\n{last}"
    between = re.compile(re.escape(first) + ".*?" + re.escape(last), re.DOTALL)
    _DOCUMENT.write_text(between.sub(lambda _: table, _DOCUMENT.read_text()))
