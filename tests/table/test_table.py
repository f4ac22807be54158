import gc
import io
import os
import weakref
from datetime import UTC, date, datetime
from functools import partial

import hypothesis
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from helpers.refusals import refused
from shortlist.table import open_table
from shortlist.table.counts import align, check_distinct
from shortlist.table.public_items import open_public_items

PRIVATE = "Zz-private-91"
ROWS = [("u1", "007"), ("u2", "7"), ("u1", " 7"), ("ü\u0301", "7"), ("u2", "7")]
open_pairs = partial(open_table, user="user", items=["item"])
open_counts = partial(open_table, count="count", items=["item"])


def rows_of(table):
    users, items = table.pairs()
    return users.take(users.codes).hstack(items.take(items.codes)).rows()


def refusal(action, *contains):
    """The refusal's message; nothing behind it may carry a cell either."""
    error = refused(action)
    assert error.__cause__ is None
    assert error.__context__ is None
    assert PRIVATE not in str(error)
    for part in contains:
        assert part in str(error)
    return str(error)


def as_file(write, suffix):
    def make(frame, folder):
        path = folder / f"table{suffix}"
        getattr(frame, write)(path)
        return path

    return make


FORMS = {
    "polars": lambda frame, _: frame,
    "polars lazy": lambda frame, _: frame.lazy(),
    "polars categorical": lambda frame, _: frame.cast({pl.String: pl.Categorical}),
    "pandas": lambda frame, _: pd.DataFrame(frame.to_dict(as_series=False)),
    "pandas objects": lambda frame, _: pd.DataFrame(frame.to_dict(as_series=False), dtype=object),
    "pandas categories": lambda frame, _: pd.DataFrame(
        frame.to_dict(as_series=False), dtype="category"
    ),
    "narwhals": lambda frame, _: nw.from_native(frame),
    "narwhals lazy": lambda frame, _: nw.from_native(frame.lazy()),
    "pyarrow": lambda frame, _: pa.table(frame.to_dict(as_series=False)),
    "pyarrow dictionary": lambda frame, _: pa.table(
        {name: pa.array(frame[name].to_list()).dictionary_encode() for name in frame.columns}
    ),
    "parquet": as_file("write_parquet", ".parquet"),
    "parquet as text": lambda frame, folder: str(FORMS["parquet"](frame, folder)),
    "csv": as_file("write_csv", ".csv"),
    "ndjson": as_file("write_ndjson", ".ndjson"),
    "jsonl": as_file("write_ndjson", ".JSONL"),
}


AS_TEXT = {"csv", "ndjson", "jsonl"}


@pytest.fixture(params=FORMS)
def form(request, tmp_path):
    return lambda frame: FORMS[request.param](frame, tmp_path)


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


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

    lazy = pl.LazyFrame({"user": ["u"], "item": [PRIVATE]}).with_columns(
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
    assert users.size == items.size == 9


# Globs


def test_a_glob_reads_all_files(tmp_path):
    pl.DataFrame({"user": ["a"], "item": ["x"]}).write_csv(tmp_path / "1.csv")
    pl.DataFrame({"item": ["y"], "z": [1], "user": ["b"]}).write_csv(tmp_path / "2.csv")
    assert rows_of(open_pairs(tmp_path / "*.csv")) == [("a", "x"), ("b", "y")]
    assert rows_of(open_pairs(str(tmp_path / "[2].csv"))) == [("b", "y")]


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".ndjson"])
def test_a_file_whose_name_looks_like_a_glob(tmp_path, suffix):
    path = tmp_path / f"[a]*{suffix}"
    writers = {".csv": "write_csv", ".parquet": "write_parquet", ".ndjson": "write_ndjson"}
    getattr(pl.DataFrame({"user": ["a"], "item": ["x"]}), writers[suffix])(path)
    assert rows_of(open_pairs(path)) == [("a", "x")]


def test_files_of_different_types_are_refused(tmp_path):
    for name, item in (("a", [1]), ("b", ["1"]), ("c", [None])):
        pl.DataFrame({"user": ["u"], "item": item}).write_parquet(tmp_path / f"{name}.parquet")
    refusal(
        lambda: open_pairs(tmp_path / "*.parquet"),
        'item="item" is Int64',
        "a.parquet",
        "String",
        "b.parquet",
        "one type",
    )
    assert rows_of(open_pairs(tmp_path / "[ac].parquet")) == [("u", 1)]


def test_a_column_missing_in_one_file_is_named_with_the_file(tmp_path):
    pl.DataFrame({"user": ["a"], "item": ["x"]}).write_parquet(tmp_path / "1.parquet")
    pl.DataFrame({"user": ["a"], "itm": ["x"]}).write_parquet(tmp_path / "2.parquet")
    refusal(lambda: open_pairs(tmp_path / "*.parquet"), "2.parquet", 'item="item"', '"itm"')


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
    data = form(pl.DataFrame({"user": ["a"], "item": [PRIVATE], "x": [1.5]}))
    if str(data).lower().endswith(("ndjson", "jsonl")) and '"?' in said[-1]:
        said = [said[0], "The first line must hold"]  # whose keys are those of one person's row
    if ".csv" in str(data).lower():  # whose first line may be a row: no column is listed
        said = [part for part in said if not part.startswith("are ")]
    refusal(lambda: open_table(data, user=user, items=items), *said)


@pytest.mark.parametrize("name", sorted(FORMS.keys() - AS_TEXT - {"pandas objects"}))
def test_floats_are_refused(name, tmp_path):
    data = FORMS[name](pl.DataFrame({"user": [1.5], "item": [PRIVATE]}), tmp_path)
    refusal(lambda: open_pairs(data), 'user="user" is of type Float64', "cast it to a string")


@pytest.mark.parametrize(
    "value", [1.5, True, b"a", [1], {"a": 1}, datetime(2024, 1, 1, tzinfo=UTC).time()]
)
def test_other_types_are_refused(value):
    frame = pl.DataFrame({"user": ["a"], "item": [value]})
    refusal(
        lambda: open_pairs(frame),
        f"is of type {frame.schema['item'].base_type()}",
        "cast it to a string",
    )


def test_mixed_objects_are_refused():
    early = pd.DataFrame({"user": ["a", 1], "item": ["x", PRIVATE]}, dtype=object)
    late = pd.DataFrame({"user": [PRIVATE] * 5000 + [1], "item": "x"}, dtype=object)
    for mixed in (early, late):
        refusal(open_pairs(mixed).pairs, "Python objects", "neither text nor a date")


@pytest.mark.parametrize(
    "data",
    [{"user": PRIVATE}, {1: [PRIVATE]}, [(PRIVATE, 1)], None, 7, pd.Series(["a"])],
)
def test_what_is_no_table_is_refused(data):
    refusal(
        lambda: open_pairs(data), f"of type {type(data).__name__}", "is not a table of", "Parquet"
    )


def test_frames_with_twice_the_same_name_are_refused():
    data = pd.DataFrame([["a", PRIVATE, "c"]], columns=["user", "item", "item"])
    refusal(lambda: open_pairs(data), "different names")


def test_a_lazy_frame_that_fails_is_refused(tmp_path):
    lazy = pl.scan_parquet(tmp_path / "gone.parquet")
    refusal(lambda: open_pairs(lazy), "LazyFrame", "has no schema")


# Files


def test_paths_are_checked(tmp_path, write):
    refusal(lambda: open_pairs(tmp_path / "gone.csv"), "gone.csv", "does not exist")
    refusal(lambda: open_pairs(str(tmp_path / "*.csv")), "*.csv", "matches no file")
    refusal(lambda: open_pairs("long" * 999 + ".csv"), "does not exist")
    refusal(lambda: open_pairs(tmp_path), "is a directory", "glob")
    refusal(lambda: open_pairs(write("a.csv", b"")), "a.csv", "is empty")
    refusal(lambda: open_pairs(write("a.xlsx", b"x")), '".xlsx"', ".parquet, .csv, .ndjson")
    refusal(lambda: open_pairs(write("plays", b"x")), "no suffix")
    refusal(lambda: open_pairs(os.fsencode(tmp_path)), "not a table")


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "ndjson"])
def test_foreign_files_are_refused(write, suffix):
    path = write(f"t.{suffix}", PNG + PRIVATE.encode())
    refusal(lambda: open_pairs(path), f"t.{suffix}")


def test_a_parquet_file_cut_short_is_refused(write):
    buffer = io.BytesIO()
    pl.DataFrame({"user": [PRIVATE] * 99, "item": ["x"] * 99}).write_parquet(buffer)
    whole = buffer.getvalue()
    path = write("t.parquet", whole[: len(whole) // 2])
    refusal(lambda: open_pairs(path), "t.parquet", "Parquet", "cut short")
    broken = write("b.parquet", whole[:4] + b"\xff" * 60 + whole[64:])
    refusal(lambda: open_pairs(broken).pairs(), "b.parquet", "cannot be read to its end")


def test_a_file_that_goes_away_is_refused(write):
    path = write("t.csv", b"user,item\na,b\n")
    table = open_pairs(path)
    path.unlink()
    refusal(table.pairs, "t.csv", "cannot be read")


@pytest.mark.parametrize("wrong", [f"{PRIVATE},x,y", f'"{PRIVATE},x', f"{PRIVATE}\udcff,x"])
def test_malformed_csv_lines_are_not_quoted(write, wrong):
    lines = "user,item\n" + "a,b\n" * 3000 + wrong + "\n"
    table = open_pairs(write("t.csv", lines.encode(errors="surrogateescape")))
    refusal(table.pairs, "t.csv", "a row cannot be parsed")


@pytest.mark.parametrize(
    "wrong",
    [
        f"{PRIVATE}",
        f'{{"user":"{PRIVATE}","item":',
        f'["{PRIVATE}"]',
        f'{{"user":"{PRIVATE}","item":9{"9" * 60}}}',
        f'{{"user":"{PRIVATE}\udcff","item":1}}',
    ],
)
def test_malformed_json_lines_are_not_quoted(write, wrong):
    lines = '{"user":"a","item":1}\n' * 3000 + wrong + "\n"
    path = write("t.ndjson", lines.encode(errors="surrogateescape"))
    refusal(lambda: open_pairs(path).pairs(), "t.ndjson", "cannot be read")


def test_the_first_line_of_a_csv_without_header_is_not_quoted(write):
    path = write("t.csv", f"{PRIVATE},x\n".encode())
    refusal(lambda: open_pairs(path), 'user="user"', "must hold the columns' names")


# Public items

TEXT = {"item": pl.String()}
public = partial(open_public_items, types=TEXT)
PUBLIC = ["b", "", "007", "\u00e9", "e\u0301"]


@pytest.mark.parametrize(
    "given",
    [
        list,
        tuple,
        iter,
        np.array,
        pl.Series,
        pd.Series,
        lambda values: pa.chunked_array([values]),
        lambda values: pl.DataFrame({"item": values}),
        lambda values: pl.LazyFrame({"any name": values}),
        lambda values: pl.DataFrame({"item": values, "other": 1}),
        lambda values: pd.DataFrame({"item": values}),
        lambda values: pa.table({"item": values}),
    ],
)
def test_public_items_in_every_form(given):
    frame = public(given(PUBLIC))
    assert frame.schema == TEXT
    assert frame["item"].to_list() == PUBLIC


def test_public_items_in_a_file(write):
    csv = write("p.csv", b"item\n007\n7\n")
    assert public(csv)["item"].to_list() == ["007", "7"]
    assert public(str(csv))["item"].to_list() == ["007", "7"]
    refusal(lambda: public(write("q.csv", b"item\na\n\n")), "null")
    refusal(lambda: public(write("q.csv", b"item\na,b\n")), "q.csv", "cannot be read")
    refusal(lambda: public(write("q.csv", b"title,year\na,b\n")), 'item="item" is not a column')
    refusal(lambda: public(write("q.csv", b"item\n")), "empty")
    said = refusal(lambda: public(write("q.csv", b"Zz-first\n007\n")), 'must be "item"')
    assert "Zz-first" not in said  # which may be an item


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        (pl.Int8(), [-128, 127]),
        (pl.UInt64(), [0, 2**64 - 1]),
        (pl.Date(), [date(2024, 2, 29)]),
        (pl.Datetime("ms"), [datetime(2024, 1, 1)]),  # noqa: DTZ001 - zoneless is a case
        (pl.Datetime("us", "Europe/Paris"), [datetime(2024, 1, 1, tzinfo=UTC)]),
    ],
)
def test_public_items_take_the_type_of_the_column(dtype, values):
    for given in (values, pl.DataFrame({"item": values})):
        frame = public(given, types={"item": dtype})
        assert frame.schema["item"] == dtype
        assert frame["item"].to_list() == values


def test_public_items_of_a_csv_file_are_parsed_strictly(write):
    integers, dates = {"item": pl.Int32()}, {"item": pl.Date()}
    good = write("p.csv", b"item\n7\n-70\n")
    assert public(good, types=integers)["item"].to_list() == [7, -70]
    assert public(write("p.csv", b"item\n2024-02-29\n"), types=dates).height == 1
    for text in (b"007", b"+7", b" 7", b"7.0", b"99999999999", b"x"):
        path = write("p.csv", b"item\n1\n" + text + b"\n")
        refusal(lambda path=path: public(path, types=integers), "Int32", "exactly")


@pytest.mark.parametrize(
    ("dtype", "values", "said"),
    [
        (pl.String(), [1], ["1, of type int", "String", "text"]),
        (pl.String(), ["a", None], ["null"]),
        (pl.String(), ["a", "b", "a"], ["holds an item twice"]),
        (pl.String(), [], ["empty"]),
        (pl.String(), ["\ud800"], ["String", "exactly"]),
        (pl.Int64(), ["1"], ["'1', of type str", "Int64", "integers"]),
        (pl.Int64(), [True], ["True, of type bool"]),
        (pl.Int64(), [1.0], ["1.0, of type float"]),
        (pl.Int64(), [2**63], ["Int64", "exactly"]),
        (pl.Int64(), [2**200], ["Int64", "exactly"]),
        (pl.UInt8(), [-1], ["UInt8", "exactly"]),
        (pl.Date(), [datetime(2024, 1, 1, tzinfo=UTC)], ["of type datetime", "Date", "dates"]),
        (pl.Datetime(), [datetime(2024, 1, 1, tzinfo=UTC)], ["of type datetime", "Datetime"]),
        (pl.Datetime("ms"), [datetime(2024, 1, 1, 0, 0, 0, 5)], ["exactly"]),  # noqa: DTZ001
    ],
)
def test_public_items_are_checked(dtype, values, said):
    refusal(lambda: public(values, types={"item": dtype}), "public_items", *said)


def test_public_tables_are_checked():
    wide, text = pl.DataFrame({"item": [2**40]}), pl.DataFrame({"item": ["7"]})
    refusal(lambda: public(wide), "Int64", "String")
    refusal(lambda: public(text, types={"item": pl.Int64()}), "String", "Int64")
    refusal(lambda: public(wide, types={"item": pl.Int8()}), "Int8", "exactly")
    refusal(lambda: public(pl.DataFrame({"item": [1.5]})), "Float64")
    refusal(lambda: public(pl.DataFrame({"item": ["a", None]})), "null")
    refusal(lambda: public(pl.DataFrame({"item": [PRIVATE] * 2})), "an item twice")
    refusal(lambda: public(pl.Series([PRIVATE] * 2)), "an item twice")
    refusal(lambda: public(np.array([7, 8]), types=TEXT), "a value of type int")
    refusal(lambda: public(pl.DataFrame({"item": []})), "empty")


@pytest.mark.parametrize("given", ["Inception", "Who?", "", "a\0b"])
def test_public_text_that_is_no_file_is_refused(given):
    refusal(lambda: public(given), f'public_items="{given}"', "list of items")


@pytest.mark.parametrize("given", [5, b"abc", {"item": ["a"]}])
def test_public_items_of_no_use_are_refused(given):
    refusal(lambda: public(given), f"is of type {type(given).__name__}", "give a list")


def test_public_items_of_several_columns(write):
    types = {"page": pl.String(), "id": pl.Int64()}
    several = partial(open_public_items, types=types)
    rows = [("x", 2), ("x", 1)]
    frame = pl.DataFrame({"id": [2, 1], "page": ["x", "x"]})
    for given in (rows, frame, frame.to_arrow(), write("p.csv", b"id,page\n2,x\n1,x\n")):
        assert several(given).schema == types
        assert several(given).rows() == rows
    refusal(lambda: several(["x"]), "'x'", "tuple of 2 values: page, id")
    refusal(lambda: several([("x", 1, 2)]), "tuple of 2")
    refusal(lambda: several([("x", "1")]), "'1', of type str", '"id"', "Int64")
    refusal(lambda: several([*rows, ("x", 2)]), "holds an item twice")
    refusal(lambda: several(pl.DataFrame({"page": ["x"]})), 'item="id" is not a column')


# Files read batch by batch


@pytest.mark.parametrize("dtype", [pl.Int8, pl.Int64, pl.UInt64])
@pytest.mark.parametrize("far", [False, True])
def test_integers_in_files_come_back_from_batches(dtype, far, tmp_path, monkeypatch):
    low = 2**63 + 5 if dtype == pl.UInt64 else -100
    users = [low + i % 90 for i in range(5000)]
    if far and dtype != pl.Int8:
        users[4321] += 2**33  # too far for offsets, found late
    users[7] = None
    frame = pl.DataFrame(
        {"user": users, "a": range(5000), "b": [i % 7 for i in range(5000)]},
        schema={"user": dtype, "a": pl.Int16, "b": pl.UInt8},
    )
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=512)
    table = open_table(str(tmp_path / "*.parquet"), user="user", items=["b", "a"])
    expected = frame.drop_nulls()
    streamed = list(zip(*_values(table, expected), strict=True))
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    whole = list(zip(*_values(table, expected), strict=True))
    assert sorted(streamed) == sorted(whole) == sorted(expected.select("user", "b", "a").rows())


def _values(table, expected):
    users, items = table.pairs()
    assert len(users.codes) == len(items.codes) == len(expected)
    taken = users.take(users.codes).hstack(items.take(items.codes))
    return [taken[name].to_list() for name in ("user", "b", "a")]


def test_a_file_of_nulls_has_no_rows(tmp_path):
    frame = pl.DataFrame({"user": [None, 1], "item": [5, None]}, schema_overrides={"user": pl.Int8})
    frame.write_parquet(tmp_path / "t.parquet")
    users, items = open_pairs(tmp_path / "t.parquet").pairs()
    assert (len(users.codes), users.size, items.size) == (0, 0, 0)
    assert items.find(pl.DataFrame({"item": [5]})).tolist() == [-1]
    assert items.take(np.array([], int)).height == 0


def test_a_header_that_may_be_rows_is_not_shown(write):
    path = write("t.csv", f"user,item\ralice,{PRIVATE}\r".encode())
    refusal(lambda: open_table(path, user="user", items="title"), 'item="title"', "first line")


def test_a_file_that_changed_is_not_taken_for_what_it_was(tmp_path):
    path = tmp_path / "t.parquet"
    pl.DataFrame({"user": [1, 1], "item": [1, 2]}).write_parquet(path)
    table = open_pairs(path)
    pl.DataFrame({"user": [1.2, 1.7], "item": [1, 2]}).write_parquet(path)
    refusal(table.pairs, "has changed since it was opened")


def test_integers_that_numpy_does_not_have(tmp_path):
    frame = pl.DataFrame(
        {"user": [1, 2**100], "item": [1, 2]}, schema_overrides={"user": pl.Int128}
    )
    frame.write_parquet(tmp_path / "t.parquet")
    assert rows_of(open_pairs(tmp_path / "t.parquet")) == frame.rows()


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
    pl.DataFrame({"item": [PRIVATE] * 2, "count": [5, 6]}).write_parquet(tmp_path / "3.parquet")
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
    frame = pl.DataFrame({"item": [PRIVATE], "count": [1]})
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


def test_a_url_is_no_path_and_is_not_quoted():
    said = refusal(
        lambda: open_table("postgresql://me:s3cret@host/db", user="u", items=["i"]), "sl.store"
    )
    assert "s3cret" not in said
