"""`python -m bench audit`: the table of `docs/audit.md`, written anew."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from shortlist import audit

__all__ = ["write_table"]

_DOCUMENT = Path(__file__).parent.parent / "docs" / "audit.md"
_TABLE = re.compile(r"(<!-- exact -->\n).*?(<!-- end -->)", re.DOTALL)


def write_table() -> None:
    """Run the whole exact audit and put what it found into the document."""
    start = time.perf_counter()
    found = audit.run(processes=os.cpu_count() or 1)
    print(found)
    print(f"{time.perf_counter() - start:.0f} s")
    text = _TABLE.sub(
        lambda m: m[1] + "\n" + found.to_markdown() + "\n" + m[2], _DOCUMENT.read_text()
    )
    _DOCUMENT.write_text(text)
