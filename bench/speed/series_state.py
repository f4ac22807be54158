"""Whether the state of a series holds where processes are killed and backups are restored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl

from bench.common import report

__all__ = ["measure"]

KILLS, RESTORES = 300, 60
_TOOLS = Path(__file__).parents[2] / "tools"


def measure(scale: float = 1.0) -> None:
    """Kill, restore, print and write; smaller numbers to try things out are told in the result."""
    tables = {
        "Killed": pl.DataFrame([_played("kills", max(3, int(KILLS * scale)))]),
        "Restored from backups": pl.DataFrame([_played("restores", max(3, int(RESTORES * scale)))]),
    }
    report.write("series-state", "A series: that its state holds", tables, _NOTES)


_NOTES = [
    """`python -m bench series-state`. Killed: each run of a series is ended by `kill -9` once, two
of three at a statement of SQL, of its own file or of the ledger, in turns at each, and the others
up to 0.2 s after they began. Then it is asked for again, with the same random bits. Beside it
stands a series that nobody killed, its twin. *Answered twice* are runs that gave two lists, *unlike
the twin* those whose list is another one; *accounts unlike* is 1 if anything in the last state is,
to the last unit.""",
    """Restored: an older copy is put in the place of the series, and the next run asked for. It
must be *refused*. Then the newest file is put back, or the series is *recovered*, from that copy or
without any, and the run is made. *Lost an item* are lists in which one is missing that the list
before had.""",
]


def _played(role: str, times: int) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="shortlist-bench-") as folder:
        words = [sys.executable, str(_TOOLS / "series_kills.py"), role, folder, str(times), "1"]
        path = os.pathsep.join([str(_TOOLS.parent / "src"), str(_TOOLS)])
        environment = os.environ | {"PYTHONPATH": path}
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)  # noqa: S603 - ours
    found: dict[str, int] = json.loads(done.stdout)
    return found
