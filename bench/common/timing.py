"""How long things take: medians and quartiles, of what is timed in turns."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import psutil

__all__ = ["Times", "command", "in_turns", "once", "peak_memory", "timed"]

_UNITS = {"seconds": 1, "milliseconds": 1000}


@dataclass(frozen=True)
class Times:
    """Seconds, one entry a run.

    Attributes:
        runs: By the clock.
        cpu: Of all cores, system and servers included, where they were counted: on a machine that
            does other work too, these vary less.
    """

    runs: tuple[float, ...]
    cpu: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        """The middle one."""
        return self._quantile(0.5)

    @property
    def quartiles(self) -> tuple[float, float]:
        """A quarter of the runs took less than the first, a quarter more than the second."""
        return self._quantile(0.25), self._quantile(0.75)

    def row(self, unit: str = "seconds") -> dict[str, float]:
        """Median and quartiles in this unit, as columns of a table."""
        middle, (low, high), per_second = self.median, self.quartiles, _UNITS[unit]
        return {
            unit: middle * per_second,
            "quartile 1": low * per_second,
            "quartile 3": high * per_second,
        }

    def _quantile(self, share: float) -> float:
        return float(np.quantile(self.runs, share))


def timed(job: Callable[[], object], *, runs: int) -> Times:
    """The job alone, after one run to warm up."""
    return in_turns({"": job}, runs=runs)[""]


def in_turns(jobs: Mapping[str, Callable[[], object]], *, runs: int) -> dict[str, Times]:
    """Jobs to compare: each once to warm up, then in turns, so that all meet the same machine.

    Their order changes from turn to turn, since a job leaves caches and memory to the next one.
    """
    names = list(jobs)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    used: dict[str, list[float]] = {name: [] for name in names}
    order = np.random.default_rng(0)
    for _ in range(runs + 1):
        for number in order.permutation(len(names)):
            start, before = time.perf_counter(), _cpu()
            jobs[names[number]]()
            seconds[names[number]].append(time.perf_counter() - start)
            used[names[number]].append(_cpu() - before)
    return {name: Times(tuple(seconds[name][1:]), tuple(used[name][1:])) for name in names}


def _cpu() -> float:
    """The seconds that all cores have worked for this process and those that it has started.

    A server that it has started is among these, with all processes of its own: what one that has
    ended had worked counts for the one that had started it.
    """
    ours = psutil.Process()
    return sum(map(_worked, [ours, *ours.children(recursive=True)]))


def _worked(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):
        used = process.cpu_times()
        return float(used.user + used.system + used.children_user + used.children_system)
    return 0.0


def command(*arguments: str) -> Callable[[], object]:
    """A job that runs a command as a process of its own.

    Modules are compiled before it, as where the package is installed, even if the environment says
    that they are not to be.
    """
    where = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def job() -> None:
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=where)  # noqa: S603 - our own

    return job


def peak_memory(job: str, argument: str) -> int:
    """The most bytes that a fresh process holds for a job of `bench.common.probe`."""
    return once(job, argument)[1]


def once(job: str, argument: str) -> tuple[float, int]:
    """The seconds of such a job, alone in a fresh process, and the most bytes that this holds."""
    arguments = [sys.executable, "-m", "bench.common.probe", job, argument]
    done = subprocess.run(  # noqa: S603 - our own
        arguments, check=True, input="\n", stdout=subprocess.PIPE, text=True
    )
    seconds, held = done.stdout.split()[-2:]
    return float(seconds), int(held)
