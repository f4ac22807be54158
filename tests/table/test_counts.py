"""Histograms in every form, and what is refused of them."""

from functools import partial

import hypothesis
import numpy as np
import polars as pl
import pytest
from hypothesis import strategies as st

from helpers.reading import refusal
from helpers.refusals import MARKER
from helpers.tables import FORMS
from shortlist.table import open_table
from shortlist.table.sensitive_table import align, check_distinct

open_counts = partial(open_table, count="count", items=["item"])


# Histograms


def histogram_of(table):
    items, counts = table.counts()
    assert counts.dtype == np.int64
    return [(*item, count) for item, count in zip(items.rows(), counts.tolist(), strict=True)]


NO_NUMBERS = {
    "pandas objects": "Object",
    "pandas categories": "Categorical",
    "pyarrow dictionary": "Categorical",
}


@pytest.mark.parametrize("name", FORMS)
def test_a_histogram_comes_back_from_every_form(name, tmp_path):
    frame = pl.DataFrame({"item": ["007", "7", "ü\u0301"], "count": [3, 0, 2**62]})
    data = FORMS[name](frame.select("count", "item", other=pl.lit(1.5)), tmp_path)
    if name in NO_NUMBERS:
        said = f'count="count" is of type {NO_NUMBERS[name]}, and counts are whole numbers; cast'
        refusal(lambda: open_counts(data), said)
        return
    table = open_counts(data)
    assert table.items == {"item": pl.String}
    assert histogram_of(table) == frame.rows()
    assert histogram_of(table) == frame.rows()


@pytest.mark.parametrize("dtype", [pl.Int8, pl.UInt32, pl.UInt64, pl.Int128])
def test_counts_are_of_any_integer_type(dtype):
    frame = pl.DataFrame({"item": [1, 2], "count": [100, 0]}, schema_overrides={"count": dtype})
    assert histogram_of(open_counts(frame)) == [(1, 100), (2, 0)]


def test_rows_without_an_item_need_no_count(write):
    content = b"a,b,count\nx,1,7\n,2,\n,,x\ny,,-1\n\nz,3,0\n"
    table = open_table(write("t.csv", content), count="count", items=["b", "a"])
    assert histogram_of(table) == [("1", "x", 7), ("3", "z", 0)]
    assert histogram_of(open_counts(write("t.csv", b"item,count\n"))) == []


def test_whole_numbers_in_json_are_counts_however_they_are_written(write):
    lines = b'{"item":"a","count":7}\n{"item":"b","count":"8"}\n{"item":"c","count":9.0}\n'
    assert histogram_of(open_counts(write("t.ndjson", lines))) == [("a", 7), ("b", 8), ("c", 9)]


def test_histograms_in_several_files(tmp_path):
    pl.DataFrame({"item": ["a"], "count": [5]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"item": ["b"], "count": [6]}).write_parquet(tmp_path / "2.parquet")
    assert histogram_of(open_counts(tmp_path / "*.parquet")) == [("a", 5), ("b", 6)]
    pl.DataFrame({"item": [MARKER] * 2, "count": [5, 6]}).write_parquet(tmp_path / "3.parquet")
    refusal(open_counts(tmp_path / "*.parquet").counts, "*.parquet", "is in more than one row")
    pl.DataFrame({"item": ["b"], "count": [6.0]}).write_parquet(tmp_path / "4.parquet")
    refusal(lambda: open_counts(tmp_path / "*.parquet"), "4.parquet", "Float64", "cast it")


@pytest.mark.parametrize(
    ("count", "items", "said"),
    [
        ("cuont", ["item"], ['count="cuont" is not a column', 'mean "count"?']),
        ("count", ["itm"], ['item="itm" is not a column', 'mean "item"?']),
        ("count", ["count"], ['count="count" and item="count" are the same column']),
        ("item", ["count"], ['count="item" is of type String, and counts are whole numbers']),
        (5, ["item"], ["count=5", "string"]),
    ],
)
def test_columns_of_a_histogram_are_checked(count, items, said):
    frame = pl.DataFrame({"item": [MARKER], "count": [1]})
    refusal(lambda: open_table(frame, count=count, items=items), *said)


INTEGERS = st.one_of(
    st.tuples(st.just(pl.Int8), st.lists(st.integers(-128, 127), min_size=1, max_size=40)),
    st.tuples(st.just(pl.UInt8), st.lists(st.integers(0, 255), min_size=1, max_size=40)),
    st.tuples(st.just(pl.Int64), st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1)),
    st.tuples(st.just(pl.UInt64), st.lists(st.integers(2**64 - 9, 2**64 - 1), min_size=1)),
    st.tuples(st.just(pl.Int128), st.lists(st.integers(2**100, 2**100 + 9), min_size=1)),
    st.tuples(st.just(pl.Date), st.lists(st.dates(), min_size=1)),
    st.tuples(st.just(pl.String), st.lists(st.text("aé\u0301", max_size=3), min_size=1)),
)


@hypothesis.settings(derandomize=True, deadline=None, max_examples=300)
@hypothesis.given(typed=INTEGERS, twice=st.booleans())
@hypothesis.example(typed=(pl.Int8, list(range(-128, 128))), twice=False)
@hypothesis.example(typed=(pl.Int64, [-(2**63), 2**63 - 1]), twice=False)
def test_an_item_in_two_rows_is_found(typed, twice):
    dtype, values = typed
    values = list(dict.fromkeys(values))
    column = pl.Series("item", [*values, *values[: int(twice)]], dtype=dtype)
    for items in (column.to_frame(), pl.DataFrame({"same": column, "item": column})):
        if twice:
            refusal(lambda items=items: check_distinct(items, "data"), "data: an item is in")
        else:
            check_distinct(items, "data")


HELD = st.dictionaries(st.tuples(st.integers(0, 4), st.sampled_from("ab")), st.integers(0, 9))
WANTED = st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abc")), unique=True)


@hypothesis.settings(derandomize=True, deadline=None, max_examples=100)
@hypothesis.given(held=HELD, wanted=WANTED)
def test_counts_are_those_of_the_wanted_items(held, wanted):
    types = {"count": pl.Int16, "place": pl.String}  # as columns may well be called
    items, asked = (pl.DataFrame(list(rows), types, orient="row") for rows in (held, wanted))
    found = align(items, np.array(list(held.values()), np.int64), asked)
    assert found.tolist() == [held.get(item, 0) for item in wanted]
