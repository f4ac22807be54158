"""Tables that stay where they are, beside the engine's own exact count of users per item."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import duckdb
import numpy as np
import psycopg

import shortlist as sl
from bench.common import report, samples
from bench.common.lines import Line, frame, ratio_line, timed_line
from bench.common.timing import Times, in_turns
from bench.speed.engines_plot import plot
from shortlist.draws import ExactDraws
from shortlist.evidence import UserSets, Wants
from shortlist.mechanisms import DiscoverThenRank
from tools import postgres

__all__ = ["measure"]

K, ASKED = 100, {"epsilon": 1.0, "delta": 1e-6}
_SHARES = {"DuckDB": 1.0, "Spark": 0.25, "PostgreSQL": 0.25}  # of 20 million rows
_AIMS = {"DuckDB": 1.5, "Spark": 1.3, "PostgreSQL": 1.5}
_ROUND_AIM = 0.8
_ROUNDS = "domain in six rounds"
_EXACT = "SELECT item, count(DISTINCT user) AS n FROM {} GROUP BY item ORDER BY n DESC LIMIT 100"


class Lying(NamedTuple):
    """A table in an engine, and what counts users there without privacy."""

    table: Any
    exact: Callable[[], object]


def measure(scale: float = 1.0, runs: int = 3) -> None:
    """Generate tables, measure each engine that there is, and write the result."""
    lines: list[Line] = []
    with TemporaryDirectory() as name:
        for engine, opened in {"DuckDB": _duckdb, "Spark": _spark, "PostgreSQL": _postgres}.items():
            shape = samples.TWENTY_MILLION.scaled(scale * _SHARES[engine])
            path = samples.write(shape, "dense", Path(name))
            with opened(path) as held:
                if held is not None:
                    lines += _lines(engine, shape.rows, held, runs)
            path.unlink()
    figures = frame(lines)
    plot(figures, report.path_of("engines-speed.png"))
    notes = (
        f"At scale {scale:g}, {runs} turns. "
        "Generated tables of dense integers, a tenth as many users and a fortieth as many items as "
        f"rows, with popularity by Zipf. top_k: k={K}, epsilon=1, delta=1e-6, "
        "max_items_per_user=100. In turns with count(DISTINCT user) per item, in the same engine "
        "and of the same table. All users are read anew for each question. A later round is what "
        "the engine does for it, after the first. ratio of CPU: of the seconds that all cores "
        "worked, those of PostgreSQL's and Spark's processes included, which says more where the "
        "machine does other work."
    )
    title = "Tables that stay where they are"
    pictures = {"engines-speed.png": "The time over that of the exact count, by engine and job"}
    report.write("engines-speed", title, {"Figures": figures}, [notes], pictures)


def _lines(engine: str, rows: int, held: Lying, runs: int) -> Iterator[Line]:
    source, size = sl.pairs(held.table, user="user", item="item"), f"{rows / 1e6:g} M rows"
    jobs = {
        "exact": held.exact,
        "one round": lambda: source.top_k(K, mechanism=DiscoverThenRank, **ASKED),
        "default": lambda: source.top_k(K, **ASKED),
        _ROUNDS: lambda: source.domain(**ASKED),
    }
    taken = in_turns(jobs, runs=runs)
    exact = taken["exact"]
    aim = _AIMS[engine]
    for name, most in {"one round": aim, "default": aim, _ROUNDS: aim + 5 * _ROUND_AIM}.items():
        line = timed_line(f"{engine}, {size}: {name}", taken[name], "exact", exact)
        yield line
        yield ratio_line(line, aim=most)
    taken = _rounds(source, held.exact, runs)
    line = timed_line(f"{engine}, {size}: a later round", taken["round"], "exact", taken["exact"])
    yield line
    yield ratio_line(line, aim=_ROUND_AIM)


def _rounds(source: sl.Pairs, exact: Callable[[], object], runs: int) -> dict[str, Times]:
    """What an engine does in a later round, in turns with the exact count."""
    with source._engine.show(Wants(UserSets), ExactDraws()) as shown:  # noqa: SLF001
        held = shown.evidence.bounded(100, ExactDraws())
        steering = held.steering()
        boosts = np.random.default_rng(1).integers(0, 2**11, held.n_items).astype(np.int16)
        sizes = np.maximum(np.arange(held.largest + 1), 1)
        jobs = {"round": lambda: steering.sums(boosts, 2**38 // sizes, 2**43 // sizes)}
        return in_turns({"exact": exact, **jobs}, runs=runs)


@contextmanager
def _duckdb(path: Path) -> Iterator[Lying]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE plays AS FROM '{path}'")
        query = _EXACT.format("plays").replace("user", '"user"')
        yield Lying(connection.table("plays"), connection.sql(query).fetchall)


@contextmanager
def _postgres(path: Path) -> Iterator[Lying | None]:
    if postgres.why_not():
        yield None
        return
    import ibis
    import polars as pl

    server = postgres.Server()
    try:
        server.start("1GB")
        with psycopg.connect(server.url(), autocommit=True) as native:
            native.execute("SET work_mem = '256MB'; SET temp_buffers = '256MB'")
            native.execute('CREATE TABLE plays ("user" bigint, item bigint)')
            with (
                native.cursor() as cursor,
                cursor.copy("COPY plays FROM STDIN (FORMAT csv)") as copy,
            ):
                copy.write(pl.read_parquet(path).write_csv(include_header=False).encode())
            native.execute("VACUUM ANALYZE plays")
            query = _EXACT.format("plays").replace("user", '"user"')
            table = ibis.postgres.from_connection(native).table("plays")
            yield Lying(table, lambda: native.execute(query.encode()).fetchall())
    finally:
        server.remove()


@contextmanager
def _spark(path: Path) -> Iterator[Lying | None]:
    if shutil.which("java") is None:
        yield None
        return
    from pyspark.sql import SparkSession

    settings = {"spark.ui.enabled": "false", "spark.driver.memory": "4g"}
    settings |= {"spark.sql.shuffle.partitions": "4", "spark.log.level": "ERROR"}
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    try:
        table = session.read.parquet(str(path))
        table.createOrReplaceTempView("plays")
        query = _EXACT.format("plays")
        yield Lying(table, lambda: session.sql(query).collect())
    finally:
        session.stop()
