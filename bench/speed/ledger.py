"""What a charge costs in time, and whether a ledger holds where many ask or are killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import polars as pl

import shortlist as sl
from bench.common import report
from bench.common.lines import Line, frame
from bench.common.timing import in_turns
from tools import postgres
from tools.ledgers import TOTAL, TinyCounts, plan_of

__all__ = ["measure", "places"]

KILLS, CROWD, CHARGES = 300, (8, 8, 50), 300
AIMS = {"SQLite": 5.0, "PostgreSQL": 10.0}  # milliseconds a charge
_TOOL = Path(__file__).parents[2] / "tools" / "ledgers.py"


def measure(scale: float = 1.0) -> None:
    """Measure, print and write; smaller numbers to try things out are told in the result."""
    busy = (
        f"The machine had a load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores when this "
        "began: above one a core, times are those of waiting, too."
    )
    kills, charges = max(3, int(KILLS * scale)), max(10, int(CHARGES * scale))
    crowd = (*CROWD[:2], max(5, int(CROWD[2] * scale)))
    killed, crowded, lines = [], [], []
    for name, new in places():
        lines += _timed(name, new("times"), charges)
        killed.append({"place": name, **_killed(new("kills"), kills)})
        crowded.append({"place": name, **_crowded(new("crowd"), crowd)})
    tables = {
        "Time of a charge": frame(lines).drop("beside", "its median", "ratio"),
        "Killed at random moments": pl.DataFrame(killed),
        "Many at once": pl.DataFrame(crowded),
    }
    report.write("ledger", "A ledger: what it costs, and that it holds", tables, [*_NOTES, busy])


_NOTES = [
    """`python -m bench ledger`. A charge is one durable transaction on this machine's disk. To keep
the answer is another, after the rows were read. In the same turns stands a bare commit: 4 kB
written to a new file, and synced with its folder; on a busy machine it shows what the disk takes
by itself. PostgreSQL runs on the same machine, is reached by a socket, and syncs what it commits
(`fsync=on`); each charge connects anew and gives a password.""",
    """Killed: a process asks without end, and tells of each answer as soon as it has it. It is
ended by `kill -9` up to 30 ms after it began its first, second or third charge, and the ledger is
looked at.
*Without a charge* are answers that were delivered and not charged, *unreadable* are ledgers that
could not be read or verified, *wrong sum* those whose sum is not that of their charges. *Unknown*
are charges whose answer was not kept: what the kills left.""",
    """Many at once: 8 processes of 8 threads each ask for 1/200 of the budget, again and again.
Exactly 200 should be accepted.""",
]


def places() -> Iterator[tuple[str, Callable[[str], str]]]:
    """The kinds of places, and how to get a new one by its name."""
    with tempfile.TemporaryDirectory(prefix="shortlist-bench-") as folder:
        yield "SQLite", lambda name: f"{folder}/{name}.budget"
    if why := postgres.why_not():
        print(f"PostgreSQL is left out: {why}.")
        return
    with _server() as server:
        yield "PostgreSQL", partial(_database, server)


def _database(server: postgres.Server, name: str) -> str:
    with server.connect() as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return server.url(database=name)


@contextmanager
def _server() -> Iterator[postgres.Server]:
    server = postgres.Server()
    try:
        server.start(durable=True)
        yield server
    finally:
        server.remove()


def _timed(name: str, place: str, charges: int) -> Iterator[Line]:
    budget = sl.Budget.create(place, epsilon=1e4, delta=1e-6, protects="user", dataset="time")
    engine = TinyCounts()
    plan = plan_of(budget, engine=engine)
    free = plan_of(None, engine=engine)
    jobs = {
        "a charge": lambda: budget.charge(plan),
        "a question, charged and kept": plan.run,
        "the same, not charged": free.run,
        "a bare commit": _synced,
    }
    for job, times in in_turns(jobs, runs=charges).items():
        found = times.row("milliseconds")
        quartiles = found["quartile 1"], found["quartile 3"]
        aim = AIMS[name] if job == "a charge" else None
        yield Line(f"{name}: {job}", found["milliseconds"], "ms", quartiles, aim=aim)


def _synced() -> None:
    """A small file, written so that it is there after a power loss."""
    with tempfile.NamedTemporaryFile(prefix="shortlist-bench-") as file:
        file.write(bytes(4096))
        file.flush()
        os.fsync(file.fileno())
        folder = os.open(Path(file.name).parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def _killed(place: str, kills: int) -> dict[str, int]:
    terms = {"protects": "user", "dataset": "kills"}
    sl.Budget.create(place, epsilon=1e4, delta=1e-6, **terms)
    return _played("kills", place, kills, 1)


def _crowded(place: str, crowd: tuple[int, ...]) -> dict[str, int]:
    terms = {"protects": "user", "dataset": "crowd"}
    sl.Budget.create(place, epsilon=TOTAL, **terms)
    processes, threads, times = crowd
    asked = {"processes": processes, "threads": threads, "times each": times}
    return asked | _played("crowd", place, *crowd)


def _played(role: str, place: str, *numbers: int) -> dict[str, int]:
    words = [sys.executable, str(_TOOL), role, place, *map(str, numbers)]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603 - ours
    found: dict[str, int] = json.loads(done.stdout)
    return found
