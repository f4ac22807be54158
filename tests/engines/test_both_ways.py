"""Rows of DuckDB, added up in memory or in DuckDB: the same values, and nobody is told which."""

from types import SimpleNamespace

import duckdb
import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.engine_places import sets_of
from helpers.exhaustive import exhaustive
from helpers.refusals import refused
from shortlist.bits import SeededBits
from shortlist.databases.duckdb import bytes_of
from shortlist.engines.tables import _dialect
from shortlist.mechanisms import AdaptiveTopK, ChosenBound
from shortlist.runtime.free_memory import available_memory
from shortlist.runtime.phases import listening, watching

NAMES = {"user": "user", "item": "item"}
ASKED = {"epsilon": 5.0, "delta": 1e-3}
TYPES = {
    "tinyint": "(r % 5)::TINYINT",
    "bigint": "(r % 5 - 2)::BIGINT * 1000000007000",
    "unsigned": "(r % 5)::UBIGINT",
    "hugeint": "(r % 5)::HUGEINT * 100000000000000000000",
    "text": "['a', 'A', 'a ', 'á', ''][1 + r % 5]",
    "short decimal": "(r % 5)::DECIMAL(9, 0)",
    "long decimal": "((r % 5) * 1000000000)::DECIMAL(30, 0)",
    "uuid": "('12345678-1234-1234-1234-12345678900' || (r % 5))::UUID",
    "date": "DATE '2020-01-01' + (r % 5)::INT",
    "datetime": "TIMESTAMP '2020-01-01 01:02:03.123456' + INTERVAL (r % 5) DAY",
    "nanoseconds": "('2020-01-0' || (1 + r % 5) || ' 01:02:03.123456789')::TIMESTAMP_NS",
    "time zone": "TIMESTAMPTZ '2020-01-01 01:02:03+01' + INTERVAL (r % 5) DAY",
    "boolean": "(r % 2 = 0)",
    "bytes": "('\\xAB\\x0' || (r % 5))::BLOB",
    "double": "CASE WHEN r % 7 > 0 THEN (r % 5)::DOUBLE END",
    "float": "(r % 5)::REAL",
    "enum": "['low', 'high', 'mid'][1 + r % 3]::ENUM('low', 'mid', 'high')",
}
FEW = ["tinyint", "hugeint", "text", "long decimal", "uuid", "nanoseconds", "double"]


def rows_of(expression, n=60):
    """Rows whose users and items are both of a type, some of them null, some repeated."""
    connection = duckdb.connect()
    connection.execute(
        f'CREATE TABLE plays AS SELECT {expression} AS item, r // 7 AS "user", '
        f"{expression} AS person FROM (SELECT * FROM range({n}) AS twice(r) UNION ALL "
        f"FROM range({n // 2})) AS twice(r)"
    )
    connection.execute('UPDATE plays SET "user" = NULL WHERE "user" = 3')
    return connection.table("plays")


@pytest.fixture(params=["here", "there"])
def way(request, monkeypatch):
    """Where rows are added up: memory is large enough, or there is none."""
    if request.param == "there":
        monkeypatch.setattr(_dialect, "available_memory", lambda: 0)
    return request.param


def shown(source, *, there=False):
    """What sets are of: items with their holders, users by size."""
    with sets_of(source) as (held, items):
        assert hasattr(held, "scratch") is there
        codes = np.flatnonzero(held.counts)
        named = items(codes)
        counts = dict(zip(map(repr, named.rows()), held.counts[codes].tolist(), strict=True))
        return named.schema, counts, held.users_of_size().tolist()[1:]


@pytest.mark.parametrize("dtype", [*FEW, *exhaustive(*(name for name in TYPES if name not in FEW))])
def test_users_and_items_are_the_same_values(dtype, monkeypatch):
    rows = rows_of(TYPES[dtype])
    sources = [
        sl.pairs(rows, user="user", item=["item", "person"]),
        sl.pairs(rows, user="person", item="user"),
        sl.pairs(rows, user="user", item="person").grouped("item"),
    ]
    sources[2]._engine = sources[2]._pairs
    here = [shown(source) for source in sources]
    monkeypatch.setattr(_dialect, "available_memory", lambda: 0)
    assert [shown(source, there=True) for source in sources] == here


def test_what_is_added_up_in_memory_is_answered_as_a_frame_is():
    rows = rows_of(TYPES["bigint"], 700)
    frame = pl.DataFrame(rows.to_arrow_table())
    for question, mechanism in ((sl.Domain(), ChosenBound), (sl.TopK(2), AdaptiveTopK)):
        here, of_frame = (
            sl.pairs(data, **NAMES).plan(question, mechanism=mechanism, **ASKED).run(SeededBits(5))
            for data in (rows, frame)
        )
        assert here.items == of_frame.items
        assert here.scores == of_frame.scores


def test_groups_are_answered_both_ways(way):
    rows = rows_of("r % 3", 2000)
    source = sl.pairs(rows, user="user", item="person")
    found = source.top_k(2, by="item", max_groups_per_user=3, **ASKED, random=SeededBits(5))
    assert {key for key, _ in found.groups()} <= {0, 1, 2}, way
    given = {"by": "item", "public_groups": [1, 9], "random": SeededBits(6)}
    public = source.top_k(2, **given, epsilon=9.0, delta=1e-3)
    assert [key for key, _ in public.groups()] == [1]


def told(rows):
    """All that a question says: its phases, its plan, and the answer or the refusal."""
    phases = []
    source = sl.pairs(rows, **NAMES)
    plan = source.plan(sl.Domain(), **ASKED)
    with listening(lambda phase: phases.append(str(phase))):
        try:
            answer = plan.run(SeededBits(1))
            said = sorted(map(repr, answer.items)), answer.guarantee, sorted(answer.to_dict())
        except sl.InputError as error:
            said = str(error), repr(error.__context__)
    rounds = [phase for phase in phases if "round" not in phase]
    return rounds, plan.explain(), said, plan.engine.about()


@pytest.fixture
def url(tmp_path):
    with duckdb.connect(tmp_path / "plays.db") as connection:
        rows = 'SELECT r // 2 AS "user", r % 2 AS item FROM range(3000) t(r)'
        connection.execute(f"CREATE TABLE plays AS {rows}")
    return f"duckdb:///{tmp_path / 'plays.db'}"


@pytest.mark.parametrize(("pull", "expected"), [(None, None), (False, 0.5)])
def test_how_far_a_query_is_is_known_where_there_is_one_way(url, pull, expected):
    source = sl.pairs(url, table="plays", pull=pull, **NAMES)
    dialect = source._engine._in_engine.dialect
    dialect._connection = SimpleNamespace(con=SimpleNamespace(query_progress=lambda: 50.0))
    assert dialect.share_done() == expected
    dialect._connection.con.query_progress = lambda: -1.0  # nothing is worked at
    assert dialect.share_done() is None


@pytest.mark.parametrize("room", [0, 2**40])
def test_no_share_of_what_is_done_is_told_where_there_are_two(url, monkeypatch, room):
    monkeypatch.setattr(_dialect, "available_memory", lambda: room)
    source, shares = sl.pairs(url, table="plays", **NAMES), []
    with watching(shares.append):
        assert len(source.domain(**ASKED)) == 2
    assert {share() for share in shares if share is not None} == {None}


@pytest.mark.parametrize(
    "expression",
    [
        "r % 2",
        "CASE WHEN r > 40 THEN 1.5::DOUBLE ELSE r::DOUBLE END",
        "CASE WHEN r > 40 THEN 'NaN'::FLOAT END",
        "CASE WHEN r > 40 THEN 'infinity'::DATE END",
        "CASE WHEN r > 40 THEN '20000-01-01'::TIMESTAMP END",
        "CASE WHEN r > 40 THEN 'x' ELSE '7' END::INT",
    ],
)
def test_nothing_tells_which_way_was_taken(expression, monkeypatch):
    connection = duckdb.connect()
    connection.execute(
        f'CREATE VIEW plays AS SELECT r // 2 AS "user", {expression} AS item FROM range(3000) t(r)'
    )
    rows = connection.table("plays")
    here = told(rows)
    monkeypatch.setattr(_dialect, "available_memory", lambda: 0)
    assert told(rows)[:2] == here[:2]
    assert told(rows)[2:] == here[2:]


def test_the_plan_states_the_rule():
    rows = rows_of("r % 2")
    (default,), (pushed,), pulled = (
        [said for said in plan.guarantee.assumes if "bounded in" in said]
        for plan in (
            sl.pairs(rows, pull=pull, **NAMES).plan(sl.Domain(), **ASKED)
            for pull in (None, False, True)
        )
    )
    assert pushed == "users are bounded in DuckDB, by hash(hash(user, item) xor key) of a fresh key"
    assert default == (
        "users are bounded in DuckDB, by SHA-256 of (key, user, item) of a fresh key; or in "
        "memory, where that holds their rows, by random bits, which nobody can tell from that hash"
    )
    assert pulled == []


def test_duckdb_s_own_limit_is_kept_to():
    rows = rows_of("r % 2", 2_000_000)
    engine = sl.pairs(rows, **NAMES)._engine
    assert engine._in_engine.fetched(["item"]).num_rows == 3_000_000
    rows.query("rows", "SET memory_limit = '32 MiB'")
    assert engine._in_engine.fetched(["item"]) is None


def test_sizes_and_memory():
    assert bytes_of("1.5 KiB") == 1536
    assert bytes_of("none") > 2**60
    assert 0 < available_memory() < 2**50


def test_other_engines_stay_where_they_are(postgres):
    table = postgres.table(pl.DataFrame({"user": [1], "item": [1]}))
    assert not sl.pairs(table, **NAMES)._engine._may_fetch
    refused(lambda: sl.pairs(table, pull="no", **NAMES))
