"""Values that an engine may hold for equal though they differ, and types that are read as text."""

import sqlite3
from contextlib import closing
from functools import partial
from pathlib import Path

import duckdb
import ibis
import polars as pl
import psycopg
import pyarrow as pa
import pytest

import shortlist as sl
from helpers.engine_places import rows_of, sets_of
from helpers.refusals import refusal
from shortlist.engines.tables._postgres import Postgres

ROWS = [("a", "x"), ("A", "x"), ("A", "X"), ("a ", "x"), ("á", "x "), ("a\u0301", "x")]
NAMES = {"user": "person", "item": "title"}


def counted(source):
    """Users' rows as they are told apart."""
    with sets_of(source) as (held, items):
        return rows_of(held, items)


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT"])
def test_texts_are_told_apart_by_their_bytes_in_duckdb(collation):
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE plays (person TEXT COLLATE {collation}, title TEXT COLLATE {collation})"
    )
    connection.executemany("INSERT INTO plays VALUES (?, ?)", ROWS)
    source = sl.pairs(connection.table("plays"), pull=False, **NAMES)
    assert counted(source) == sorted(ROWS)


def test_a_collation_of_the_whole_of_duckdb_changes_nothing():
    connection = duckdb.connect()
    connection.execute(
        "SET default_collation = NOCASE; CREATE TABLE plays (person TEXT, title TEXT)"
    )
    connection.executemany("INSERT INTO plays VALUES (?, ?)", ROWS)
    source = sl.pairs(connection.table("plays"), pull=False, **NAMES)
    assert counted(source) == sorted(ROWS)


def test_what_duckdb_writes_as_text_is_text():
    connection = duckdb.connect()
    connection.execute("CREATE TYPE mood AS ENUM ('low', 'high')")
    connection.execute("CREATE TABLE plays (person UUID, title mood)")
    user = "12345678-1234-1234-1234-123456789abc"
    connection.execute(f"INSERT INTO plays VALUES ('{user}', 'low'), ('{user}', 'high')")
    for pull in (None, False, True):
        source = sl.pairs(connection.table("plays"), pull=pull, **NAMES)
        with sets_of(source) as (held, items):
            names = items(held.counts.nonzero()[0])
            assert sorted(names["title"].to_list()) == ["high", "low"]
            assert held.users_of_size().tolist()[1:] == [0, 1]


EDGES = [0, 1, -1, 2**31 - 1, -(2**31)]  # of 32 bits


@pytest.mark.parametrize("beyond", [[], [2**31], [-(2**31) - 1], [2**63 - 1, -(2**63)]])
def test_numbers_within_and_beyond_32_bits_are_told_apart_in_postgresql(postgres, beyond):
    numbers = EDGES + beyond
    rows = [(user, item) for user in numbers for item in numbers if user != item]
    frame = pl.DataFrame([*rows, *rows[::3]], NAMES.values(), orient="row")
    assert counted(sl.pairs(postgres.table(frame), **NAMES)) == sorted(rows)


def test_small_numbers_of_either_sign_are_told_apart_in_postgresql(postgres):
    rows = [(user, item) for user in (-(2**15), -1, 0, 2**15 - 1) for item in (-7, 0, 2**31 - 1)]
    frame = pl.DataFrame(rows, {"person": pl.Int16, "title": pl.Int32}, orient="row")
    assert counted(sl.pairs(postgres.table(frame), **NAMES)) == sorted(rows)


NEEDED = {
    "text COLLATE loose": "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level1', "
    "deterministic = false)",
    "citext": "CREATE EXTENSION citext",
}


@pytest.mark.parametrize("dtype", ["text COLLATE loose", "text", "varchar(9)", "char(9)", "citext"])
def test_texts_are_told_apart_by_their_bytes_in_postgresql(postgres, dtype):
    native, table = postgres.native, "told_apart"
    native.execute(f"DROP TABLE IF EXISTS {table}")
    try:
        native.execute(NEEDED.get(dtype, "SELECT 1"))
    except psycopg.Error:
        pytest.skip("this server has no such type")
    native.execute(f"CREATE TABLE {table} (person {dtype}, title {dtype})")
    with native.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", ROWS)
    source = sl.pairs(postgres.connection.table(table), **NAMES)
    padded = {tuple(text.rstrip() for text in row) for row in ROWS}
    assert counted(source) == sorted(padded if dtype == "char(9)" else ROWS)


OTHERS = {  # what the server casts to text, and to nothing else that it compares by
    "mood": "CREATE TYPE mood AS ENUM ('low', 'high')",
    "nick": "CREATE DOMAIN nick AS text",
    "feeling": "CREATE DOMAIN feeling AS mood",
    "char(9)": "SELECT 1",
    "name": "SELECT 1",
    "citext": "CREATE EXTENSION citext",
    "uuid": "SELECT 1",
}
_UUID = "12345678-1234-1234-1234-123456789abc"


@pytest.mark.parametrize("dtype", OTHERS)
def test_whatever_is_text_in_postgresql_has_bytes(postgres, dtype):
    """By a cast that is written: no function of texts takes an enum, and Ibis takes it for text."""
    native, value = postgres.native, _UUID if dtype == "uuid" else "low"
    if dtype == "feeling":
        native.execute(OTHERS["mood"])
    try:
        native.execute(OTHERS[dtype])
    except psycopg.Error:
        pytest.skip("this server has no such type")
    native.execute(f"CREATE TABLE of_others AS SELECT '{value}'::{dtype} AS title")
    try:
        column = postgres.connection.table("of_others").title
        key = Postgres(postgres.connection).key(column)
        found = postgres.connection.to_pyarrow(key.name("key").as_table())
        assert found["key"].to_pylist() == [value.encode()]
    finally:
        native.execute(
            "DROP TABLE of_others; DROP DOMAIN IF EXISTS feeling; DROP DOMAIN IF EXISTS nick; "
            "DROP TYPE IF EXISTS mood"
        )


def test_an_enum_of_postgresql_is_answered(postgres):
    native = postgres.native
    native.execute("CREATE TYPE mood AS ENUM ('low', 'high')")
    native.execute(
        "CREATE TABLE felt AS SELECT person, 'low'::mood AS title "
        "FROM generate_series(1, 500) AS person"
    )
    try:
        source = postgres.source_of("felt", **NAMES)
        assert source.domain(epsilon=1.0, delta=1e-6).items == ["low"]
    finally:
        native.execute("DROP TABLE felt; DROP TYPE mood")


@pytest.mark.parametrize("setting", ["hex", "escape"])
def test_keys_are_hashed_apart_however_postgresql_writes_bytes(postgres, setting):
    """User and item are two texts, whichever characters these hold."""
    postgres.native.execute(f"SET bytea_output = '{setting}'")
    rows = pl.DataFrame({"user": ["a", "a|b"], "item": ["b|c", "c"]})
    source = postgres.source(rows)
    dialect = source._engine._in_engine.dialect
    with sets_of(source) as (held, _):
        sets = held.values.sets
        hashed = dialect.hashed((1, 2), sets["value"], [sets["i0"]])
        found = held.scratch.fetch_rows(sets.select(h=hashed))
    assert len(set(found["h"].to_pylist())) == 2


def test_an_engine_to_which_cases_are_equal_is_refused(any_engine, monkeypatch):
    """One that is spoken to through Ibis alone is asked beforehand."""
    native = any_engine.native
    native.execute("CREATE TABLE told (person text, title text)")
    source = any_engine.source_of("told", **NAMES)
    dialect = source._engine._in_engine.dialect
    monkeypatch.setattr(dialect, "fetch", lambda _: pa.table({"n": [3]}))
    said = refusal(lambda: source.domain(epsilon=1.0, delta=1e-6), "takes texts for equal")
    assert "pull=True" in said


@pytest.mark.parametrize("collation", ["NOCASE", "RTRIM"])
@pytest.mark.parametrize("column", ["person", "title"])
def test_a_column_to_which_texts_are_equal_is_refused_whatever_constants_are(
    tmp_path, column, collation
):
    """Else one user more could take an item away from another."""
    path = tmp_path / "plays.db"
    connection = ibis.sqlite.connect(path)
    types = {"person": "TEXT", "title": "TEXT", column: f"TEXT COLLATE {collation}"}
    columns = ", ".join(f"{name} {dtype}" for name, dtype in types.items())
    connection.raw_sql(f"CREATE TABLE plays ({columns})")
    connection.disconnect()
    source = sl.pairs(f"sqlite:///{path}", table="plays", public_items=["Emma"], **NAMES)
    refusal(lambda: source.top_k(1, epsilon=1.0), "takes texts for equal", "pull=True")


def test_a_collation_of_spark_is_refused(spark):
    frame = spark.sql("SELECT 1 AS person, 'a' COLLATE UTF8_LCASE AS title")
    asked = {"epsilon": 1.0, "delta": 1e-6}
    refusal(lambda: sl.pairs(frame, **NAMES).domain(**asked), "UTF8_LCASE", "cast it to STRING")


def test_sqlite_answers_of_public_items_and_cannot_bound(tmp_path):
    path = tmp_path / "plays.db"
    connection = ibis.sqlite.connect(path)
    connection.raw_sql("CREATE TABLE plays (person INTEGER, title TEXT)")
    connection.con.executemany("INSERT INTO plays VALUES (?, 'Emma')", [(i,) for i in range(500)])
    connection.con.commit()
    connection.disconnect()
    url = f"sqlite:///{path}"
    known = sl.pairs(url, table="plays", public_items=["Emma", "Dune"], **NAMES)
    assert known.top_k(1, epsilon=1.0).items == ["Emma"]
    source = sl.pairs(url, table="plays", **NAMES)
    refusal(lambda: source.domain(epsilon=1.0, delta=1e-6), "no hash", "pull=True")
    pulled = sl.pairs(url, table="plays", pull=True, **NAMES)
    assert pulled.domain(epsilon=1.0, delta=1e-6).items == ["Emma"]


def test_a_url_of_sqlite_has_a_path_as_elsewhere_and_makes_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ask = partial(sl.pairs, table="plays", pull=True, **NAMES)
    for url in ("sqlite:///zz.db", f"sqlite:///{tmp_path}/zz.db", "sqlite:///a/zz.db"):
        said = refusal(lambda url=url: ask(url), "there is no such file")
        assert "password" not in said
        assert str(tmp_path) not in said
    assert not list(tmp_path.iterdir())
    assert not Path("/zz.db").exists()
    connection = sqlite3.connect("plays.db")
    connection.execute("CREATE TABLE plays (person INTEGER, title TEXT)")
    connection.executemany("INSERT INTO plays VALUES (?, 'Emma')", [(i,) for i in range(500)])
    connection.commit()
    connection.close()
    for url in ("sqlite:///plays.db", f"sqlite:///{tmp_path}/plays.db"):
        found = ask(url).domain(epsilon=1.0, delta=1e-6).items
        assert found == ["Emma"]
    Path("text.db").write_text("person,title\n")
    refusal(lambda: ask("sqlite:///text.db"), "cannot be opened", "of SQLite")


def test_a_file_of_sqlite_is_only_read(tmp_path):
    path = tmp_path / "plays.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE plays (person INTEGER, title TEXT)")
    path.chmod(0o444)
    known = sl.pairs(f"sqlite:///{path}", table="plays", public_items=["Emma", "Dune"], **NAMES)
    assert len(known.top_k(1, epsilon=1.0)) == 1
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        known._engine._in_engine.rows.get_backend().con.execute("CREATE TABLE more (x)")
