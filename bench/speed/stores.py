"""How fast the private top 100 of a store is, beside the exact one and beside a full scan."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import report
from bench.common.lines import Line, frame, ratio_line, timed_line
from bench.common.timing import Times, in_turns, timed
from bench.speed.places import EXACT, SCAN, SUM, K, Place, in_files, in_postgres, in_sqlite
from bench.speed.stores_plot import plot
from tools import postgres

__all__ = ["measure"]

ROWS, MAPPED = 10_000_000, 100_000_000
BYTES = {ROWS: 350, MAPPED: 40}  # an item takes on disk at most, everywhere at once
PRIVATE, PURE = "private, δ = 1e-6", "private, pure"
ASKED = {PRIVATE: 1e-6, PURE: 0.0}
AIMS = {"Zipf": 0.020, "hard": 1.0}  # seconds, in both databases
MAPPED_AIM = 0.010  # on Zipf counts
FASTER = 100  # times than the scan, on Zipf counts
RUNS, SCANS = 31, 5


@dataclass(frozen=True)
class Cell:
    """One shape in one place.

    Attributes:
        place: Where.
        shape: Of the counts.
        times: By job.
        read: How many scores each private answer reads in sorted order, and by id, on average.
    """

    place: Place
    shape: str
    times: dict[str, Times]
    read: dict[str, tuple[float, float]]


def measure(scale: float = 1.0) -> None:
    """Fill the stores, measure, print, write and draw."""
    with tempfile.TemporaryDirectory(prefix="shortlist-bench-") as name:
        folder = Path(name)
        free = shutil.disk_usage(folder).free
        rows, mapped = (_fitting(int(most * scale), free, most) for most in (ROWS, MAPPED))
        cells = [cell for place in _places(rows, mapped, folder) for cell in _measured(place)]
    small = (rows, mapped) != (ROWS, MAPPED)
    _tell([line for cell in cells for line in _lines(cell)], _figures(cells), small=small)


def _fitting(wanted: int, free: int, kind: int) -> int:
    """That many items, or what half of the disk's free space takes."""
    return max(min(wanted, free // 2 // BYTES[kind]), 10 * K)


def _places(rows: int, mapped: int, folder: Path) -> Iterator[Place]:
    """One after the other, each gone before the next is filled."""
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        yield in_sqlite(rows, Path(inside))
    if why := postgres.why_not():
        print(f"PostgreSQL is left out: {why}.")
    else:
        with in_postgres(rows) as place:
            yield place
    with tempfile.TemporaryDirectory(dir=folder) as inside:
        yield in_files(mapped, Path(inside))


def _measured(place: Place) -> Iterator[Cell]:
    for shape, store in place.stores.items():
        counted: dict[str, list[tuple[int, int]]] = {name: [] for name in ASKED}
        others = place.others[shape]
        slow = {name: job for name, job in others.items() if name in {SCAN, SUM}}
        quick = {name: _asking(store, delta, counted[name]) for name, delta in ASKED.items()}
        quick |= {name: job for name, job in others.items() if name not in slow}
        times = in_turns(quick, runs=RUNS)
        times |= {name: timed(job, runs=SCANS) for name, job in slow.items()}
        means = {name: np.mean(pairs, axis=0).tolist() for name, pairs in counted.items()}
        yield Cell(place, shape, times, means)
        print(f"{place.name}, {shape}: done.")


def _asking(store: sl.Store, delta: float, counted: list[tuple[int, int]]) -> Callable[[], object]:
    def job() -> None:
        store.top_k(K, epsilon=1.0, delta=delta)
        counted.append((store.accesses.sorted, store.accesses.random))

    return job


def _lines(cell: Cell) -> Iterator[Line]:
    """What was aimed at, and what stands beside."""
    mapped = SCAN not in cell.times
    aim: float | None = AIMS[cell.shape]
    if mapped:
        aim = MAPPED_AIM if cell.shape == "Zipf" else None
    beside = SUM if mapped else SCAN
    for name in ASKED:
        title = f"{cell.place.name}, {cell.place.size:,} items, {cell.shape} counts: {name}"
        line = timed_line(title, cell.times[name], beside, cell.times[beside], aim=aim)
        yield line
        if cell.shape == "Zipf" and not mapped:
            yield ratio_line(line, aim=1 / FASTER)


def _figures(cells: list[Cell]) -> pl.DataFrame:
    rows = [
        {
            "store": cell.place.name,
            "items": cell.place.size,
            "counts": cell.shape,
            "job": job,
            **taken.row("milliseconds"),
            "runs": len(taken.runs),
            "rows read": cell.read[job][0] if job in cell.read else None,
            "ids looked up": cell.read[job][1] if job in cell.read else None,
        }
        for cell in cells
        for job, taken in cell.times.items()
    ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _tell(lines: list[Line], figures: pl.DataFrame, *, small: bool) -> None:
    aims = frame(lines)
    settings = (
        f"The top {K} of `shortlist.store`, epsilon=1, from asking to release, with a connection "
        "of its own; calibration is part of it. Zipf counts are 2e5 / r^1.1 at rank r, rounded up; "
        f"hard is the family of Wu et al. (2023), Theorem 5.4, with sqrt(mk) counts of 1000, 1 of "
        f"{K} less by 1, and all others 0; all in random order. Medians and quartiles, after one "
        f"run to warm up, so that what is read is in memory: {RUNS} runs in turns with the exact "
        f"answer, {SCANS} of what reads everything."
    )
    beside = (
        f"{EXACT.capitalize()}: `ORDER BY plays DESC LIMIT {K}`, not private. {SCAN.capitalize()}: "
        "all ids and counts into an array, which every private method that adds noise to all "
        "counts needs before it starts; each database hands them over as one value, the quickest "
        f"way of those tried. {SUM.capitalize()}: in the database, so that none leaves; "
        "less than any method needs. Databases have their default settings and an index by count "
        "(SQLite) or by count and id (PostgreSQL, on the same machine, by a socket). "
        "Memory-mapped: arrays of 64-bit integers in three files (items, counts, order); there, "
        "NumPy adds up all counts."
    )
    counts = (
        "How much is read, and so the time, depends on the counts: it is private where they are. "
        "Here they are generated."
    )
    notes = [settings, beside, counts]
    if small:
        notes.append(
            f"Fewer items than the {ROWS:,} and {MAPPED:,} that the aims are for: asked for, or "
            "all that the disk has room for."
        )
    tables = {"Figures": aims, "Milliseconds": figures}
    pictures = {"store-speed.png": "Milliseconds in each store"}
    report.write("store-speed", "Speed of the top-k of a store", tables, notes, pictures)
    plot(figures, report.path_of("store-speed.png"))
