"""Public items in every form, of the type of the column."""

from datetime import UTC, date, datetime
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.reading import refusal
from helpers.refusals import MARKER
from shortlist.table.public_items import open_public_items

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
        (pl.Int64(), [1.5], ["1.5, of type float"]),
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
    refusal(lambda: public(pl.DataFrame({"item": [1.5]})), "identifies nothing")
    refusal(lambda: public(pl.DataFrame({"item": ["a", None]})), "null")
    refusal(lambda: public(pl.DataFrame({"item": [MARKER] * 2})), "an item twice")
    refusal(lambda: public(pl.Series([MARKER] * 2)), "an item twice")
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
