"""Figures line by line: each beside what it is compared with, and what was aimed at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from bench.common.timing import Times

__all__ = ["Line", "frame", "ratio_line", "timed_line"]


@dataclass(frozen=True)
class Line:
    """One line of the result."""

    job: str
    figure: float
    unit: str = "s"
    quartiles: tuple[float, float] | None = None
    beside: str = ""
    other: float | None = None
    aim: float | None = None
    cpu_ratio: float | None = None

    def row(self) -> dict[str, object]:
        """The line with its ratio, and whether the aim is met."""
        low, high = self.quartiles or (None, None)
        return {
            "job": self.job,
            "median": self.figure,
            "quartile 1": low,
            "quartile 3": high,
            "unit": self.unit,
            "beside": self.beside,
            "its median": self.other,
            "ratio": self.figure / self.other if self.other else None,
            "ratio of CPU": self.cpu_ratio,
            "aim": self.aim,
            "met": None if self.aim is None else self.figure <= self.aim,
        }


def frame(lines: Sequence[Line]) -> pl.DataFrame:
    """The lines as a table."""
    return pl.DataFrame([line.row() for line in lines], infer_schema_length=None)


def timed_line(
    job: str,
    times: Times,
    beside: str = "",
    other: Times | None = None,
    *,
    aim: float | None = None,
) -> Line:
    """The median of the times, beside that of others."""
    reference = other.median if other else None
    cpu_ratio = float(np.median(times.cpu) / np.median(other.cpu)) if other and other.cpu else None
    return Line(job, times.median, "s", times.quartiles, beside, reference, aim, cpu_ratio)


def ratio_line(line: Line, *, aim: float) -> Line:
    """The line's ratio to what stands beside it, as a line of its own."""
    ratio = line.figure / (line.other or 1.0)
    return Line(f"{line.job}: over {line.beside}", ratio, unit="", aim=aim)
