"""Identifiers that are neither text nor integers nor dates, in files and frames of every kind."""

import uuid
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shortlist as sl
from helpers.reading import open_pairs, rows_of
from helpers.tables import as_file
from shortlist.bits import SeededBits
from shortlist.table import open_table

KINDS = {  # of Arrow, with values, and what these are read as
    "decimal": (pa.decimal128(18, 0), [Decimal(7), Decimal(-3)], [7, -3], pl.Int64),
    "long decimal": (pa.decimal128(38, 0), [Decimal(7), Decimal(10**37)], [7, 10**37], pl.Int128),
    "float": (pa.float64(), [7.0, -0.0, 0.0, 2.0**53], [7, 0, 0, 2**53], pl.Int64),
    "short float": (pa.float32(), [7.0, -0.0, 2.0**24], [7, 0, 2**24], pl.Int64),
    "boolean": (pa.bool_(), [True, False], ["true", "false"], pl.String),
    "binary": (pa.binary(), [b"\xaa\x0b", b"a", b""], ["aa0b", "61", ""], pl.String),
}
FORMS = {
    "pyarrow": lambda table, _: table,
    "polars": lambda table, _: pl.DataFrame(table),
    "polars lazy": lambda table, _: pl.LazyFrame(pl.DataFrame(table)),
    "parquet": lambda table, folder: as_file("write_parquet", ".parquet")(
        pl.DataFrame(table), folder
    ),
    "pandas of arrow": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects": lambda table, _: pd.DataFrame(
        {name: pd.Series(table[name].to_pylist(), dtype=object) for name in table.column_names}
    ),
    "lists": lambda table, _: table.to_pydict(),
}
AS_TEXT = {"pandas objects", "lists"}  # which declare no type


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_identifies_is_read_alike_from_every_form(form, kind, tmp_path):
    dtype, values, wanted, read = KINDS[kind]
    users = pa.array([*values, None, values[0]], dtype)
    items = pa.array([*values, values[0], None], dtype)
    table = open_pairs(FORMS[form](pa.table({"user": users, "item": items}), tmp_path))
    if form in AS_TEXT:
        read, wanted = pl.String, [str(value) for value in wanted]
    assert table.columns == {"user": read, "item": read}
    assert rows_of(table) == [(value, value) for value in wanted]


@pytest.mark.parametrize("kind", KINDS)
def test_what_identifies_is_an_item_of_counts_and_of_comparisons(kind):
    dtype, values, wanted, _ = KINDS[kind]
    first, last = values[0], values[-1]
    counted = pa.table({"item": pa.array([first, last], dtype), "n": [900, 5]})
    release = sl.counts(counted, item="item", count="n", public_items=sl.IN_TABLE).top_k(
        1, epsilon=5.0, random=SeededBits(1)
    )
    assert release.items == wanted[:1]
    won, lost = pa.array([first] * 300, dtype), pa.array([last] * 300, dtype)
    games = sl.comparisons(
        pa.table({"w": won, "l": lost}), winner="w", loser="l", public_items=[first, last]
    )
    assert games.rank(1, epsilon=5.0, random=SeededBits(1)).items == wanted[:1]


def test_integers_with_gaps_as_pandas_has_them():
    frame = pd.DataFrame({"user": [1, None, 2, 3], "item": ["a", "b", "c", "d"]})
    assert rows_of(open_pairs(frame)) == [(1, "a"), (2, "c"), (3, "d")]
    nullable = frame.astype({"user": "Float64"})
    assert rows_of(open_pairs(nullable)) == [(1, "a"), (2, "c"), (3, "d")]
    whole = {"user": np.array([1.0, 2.0]), "item": np.array([True, False])}
    assert rows_of(open_pairs(whole)) == [(1, "true"), (2, "false")]


def test_files_of_which_one_has_gaps_agree(tmp_path):
    for name, users in (("a", [1, 2]), ("b", [1.0, None])):
        pl.DataFrame({"user": users, "item": ["x", "y"]}).write_parquet(
            tmp_path / f"{name}.parquet"
        )
    assert rows_of(open_pairs(tmp_path)) == [(1, "x"), (2, "y"), (1, "x")]


def test_a_uuid_is_one_whatever_case_and_library_wrote_it():
    one = uuid.UUID("ABCDEF12-1234-1234-1234-123456789ABC")
    held = pa.table({"user": ["a"], "item": pa.array([one.bytes], pa.uuid())})
    objects = pd.DataFrame({"user": ["a"], "item": [one]})
    for data in (held, objects, {"user": ["a"], "item": [one]}):
        assert rows_of(open_pairs(data)) == [("a", str(one))]


def test_groups_may_be_of_any_such_type():
    dtype, values, wanted, _ = KINDS["boolean"]
    table = pa.table({"user": [1, 2], "by": pa.array(values, dtype), "item": ["x", "y"]})
    _, groups, _ = open_table(table, user="user", items=["by", "item"]).grouped(1)
    assert groups.take(groups.codes)["by"].to_list() == wanted


@pytest.mark.parametrize("digits", [18, 38])
def test_counts_as_engines_sum_them_up(digits):
    counts = pa.array([Decimal(7), Decimal(0)], pa.decimal128(digits, 0))
    table = open_table(pa.table({"item": ["a", "b"], "n": counts}), count="n", items="item")
    assert table.counts()[1].tolist() == [7, 0]
