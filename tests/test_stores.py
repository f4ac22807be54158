"""Stores: the same contract kept by arrays, by SQLite and by PostgreSQL."""

import re
import sqlite3
from contextlib import closing
from datetime import date
from functools import partial

import numpy as np
import polars as pl
import psycopg
import pytest

import shortlist as sl
from databases import MARKER, ROWS, Postgres, eventually, rows_of, statement
from forms import said
from postgres import PASSWORD
from refusals import refusal, refused
from shortlist.stores import Accesses, MemoryStore, View

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


# Columns and tables


def test_tables_and_columns_that_are_not_there(database):
    database.store(ROWS)
    is_open = database.open
    refusal(lambda: is_open(table="item"), 'table="item" is not a table', 'Did you mean "items"?')
    refusal(lambda: is_open(item="nme"), 'table="items": item="nme" is not a column', '"name"')
    refusal(lambda: is_open(count="play"), 'count="play" is not a column', 'Did you mean "plays"?')
    refusal(lambda: is_open(count="PLAYS"), 'count="PLAYS" is not a column')
    refusal(lambda: is_open(count="name", item="name"), "are the same column")
    database.run("CREATE VIEW seen AS SELECT * FROM items")
    refusal(lambda: is_open(table="seen"), 'table="seen" is a view', "name the table")
    for name in ("", "a\0b", "\ud800"):
        refusal(lambda name=name: is_open(table=name), "table: is empty, or no text that")
    for name in (None, 5, pl.Series([MARKER])):
        assert MARKER not in refusal(lambda name=name: is_open(count=name), "must be its name")


def test_a_table_that_changes_under_the_store(database):
    store = database.store(ROWS)
    store.prepare()
    database.run("ALTER TABLE items RENAME COLUMN plays TO played")
    refusal(store.rows, 'count="plays" is not a column')
    database.run("DROP TABLE items")
    refusal(store.rows, 'table="items" is not a table')


def test_a_schema(postgresql):
    postgresql.run('CREATE SCHEMA "the sales"')
    postgresql.run('CREATE TABLE "the sales"."items.2" (id int PRIMARY KEY, name text, plays int)')
    store = postgresql.open(table="the sales.items.2")
    assert '"the sales"."items.2" ("plays", "id")' in refusal(store.rows)
    store.prepare()
    with store.snapshot() as view:
        assert view.size == 0
    refusal(lambda: postgresql.open(table="the sales.items"), "given as schema.table.")
    refusal(lambda: postgresql.open(table="no.items"), 'table="no.items" is not a table')


def test_a_name_that_the_server_would_cut_off(postgresql):
    whole = "é" * 31 + "x"  # 63 bytes
    for name in (whole, f"s.{whole}"):
        schema = "public" if name == whole else "s"
        postgresql.run(f"CREATE SCHEMA IF NOT EXISTS {schema}")
        postgresql.run(
            f'CREATE TABLE {schema}."{whole}" (id int PRIMARY KEY, name text, plays int)'
        )
        assert postgresql.open(table=name)
        refusal(lambda name=name: postgresql.open(table=f"{name}x"), "is not a table of this")
        refusal(lambda name=name: postgresql.open(table=name, count="p" * 64), "is not a column")
    postgresql.run(f'CREATE TABLE long (id int PRIMARY KEY, "{whole}" text, plays int)')
    refusal(lambda: postgresql.open(table="long", item=f"{whole}y"), "is not a column")


def test_a_schema_with_a_dot(postgresql):
    for schema, table in [("a.b", "t"), ("a.b", "u"), ("a", "b.t"), (".", "."), ("x", ".y.")]:
        postgresql.run(f'CREATE SCHEMA IF NOT EXISTS "{schema}"')
        postgresql.run(
            f'CREATE TABLE "{schema}"."{table}" (id int PRIMARY KEY, name text, plays int)'
        )
    for whole, name in [("a.b.u", '"a.b"."u"'), ("...", '"."."."'), ("x..y.", '"x".".y."')]:
        assert f"ON {name} (" in refusal(postgresql.open(table=whole).rows)
    refusal(lambda: postgresql.open(table="a.b.t"), "names two tables", "search path")
    postgresql.run(f'ALTER DATABASE "{postgresql.name}" SET search_path = "a.b"')
    assert 'ON "t" (' in refusal(postgresql.open(table="t").rows)
    for whole in (".", "a.", ".t", "a.b.", "b.u"):
        refusal(lambda whole=whole: postgresql.open(table=whole), "is not a table")


def made(postgresql, message):
    """The store of the table that the statements of a refusal make."""
    postgresql.run(message.partition("makes: ")[2])
    name = re.search(r'CREATE TABLE "(.*?)" AS', message)[1]
    store = postgresql.open(table=name)
    store.prepare()
    return store


def test_a_materialised_view_says_what_to_make_of_it(postgresql):
    source = postgresql.store(ROWS)
    source.prepare()
    postgresql.run("CREATE MATERIALIZED VIEW seen AS SELECT id, name, plays::text FROM items")
    postgresql.run("CREATE UNIQUE INDEX ON seen (id)")
    refusal(lambda: postgresql.open(table="seen"), "is of type text", "makes: CREATE TABLE")
    postgresql.run("CREATE MATERIALIZED VIEW whole AS SELECT * FROM items ORDER BY id")
    message = refusal(lambda: postgresql.open(table="whole"), "has no ids")
    with made(postgresql, message).snapshot() as view, source.snapshot() as same:
        assert rows_of(view, 2) == rows_of(same, 2)


def test_a_partitioned_table(postgresql):
    source = postgresql.store(ROWS)
    postgresql.run("CREATE TABLE parts (id int NOT NULL, name text, plays int, PRIMARY KEY (id)) "
                   "PARTITION BY RANGE (id)")  # fmt: skip
    for i in range(2):
        postgresql.run(
            f"CREATE TABLE part_{i} PARTITION OF parts FOR VALUES FROM ({3 * i}) TO ({3 * i + 3})"
        )
    postgresql.run("INSERT INTO parts SELECT id, name, plays FROM items")
    store = postgresql.open(table="parts")
    for one in (source, store):
        one.prepare()
    with store.snapshot() as view, source.snapshot() as same:
        assert rows_of(view, 2) == rows_of(same, 2)


@pytest.mark.parametrize("dtype", ["int", "numeric"])
def test_a_partitioned_table_without_ids_says_what_to_make_of_it(postgresql, dtype):
    postgresql.run(f"CREATE TABLE items (name text, plays {dtype}) PARTITION BY HASH (name, plays)")
    postgresql.run("CREATE TABLE whole PARTITION OF items FOR VALUES WITH (MODULUS 1, REMAINDER 0)")
    postgresql.run("INSERT INTO items VALUES ('a', 3), ('b', 5)")
    with made(postgresql, refusal(postgresql.open)).snapshot() as view:
        assert [score for _, score in rows_of(view, 2)] == [5, 3]


def test_a_table_that_others_inherit_from(postgresql):
    store = postgresql.store(ROWS)
    store.prepare()
    postgresql.run("CREATE TABLE more () INHERITS (items)")
    postgresql.run("INSERT INTO more VALUES (1, 'twice', 7)")
    for ask in (store.rows, postgresql.open):
        refusal(ask, 'table="items" has tables that inherit from it')


@pytest.mark.parametrize(
    "table", ["pg_class", "pg_catalog.pg_class", "information_schema.sql_parts"]
)
def test_tables_of_the_server_itself(postgresql, table):
    names = {"table": table, "item": "relname", "count": "relpages"}
    refusal(lambda: postgresql.open(**names), "is the server's own; name a table of yours")


def test_a_database_whose_texts_have_no_known_encoding(postgresql):
    postgresql.run(f'CREATE DATABASE "{postgresql.name}_x" ENCODING SQL_ASCII TEMPLATE template0')
    odd = Postgres.__new__(Postgres)
    odd.server, odd.name = postgresql.server, f"{postgresql.name}_x"
    odd.url = odd.server.url(database=odd.name)
    odd.run("CREATE TABLE items (name int PRIMARY KEY, title text, plays int)")
    odd.open().prepare()
    refusal(lambda: odd.open(item="title"), "of encoding SQL_ASCII", "encoding UTF8")


@pytest.mark.parametrize("value", ["infinity", "4714-11-24 BC"])
def test_a_date_that_no_calendar_has(postgresql, value):
    postgresql.run("CREATE TABLE items (id int PRIMARY KEY, name date, plays int)")
    postgresql.run(f"INSERT INTO items VALUES (1, '{value}', 5), (2, '2024-02-29', 4)")
    store = postgresql.open()
    store.prepare()
    with store.snapshot() as view:
        assert len(rows_of(view, 2)) == 2
        message = refusal(lambda: view.items(np.array([0])), "a value cannot be taken over")
        assert "count the question as spent" in message
        assert value.split("-")[0] not in message


@pytest.mark.parametrize("dtype", ["text", "numeric", "double precision", "boolean", "int[]"])
def test_a_column_of_counts_is_of_an_integer_type(postgresql, dtype):
    postgresql.run(f"CREATE TABLE items (id int PRIMARY KEY, name text, plays {dtype})")
    message = refusal(postgresql.open, f"is of type {dtype.replace('int[', 'integer[')}, and c")
    if dtype in ("boolean", "int[]"):
        assert message.endswith("name a column of integers.")
    else:
        postgresql.run(f"INSERT INTO items VALUES (1, 'a', '{5}')")
        postgresql.run(statement(message))
        store = postgresql.open()
        store.prepare()
        with store.snapshot() as view:
            assert rows_of(view, 1) == [(0, 5)]


@pytest.mark.parametrize("dtype", ["smallint", "integer", "plays", "few"])
def test_integer_types_of_counts(postgresql, dtype):
    postgresql.run("CREATE DOMAIN plays AS integer CHECK (VALUE >= 0)")
    postgresql.run("CREATE DOMAIN fewer AS plays")
    postgresql.run("CREATE DOMAIN few AS fewer")
    postgresql.run(f"CREATE TABLE items (id smallint PRIMARY KEY, name text, plays {dtype})")
    postgresql.run("INSERT INTO items VALUES (7, 'a', 32767), (-3, 'b', 0)")
    store = postgresql.open()
    store.prepare()
    with store.snapshot() as view:
        assert rows_of(view, 1) == [(10, 32767), (0, 0)]


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
        refusal(lambda: view.random_access(np.array([1])), "counts holds a number that is no count")


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


# Arrays


def test_arrays_that_are_mapped_from_files(tmp_path):
    counts = np.random.default_rng(1).integers(0, 100, 1000)
    np.save(tmp_path / "items.npy", np.array([f"item {i}" for i in range(1000)]))
    np.save(tmp_path / "counts.npy", counts)
    mapped = {
        name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("items", "counts")
    }
    store = MemoryStore(**mapped)
    refusal(store.rows, "call prepare() first")
    store.prepare()
    np.save(tmp_path / "order.npy", store.order)
    order = np.load(tmp_path / "order.npy", mmap_mode="r")
    again = MemoryStore(**mapped, order=order)
    assert again._counts is mapped["counts"]
    assert again.order is order
    for one in (store, again):
        with one.snapshot() as view:
            assert sorted(rows_of(view, 99)) == list(enumerate(counts.tolist()))
            assert view.items(np.array([7])).row(0) == ("item 7",)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], [0, 1, 2, 2]])
def test_an_order_holds_every_position_once(order):
    refusal(lambda: MemoryStore(["a", "b", "c"], [3, 2, 1], order=order), "every position")


def test_an_order_falls():
    counts = np.array([3, 2, 1])
    store = MemoryStore(["a", "b", "c"], counts, order=[0, 1, 2])
    counts[2] = 5
    with store.snapshot() as view:
        view.sorted_access(0, 2)
        refusal(lambda: view.sorted_access(2, 1), "not come in falling order")


@pytest.mark.parametrize("counts", [[1.5, 2.0], [True, False], ["1", "2"], [[1, 2]], 5, [1, None]])
def test_counts_in_memory_are_whole_numbers(counts):
    refusal(lambda: MemoryStore(["a", "b"], counts), "counts: must be one array of whole numbers")


@pytest.mark.parametrize("ragged", [[[1], [1, 2]], [1, [2, 3]], [object(), 2], {"a": 1}])
def test_ragged_arrays_are_refused_by_name(ragged):
    refusal(lambda: MemoryStore(["a", "b"], ragged), "counts: must be one array of whole")
    refusal(lambda: MemoryStore(["a", "b"], [1, 2], order=ragged), "order: must be one array")
    refusal(lambda: MemoryStore(ragged, [1, 2]), "items")


def test_masked_arrays_are_refused():
    masked = np.ma.masked_array([5, 7], mask=[False, True])
    refusal(lambda: MemoryStore(["a", "b"], masked), "counts: is a masked array")
    refusal(lambda: MemoryStore(masked, [1, 2]), "items: is a masked array")
    refusal(lambda: MemoryStore(["a", "b"], [1, 2], order=masked), "order: is a masked array")


def objects(*values):
    held = np.empty(len(values), object)
    held[:] = values
    return held


@pytest.mark.parametrize("build", [list, pl.Series, lambda items: objects(*items)])
def test_items_that_could_not_be_named_are_refused_at_once(build):
    for items in (["a", None], [None, "a"], [3, None]):
        refusal(lambda items=items: MemoryStore(build(items), [1, 2]), "items: some are null")
    for items in (["a", "a"], [3, 3], [date(2024, 2, 29)] * 2):
        refusal(lambda items=items: MemoryStore(build(items), [1, 2]), "items: some stand in more")


@pytest.mark.parametrize("items", [["a", 1], [1, "a"], ["a", 1.5], ["a", b"b"], [1, object()]])
def test_every_item_is_looked_at(items):
    for build in (list, lambda items: objects(*items)):
        error = refused(lambda build=build: MemoryStore(build(items), [1, 2]))
        assert str(error).startswith("items: must be one array")
    assert len(MemoryStore(objects("a", "b"), [1, 2])._items) == 2


@pytest.mark.parametrize("items", [[1.5, 2.5], [[1], [2]], [object(), 1], 5, None, [b"a", b"b"]])
def test_items_in_memory_are_of_a_type_that_identifies(items):
    error = refused(lambda: MemoryStore(items, [1, 2]))
    assert re.match("items(: must be one array| and counts: are of diff)", str(error))
    assert error.__cause__ is error.__context__ is None


def test_arrays_of_many_kinds():
    for items in (pl.Series(["a", "b"]), np.array(["a", "b"]), ("a", "b"), np.array([1, 2])):
        for counts in ([1, 2], np.array([1, 2], np.uint8), pl.Series([1, 2]), (1, 2)):
            store = MemoryStore(items, counts)
            store.prepare()
            with store.snapshot() as view:
                assert rows_of(view, 5) == [(1, 2), (0, 1)]
                assert view.items(np.array([1])).to_series().to_list() == [items[1]]
    refusal(lambda: MemoryStore(["a"], [1, 2]), "different lengths")


def test_an_order_of_other_counts_is_refused():
    refusal(lambda: MemoryStore(["a", "b"], [1, 2], order=[0, 1]), "order: is not that of")


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
