"""How long things take: medians and quartiles, of what is timed in turns."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

__all__ = ["Times", "command", "in_turns", "peak_memory", "timed"]

_UNITS = {"seconds": 1, "milliseconds": 1000}


@dataclass(frozen=True)
class Times:
    """Seconds, one entry a run.

    Attributes:
        runs: By the clock.
        cpu: Of all cores, system included, where they were counted: on a machine that does other
            work too, these vary less.
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
    """The seconds that all cores have worked for this process and the commands that it ran."""
    of = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in of)


def command(*arguments: str) -> Callable[[], object]:
    """A job that runs a command as a process of its own.

    Modules are compiled before it, as where the package is installed, even if the environment says
    that they are not to be.
    """
    where = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def job() -> None:
        subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env=where)  # noqa: S603 - our own

    return job


def peak_memory(job: str, path: str) -> int:
    """The most bytes that a fresh process holds for a job of `bench.common.probe`."""
    arguments = [sys.executable, "-m", "bench.common.probe", job, path]
    done = subprocess.run(  # noqa: S603 - our own
        arguments, check=True, input="\n", stdout=subprocess.PIPE, text=True
    )
    return int(done.stdout.split()[-1])
