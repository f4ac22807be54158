"""The same counts in SQLite, in PostgreSQL and in files, and what reads them all."""
# ruff: noqa: S608 - the names of the tables are our own

from __future__ import annotations

import math
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import polars as pl

import shortlist as sl
from shortlist.draws import Ints
from tools import postgres

__all__ = [
    "EXACT",
    "SCAN",
    "SHAPES",
    "SUM",
    "K",
    "Place",
    "fill_sqlite",
    "hard",
    "in_files",
    "in_postgres",
    "in_sqlite",
    "zipf",
]

K = 100
EXACT, SCAN, SUM = "exact, by the index", "full scan", "all counts added up"
_BLOCK = 100_000  # rows
_COLUMNS = "(id {} PRIMARY KEY, name text NOT NULL, plays {} NOT NULL)"
_BEST = "SELECT name FROM {} ORDER BY plays DESC LIMIT 100"
_SUM = "SELECT sum(plays) FROM {}"
# All ids and counts, as one value: of what was tried, the quickest way into an array.
_ALL_SQLITE = "SELECT group_concat(id || ',' || plays) FROM {}"
_ALL_POSTGRES = "SELECT string_agg(int8send(id) || int8send(plays), ''::bytea) FROM {}"


def zipf(m: int, _: int = K) -> Ints:
    """Falling counts: 2e5 / r^1.1 at rank r, rounded up."""
    return np.ceil(2e5 / np.arange(1, m + 1, dtype=np.float64) ** 1.1).astype(np.int64)


def hard(m: int, k: int = K) -> Ints:
    """Wu et al. (2023), Theorem 5.4: sqrt(mk) counts of n, 1/k of them n - 1, all others 0."""
    counts, size = np.zeros(m, np.int64), round(math.sqrt(m * k))
    counts[:size] = 1000
    counts[size - size // k : size] = 999
    return counts


SHAPES: dict[str, Callable[[int], Ints]] = {"Zipf": zipf, "hard": hard}


@dataclass
class Place:
    """Where the counts are.

    Attributes:
        name: For the tables of figures.
        size: How many items.
        stores: For each shape, what is asked.
        others: For each shape and job, what is done beside.
    """

    name: str
    size: int
    stores: dict[str, sl.Store] = field(default_factory=dict)
    others: dict[str, dict[str, Callable[[], object]]] = field(default_factory=dict)


def _shuffled(m: int) -> Iterator[tuple[str, Ints]]:
    """Counts in random order, for each shape."""
    rng = np.random.default_rng(20260101)
    for shape, counts in SHAPES.items():
        yield shape, rng.permutation(counts(m))


def _blocks(counts: Ints) -> Iterator[pl.DataFrame]:
    for start in range(0, len(counts), _BLOCK):
        block = counts[start : start + _BLOCK]
        ids = pl.arange(start, start + len(block), eager=True)
        frame = pl.DataFrame({"id": ids, "plays": block})
        yield frame.select("id", pl.format("item {}", "id").alias("name"), "plays")


def in_sqlite(m: int, folder: Path) -> Place:
    """Tables in a file."""
    place, path = Place("SQLite", m), folder / "items.db"
    fill_sqlite(path, _shuffled(m))
    for shape in SHAPES:
        store = sl.store(f"sqlite:///{path}", table=shape, item="name", count="plays")
        store.prepare()
        place.stores[shape] = store
        place.others[shape] = {
            EXACT: _sqlite(path, _BEST.format(shape)),
            SCAN: _sqlite(path, _ALL_SQLITE.format(shape)),
            SUM: _sqlite(path, _SUM.format(shape)),
        }
    return place


def fill_sqlite(path: Path, tables: Iterable[tuple[str, Ints]]) -> None:
    """A table for each name and counts."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        for name, counts in tables:
            connection.execute(f"CREATE TABLE {name} {_COLUMNS.format('integer', 'integer')}")
            connection.execute("BEGIN")
            for block in _blocks(counts):
                into = f"INSERT INTO {name} VALUES (?, ?, ?)"
                connection.executemany(into, block.iter_rows())
            connection.execute("COMMIT")


def _sqlite(path: Path, query: str) -> Callable[[], object]:
    def job() -> object:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute(query).fetchall()
        return np.fromstring(rows[0][0], np.int64, sep=",") if "concat" in query else rows

    return job


@contextmanager
def in_postgres(m: int) -> Iterator[Place]:
    """Tables in a server that is started for them, and removed."""
    place, server = Place("PostgreSQL", m), postgres.Server()
    try:
        server.start(buffers="128MB")  # the default of PostgreSQL
        with server.connect() as connection:
            for shape, counts in _shuffled(m):
                connection.execute(f"CREATE TABLE {shape} {_COLUMNS.format('bigint', 'bigint')}")
                with connection.cursor().copy(f"COPY {shape} FROM STDIN (FORMAT csv)") as copy:
                    for block in _blocks(counts):
                        copy.write(block.write_csv(include_header=False))
        for shape in SHAPES:
            store = sl.store(server.url(), table=shape.lower(), item="name", count="plays")
            store.prepare()
            place.stores[shape] = store
            place.others[shape] = {
                EXACT: _postgres(server, _BEST.format(shape)),
                SCAN: _postgres(server, _ALL_POSTGRES.format(shape)),
                SUM: _postgres(server, _SUM.format(shape)),
            }
        with server.connect() as connection:
            connection.execute("VACUUM ANALYZE")
            connection.execute("CHECKPOINT")
        yield place
    finally:
        server.remove()


def _postgres(server: postgres.Server, query: str) -> Callable[[], object]:
    def job() -> object:
        with server.connect() as connection, connection.cursor(binary=True) as cursor:
            rows = cursor.execute(query.encode()).fetchall()
        return np.frombuffer(rows[0][0], ">i8").astype(np.int64) if "send" in query else rows

    return job


def in_files(m: int, folder: Path) -> Place:
    """Arrays, mapped from files."""
    place, rng = Place("memory-mapped", m), np.random.default_rng(20260101)
    order = rng.permutation(m)
    np.save(folder / "order.npy", order)
    np.save(folder / "items.npy", np.arange(m))
    for shape, falling in SHAPES.items():
        counts = np.empty(m, np.int64)
        counts[order] = falling(m)
        np.save(folder / f"{shape}.npy", counts)
    del order, counts
    opened = {path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy")}
    for shape in SHAPES:
        held = sl.stores.MemoryStore(opened["items"], opened[shape], order=opened["order"])
        place.stores[shape] = sl.store(held)
        place.others[shape] = {SUM: opened[shape].sum}
    return place
