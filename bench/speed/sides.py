"""Two checkouts of the library, each in a process of its own, doing the same job in turns."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from bench.common.timing import Times

__all__ = ["ROOT", "Job", "Taken", "in_turns"]

ROOT = Path(__file__).parents[2]


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
        self._source = source
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
            ChildProcessError: The process of this source has ended; why, is on the terminal.
        """
        try:
            print(file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise ChildProcessError(self._source) from None
        told = self._process.stdout.readline()
        if not told:
            raise ChildProcessError(self._source)
        return float(told)

    def end(self) -> int:
        """The most bytes it held."""
        return int(self._process.communicate()[0])


def in_turns(job: Job, sources: tuple[Path, Path], runs: int) -> list[Taken]:
    """Each side once to warm up, then in turns; who begins changes from turn to turn.

    Raises:
        ChildProcessError: One side cannot do the job.
    """
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
