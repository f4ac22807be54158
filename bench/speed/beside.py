"""The questions of this checkout beside those of another commit, in one run.

Each side has a process of its own for each job, with its own library and the same data, and does
one turn after the other's. Nothing but the public interface is used, so that modules may have moved
between the two.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

from bench.common import report, samples
from bench.speed.places import fill_sqlite, zipf
from bench.speed.sides import ROOT, Job, in_turns

__all__ = ["measure"]

COUNTS, STORED = 166_000, 10_000_000
LEAST = 1000  # counts, of which 200 are asked for


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
    """Both sides as columns; where the other cannot do the job, none."""
    try:
        in_turns(job, sources, 1)  # so that what is compiled at first use is there
        ours, theirs = in_turns(job, sources, runs)
    except ChildProcessError as ended:
        if ended.args == (sources[0],):
            raise
        return {"milliseconds": None}
    ratios = np.array(ours.times.runs) / np.array(theirs.times.runs)
    low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75]).tolist()
    return {
        "milliseconds": ours.times.median * 1000,
        "other's": theirs.times.median * 1000,
        "ratio": ratio,
        "quartile 1": low,
        "quartile 3": high,
        "slower": low > 1,
        "MB": ours.peak / 1e6,
        "other's MB": theirs.peak / 1e6,
        "ratio of MB": ours.peak / theirs.peak,
    }


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
        "milliseconds: the median of the turns. ratio: this checkout's time over the other's in "
        "the same turn, median and quartiles; below 1 is faster. slower: in more than three "
        "quarters of the turns. MB: the most that the process has held, the libraries included. A "
        "job that the other cannot do has no figures."
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
