"""One job in a process of its own: `bench.common.probe JOB ARGUMENT`.

For each line that it reads it does the job and prints the seconds; at the end, the most bytes that
it or a command it ran has held. Of the library it uses what is public alone, so that the library
may be that of another commit.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Job = Callable[[], object]
_ASKED: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6}


def read(path: str) -> Job:
    """Read both columns with the engine, and nothing else."""

    def job() -> None:
        import polars as pl

        pl.scan_parquet(path).select("user", "item").collect()

    return job


def coefficient(states: str) -> Job:
    """The ergodicity coefficient of a random walk on so many states, from its matrix on."""

    def job() -> None:
        import numpy as np

        from shortlist.experiments import ergodicity_coefficient

        matrix = np.random.default_rng(1).random((int(states), int(states)))
        matrix /= matrix.sum(axis=1, keepdims=True)
        ergodicity_coefficient(matrix)

    return job


def top_k(path: str) -> Job:
    """The private top 100 of a table."""
    return lambda: _pairs(path).top_k(100, **_ASKED)


def domain(path: str) -> Job:
    """The private domain of a table."""
    return lambda: _pairs(path).domain(**_ASKED)


def hitting_set(path: str) -> Job:
    """The private hitting set of a table, 20 items."""
    return lambda: _pairs(path).hitting_set(20, **_ASKED)


def shell(path: str) -> Job:
    """The private top 100 of a table by the command."""
    options = ["--user=user", "--item=item", "-k100", "--epsilon=1", "--delta=1e-6"]
    command = [sys.executable, "-m", "shortlist", "top-k", path, *options]
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603


def beyond_memory(folder: str) -> Job:
    """The private top 100 of Parquet files in DuckDB, by the default mechanism."""
    return lambda: _in_duckdb(folder).top_k(100, **_ASKED)


def beyond_memory_in_one_round(folder: str) -> Job:
    """The same in one round, for which all users are bounded."""
    from shortlist.mechanisms import DiscoverThenRank

    return lambda: _in_duckdb(folder).top_k(100, **_ASKED, mechanism=DiscoverThenRank)


def exact_beyond_memory(folder: str) -> Job:
    """The exact top 100 there."""
    query = 'SELECT item, count(DISTINCT "user") AS n FROM plays GROUP BY item ORDER BY n DESC'
    return lambda: _relation(folder).query("plays", f"{query} LIMIT 100").fetchall()


def counts(path: str) -> Job:
    """The private top 200 of a histogram of public items, by the default mechanism."""
    return _of_counts(path, **_ASKED)


def joint(path: str) -> Job:
    """The same, by JOINT."""
    from shortlist.mechanisms import Joint

    return _of_counts(path, epsilon=1.0, mechanism=Joint)


def peeling(path: str) -> Job:
    """The same, one by one."""
    from shortlist.mechanisms import Peeling

    return _of_counts(path, **_ASKED, mechanism=Peeling)


def store(path: str) -> Job:
    """The private top 100 of a table of counts in SQLite."""
    import shortlist as sl

    opened = sl.store(f"sqlite:///{path}", table="Zipf", item="name", count="plays")
    opened.prepare()
    return lambda: opened.top_k(100, **_ASKED)


def _pairs(path: str) -> Any:
    import shortlist as sl

    return sl.pairs(path, user="user", item="item")


def _in_duckdb(folder: str) -> Any:
    import shortlist as sl

    return sl.pairs(_relation(folder), user="user", item="item")


def _relation(folder: str) -> Any:
    """All Parquet files of a folder, in a DuckDB that may hold 1 GB."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET memory_limit = '1GB'; SET temp_directory = '{folder}/spilled'")
    return connection.sql(f"FROM '{folder}/*.parquet'")


def _of_counts(path: str, **asked: object) -> Job:
    import polars as pl

    import shortlist as sl

    frame = pl.read_parquet(path)

    def job() -> None:
        held = sl.counts(frame, item="item", count="count", public_items=sl.IN_TABLE)
        held.top_k(200, **asked)

    return job


JOBS: dict[str, Callable[[str], Job]] = {
    job.__name__: job
    for job in (
        *(read, coefficient, top_k, domain, hitting_set, shell),
        *(counts, joint, peeling, store),
        *(beyond_memory, beyond_memory_in_one_round, exact_beyond_memory),
    )
}


def peak() -> int:
    """The most bytes that this process held, or a command that it ran."""
    unit = 1 if sys.platform == "darwin" else 1024
    ran = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    status = Path("/proc/self/status")
    if status.exists():  # there `ru_maxrss` may count the parent, from before the program began
        line = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return max(ran, int(line.split()[1]) * 1024)
    return max(ran, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit)


def main(name: str, argument: str) -> None:
    """Do the job as often as lines arrive."""
    job = JOBS[name](argument)
    for _ in sys.stdin:
        start = time.perf_counter()
        job()
        print(time.perf_counter() - start, flush=True)
    print(peak())


if __name__ == "__main__":
    main(*sys.argv[1:])
