"""Types of databases that Ibis does not tell, or by which it would read values as others."""

import contextlib
import itertools
import sqlite3

import psycopg
import pytest

import shortlist as sl
from helpers import engine_places
from helpers.engine_places import sets_of
from helpers.refusals import refusal
from shortlist.errors import SPENT

_NUMBERS = itertools.count(1)
NAMES = {"user": "person", "item": "title"}
OVER = {  # what domains are over: three values, and what these are read as
    "text": (["a", "b ", "a"], ["a", "b ", "a"]),
    "varchar(9)": (["a", "b ", "a"], ["a", "b ", "a"]),
    "char(9)": (["a", "b ", "a "], ["a", "b", "a"]),
    "mood": (["low", "high", "low"], ["low", "high", "low"]),
    "citext": (["a", "A", "a"], ["a", "A", "a"]),
    "integer": ([7, 8, 7], [7, 8, 7]),
    "bigint": ([7, 2**60, 7], [7, 2**60, 7]),
    "numeric(9, 0)": ([7, 8, 7], [7, 8, 7]),
    "float8": ([7.0, 8.0, 7.0], [7, 8, 7]),
    "boolean": ([True, False, True], ["true", "false", "true"]),
    "bytea": ([b"a", b"b", b"a"], ["61", "62", "61"]),
}


def held_by(pull, **table):
    """How many users hold which item, and how many items each user holds."""
    with sets_of(sl.pairs(**table, **NAMES, pull=pull)) as (held, named):
        codes = held.counts.nonzero()[0]
        sizes = enumerate(held.users_of_size().tolist())
        return (
            dict(zip(named(codes)["title"].to_list(), held.counts[codes].tolist(), strict=True)),
            [size for size, n in sizes for _ in range(n) if size],
        )


# PostgreSQL


@pytest.fixture
def table_of(server):
    """A table in PostgreSQL, of users and items of these types."""
    place, schema = engine_places.Postgres(server), f"made_{next(_NUMBERS)}"
    run = place.native.execute
    run(f"CREATE SCHEMA {schema}")
    run(f"SET search_path = {schema}, public")
    run("CREATE TYPE mood AS ENUM ('high', 'low')")

    def table_of(person, title, rows, *declared):
        try:
            for statement in declared:
                run(statement)
        except psycopg.Error:
            pytest.skip("this server has no such type")
        run(f"CREATE TABLE held (person {person}, title {title})")
        with place.native.cursor() as cursor:
            cursor.executemany("INSERT INTO held VALUES (%s, %s)", rows)
        return {"data": place.connection.table("held", database=schema)}

    yield table_of
    run(f"DROP SCHEMA {schema} CASCADE")
    place.native.close()


@pytest.mark.parametrize("over", OVER)
def test_a_domain_holds_what_the_type_holds_that_it_is_over(table_of, over):
    values, read = OVER[over]
    declared = f"CREATE DOMAIN under AS {over}", "CREATE DOMAIN own AS under"
    table = table_of("under", "own", list(zip(values, values, strict=True)), *declared)
    counts = dict.fromkeys(read, 1)
    assert held_by(False, **table) == held_by(True, **table) == (counts, [1] * len(counts))


@pytest.mark.parametrize("pull", [False, True])
@pytest.mark.parametrize("null", ["", " NOT NULL"])
def test_the_padding_of_char_is_no_part_of_the_value(table_of, null, pull):
    rows = [("a", "x  "), ("a ", "x"), ("b", " y")]
    table = table_of(f"char(9){null}", f"char(5){null}", rows)
    assert held_by(pull, **table) == ({"x": 1, " y": 1}, [1, 1])


def test_a_domain_over_what_identifies_nothing_is_refused(table_of):
    table = table_of("integer", "own", [], "CREATE DOMAIN own AS inet")
    refusal(lambda: sl.pairs(**table, **NAMES), 'item="title"', "type that is not known")


def test_what_the_server_refuses_is_refused_when_it_is_asked(table_of):
    table = table_of("integer", "text", [(1, "a")])
    table["data"].get_backend().raw_sql("DROP TABLE held").close()
    source = sl.pairs(**table, **NAMES)
    refusal(lambda: source.domain(epsilon=1.0, delta=1e-6), "no such table")


# SQLite, of which any column holds values of any type


@pytest.fixture
def column_of(tmp_path):
    """A table in SQLite, of a column of this type and one of numbers from 0 on."""

    def column_of(role, declared, values):
        path = tmp_path / f"{next(_NUMBERS)}.db"
        other = "title" if role == "person" else "person"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute(f"CREATE TABLE held ({role} {declared}, {other} INTEGER)")
            rows = [(value, number) for number, value in enumerate(values)]
            connection.executemany("INSERT INTO held VALUES (?, ?)", rows)
            connection.commit()
        return {"data": f"sqlite:///{path}", "table": "held"}

    return column_of


@pytest.mark.parametrize("pull", [False, True])
def test_a_boolean_of_sqlite_that_is_neither_is_a_value_of_its_own(column_of, pull):
    values = [0, 1, 2, -1, 0.5, "true", "x", None]
    read = ["false", "true", "2", "-1", "0.5", "x"]
    counts, sizes = held_by(pull, **column_of("title", "BOOLEAN", values))
    assert (counts, sizes) == ({name: 1 + (name == "true") for name in read}, [1] * 7)
    _, sizes = held_by(pull, **column_of("person", "BOOLEAN", values))
    assert sizes == [1, 1, 1, 1, 1, 2]


@pytest.mark.parametrize("declared", ["INTEGER", "DECIMAL(10, 0)", ""])
@pytest.mark.parametrize("role", ["person", "title"])
def test_a_number_of_sqlite_that_is_not_whole_is_never_another(column_of, role, declared):
    table = column_of(role, declared, [1, 1.5, 2])
    _, sizes = held_by(False, **table)
    assert sizes == [1, 1, 1]
    pulled = sl.pairs(**table, **NAMES, pull=True)
    refusal(lambda: pulled.domain(epsilon=1.0, delta=1e-6), "another type than its column", SPENT)
    counts, _ = held_by(True, **column_of("title", declared, [1, 7, None]))
    assert counts == {1: 1, 7: 1}


@pytest.mark.parametrize("pull", [False, True])
@pytest.mark.parametrize("role", ["person", "title"])
def test_binary_values_of_sqlite_are_digits(column_of, role, pull):
    counts, sizes = held_by(pull, **column_of(role, "BLOB", [b"\xaa\x0b", b"a", b"a"]))
    read = {"aa0b": 1, "61": 2} if role == "title" else dict.fromkeys(range(3), 1)
    assert (counts, sizes) == (read, [1, 1, 1] if role == "title" else [1, 2])


@pytest.mark.parametrize("declared", ["VARCHAR(3)", "VARCHAR(3) NOT NULL"])
def test_texts_of_sqlite_of_whatever_length_are_public_items(column_of, declared):
    table = column_of("title", declared, ["abcdef"] * 300)
    source = sl.pairs(**table, **NAMES, public_items=["abcdef", "abc"])
    assert source.top_k(1, epsilon=5.0).items == ["abcdef"]
