"""One job in a process of its own, which prints the most bytes it held: `bench.probe JOB PATH`."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def read(path: str) -> None:
    """Read both columns with the engine, and nothing else."""
    import polars as pl

    pl.scan_parquet(path).select("user", "item").collect()


def top_k(path: str) -> None:
    """The private answer."""
    import shortlist as sl

    sl.pairs(path, user="user", item="item").top_k(100, epsilon=1.0, delta=1e-6)


def coefficient(states: str) -> None:
    """The ergodicity coefficient of a random walk on so many states, from its matrix on."""
    import numpy as np

    from shortlist.experiments import ergodicity_coefficient

    matrix = np.random.default_rng(1).random((int(states), int(states)))
    matrix /= matrix.sum(axis=1, keepdims=True)
    ergodicity_coefficient(matrix)


def peak() -> int:
    """The most bytes that this process held."""
    status = Path("/proc/self/status")
    if status.exists():  # there `ru_maxrss` may count the parent, from before the program began
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    {"read": read, "top_k": top_k, "coefficient": coefficient}[sys.argv[1]](sys.argv[2])
    print(peak())
