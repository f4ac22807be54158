"""Which columns a store in a database can have: counts, items and ids."""

import re
import sqlite3
from contextlib import closing
from datetime import date
from functools import partial

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.databases import ROWS, rows_of, statement
from helpers.forms import said
from helpers.refusals import MARKER, refusal, refused
from shortlist.stores import MemoryStore

# Counts

BAD = {"null": "NULL", "negative": "-918273", "large": str(2**62 + 1)}
BAD_IN_SQLITE = {"text": f"'{MARKER}'", "float": "918273.5", "blob": "x'918273'"}


def refuses_a_bad_count(database, value):
    store = database.store([*ROWS, ("odd", 1)])
    database.run(f"UPDATE items SET plays = {value} WHERE name = 'odd'")
    store.prepare()
    with store.snapshot() as view:
        assert view.random_access(np.arange(5)).tolist() == [count for _, count in ROWS]
        for read in (partial(view.random_access, np.arange(6)), partial(rows_of, view, 10)):
            error = refused(read)
            assert 'table="items": count="plays" holds' in str(error)
            for text in said(error):
                assert not {MARKER, "9182", "odd", str(2**62 + 1)} & {*re.findall(r"[\w-]+", text)}
                assert "9182" not in text


@pytest.mark.parametrize("bad", BAD)
def test_a_bad_count_is_refused_without_a_word_of_it_when_it_is_read(database, bad):
    refuses_a_bad_count(database, BAD[bad])


@pytest.mark.parametrize("bad", BAD_IN_SQLITE)
def test_sqlite_may_hold_any_value(sqlite, bad):
    refuses_a_bad_count(sqlite, BAD_IN_SQLITE[bad])


@pytest.mark.parametrize("bad", [-1, 2**62 + 1])
def test_a_bad_count_in_memory(bad):
    store = MemoryStore(["a", "b"], [5, bad])
    store.prepare()
    with store.snapshot() as view:
        assert view.random_access(np.array([0])).tolist() == [5]
        refusal(
            lambda: view.random_access(np.array([1])), "counts holds a number that is not a count"
        )


# Items


def test_an_item_without_a_name_or_with_two_rows(database):
    store = database.store([*ROWS, (None, 3), ("Emma", 2)])
    store.prepare()
    with store.snapshot() as view:
        assert view.items(np.array([6, 1])).to_series().to_list() == ["Emma", "Dune"]
        assert "Emma" not in refusal(lambda: view.items(np.array([6, 0])), "in more than one row")
        refusal(lambda: view.items(np.array([5, 1])), "a row without an item")


@pytest.mark.parametrize(
    ("dtype", "values", "shown"),
    [
        ("varchar(9)", "'a', 'b'", pl.Series(["a", "b"])),
        ("char(3)", "'a', 'b'", pl.Series(["a", "b"])),
        ("bigint", "-9223372036854775808, 9223372036854775807", pl.Series([-(2**63), 2**63 - 1])),
        ("smallint", "-5, 7", pl.Series([-5, 7], dtype=pl.Int64)),
        ("date", "'2024-02-29', '1999-12-31'", pl.Series([date(2024, 2, 29), date(1999, 12, 31)])),
        ("mood", "'sad', 'glad'", pl.Series(["sad", "glad"])),
        ("uuid", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'",
         pl.Series(["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
                    "b0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"])),
    ],
)  # fmt: skip
def test_types_of_items(postgresql, dtype, values, shown):
    postgresql.run("CREATE TYPE mood AS ENUM ('sad', 'glad')")
    postgresql.run(f"CREATE TABLE items (id int PRIMARY KEY, name {dtype}, plays int)")
    first, second = values.split(", ")
    postgresql.run(f"INSERT INTO items VALUES (1, {first}, 1), (2, {second}, 2)")
    store = postgresql.open()
    store.prepare()
    with store.snapshot() as view:
        assert view.items(np.array([0, 1])).to_series().equals(shown)


@pytest.mark.parametrize("dtype", ["double precision", "bytea", "jsonb", "timestamp", "text[]"])
def test_types_that_identify_no_item(postgresql, dtype):
    postgresql.run(f"CREATE TABLE items (id int PRIMARY KEY, name {dtype}, plays int)")
    refusal(postgresql.open, f'item="name" is of type {dtype}', "identifies no item")


def test_items_in_sqlite_are_of_one_type(sqlite):
    sqlite.run("CREATE TABLE items (name, plays)")
    sqlite.run("INSERT INTO items VALUES (7, 1), (-9223372036854775808, 2), ('a', 3), (1.5, 4)")
    store = sqlite.open()
    store.prepare()
    with store.snapshot() as view:
        assert view.items(np.array([1, 0])).to_series().to_list() == [-(2**63), 7]
        for ids in ([0, 2], [3]):
            refusal(lambda ids=ids: view.items(np.array(ids)), "not all text, nor all integers")


def test_text_and_bytes_in_one_page_are_not_quoted(tmp_path):
    with closing(sqlite3.connect(tmp_path / "mixed.db")) as database:
        database.execute("CREATE TABLE items (name TEXT, plays)")
        database.execute("INSERT INTO items VALUES ('a', 'secret1'), ('b', x'ff9182')")
        database.commit()
    source = sl.store(f"sqlite:///{tmp_path}/mixed.db", table="items", item="name", count="plays")
    source.prepare()
    error = refused(lambda: source.top_k(1, epsilon=1.0))
    assert "secret1" not in str(error)
    assert error.__context__ is None


# Ids


@pytest.mark.parametrize("key", ["PRIMARY KEY (name)", "UNIQUE (name)", "UNIQUE (other)"])
def test_a_table_without_integer_ids_says_how_to_add_them(postgresql, key):
    postgresql.run(f"CREATE TABLE items (name text, plays int, other int, {key})")
    postgresql.run("INSERT INTO items VALUES ('a', 5), ('b', 9)")
    message = refusal(postgresql.open, 'table="items" has no ids')
    kind = "UNIQUE" if "PRIMARY" in key else "PRIMARY KEY"
    assert statement(message) == (
        f'ALTER TABLE "items" ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY {kind};'
    )
    postgresql.run(statement(message))
    store = postgresql.open()
    store.prepare()
    with store.snapshot() as view:
        assert rows_of(view, 3) == [(1, 9), (0, 5)]


def test_a_column_id_of_another_kind(postgresql):
    postgresql.run("CREATE TABLE items (id uuid PRIMARY KEY, name text, plays int)")
    message = refusal(postgresql.open)
    assert "ADD COLUMN shortlist_id bigint" in message
    postgresql.run(statement(message))
    postgresql.open().prepare()


def test_of_several_ids_the_indexed_and_then_the_densest_are_taken(postgresql):
    postgresql.run("CREATE TABLE items (name bigint UNIQUE NOT NULL, id serial PRIMARY KEY, "
                   "plays int, half int)")  # fmt: skip
    postgresql.run("CREATE UNIQUE INDEX ON items (half) WHERE half > 0")
    postgresql.run("INSERT INTO items VALUES (7, 5, 1), (8, 9, 2), (9, 6, 3)")
    store = postgresql.open()
    assert statement(refusal(store.rows)).endswith('("plays", "name");')
    postgresql.run("CREATE INDEX ON items (plays, id)")
    with store.snapshot() as view:
        assert view.size == 5
        assert view.items(np.array([4])).to_series().to_list() == [8]
    postgresql.run(f"INSERT INTO items VALUES ({2**63 - 1}, 10, 7)")
    with store.snapshot() as view:
        assert view.size == 6


def test_ids_that_span_too_much(database):
    if database.id == "rowid":
        store = database.store(ROWS[:2], numbers=[-(2**63), 2**63 - 1])
        store.prepare()
        message = refusal(store.rows, "span more than 2^32")
        database.statements(message.partition("makes: ")[2])
        store = database.open(table="items_numbered")
    else:
        store = database.store(ROWS[:2], numbers=[-(2**63), 2**63 - 1])
        message = refusal(store.rows, "span more than 2^32", "shortlist_id")
        database.run(statement(message))
    store.prepare()
    with store.snapshot() as view:
        assert rows_of(view, 3) == [(1, 900), (0, 40)]


def test_a_table_without_row_numbers(sqlite):
    sqlite.run("CREATE TABLE items (name TEXT PRIMARY KEY, plays) WITHOUT ROWID")
    sqlite.run("INSERT INTO items VALUES ('a', 5), ('b', 9)")
    message = refusal(sqlite.open, "WITHOUT ROWID")
    sqlite.statements(message.partition("makes: ")[2])
    store = sqlite.open(table="items_numbered")
    store.prepare()
    with store.snapshot() as view:
        assert rows_of(view, 3) == [(1, 9), (0, 5)]


def test_columns_with_the_names_of_row_numbers(sqlite):
    sqlite.run("CREATE TABLE items (rowid TEXT, _ROWID_ TEXT, name TEXT, plays, key, value)")
    sqlite.run("INSERT INTO items VALUES ('x', 'y', 'a', 5, 1, 1), ('x', 'y', 'b', 9, 1, 1)")
    for item in ("name", "key"):
        store = sqlite.open(item=item)
        store.prepare()
        with store.snapshot() as view:
            assert rows_of(view, 3) == [(1, 9), (0, 5)]
            assert view.items(np.array([1])).row(0) == {"name": ("b",), "key": (1,)}[item]
    sqlite.run("ALTER TABLE items ADD COLUMN oid")
    refusal(sqlite.open, "has no row numbers")


def test_a_key_called_id_and_a_trigger_called_as_its_table(tmp_path):
    with closing(sqlite3.connect(tmp_path / "keys.db")) as database:
        database.execute("CREATE TABLE items (id TEXT PRIMARY KEY, plays) WITHOUT ROWID")
        database.execute("INSERT INTO items VALUES ('a', 9), ('b', 7)")
        database.execute("CREATE TRIGGER items AFTER INSERT ON items BEGIN SELECT 1; END")
        database.commit()
    url = f"sqlite:///{tmp_path}/keys.db"
    message = refusal(lambda: sl.store(url, table="items", item="id", count="plays"), "no row num")
    with closing(sqlite3.connect(tmp_path / "keys.db")) as database:
        database.executescript(message.partition("makes: ")[2])
    source = sl.store(url, table="items_numbered", item="id", count="plays")
    source.prepare()
    assert source.top_k(1, epsilon=50.0).items == ["a"]
