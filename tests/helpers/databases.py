"""Places that can hold a store: the same tests run against each of them."""

import contextlib
import re
import sqlite3
import time

import numpy as np

from shortlist import stores
from shortlist.databases.quoting import quoted
from shortlist.stores import open_store

ROWS = [("Emma", 40), ("Dune", 900), ("Ulysses", 0), ("Watt", 40), ("été 日本", 7)]
NAMES = {"table": "items", "item": "name", "count": "plays"}


class Memory:
    """Arrays, which know no gaps."""

    def store(self, rows, **_):
        items, counts = zip(*rows, strict=True) if rows else ((), ())
        return stores.MemoryStore(list(items), list(counts))

    def ids(self, rows, _):
        return list(range(len(rows)))


class Database:
    """A database that tests write to by connections of their own."""

    def store(self, rows, *, numbers=None, **names):
        """A new table of items and counts, whose rows may have numbers of their own."""
        names = NAMES | names
        self.fill(rows, numbers, **names)
        return self.open(**names)

    def open(self, **names):
        return open_store(self.url, **(NAMES | names))

    def ids(self, rows, numbers):
        """The ids of the rows in the view."""
        numbers = numbers or range(len(rows))
        return [number - min(numbers) for number in numbers]

    def fill(self, rows, numbers=None, *, table, item, count):
        name, item, count = map(quoted, (table, item, count))
        self.run(f"CREATE TABLE {name} ({self.key}, {item} TEXT, {count} {self.whole})")
        into = f"INSERT INTO {name} ({self.id}, {item}, {count}) VALUES "
        numbered = zip(numbers or range(1, len(rows) + 1), rows, strict=True)
        with contextlib.closing(self.connect()) as connection:
            values = [(number, *row) for number, row in numbered]
            connection.execute("BEGIN")
            connection.cursor().executemany(self.escaped(into) + self.holes, values)
            connection.execute("COMMIT")

    def run(self, statement):
        with contextlib.closing(self.connect()) as connection:
            result = connection.execute(statement)
            return result.fetchall() if result.description else None


class Sqlite(Database):
    key, id, whole, holes = "other TEXT", "rowid", "INTEGER", "(?, ?, ?)"

    def __init__(self, path):
        self.path, self.url = path, f"sqlite:///{path}"

    def escaped(self, statement):
        return statement

    def connect(self):
        return sqlite3.connect(self.path, isolation_level=None)

    def statements(self, text):
        with contextlib.closing(self.connect()) as connection:
            connection.executescript(text)

    def indexes(self):
        return self.run("SELECT name FROM sqlite_schema WHERE type = 'index'")


class Postgres(Database):
    key, id, whole, holes = "id bigint PRIMARY KEY", "id", "BIGINT", "(%s, %s, %s)"

    def __init__(self, server, name):
        self.server, self.name, self.url = server, name, server.url(database=name)
        with server.connect() as connection:
            connection.execute(f'CREATE DATABASE "{name}" STRATEGY file_copy')

    def escaped(self, statement):
        return statement.replace("%", "%%")

    def connect(self):
        return self.server.connect(self.name)

    def statements(self, text):
        self.run(text)

    def indexes(self):
        return self.run("SELECT indexname FROM pg_indexes WHERE schemaname = 'public'")


def rows_of(view, page):
    """All rows that sorted access gives, so many at a time."""
    rows, ids = [], None
    while ids is None or len(ids) == page:
        ids, scores = view.sorted_access(len(rows), page)
        assert ids.dtype == scores.dtype == np.int64
        rows += zip(ids.tolist(), scores.tolist(), strict=True)
    return rows


def statement(message):
    """What a refusal says to run."""
    return re.search(r"((?:CREATE|ALTER) .*;)$", message, re.DOTALL)[1]


def eventually(holds):
    """Wait until it holds, which the server may be late to know."""
    for _ in range(400):
        if holds():
            return
        time.sleep(0.05)
    raise TimeoutError
