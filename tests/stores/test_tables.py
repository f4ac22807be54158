"""Which tables can be a store: their names, their kinds and their columns."""

import re

import numpy as np
import polars as pl
import pytest

from helpers.databases import ROWS, Postgres, rows_of, statement
from helpers.refusals import MARKER, refusal
from shortlist.errors import SPENT

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
        assert message.endswith(SPENT)
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
