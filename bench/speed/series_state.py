"""Whether the state of a series holds where processes are killed and backups are restored."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import report
from bench.common.lines import Line, frame, timed_line
from bench.common.timing import in_turns
from bench.speed.ledger import places

__all__ = ["measure"]

RUNS_KILLED, RESTORES, RUNS_TIMED, USERS = 160, 50, 20, 100_000
_COLUMNS = {"user": "user", "item": "title"}
_TOOLS = Path(__file__).parents[2] / "tools"


def measure(scale: float = 1.0) -> None:
    """Kill, restore, print and write; smaller numbers to try things out are told in the result."""
    several = RUNS_KILLED, RESTORES, RUNS_TIMED
    kills, restores, runs = (max(4, int(n * scale)) for n in several)
    found: dict[str, list[dict[str, int | str]]] = {"kills": [], "restores": []}
    lines: list[Line] = []
    for place, new in places():
        for role, times in (("kills", kills), ("restores", restores)):
            found[role].append({"place": place, **_played(role, times, new)})
        lines += _timed(place, new, runs)
    tables = {
        "Killed": pl.DataFrame(found["kills"]),
        "Restored from backups": pl.DataFrame(found["restores"]),
        "Time of a run": frame(lines),
    }
    report.write("series-state", "A series: that its state holds", tables, _NOTES)


_NOTES = [
    """`python -m bench series-state`. State and ledger are two files, or two databases of a
PostgreSQL server, which syncs what it commits. Killed: each run of a series is ended by `kill -9`
once, two of three at a statement of SQL, of the state or of the ledger, in turns at each, and the
others up to 0.2 s after they began. Users are erased in between, which is killed likewise; to
create the series, to prolong it twice and to close it is killed at each statement. Then it is asked
for again, with the same random bits. Beside it stands a series that nobody killed, its twin.
*Answered twice* are runs that gave two lists, *unlike the twin* those whose list is another one;
*accounts unlike* is 1 if anything in the last state is, to the last unit, and *spent unlike* if the
ledgers are charged differently.""",
    """Restored: an older copy is put in the place of the series, and the next run asked for. It
must be *refused*. Then the newest is put back, or the series is *recovered*, from that copy or
without any, some of them after the same was *killed* at a statement. *Accounts unlike* are
recovered series of which anybody had not used up exactly what had accrued. *Lost an item* are lists
in which one is missing that the list before had.""",
    f"""Time: a run from {USERS:,} users and {4 * USERS:,} rows, with the ledger's entry, beside one
`domain` of the same table without a budget, in turns. State and ledger are of the same kind.""",
]


def _played(role: str, times: int, new: Callable[[str], str]) -> dict[str, int]:
    with tempfile.TemporaryDirectory(prefix="shortlist-bench-") as folder:
        urls = new(f"state_of_{role}"), new(f"ledger_of_{role}")
        tool = str(_TOOLS / "series_kills.py")
        words = [sys.executable, tool, role, folder, str(times), "1", *urls]
        path = os.pathsep.join([str(_TOOLS.parent / "src"), str(_TOOLS)])
        environment = os.environ | {"PYTHONPATH": path}
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True, env=environment)  # noqa: S603 - ours
    found: dict[str, int] = json.loads(done.stdout)
    return found


def _timed(place: str, new: Callable[[str], str], runs: int) -> Iterator[Line]:
    budget = sl.Budget.create(
        new("ledger"), epsilon=10.0, delta=1e-4, protects="user", dataset="time"
    )
    terms = {"periods": runs + 1, "epsilon": 1.0, "delta": 1e-6, "budget": budget, **_COLUMNS}
    series = sl.Series.create(new("state"), **terms)
    tables = [_week(number) for number in range(1, runs + 2)]
    numbers = count(1)

    def run() -> None:
        number = next(numbers)
        series.next(tables[number - 1], as_of=str(number))

    jobs = {"a run": run, "one question": lambda: tables[0].domain(epsilon=1.0, delta=1e-6)}
    times = in_turns(jobs, runs=runs)
    yield timed_line(f"{place}: a run", times["a run"], "one question", times["one question"])


def _week(number: int) -> sl.Pairs:
    rng = np.random.default_rng(number)
    titles = [f"Title {item}" for item in rng.zipf(1.6, 4 * USERS) % 10_000]
    rows = {"user": rng.integers(0, USERS, 4 * USERS), "title": titles}
    return sl.pairs(pl.DataFrame(rows), user="user", item="title")
