"""The questions of this checkout beside those of another commit, in one run.

Each side has a process of its own for each job, with its own library and the same data, and does
one turn after the other's. Nothing but the public interface is used, so that modules may have moved
between the two.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

import numpy as np
import polars as pl

from bench.common import report, samples
from bench.common.timing import Times
from bench.speed.places import fill_sqlite, zipf

__all__ = ["measure"]

ROOT = Path(__file__).parents[2]
COUNTS, STORED = 166_000, 10_000_000
LEAST = 1000  # counts, of which 200 are asked for


@dataclass(frozen=True)
class Job:
    """What both sides do.

    Attributes:
        title: For the table.
        name: Of the job of `bench.common.probe`.
        files: What it reads: a file for each side where the side may write to it.
    """

    title: str
    name: str
    files: tuple[Path, Path]


@dataclass(frozen=True)
class Taken:
    """By one side of a job.

    Attributes:
        times: Turn by turn.
        peak: The most bytes held.
    """

    times: Times
    peak: int


class Side:
    """A process that does a job when told to, with the library of one checkout."""

    def __init__(self, source: Path, job: str, path: Path) -> None:
        """Start it."""
        self._process = subprocess.Popen(  # noqa: S603 - our own
            [sys.executable, "-m", "bench.common.probe", job, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT)])},
            cwd=path.parent,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def turn(self) -> float:
        """The seconds of one turn.

        Raises:
            ChildProcessError: The process has ended; what it said of that is on the terminal.
        """
        try:
            print(file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise ChildProcessError from None
        told = self._process.stdout.readline()
        if not told:
            raise ChildProcessError
        return float(told)

    def end(self) -> int:
        """The most bytes it held."""
        return int(self._process.communicate()[0])


def measure(commit: str, scale: float = 1.0, runs: int = 15) -> None:
    """Generate the data, measure, print and write; leaves nothing but the result.

    Args:
        commit: The other side.
        scale: Of the data.
        runs: Turns of each side.
    """
    with TemporaryDirectory(prefix="shortlist-bench-") as name:
        folder = Path(name)
        _unpack(commit, folder / "other")
        sources = (ROOT / "src", folder / "other" / "src")
        rows = []
        for job in _jobs(folder, scale):
            rows.append({"job": job.title} | _row(job, sources, runs))
            print(f"{job.title}: done.")
    _tell(pl.DataFrame(rows, infer_schema_length=None), commit, scale, runs)


def _unpack(commit: str, folder: Path) -> None:
    """The library as it was; an archive, so that the repository knows of no worktree to prune."""
    packed = subprocess.run(  # noqa: S603 - our own
        ["git", "archive", commit, "src"],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _jobs(folder: Path, scale: float) -> Iterator[Job]:
    """With their data, which is there until the next job is asked for."""
    text = samples.write(samples.MILLION.scaled(scale), "text", folder)
    yield from _of_file(
        text, {"top-k, {} rows of text": "top_k", "the same, from the shell": "shell"}
    )
    million = samples.write(samples.MILLION.scaled(scale), "dense", folder)
    pairs = {"domain, {} rows of integers": "domain", "hitting set, k=20, the same": "hitting_set"}
    yield from _of_file(million, pairs)
    dense = samples.write(samples.TWENTY_MILLION.scaled(scale), "dense", folder)
    yield from _of_file(dense, {"top-k, {} rows of integers": "top_k"})
    for largest, exponent, shape in ((2e5, 1.1, "Zipf"), (2e4, 0.5, "flat")):
        n = max(int(COUNTS * scale), LEAST)
        counts = samples.falling_counts(n, largest, exponent)
        path = folder / f"{shape}.parquet"
        pl.DataFrame({"item": np.arange(n), "count": counts}).write_parquet(path)
        asked = {"joint": "Joint", "peeling": "Peeling", "counts": "the default"}
        titles = {f"{n:,} {shape} counts, k=200: {how}": name for name, how in asked.items()}
        yield from _of_file(path, titles)
    yield _in_sqlite(folder, max(int(STORED * scale), LEAST))


def _of_file(path: Path, titles: Mapping[str, str]) -> Iterator[Job]:
    n = pl.scan_parquet(path).select(pl.len()).collect().item()
    for title, name in titles.items():
        yield Job(title.format(f"{n:,}"), name, (path, path))
    path.unlink()


def _in_sqlite(folder: Path, n: int) -> Job:
    """Each side prepares a database of its own."""
    ours, theirs = folder / "ours.db", folder / "theirs.db"
    fill_sqlite(ours, [("Zipf", np.random.default_rng(1).permutation(zipf(n)))])
    shutil.copyfile(ours, theirs)
    return Job(f"top-k of a store, {n:,} items in SQLite", "store", (ours, theirs))


def _row(job: Job, sources: tuple[Path, Path], runs: int) -> dict[str, object]:
    """Both sides as columns; where one cannot do the job, none."""
    try:
        _in_turns(job, sources, 1)  # so that what is compiled at first use is there
        ours, theirs = _in_turns(job, sources, runs)
    except ChildProcessError:
        return {"milliseconds": None}
    low, ratio, high = np.quantile(
        np.array(ours.times.runs) / np.array(theirs.times.runs), [0.25, 0.5, 0.75]
    )
    return {
        **ours.times.row("milliseconds"),
        **{f"other's {name}": value for name, value in theirs.times.row("milliseconds").items()},
        "ratio": float(ratio),
        "its quartile 1": float(low),
        "its quartile 3": float(high),
        "slower": bool(low > 1),
        "MB": ours.peak / 1e6,
        "other's MB": theirs.peak / 1e6,
        "ratio of MB": ours.peak / theirs.peak,
    }


def _in_turns(job: Job, sources: tuple[Path, Path], runs: int) -> list[Taken]:
    """Each once to warm up, then in turns; who begins changes from turn to turn."""
    with ExitStack() as open_sides:
        sides = [
            open_sides.enter_context(Side(source, job.name, path))
            for source, path in zip(sources, job.files, strict=True)
        ]
        seconds: list[list[float]] = [[], []]
        for turn in range(runs + 1):
            for number in (0, 1) if turn % 2 else (1, 0):
                seconds[number].append(sides[number].turn())
        return [
            Taken(Times(tuple(taken[1:])), side.end())
            for taken, side in zip(seconds, sides, strict=True)
        ]


def _tell(table: pl.DataFrame, commit: str, scale: float, runs: int) -> None:
    here, there = _described("HEAD"), _described(commit)
    changed = " with changes that are not committed" if _git("status", "--porcelain", "src") else ""
    sides = f"This checkout: {here}{changed}. The other: {there}."
    settings = (
        f"Generated data at scale {scale:g}; epsilon=1 and, where it is used, delta=1e-6; k=100 "
        "where nothing else is said. Each question is asked through the public interface, from a "
        "fresh source, reading included. Each side has a process of its own for each job; they "
        f"take turns, {runs} each after one to warm up, and who begins changes."
    )
    reading = (
        "Medians and quartiles. ratio: this checkout's time over the other's in the same turn, "
        "below 1 is faster; slower: in more than three quarters of the turns. MB: the most "
        "that the process has held, the libraries included. A job that one of both cannot do has "
        "no figures."
    )
    title = "Speed and memory beside another commit"
    report.write("beside", title, {"Figures": table}, [sides, settings, reading])


def _described(commit: str) -> str:
    return _git("log", "-1", "--format=%h, “%s”", commit)


def _git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - our own
        ["git", *arguments],  # noqa: S607
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()
