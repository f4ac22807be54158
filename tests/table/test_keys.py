from datetime import UTC, date, datetime

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist.table import keys as module
from shortlist.table.keys import code, code_pairs

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
EXTREMES = st.sampled_from([-(2**63), -1, 0, 2**31, 2**32, 2**63 - 1])
COLUMNS = st.one_of(
    st.tuples(
        st.just(pl.String),
        st.lists(TEXT | st.sampled_from(["", "a", "A", "a ", "\u00e9", "e\u0301"])),
    ),
    st.tuples(st.just(pl.Int64), st.lists(EXTREMES | st.integers(-(2**63), 2**63 - 1))),
    st.tuples(st.just(pl.Int64), st.lists(st.integers(-5, 5))),
    st.tuples(st.just(pl.UInt64), st.lists(st.integers(2**64 - 9, 2**64 - 1))),
    st.tuples(st.just(pl.UInt64), st.lists(st.sampled_from([0, 2**63, 2**64 - 1]))),
    st.tuples(st.just(pl.Int8), st.lists(st.integers(-128, 127))),
    st.tuples(st.just(pl.Date), st.lists(st.dates())),
    st.tuples(st.just(pl.Datetime("us")), st.lists(st.datetimes())),
)


def assert_round_trip(frame):
    keys = code(frame.get_columns())
    rows = frame.rows()
    assert keys.codes.dtype == np.uint32
    assert keys.codes.flags.c_contiguous
    assert keys.codes.flags.writeable
    assert keys.codes.shape == (len(rows),)
    assert keys.take(keys.codes).equals(frame)
    assert keys.take(keys.codes).schema == frame.schema
    assert keys.find(frame).tolist() == keys.codes.tolist()
    assert len(set(zip(rows, keys.codes.tolist(), strict=True))) == len(set(rows))
    assert len(set(keys.codes.tolist())) == len(set(rows))
    assert keys.codes.max(initial=0) < max(keys.size, 1)
    return keys


@given(COLUMNS)
@settings(deadline=None)
def test_one_column_comes_back(column):
    dtype, values = column
    assert_round_trip(pl.DataFrame({"a": pl.Series(values, dtype=dtype)}))


@given(st.lists(st.tuples(TEXT, EXTREMES, st.integers(0, 3))))
@settings(deadline=None)
def test_several_columns_come_back(rows):
    types = {"page": pl.String, "id": pl.Int64, "day": pl.UInt8}
    assert_round_trip(pl.DataFrame(rows, schema=types, orient="row"))


def test_wide_integers_and_zoned_datetimes_come_back():
    assert_round_trip(pl.DataFrame({"a": pl.Series([2**100, 1, 2**100], dtype=pl.Int128)}))
    instants = pl.Series([datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)])
    assert_round_trip(pl.DataFrame({"a": instants.dt.convert_time_zone("Europe/Paris")}))


def test_text_is_never_normalised():
    assert (
        assert_round_trip(pl.DataFrame({"a": ["\u00e9", "e\u0301", "E", "e", " e", "e\0"]})).size
        == 6
    )


def test_text_codes_do_not_grow_with_other_text_of_the_process():
    kept = pl.Series([f"other {i}" for i in range(1000)]).cast(pl.Categorical)
    assert assert_round_trip(pl.DataFrame({"a": ["x", "y", "x"]})).size == 2
    assert len(kept) == 1000


def test_text_codes_are_dense_where_polars_numbers_them_with_other_text(monkeypatch):
    kept = pl.Series([f"another {i}" for i in range(1000)]).cast(pl.Categorical)
    monkeypatch.setattr(module, "_categories", pl.Categorical)
    assert assert_round_trip(pl.DataFrame({"a": ["x", "y", "x"]})).size == 2
    assert len(kept) == 1000


def test_near_integers_are_coded_by_distance():
    keys = assert_round_trip(pl.DataFrame({"a": [-7, 3, 10]}))
    assert keys.codes.tolist() == [0, 10, 17]
    assert keys.size == 18
    assert keys.find(pl.DataFrame({"a": [-8, 11, -(2**63), 2**63 - 1]})).tolist() == [-1] * 4


def test_far_integers_are_coded_densely():
    assert assert_round_trip(pl.DataFrame({"a": [0, 2**40, 2**41, 0]})).size == 3


def test_a_long_column_is_looked_up_in_pieces(monkeypatch):
    monkeypatch.setattr(module, "_PIECE", 3)
    column = pl.Series([2**50 * (i % 5) for i in range(10)])
    assert assert_round_trip(pl.DataFrame({"a": column})).size == 5


def test_chunked_columns():
    near, far, text = [pl.Series([1, 2])], [pl.Series([2**50, 1])], [pl.Series(["a", "b"])]
    for chunks in (near, far, text):
        column = pl.concat([*chunks, *chunks], rechunk=False).alias("a")
        assert_round_trip(column.to_frame())


@pytest.mark.parametrize(
    ("values", "absent"),
    [(["a", "b"], "c"), ([0, 2**60], 5), ([date(2024, 1, 1)], date(1, 1, 1))],
)
def test_absent_values_are_not_found(values, absent):
    assert code([pl.Series("a", values)]).find(pl.DataFrame({"a": [absent]})).tolist() == [-1]


def test_absent_pairs_are_not_found():
    keys = code([pl.Series("a", ["x", "y"]), pl.Series("b", [0, 2**60])])
    asked = pl.DataFrame({"a": ["y", "z", "x"], "b": [2**60, 0, 1]})
    assert keys.find(asked).tolist() == [keys.codes[1], -1, -1]


def test_no_rows():
    keys = assert_round_trip(pl.DataFrame(schema={"a": pl.String, "b": pl.Int64}))
    assert keys.size == 0
    assert keys.find(pl.DataFrame({"a": ["x"], "b": [1]})).tolist() == [-1]


def test_pairs_are_coded_apart():
    users, items = code_pairs(pl.Series("user", ["u", "v"]), [pl.Series("item", [5, 5])])
    assert users.take(users.codes)["user"].to_list() == ["u", "v"]
    assert items.take(items.codes)["item"].to_list() == [5, 5]


def test_too_many_keys_are_refused(monkeypatch):
    monkeypatch.setattr(module, "_LIMIT", 2)
    with pytest.raises(ValueError, match="different values"):
        code([pl.Series("a", ["x", "y"])])
