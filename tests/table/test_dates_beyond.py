"""Dates that Python has not are refused while they are read, wherever that is."""

from datetime import date, datetime

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from shortlist.stores import MemoryStore
from shortlist.table.key_types import is_datable

ASK = {"epsilon": 1.0, "delta": 1e-3}
NAMES = {"user": "person", "item": "day"}
YEAR_1, YEAR_9999 = -719_162, 2_932_896  # the first day and the last
TYPES = {
    "DATE": pl.Date(),
    "TIMESTAMP": pl.Datetime("us"),
    "TIMESTAMPTZ": pl.Datetime("us", "UTC"),
}
BEYOND = {"DATE": "10000-01-01", "TIMESTAMP": "10000-01-01", "TIMESTAMPTZ": "10000-01-01"}


def days(*numbers, dtype=pl.Date):
    column = pl.Series("day", numbers, dtype=pl.Int64)
    if dtype == pl.Date:
        return column.cast(pl.Int32).cast(dtype)
    return (column * 86_400_000_000).cast(dtype)


@pytest.mark.parametrize("dtype", [pl.Date(), pl.Datetime("us"), pl.Datetime("us", "Asia/Tokyo")])
def test_dates_of_years_1_to_9999_can_be_shown_and_no_others(dtype):
    inside = days(YEAR_1 + 1, YEAR_9999 - 1, None, dtype=dtype)
    assert is_datable(inside)
    assert len(inside.to_list()) == 3
    for number in (YEAR_1 - 1, YEAR_9999 + 1):
        assert not is_datable(days(0, number, dtype=dtype))
    if not getattr(dtype, "time_zone", None):
        assert days(YEAR_1, YEAR_9999, dtype=dtype).to_list()
        assert is_datable(days(YEAR_1, YEAR_9999, dtype=dtype))


@pytest.mark.parametrize("dtype", TYPES.values(), ids=str)
@pytest.mark.parametrize("in_file", [False, True])
def test_rows_of_frames_and_files(tmp_path, dtype, in_file):
    held = days(*[YEAR_9999 + 1] * 500, dtype=dtype)
    rows = pl.DataFrame({"person": range(500), "group": ["a"] * 500}).with_columns(held)
    if in_file:
        rows.write_parquet(tmp_path / "rows.parquet")
        rows = tmp_path / "rows.parquet"
    source = sl.pairs(rows, **NAMES)
    grouped = sl.pairs(rows, user="person", item="group")
    for ask in (
        lambda: source.domain(**ASK),
        lambda: source.top_k(1, by="group", **ASK),
        lambda: grouped.top_k(1, by="day", **ASK),
        lambda: sl.counts(rows, item="day", count="person", max_items_per_user=1).top_k(1, **ASK),
    ):
        refusal(ask, "years 1 to 9999", "cast the column to text", "spent")
    by_day = sl.pairs(rows, user="day", item="group")  # users are never shown
    assert len(by_day.domain(**ASK)) == 0


def test_comparisons_and_what_everybody_knows():
    far = pl.DataFrame({"won": days(YEAR_9999 + 1), "lost": days(0)})
    names = {"winner": "won", "loser": "lost"}
    source = sl.comparisons(far, public_items=sl.IN_TABLE, **names)
    refusal(lambda: source.rank(1, epsilon=1.0), "years 1 to 9999")
    near = pl.DataFrame({"person": [1], "day": days(0)})
    known = pl.DataFrame({"day": days(YEAR_9999 + 1)})
    refusal(lambda: sl.pairs(near, public_items=known, **NAMES), "years 1 to 9999")
    refusal(lambda: MemoryStore(days(YEAR_9999 + 1), np.array([1])), "years 1 to 9999")


@pytest.mark.parametrize("pull", [None, False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("value", ["infinity", "-infinity", "beyond"])
def test_tables_of_duckdb(pull, dtype, value):
    native = duckdb.connect()
    value = BEYOND[dtype] if value == "beyond" else value
    native.execute(
        f"CREATE TABLE rows AS SELECT person, '{value}'::{dtype} AS day FROM range(500) t(person)"
    )
    table = ibis.duckdb.from_connection(native).table("rows")
    for held in (table, native.table("rows")):
        source = sl.pairs(held, pull=pull, **NAMES)
        refusal(lambda source=source: source.domain(**ASK), "years 1 to 9999", "spent")


@pytest.mark.parametrize("pull", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("value", ["infinity", "-infinity", "beyond", "0044-03-15 BC"])
def test_tables_of_postgresql(server, pull, dtype, value):
    value = BEYOND[dtype] if value == "beyond" else value
    with server.connect() as native:
        native.execute(
            f"CREATE TEMP TABLE far AS SELECT person, '{value}'::{dtype} AS day "
            "FROM generate_series(1, 500) AS person"
        )
        source = sl.pairs(ibis.postgres.from_connection(native).table("far"), pull=pull, **NAMES)
        refusal(lambda: source.domain(**ASK), "years 1 to 9999", "spent")


def test_nanoseconds_are_answered_and_their_infinity_is_refused():
    """What pandas has by default. Whole years beyond do not fit in such a type at all."""
    native = duckdb.connect()
    frame = pd.DataFrame({"person": range(500), "day": pd.Timestamp(2020, 1, 2).as_unit("ns")})
    held = native.from_df(frame)
    assert held.types[1] == "TIMESTAMP_NS"
    native.execute("CREATE TABLE rows AS FROM frame")
    table = ibis.duckdb.from_connection(native).table("rows")
    for rows in (held, table, native.table("rows")):
        assert sl.pairs(rows, **NAMES).domain(**ASK).items == [datetime(2020, 1, 2)]  # noqa: DTZ001 - of no zone
    for value in ("infinity", "-infinity"):
        native.execute(f"UPDATE rows SET day = '{value}'")
        refusal(lambda: sl.pairs(table, **NAMES).domain(**ASK), "years 1 to 9999", "spent")


def test_the_last_day_is_answered_wherever_it_lies(server):
    days_ = "'9999-12-31'::DATE AS day"
    native = duckdb.connect()
    native.execute(f"CREATE TABLE rows AS SELECT person, {days_} FROM range(500) t(person)")
    table = ibis.duckdb.from_connection(native).table("rows")
    assert sl.pairs(table, **NAMES).domain(**ASK).items == [date(9999, 12, 31)]
    with server.connect() as other:
        other.execute(
            f"CREATE TEMP TABLE far AS SELECT person, {days_} FROM generate_series(1, 500) person"
        )
        held = ibis.postgres.from_connection(other).table("far")
        assert sl.pairs(held, **NAMES).domain(**ASK).items == [date(9999, 12, 31)]
