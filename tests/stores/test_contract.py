"""Stores: the same contract kept by arrays, by SQLite and by PostgreSQL."""

import re
import sqlite3
from contextlib import closing

import numpy as np
import psycopg
import pytest

from helpers.databases import ROWS, eventually, rows_of, statement
from helpers.refusals import refusal
from postgres import PASSWORD
from shortlist.stores import Accesses, View

GAPS = [3, 4, 9, 12, 40]


@pytest.fixture
def store(place):
    held = place.store(ROWS)
    held.prepare()
    return held


# The contract


@pytest.mark.parametrize("seed", range(4))
def test_both_accesses_tell_the_table(place, seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 60))
    counts = random.choice([0, 1, 2, 5, 2**62, int(random.integers(2**62))], n).tolist()
    rows = [(f"item {i}", count) for i, count in enumerate(counts)]
    gaps = np.sort(random.choice(4 * n, n, replace=False)) - int(random.integers(n))
    numbers = None if seed == 0 else gaps.tolist()
    store, ids = place.store(rows, numbers=numbers), place.ids(rows, numbers)
    store.prepare()
    with store.snapshot() as view:
        assert isinstance(view, View)
        assert view.size == max(ids) + 1
        assert len(view.costs) == 2
        assert min(view.costs) > 0
        read = rows_of(view, int(random.integers(1, 9)))
        assert [score for _, score in read] == sorted(counts, reverse=True)
        assert dict(read) == dict(zip(ids, counts, strict=True))
        wanted = random.permutation(np.arange(view.size))
        known = dict(read)
        scores = view.random_access(wanted)
        assert scores.dtype == np.int64
        assert scores.tolist() == [known.get(i, -1) for i in wanted.tolist()]
        some = random.permutation(n)[:5]
        named = view.items(np.array(ids)[some])
        assert named.to_series().to_list() == [rows[i][0] for i in some]


def test_random_access_of_nothing_and_of_one_id_twice(store):
    with store.snapshot() as view:
        assert view.random_access(np.empty(0, np.int64)).tolist() == []
        assert view.random_access(np.array([1, 0, 1])).tolist() == [900, 40, 900]
        assert view.items(np.empty(0, np.int64)).height == 0


def test_every_access_is_counted(store):
    assert store.accesses == Accesses(0, 0)
    with store.snapshot() as view:
        view.sorted_access(0, 2)
        view.random_access(np.array([0, 4]))
        view.sorted_access(2, 9)
        view.sorted_access(5, 9)
        view.items(np.array([0]))
        assert (store.accesses.sorted, store.accesses.random) == (5, 2)
    first = store.accesses
    with store.snapshot() as view:
        assert store.accesses == Accesses(0, 0)
        view.random_access(np.array([0]))
    assert store.accesses == Accesses(0, 1)
    assert first == Accesses(5, 2)


def test_sorted_access_goes_on_where_it_ended(store):
    with store.snapshot() as view:
        view.sorted_access(0, 2)
        for start in (0, 1, 3):
            with pytest.raises(ValueError, match="goes on where it ended"):
                view.sorted_access(start, 1)


def test_an_empty_store(place):
    store = place.store([])
    store.prepare()
    with store.snapshot() as view:
        assert view.size == 0
        assert rows_of(view, 3) == []


def test_a_store_says_what_it_is_of(place):
    shown = repr(place.store(ROWS))
    assert re.fullmatch(r"<(Memory|Sqlite|Postgres)Store.*>", shown)
    if "Memory" not in shown:
        assert shown.endswith(': table="items", item="name", count="plays">')
    assert PASSWORD not in shown
    assert "://" not in shown


def test_any_batch_size_is_read(place):
    rows = [(f"{i}", i % 7) for i in range(1000)]
    store = place.store(rows)
    store.prepare()
    with store.snapshot() as view:
        assert len(rows_of(view, 333)) == 1000
        scores = view.random_access(np.arange(1000))
        assert scores.tolist() == [count for _, count in rows]


# Indexes


def test_without_an_index_a_question_is_refused_and_prepare_creates_it(database):
    store = database.store(ROWS)
    before = database.indexes()
    message = refusal(store.rows, 'table="items": count="plays" has no index', "prepare()")
    assert len(database.indexes()) == len(before)
    store.prepare()
    store.prepare()
    assert len(database.indexes()) == len(before) + 1
    with store.snapshot() as view:
        assert view.size == 5
    assert statement(message) in {
        'CREATE INDEX "items by plays" ON "items" ("plays");',
        'CREATE INDEX ON "items" ("plays", "id");',
    }


def test_the_statement_of_the_refusal_creates_the_index(database):
    store = database.store(ROWS)
    database.run(statement(refusal(store.rows)))
    before = database.indexes()
    store.prepare()
    assert database.indexes() == before
    with store.snapshot() as view:
        assert len(rows_of(view, 2)) == 5


HOSTILE = [
    'a "quoted" name',
    "it's",
    "semi; DROP TABLE items; --",
    "100 %s %(x)s $1 ?",
    "été\n日本\t\\x",
    "select",
    "a.b",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_taken_as_they_are(database, name):
    names = {"table": name, "item": f"{name} i", "count": f"{name} c"}
    store = database.store(ROWS, **names)
    database.run(statement(refusal(store.rows)))
    store.prepare()
    with store.snapshot() as view:
        assert rows_of(view, 2)[0] == (1, 900)
        assert view.items(np.array([4])).row(0, named=True) == {f"{name} i": "été 日本"}


@pytest.mark.parametrize("index", ["(plays DESC{})", "(plays{}, name)"])
def test_other_indexes_that_will_do(database, index):
    store = database.store(ROWS)
    key = {"(plays DESC{})": ", id DESC"}.get(index, ", id")
    index = index.format(key if "Postgres" in repr(store) else "")
    database.run(f"CREATE INDEX mine ON items {index}")
    with store.snapshot() as view:
        assert [score for _, score in rows_of(view, 2)] == [900, 40, 40, 7, 0]


SORTS = ["(name, plays)", "(plays) WHERE plays > 3", "((plays + 1))"]
SORTS_IN_POSTGRESQL = ["(plays, name)", "(plays DESC, id)", "(plays NULLS FIRST, id)", "(plays)"]


@pytest.mark.parametrize("index", SORTS)
def test_indexes_that_will_not_do(database, index):
    store = database.store(ROWS)
    database.run(f"CREATE INDEX mine ON items {index}")
    refusal(store.rows, "has no index")


@pytest.mark.parametrize("index", SORTS_IN_POSTGRESQL)
def test_indexes_that_will_not_do_for_postgresql(postgresql, index):
    test_indexes_that_will_not_do(postgresql, index)


def test_an_index_that_was_not_finished(postgresql):
    store = postgresql.store(ROWS)
    store.prepare()
    postgresql.run("UPDATE pg_index SET indisvalid = false FROM pg_class WHERE oid = indexrelid "
                   "AND relname = 'items_plays_id_idx'")  # fmt: skip
    refusal(store.rows, "has no index")


def test_no_row_is_read_but_by_an_index(postgresql):
    store = postgresql.store([(f"item {i}", i * i) for i in range(20_000)])
    store.prepare()
    count = "SELECT seq_scan, seq_tup_read, idx_scan FROM pg_stat_user_tables"

    def counted():
        with closing(postgresql.connect()) as connection:
            connection.execute("SELECT pg_stat_clear_snapshot()")
            return connection.execute(count).fetchone()

    before = counted()
    with store.snapshot() as view:
        view.sorted_access(0, 50)
        view.sorted_access(50, 50)
        assert view.random_access(np.arange(500, 700)).min() >= 0
        view._rows._connection.execute("SELECT pg_stat_force_next_flush()")
    eventually(lambda: counted()[2] > before[2])
    assert counted()[:2] == before[:2]


# One moment, and only reading


def test_what_changes_meanwhile_does_not_show(database):
    store = database.store(ROWS, numbers=GAPS)
    if database.id == "rowid":
        database.run("PRAGMA journal_mode = WAL")
    store.prepare()
    with store.snapshot() as view:
        view.sorted_access(0, 1)
        database.run("DELETE FROM items WHERE name = 'Emma'")
        database.run("UPDATE items SET plays = 10000, name = 'changed' WHERE name = 'Ulysses'")
        database.run(f"INSERT INTO items (name, plays, {database.id}) VALUES ('new', 9999, 77)")
        assert view.size == 38
        rest = view.sorted_access(1, 9)
        assert rest[1].tolist() == [40, 40, 7, 0]
        assert view.random_access(np.array([0, 1, 6, 9, 37])).tolist() == [40, 900, 0, 40, 7]
        assert view.items(np.array([6, 0])).to_series().to_list() == ["Ulysses", "Emma"]
    with store.snapshot() as view:
        assert [score for _, score in rows_of(view, 9)] == [10000, 9999, 900, 40, 7]


def test_a_dropped_table_waits_for_the_question(sqlite):
    store = sqlite.store(ROWS)
    store.prepare()
    with store.snapshot() as view:
        with (
            closing(sqlite3.connect(sqlite.path, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("DROP TABLE items")
        assert len(rows_of(view, 2)) == 5
    sqlite.run("DROP TABLE items")


def test_a_question_cannot_write(database):
    store = database.store(ROWS)
    store.prepare()
    for write in ("DELETE FROM items", "CREATE TABLE more (x int)"):
        refused_by = (sqlite3.OperationalError, psycopg.errors.ReadOnlySqlTransaction)
        with store.snapshot() as view, pytest.raises(refused_by, match=r"read-?only"):
            view._rows._connection.execute(write.encode() if database.id == "id" else write)
    with store.snapshot() as view:
        assert len(rows_of(view, 9)) == 5


def test_a_snapshot_leaves_no_connection(postgresql):
    store = postgresql.store(ROWS)
    store.prepare()
    for _ in range(3):
        with store.snapshot() as view:
            rows_of(view, 2)
    postgresql.run("DROP INDEX items_plays_id_idx")
    refusal(store.rows)
    left = (
        "SELECT FROM pg_stat_activity "
        f"WHERE application_name = 'shortlist' AND datname = '{postgresql.name}'"
    )
    eventually(lambda: not postgresql.run(left))
