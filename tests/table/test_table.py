"""Tables in every form, and which columns they may have."""

import gc
import math
import weakref
from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from helpers.reading import open_pairs, refusal, rows_of
from helpers.refusals import MARKER
from helpers.tables import AS_TEXT, FORMS, OF_CATEGORIES
from shortlist.table import open_table

ROWS = [("u1", "007"), ("u2", "7"), ("u1", " 7"), ("ü\u0301", "7"), ("u2", "7")]


def test_rows_come_back_from_every_form(form):
    frame = pl.DataFrame(ROWS, schema=["user", "item"], orient="row")
    table = open_pairs(form(frame.with_columns(other=pl.lit(1.5))))
    assert table.columns == {"user": pl.String, "item": pl.String}
    assert rows_of(table) == ROWS
    assert rows_of(table) == ROWS


def test_rows_with_a_null_are_left_out_of_every_form(form):
    frame = pl.DataFrame({"user": ["a", None, "b", "c"], "item": ["x", "y", None, "z"]})
    assert rows_of(open_pairs(form(frame))) == [("a", "x"), ("c", "z")]


@pytest.mark.parametrize("name", ["polars", "pandas", "pyarrow", "parquet"])
def test_integers_stay_integers(name, tmp_path):
    frame = pl.DataFrame({"user": [1, 2**40], "item": [-5, 7]})
    table = open_pairs(FORMS[name](frame, tmp_path))
    assert table.columns == {"user": pl.Int64, "item": pl.Int64}
    assert rows_of(table) == [(1, -5), (2**40, 7)]


@pytest.mark.parametrize("name", ["polars", "pyarrow", "parquet"])
def test_dates_stay_dates(name, tmp_path):
    frame = pl.DataFrame({"user": ["a", "b"], "item": [date(2024, 2, 29), date(1, 1, 1)]})
    table = open_pairs(FORMS[name](frame, tmp_path))
    assert table.columns["item"] == pl.Date
    assert rows_of(table) == frame.rows()


def test_no_rows_are_a_valid_table():
    typed = pl.DataFrame(schema={"user": pl.String, "item": pl.Int64})
    for empty in (typed, pl.DataFrame({"user": [], "item": []}), typed.to_arrow()):
        users, items = open_pairs(empty).pairs()
        assert users.codes.shape == items.codes.shape == (0,)
        assert users.size == items.size == 0


@pytest.mark.parametrize("content", [b"user,item", b"user,item\n", b"user,item\n,\n,x\n"])
def test_no_rows_in_a_csv_file(write, content):
    assert rows_of(open_pairs(write("t.csv", content))) == []


def test_several_item_columns():
    frame = pl.DataFrame({"user": [1, 1, 2], "a": ["x", None, "y"], "b": [2**60, 1, 0]})
    table = open_table(frame, user="user", items=["b", "a"])
    assert list(table.columns) == ["user", "b", "a"]
    assert rows_of(table) == [(1, 2**60, "x"), (2, 0, "y")]


def test_csv_is_text_and_its_empty_fields_are_null(write):
    content = b'\xef\xbb\xbfitem,user\r\n007,1\r\n"",2\r\n7,""\r\n,3\r\n" a, ""b""\n",4\r\n'
    assert rows_of(open_pairs(write("t.csv", content))) == [("1", "007"), ("4", ' a, "b"\n')]


def test_no_row_of_a_file_without_types_changes_the_type_of_the_others(write):
    early, late = b'{"item":"7","user":null}\n' * 2000, b'{"item":"y","user":9007199254740993}'
    table = open_pairs(write("t.ndjson", early + late))
    assert table.columns == {"user": pl.String, "item": pl.String}
    assert rows_of(table) == [("9007199254740993", "y")]


def test_only_the_named_columns_are_read():
    def read(column):
        raise AssertionError(column)

    lazy = pl.LazyFrame({"user": ["u"], "item": ["i"], "other": ["o"]}).with_columns(
        pl.col("other").map_batches(read, return_dtype=pl.String)
    )
    assert rows_of(open_pairs(lazy)) == [("u", "i")]


def test_nothing_is_read_before_the_first_question():
    def read(column):
        raise AssertionError(column)

    lazy = pl.LazyFrame({"user": ["u"], "item": [MARKER]}).with_columns(
        pl.col("item").map_batches(read, return_dtype=pl.String)
    )
    table = open_pairs(lazy)
    refusal(table.pairs, "data of type LazyFrame cannot be read to its end")


def test_the_table_is_not_kept_alive_by_keys():
    data = pd.DataFrame({"user": np.arange(9) * 2**50, "item": np.arange(9)})
    gone = weakref.ref(data)
    users, items = open_pairs(data).pairs()
    del data
    gc.collect()
    assert gone() is None
    assert len(users.codes) == items.size == 9


# What the caller wrote


@pytest.mark.parametrize(
    ("user", "items", "said"),
    [
        ("usr", ["item"], ['user="usr"', 'are "user", "item", "x"', 'mean "user"?']),
        ("user", ["itm"], ['item="itm"', 'mean "item"?']),
        ("user", ["user"], ["same column"]),
        ("user", ["item", "item"], ['"item" twice']),
        ("user", [], ["item=[]", "at least one"]),
        (5, ["item"], ["user=5", "string"]),
        ("user", [None], ["item=None", "string"]),
    ],
)
def test_columns_are_checked(form, user, items, said):
    data = form(pl.DataFrame({"user": ["a"], "item": [MARKER], "x": [1.5]}))
    if str(data).lower().endswith(("ndjson", "jsonl")) and '"?' in said[-1]:
        said = [said[0], "The first line must hold"]  # whose keys are those of one person's row
    if ".csv" in str(data).lower():  # whose first line may be a row: no column is listed
        said = [part for part in said if not part.startswith("are ")]
    for other in ("ITEM ", "Item"):
        if user == "user" and items == ["itm"] and "csv" in str(data).lower():
            refusal(lambda name=other: open_table(data, user=user, items=[name]), 'mean "item"?')
    refusal(lambda: open_table(data, user=user, items=items), *said)


@pytest.mark.parametrize("one", [1.5, -0.5, 2.0**54, math.inf, math.nan])
@pytest.mark.parametrize("name", sorted(FORMS.keys() - AS_TEXT - OF_CATEGORIES))
def test_floats_that_identify_nothing_are_refused_when_they_are_read(name, one, tmp_path):
    if math.isnan(one) and name.startswith("pandas"):
        pytest.skip("there it says that a value is missing")
    frame = pl.DataFrame({"user": [one, 7.0], "item": [MARKER, "x"]})
    table = open_pairs(FORMS[name](frame, tmp_path))
    refusal(table.pairs, "identifies nothing", "not shown")


@pytest.mark.parametrize(
    "value", [Decimal("1.5"), [1], {"a": 1}, datetime(2024, 1, 1, tzinfo=UTC).time()]
)
def test_other_types_are_refused(value):
    frame = pl.DataFrame({"user": ["a"], "item": [value]})
    refusal(
        lambda: open_pairs(frame),
        f"is of type {frame.schema['item'].base_type().__name__}",
        "cast it to a string",
    )


def test_mixed_objects_are_refused():
    early = pd.DataFrame({"user": ["a", 1.5], "item": ["x", MARKER]}, dtype=object)
    late = pd.DataFrame({"user": [MARKER] * 5000 + [1.5], "item": "x"}, dtype=object)
    for mixed in (early, late):
        refusal(open_pairs(mixed).pairs, "Python objects", "identifies nothing")


@pytest.mark.parametrize(
    "data",
    [{"user": MARKER}, {1: [MARKER]}, [(MARKER, 1)], None, 7, pd.Series(["a"])],
)
def test_what_is_no_table_is_refused(data):
    said = refusal(lambda: open_pairs(data), f"of type {type(data).__name__}", "not a table of")
    assert "Parquet" in said or said.endswith(("zip(*data))).", "reset_index()."))


def test_frames_with_twice_the_same_name_are_refused():
    data = pd.DataFrame([["a", MARKER, "c"]], columns=["user", "item", "item"])
    refusal(lambda: open_pairs(data), "different names")


def test_a_lazy_frame_that_fails_is_refused(tmp_path):
    lazy = pl.scan_parquet(tmp_path / "gone.parquet")
    refusal(lambda: open_pairs(lazy), "LazyFrame", "has no schema")


def test_the_sign_of_zero_makes_no_second_user(write):
    lines = b'{"user":0.0,"item":"a"}\n{"user":-0.0,"item":"b"}\n{"user":0,"item":-0.0}\n'
    table = open_pairs(write("t.ndjson", lines))
    assert rows_of(table) == [("0", "a"), ("0", "b"), ("0", "0")]
    assert table.pairs()[0].size == 1
