"""How long the best of every group take, beside the best of all groups together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import shortlist as sl
from bench.common import report, samples
from bench.common.timing import Times, in_turns

__all__ = ["measure"]

GROUPS = 1000
ITEMS = (500_000, 10_000)
KS = (10, 100)
AIM = 1.5
ASKED = {"epsilon": 1.0, "delta": 1e-6}
TOP_K, UNGROUPED = "top-k in every group", "one top-k of all"


def measure(scale: float = 1.0, runs: int = 9) -> None:
    """Generate the tables, measure, print and write; leaves nothing but the result.

    Args:
        scale: Of the data; there are as many groups at any.
        runs: Turns of each question.
    """
    rows = []
    with TemporaryDirectory() as name:
        for items in ITEMS:
            shape = replace(samples.TWENTY_MILLION, items=items).scaled(scale)
            path = samples.write_grouped(shape, GROUPS, Path(name))
            taken = in_turns(_jobs(path), runs=runs)
            rows += _rows(f"{shape.rows:,} rows of {shape.items:,} items", taken)
            path.unlink()
            print(f"{shape.items:,} items: done.", flush=True)
    _tell(pl.DataFrame(rows, infer_schema_length=None), scale, runs)


def _jobs(path: Path) -> dict[str, Callable[[], object]]:
    """The questions by their titles, each of a fresh source."""
    jobs: dict[str, Callable[[], object]] = {}
    for k in KS:
        jobs[f"{UNGROUPED}, k={k}"] = lambda k=k: _source(path).top_k(k, **ASKED)
        jobs[f"{TOP_K}, k={k}"] = lambda k=k: _source(path).top_k(k, by="group", **ASKED)
    return jobs


def _source(path: Path) -> sl.Pairs:
    return sl.pairs(path, user="user", item="item")


def _rows(title: str, taken: dict[str, Times]) -> list[dict[str, object]]:
    """Seconds of both, and their ratios in the same turns."""
    rows = []
    for k in KS:
        times, other = taken[f"{TOP_K}, k={k}"], taken[f"{UNGROUPED}, k={k}"]
        ratios = np.array(times.runs) / np.array(other.runs)
        low, ratio, high = np.quantile(ratios, [0.25, 0.5, 0.75]).tolist()
        rows.append(
            {
                "table": title,
                "k": k,
                TOP_K: times.median,
                UNGROUPED: other.median,
                "ratio": ratio,
                "quartile 1": low,
                "quartile 3": high,
                "ratio of CPU": float(np.median(times.cpu) / np.median(other.cpu)),
                "aim": AIM,
                "met": ratio <= AIM,
            }
        )
    return rows


def _tell(table: pl.DataFrame, scale: float, runs: int) -> None:
    settings = (
        f"Generated tables of dense integers from a fixed seed, at scale {scale:g}: each user is "
        f"in one of {GROUPS:,} groups; Zipf popularity of groups and items, and activity of users; "
        f"rows in random order. epsilon={ASKED['epsilon']:g}, delta={ASKED['delta']:g}. Each "
        f"question is asked of a fresh source, reading included: one run to warm up, then {runs} "
        "in turns with all others."
    )
    reading = (
        "ratio: over one top-k in the same turn, median and quartiles. ratio of CPU: of the "
        "seconds that all cores worked, which says more where the machine does other work."
    )
    report.write(
        "groups-speed", "Speed of top-k in every group", {"Seconds": table}, [settings, reading]
    )
