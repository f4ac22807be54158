"""A table is known again only if all that it is made of can be told; all else is asked anew."""

import os
import sqlite3
from contextlib import closing

import duckdb
import polars as pl
import pyarrow.dataset as ds
import pytest

import shortlist as sl
from helpers.budgets import answered, created

FRAME = pl.DataFrame({"user": range(600), "item": "a", "other": "b"})
ASK = {"epsilon": 0.3, "delta": 1e-8}


@pytest.fixture
def budget(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.write_parquet("a.parquet")
    FRAME.with_columns(item=pl.lit("b")).write_parquet("b.parquet")
    return created(path, epsilon=20.0, delta=1e-5)


def is_known(budget, data, **more):
    """Whether the answer is one that was given before."""
    return answered(budget, data, **more)[1] is not None


def answers(budget, data, **more):
    return answered(budget, data, **more)[0]


# --- files


def test_an_encoding_is_a_part_of_it(budget, tmp_path):
    path = tmp_path / "l.csv"
    path.write_bytes(b"user,item\n" + b"".join(b"%d,caf\xe9\xa4\n" % user for user in range(600)))
    assert answers(budget, path, encoding="latin1") == {"café¤"}
    assert answers(budget, path, encoding="iso8859-15") == {"café€"}
    assert is_known(budget, path, encoding="latin1")


def test_a_separator_is_a_part_of_it(budget, tmp_path):
    path = tmp_path / "s.csv"
    rows = "".join(f"{user};a,b;c,{user}\n" for user in range(600))
    path.write_text("user;item,x;y,user\n" + rows)
    path.write_text(
        "a|b,user;item|user;item,c\n" + "".join(f"1|2,{u};x|{u};y,3\n" for u in range(600))
    )
    names = {"user": "a|b", "item": "user;item|user;item"}
    parts = [
        sl.pairs(path, budget=budget, separator=",", **names).plan(sl.Domain(), **ASK),
        sl.pairs(path, budget=budget, separator="|", user="a", item="user;item,c").plan(
            sl.Domain(), **ASK
        ),
    ]
    first, second = (plan.engine.identity() for plan in parts)
    assert first != second


def test_a_file_in_its_place_of_the_same_size_and_time_is_another(budget, tmp_path):
    files = tmp_path / "a.csv", tmp_path / "b.csv"
    for item, file in zip("ab", files, strict=True):
        file.write_text("user,item\n" + "".join(f"{user},{item}\n" for user in range(600)))
        os.utime(file, ns=(0, 0))
    assert answers(budget, files[0]) == {"a"}
    assert is_known(budget, files[0])
    files[1].replace(files[0])
    assert answers(budget, files[0]) == {"b"}


def test_a_filter_of_a_dataset_makes_another(budget):
    data = ds.dataset("a.parquet")
    assert answers(budget, data) == {"a"}
    assert is_known(budget, ds.dataset("a.parquet"))
    assert answers(budget, data.filter(ds.field("user") < 0)) == set()


@pytest.mark.parametrize("name", ["x.csv", "x.parquet", "sqlite:///x.db", "duckdb:///x.duckdb"])
def test_a_path_means_the_file_that_it_meant_first(budget, tmp_path, monkeypatch, name):
    """Whatever folder one works in when a question is asked."""
    for item in "ab":
        (tmp_path / item).mkdir()
        monkeypatch.chdir(tmp_path / item)
        frame = FRAME.with_columns(item=pl.lit(item))
        frame.write_csv("x.csv")
        frame.write_parquet("x.parquet")
        with closing(sqlite3.connect("x.db")) as native:
            native.execute("CREATE TABLE plays (user INTEGER, item TEXT)")
            native.executemany("INSERT INTO plays VALUES (?, ?)", frame[["user", "item"]].rows())
            native.commit()
        with closing(duckdb.connect("x.duckdb")) as native:
            native.execute("CREATE TABLE plays AS FROM 'x.parquet'")
    monkeypatch.chdir(tmp_path / "a")
    more = {"table": "plays", "pull": True} if "://" in name else {}
    source = sl.pairs(name, user="user", item="item", budget=budget, **more)
    monkeypatch.chdir(tmp_path / "b")
    assert set(source.domain(**ASK)) == {"a"}
    assert answers(budget, name, **more) == {"b"}
    monkeypatch.chdir(tmp_path / "a")
    assert is_known(budget, name, **more)


# --- lazy frames of Polars


def test_what_is_in_memory_behind_a_lazy_frame_makes_another(budget):
    for item in "ab":
        held = pl.LazyFrame({"user": range(600), "item": item})
        assert answers(budget, held) == {item}
        joined = pl.scan_parquet("a.parquet").drop("item").join(held, on="user")
        assert answers(budget, joined) == {item}


def test_functions_of_python_and_cut_lists_make_another(budget):
    scan = pl.scan_parquet("a.parquet")
    assert not is_known(budget, scan)
    assert is_known(budget, pl.scan_parquet("a.parquet"))
    for item in "xy":

        def named(frame, item=item):
            return frame.with_columns(item=pl.lit(item))

        assert answers(budget, scan.map_batches(named)) == {item}
        users = [599, *range(300), *([] if item == "x" else range(300, 599))]
        assert not is_known(budget, scan.filter(pl.col("user").is_in(users)))
        assert not is_known(budget, pl.scan_parquet([f"{name}.parquet" for name in "ab"] * 20))


# --- tables of SQLite


def test_what_waits_beside_a_file_of_sqlite_makes_another(budget):
    with closing(sqlite3.connect("x.db")) as native:
        native.execute("PRAGMA journal_mode = wal")
        native.execute("CREATE TABLE plays (user INTEGER, item TEXT)")
        for item in "ab":
            native.execute("DELETE FROM plays")
            rows = ((user, item) for user in range(600))
            native.executemany("INSERT INTO plays VALUES (?, ?)", rows)
            native.commit()
            url = "sqlite:///x.db"
            assert answers(budget, url, table="plays", pull=True) == {item}
        assert is_known(budget, url, table="plays", pull=True)


# --- tables of DuckDB


@pytest.fixture
def native(budget, tmp_path):  # noqa: ARG001 - it is in its folder
    with closing(duckdb.connect(tmp_path / "plays.duckdb")) as connection:
        connection.execute("CREATE TABLE plays AS FROM 'a.parquet'")
        connection.execute("CREATE TABLE others AS FROM 'b.parquet'")
        yield connection


def view(kind, table):
    return f"CREATE OR REPLACE {kind} AS FROM {table}"


PASSING = {
    "temporary table": (view("TEMP TABLE held", "{}"), "FROM held"),
    "temporary view": (view("TEMP VIEW held", "{}"), "FROM held"),
    "macro of tables": ("CREATE OR REPLACE MACRO held() AS TABLE FROM {}", "FROM held()"),
    "macro": (
        "CREATE OR REPLACE MACRO held(user) AS (SELECT min(item) FROM {})",
        "SELECT user, held(1) AS item FROM plays",
    ),
    "variable": (
        "SET VARIABLE held = (SELECT min(item) FROM {})",
        "SELECT user, getvariable('held') AS item FROM plays",
    ),
}


@pytest.mark.parametrize("form", PASSING)
def test_what_one_connection_has_makes_another(budget, native, form):
    made, query = PASSING[form]
    for table, item in (("plays", "a"), ("others", "b")):
        native.execute(made.format(table))
        assert answers(budget, native.sql(query)) == {item}


def test_registered_objects_make_another(budget, native):
    for item in "ab":
        native.register("held", pl.DataFrame({"user": range(600), "item": item}))
        assert answers(budget, native.table("held")) == {item}
        native.unregister("held")


def test_what_is_not_committed_makes_another(budget, native):
    assert answers(budget, native.table("plays")) == {"a"}
    assert is_known(budget, native.table("plays"))
    native.execute("BEGIN")
    native.execute("UPDATE plays SET item = 'z'")
    assert answers(budget, native.table("plays")) == {"z"}
    native.execute("ROLLBACK")
    assert answers(budget, native.table("plays")) == {"a"}


def test_files_are_known_in_views_of_views(budget, native):
    FRAME.write_parquet("read.parquet")
    native.execute("CREATE VIEW first AS FROM read_parquet(['read.parquet'])")
    native.execute("CREATE VIEW second AS WITH held AS (FROM first) FROM held WHERE user >= 0")
    assert not is_known(budget, native.table("second"))
    assert is_known(budget, native.table("second"))
    FRAME.with_columns(item=pl.lit("y")).write_parquet("read.parquet")
    assert answers(budget, native.table("second")) == {"y"}


@pytest.mark.parametrize(
    "query",
    [
        "SELECT user, CASE WHEN random() < 2 THEN item END AS item FROM plays",
        "SELECT user, item FROM plays WHERE now() IS NOT NULL",
        "SELECT user, item FROM plays WHERE current_date IS NOT NULL",
        "SELECT p.user, p.item FROM plays p, glob('*.parquet') g WHERE g.file LIKE '%a.parquet'",
    ],
)
def test_functions_that_we_do_not_know_make_another(budget, native, query):
    assert not is_known(budget, native.sql(query))
    assert not is_known(budget, native.sql(query))


# --- tables of PostgreSQL


def test_views_and_renamed_columns_of_postgresql_make_another(budget, postgresql):
    postgresql.run(
        """CREATE TABLE plays AS SELECT i AS "user", 'a'::text AS item, 'b'::text AS other
        FROM generate_series(1, 600) AS i"""
    )
    for column in ("item", "other"):
        postgresql.run("DROP VIEW IF EXISTS seen")
        postgresql.run(f'CREATE VIEW seen AS SELECT "user", {column} AS item FROM plays')
        held = answers(budget, postgresql.url, table="seen", as_of="now")
        assert held == {"a" if column == "item" else "b"}
    assert answers(budget, postgresql.url, table="plays", as_of="now") == {"a"}
    assert is_known(budget, postgresql.url, table="plays", as_of="now")
    postgresql.run("ALTER TABLE plays RENAME COLUMN item TO former")
    postgresql.run("ALTER TABLE plays RENAME COLUMN other TO item")
    assert answers(budget, postgresql.url, table="plays", as_of="now") == {"b"}
