"""A filter keeps the same rows wherever they lie."""

import polars as pl
import pytest

import shortlist as sl
from helpers import engine_places
from helpers.engine_places import rows_of, sets_of
from helpers.filter_rows import ROWS, frame
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables._dialect import Dialect
from shortlist.mechanisms import WeightedGaussian
from shortlist.table import open_table

FILTERS = [
    "t = 'NO'",
    "t <> 'NO'",
    "t < u",
    "t >= 'a'",
    "t > 'Z' and t <= 'ü'",
    "t in ('it''s', '\\', '', 'NO ')",
    "t not in ('NO', 'no')",
    "t between 'N' and 'a'",
    "t is null or u is null",
    "t like '%'",
    "t like '_'",
    "t like 'a__'",
    "t like 'N%'",
    "t not like '%O%'",
    "t like '_🦆'",
    "t like '[x]'",
    "try_cast(c as bigint) >= -7",
    "try_cast(c as bigint) is null",
    "try_cast(c as bigint) in (7, 999999999999999999)",
    "not try_cast(c as bigint) = 7",
    "try_cast(y as date) >= date '2026-11-01'",
    "try_cast(y as date) in (date '2026-10-31', date '2026-11-01')",
    "not try_cast(y as date) < date '2026-11-02'",
    "try_cast(y as date) is null",
    "try_cast(d as date) < date '2026-11-01'",
    "n > 0",
    "n = 9007199254740993",
    "n between -1 and 7",
    "n not in (0, 1)",
    "x > 0.1",
    "x = 0",
    "x is null",
    "not x < 1",
    "x >= 1e300",
    "f > 0.1",
    "f < 0.5 or f is null",
    "f < x",
    "d >= date '2026-11-01'",
    "d in (date '0001-01-01', date '9999-12-31')",
    "b",
    "not b",
    "b <> true",
    "b is null",
    "b and n > 0 or not (b or x > 1)",
    "not (t = 'NO' and n > 0)",
    '"my col" = \'no\' or "my col" is null',
    "user < 7 and item <> 3",
    "n + 1 > 0",
    "n - -9223372036854775807 = 9223372036854775807",
    "n * n < 50",
    "n * 2 = 14 or n * -1 = 9223372036854775807",
    "-n < 0",
    "(n + n) - n is null",
    "n / 2 = 3.5",
    "7 / n = 1",
    "n / (n - 1) is null",
    "n / 3 * 3 = n * 1.0",
    "abs(n) <= 7",
    "n * 0.1 > 0.5",
    "x * x >= 0",
    "x + 1 <= 1.5",
    "x - f = 0",
    "1 / x is null",
    "x / f > 1",
    "-x >= 0",
    "abs(x) > 1",
    "(f + 1) / (x + 1) * 3 - 1 > 0.5",
    "length(t) = 2",
    "length(u) * n < 0",
    "substring(t, 2, 1) = '🦆'",
    "substring(t, 1, 2) in ('NO', 'ü🦆', '50')",
    "substring(t, 3, 9) = ''",
    "substring(substring(u, 2, 9), 1, 1) like '_'",
    "starts_with(t, '50%')",
    "starts_with(t, 'N')",
    "coalesce(t, 'x') = 'x'",
    "coalesce(t, u) = u",
    "length(coalesce(t, u, '')) = 0",
    "coalesce(n, 7) = 7",
    "coalesce(x, 0.5) <= 0.5",
    "coalesce(d, date '2026-11-01') = date '2026-11-01'",
    "coalesce(b, false)",
    "coalesce(try_cast(c as bigint), n) > 6",
    "year(d) = 2026",
    "month(d) > 10 and day(d) = 1",
    "year(try_cast(y as date)) < 2027 and month(try_cast(y as date)) in (10, 99)",
    "day(try_cast(y as date)) = 1",
    "try_cast(z as double) > 0.1",
    "try_cast(z as double) = 0",
    "try_cast(z as double) * 2 in (0.2, 1.0, 2e18)",
    "try_cast(z as double) is null",
]
OF_TIMES = [
    "s > timestamp '2026-11-01 06:30:00'",
    "s = timestamp '2026-11-01 06:30:00.000001'",
    "s >= date '2026-11-01'",
    "s < date '9999-12-31'",
    "s is null",
    "try_cast(s as date) between date '2026-10-31' and date '2026-11-01'",
    "year(s) = 2026 and day(s) = 1",
    "year(s) < 2000",
    "coalesce(s, timestamp '2026-11-01 00:00:00') = date '2026-11-01'",
]
UNSIGNED = ["w"]  # which PostgreSQL and Spark have not


def rows():
    return frame().drop(UNSIGNED)


def in_memory(held, where):
    _, items = open_table(held, user="user", items=["item"], where=where).pairs()
    return sorted(items.take(items.codes)["item"].to_list())


def kept(source):
    with sets_of(source) as (held, items):
        return sorted(row[-1] for row in rows_of(held, items))


def kept_there(source):
    """What the engine itself keeps, by one query."""
    table = source._engine._in_engine
    with table.asking() as scratch:
        return sorted(scratch.fetch(table.rows.select("item"))["item"].tolist())


def test_each_filter_keeps_the_same_rows_everywhere(place):
    held = rows().drop("s")
    data = place.table(held)
    for n, where in enumerate(FILTERS):
        expected = in_memory(held, where)
        assert 0 < len(expected) < len(ROWS) or where == "t like '%'", where
        if data is held:
            continue
        source = sl.pairs(data, user="user", item="item", where=where)
        assert kept_there(source) == expected, where
        if n % 7 == 0:
            pulled = sl.pairs(data, user="user", item="item", where=where, pull=True)
            assert kept(pulled) == expected, where


@pytest.mark.parametrize("pull", [None, True, False])
def test_a_question_is_answered_of_these_rows(pull):
    place = engine_places.DuckDB()
    for where in FILTERS[:2]:
        source = place.source(rows(), where=where, pull=pull)
        assert kept(source) == in_memory(rows(), where)


@pytest.mark.parametrize("kind", ["duckdb", "relation", "postgresql"])
def test_times_are_compared_to_the_microsecond(kind, request):
    place = {
        "duckdb": engine_places.DuckDB,
        "relation": engine_places.Relation,
        "postgresql": lambda: request.getfixturevalue("postgres"),
    }[kind]()
    data = place.table(rows())
    for where in OF_TIMES:
        source = sl.pairs(data, user="user", item="item", where=where)
        assert kept_there(source) == in_memory(rows(), where), where


def test_times_without_a_zone_are_none_of_the_session_in_spark(spark):
    held = rows().with_columns(pl.col("s").dt.to_string("%Y-%m-%d %H:%M:%S%.6f"))
    frame = engine_places.Spark(spark).table(held)
    data = frame.selectExpr("user", "item", "to_timestamp_ntz(s) AS s")
    for where in OF_TIMES:
        source = sl.pairs(data, user="user", item="item", where=where)
        assert kept_there(source) == in_memory(rows(), where)


def test_a_collation_decides_nothing():
    place = engine_places.DuckDB()
    name = place.table(rows()).get_name()
    place.native.execute(f"ALTER TABLE {name} ALTER COLUMN t TYPE VARCHAR COLLATE NOCASE")
    table = place.connection.table(name)
    for where in ("t = 'no'", "t in ('no')", "t < 'a'", "t like 'n%'", "t <> u"):
        source = sl.pairs(table, user="user", item="item", where=where, pull=False)
        assert kept(source) == in_memory(rows(), where), where


def test_users_are_bounded_after_rows_are_filtered():
    held = pl.DataFrame(
        [(u, str(n), "SE") for u in range(90) for n in range(9)]
        + [(u, "kept", "NO") for u in range(90)],
        schema=["user", "item", "land"],
        orient="row",
    )
    for pull in (False, None, True):
        source = engine_places.DuckDB().source(
            held, where="land = 'NO'", max_items_per_user=1, pull=pull
        )
        plan = source.plan(sl.Domain(), epsilon=1.0, delta=1e-6, mechanism=WeightedGaussian)
        with plan.engine.show(plan.mechanism.wants, ExactDraws(SeededBits(1))) as shown:
            assert shown.evidence.weights.sum() == shown.evidence.weights.max() == 90 * 2**32


def test_groups_are_of_rows_that_count():
    held = pl.DataFrame(
        {"user": range(200), "item": ["a", "b"] * 100, "land": ["NO"] * 199 + ["SE"]}
    )
    place = engine_places.DuckDB()
    source = place.source(held, where="item = 'a'", pull=False)
    release = source.grouped("land").top_k(1, epsilon=1.0, delta=1e-6)
    assert list(release) == [("NO", "a")]
    assert release.about.where == "item = 'a'"


def test_an_engine_of_which_it_is_not_known_refuses(any_engine):
    table = any_engine.table(rows())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shortlist.engines.tables._postgres.Postgres.computes_as_memory", False)
        refusal(
            lambda: any_engine.source_of(table.get_name(), user="user", item="item", where="b"),
            "whether PostgreSQL would keep the same rows is not known here",
            "pull=True",
        )
    assert not Dialect.computes_as_memory


def test_times_of_another_precision_are_refused():
    place = engine_places.DuckDB()
    place.native.execute(
        "CREATE TABLE t AS SELECT 1 AS user, 2 AS item, 'epoch'::TIMESTAMP_NS AS at"
    )
    table = place.connection.table("t")
    refusal(
        lambda: sl.pairs(table, user="user", item="item", where="at is null"),
        "another precision than microseconds",
    )
    source = sl.pairs(table, user="user", item="item", where="at < date '2026-11-01'", pull=True)
    assert kept(source) == [2]


def test_what_the_filter_reads_is_looked_for_before_the_charge():
    place = engine_places.DuckDB()
    table = place.table(rows())
    source = sl.pairs(table, user="user", item="item", where="b", pull=False)
    place.native.execute(f"ALTER TABLE {table.get_name()} DROP COLUMN b")
    refusal(lambda: source.plan(sl.Domain(), epsilon=1.0, delta=1e-6).check())
