from datetime import UTC, date, datetime
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.refusals import refusal
from shortlist.table import coding, open_table
from shortlist.table.coding import CategoryCoder, code

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


def test_near_integers_are_coded_by_distance():
    keys = assert_round_trip(pl.DataFrame({"a": [-7, 3, 10]}))
    assert keys.codes.tolist() == [0, 10, 17]
    assert keys.size == 18
    assert keys.find(pl.DataFrame({"a": [-8, 11, -(2**63), 2**63 - 1]})).tolist() == [-1] * 4


def test_far_integers_are_coded_densely():
    assert assert_round_trip(pl.DataFrame({"a": [0, 2**40, 2**41, 0]})).size == 3


@pytest.mark.parametrize(
    "values",
    [
        [2**50 * (i % 5) for i in range(10)],
        [i % 5 for i in range(9)] + [-(2**40)],  # found to be far when some are coded
        [f"{i % 5}" for i in range(10)],
        [2**63, 2**63 + 1, 0],
    ],
)
def test_a_long_column_is_coded_in_pieces(values, monkeypatch):
    monkeypatch.setattr(coding, "_PIECE", 3)
    monkeypatch.setattr(coding, "_LEAST_TEXT", 4)
    dtype = pl.UInt64 if 2**63 in values else None
    frame = pl.DataFrame({"a": pl.Series(values, dtype=dtype), "b": range(len(values))})
    assert assert_round_trip(frame[["a"]]).size == len(set(values))
    assert_round_trip(frame)


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


def test_too_many_keys_are_refused(monkeypatch):
    monkeypatch.setattr(coding, "_LIMIT", 2)
    with pytest.raises(ValueError, match="different values"):
        code([pl.Series("a", ["x", "y"])])


@pytest.mark.parametrize("rows", [2, 60])
def test_what_a_thread_refuses_is_refused(rows, monkeypatch):
    """Before all pieces have been read, or at the end."""
    monkeypatch.setattr(coding, "_LIMIT", 2)
    monkeypatch.setattr(coding, "_PIECE", 2)
    monkeypatch.setattr(coding, "_LEAST_TEXT", 2)
    frame = pl.DataFrame({"user": ["a", "b"] * (rows // 2), "item": [1, 2] * (rows // 2)})
    with pytest.raises(ValueError, match="different values"):
        open_table(frame, user="user", items=["item"]).pairs()


@pytest.mark.parametrize("which", [0, 15, 29])
def test_what_goes_wrong_with_one_piece_alone_is_not_lost(which, monkeypatch):
    """Else its rows would be missing, and nobody told."""
    append, seen = coding.ValueCoder.append, []

    def fails_once(coder, values):
        seen.append(values)
        if len(seen) == which + 1:
            raise MemoryError
        append(coder, values)

    monkeypatch.setattr(coding, "_PIECE", 2)
    monkeypatch.setattr(coding.ValueCoder, "append", fails_once)
    frame = pl.DataFrame({"user": range(60), "item": ["a", "b"] * 30})
    with pytest.raises(MemoryError):
        open_table(frame, user="user", items=["item"]).pairs()


class _Lazy:
    """In place of a thread: what works only while it is waited for."""

    waiting = 0

    def __init__(self, _):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def submit(self, action, values):
        _Lazy.waiting += 1
        return SimpleNamespace(result=lambda: self._run(action, values))

    def _run(self, action, values):
        _Lazy.waiting -= 1
        action(values)


def test_few_pieces_wait_to_be_coded(monkeypatch):
    """Else a table that is read faster than it is coded would be in memory whole."""
    seen = []

    def pieces():
        for number in range(40):
            seen.append(_Lazy.waiting)
            yield pl.DataFrame({"item": [f"item {number % 7}"]})

    monkeypatch.setattr(_Lazy, "waiting", 0)
    monkeypatch.setattr(coding, "ThreadPoolExecutor", _Lazy)
    (items,) = coding.code_each(pieces(), {"item": pl.String()}, 40)
    assert max(seen) == coding._AHEAD
    assert items.codes.tolist() == [number % 7 for number in range(40)]


def test_text_is_coded_while_more_is_read(monkeypatch):
    monkeypatch.setattr(coding, "_PIECE", 2)
    monkeypatch.setattr(coding, "_LEAST_TEXT", 3)
    texts = [f"text {number**2 % 17}" for number in range(60)]
    frame = pl.DataFrame({"user": range(60), "item": texts, "other": texts[::-1]})
    users, items = open_table(frame, user="user", items=["item", "other"]).pairs()
    assert users.codes.tolist() == list(range(60))
    assert items.take(items.codes).equals(frame["item", "other"])


# A hash alone says nothing


@pytest.mark.parametrize("values", [["a", "", "\u00e9", "a", "b"] * 3, [2**100, 1, 2**99, 2**100]])
def test_a_hash_that_is_always_the_same_merges_nothing(values, monkeypatch):
    constant = np.zeros(len(values), np.uint64)
    monkeypatch.setattr(pl.Series, "hash", lambda held, _: pl.Series(constant[: len(held)]))
    dtype = pl.String if isinstance(values[0], str) else pl.Int128
    frame = pl.DataFrame({"a": pl.Series(values, dtype=dtype)})
    assert assert_round_trip(frame).size == len(set(values))


@pytest.mark.parametrize("n_hashes", [1, 2, 5])
@given(st.lists(TEXT | st.sampled_from(["", "a", "b", "c", "d"])))
@settings(deadline=None)
def test_text_of_one_hash_is_told_apart(n_hashes, values):
    class Colliding(coding.ValueCoder):
        def _hashes(self, values, turn):
            return super()._hashes(values, turn) % n_hashes + turn

    coder = Colliding(pl.Series("a", dtype=pl.String), 0)
    for start in range(0, len(values), 7):
        coder.append(pl.Series("a", values[start : start + 7], pl.String))
        coder._code()
    keys = coder.keys()
    assert keys.size == len(set(values))
    assert keys.take(keys.codes)["a"].to_list() == values
    assert keys.find(pl.DataFrame({"a": values}, {"a": pl.String})).tolist() == keys.codes.tolist()


def test_each_table_draws_its_own_hash():
    tables = [coding.HashTable() for _ in range(4)]
    drawn = {tuple(table._odd.tolist()) for table in tables}
    assert len(drawn) == 4
    assert all(number % 2 for odd in drawn for number in odd)


def test_text_is_not_kept_with_the_piece_it_came_in():
    piece = pl.Series(
        "a", ["", "\u00e9", "e\0", *(f"a text of some length {i}" for i in range(999))]
    )

    def kept_bytes(values):
        held = pa.chunked_array(values).chunk(0)
        return sum(buffer.size for buffer in held.buffers() if buffer is not None)

    few = piece.gather([0, 1, 2, 999])
    apart = coding._apart(few)
    assert apart.to_list() == ["", "\u00e9", "e\0", piece[999]]
    assert kept_bytes(few) > 10_000
    assert kept_bytes(apart) < 200


@pytest.mark.parametrize("different", [3, 700, 20_000])
def test_integers_have_codes_in_the_order_in_which_they_come_first(different, monkeypatch):
    rng = np.random.default_rng(different)
    values = rng.integers(-(2**63), 2**63 - 1, different)[rng.integers(0, different, 20_000)]
    monkeypatch.setattr(coding, "_PIECE", 97)
    monkeypatch.setattr(coding, "_FIRST_SLOTS", 16)  # so that it grows
    numbers = {}
    expected = [numbers.setdefault(value, len(numbers)) for value in values.tolist()]
    keys = code([pl.Series("id", values)])
    assert keys.codes.tolist() == expected
    assert keys.size == len(numbers)
    assert keys.take(np.arange(keys.size))["id"].to_list() == list(numbers)


def test_categories_of_users_never_become_texts():
    kind = pl.Enum(["a", "b", "x", "y"])
    frame = pl.DataFrame(
        {"user": ["a", "b"], "item": ["x", "y"]}, schema_overrides={"user": kind, "item": kind}
    )
    users, items = open_table(frame, user="user", items=["item"]).pairs()
    assert items.take(items.codes)["item"].to_list() == ["x", "y"]
    assert "values" in vars(items.coding)
    assert "values" not in vars(users.coding)


KINDS_OF_CATEGORIES = [pl.Categorical(), pl.Enum(["z", "a", "unused", "b"])]
if hasattr(pl, "Categories"):
    KINDS_OF_CATEGORIES.append(pl.Categorical(pl.Categories("pages")))


@pytest.mark.parametrize("kind", KINDS_OF_CATEGORIES, ids=str)
def test_categories_are_the_codes_of_their_texts(kind):
    texts = pl.Series("page", ["b", "a", "b", "z", "a"])
    of_texts, of_numbers = code([texts]), code([texts.cast(kind)])
    assert of_numbers.codes.tolist() == of_texts.codes.tolist() == [0, 1, 0, 2, 1]
    assert of_numbers.take(np.arange(3)).equals(of_texts.take(np.arange(3)))
    assert of_numbers.find(pl.DataFrame({"page": ["unused", "a"]})).tolist() == [-1, 1]


@pytest.mark.parametrize("kind", KINDS_OF_CATEGORIES, ids=str)
def test_a_frame_of_categories_is_read_as_one_of_texts(kind):
    rows = {"user": ["a", None, "b", "a"], "page": ["z", "b", None, "a"]}
    texts = pl.DataFrame(rows)
    tables = (open_table(held, user="user", items=["page"]) for held in (texts, texts.cast(kind)))
    (users, pages), (same_users, same_pages) = (table.pairs() for table in tables)
    assert same_users.codes.tolist() == users.codes.tolist() == [0, 0]
    assert same_pages.take(same_pages.codes).equals(pages.take(pages.codes))


@pytest.mark.parametrize("numbers", [[1.5, 2.0], [1.0, 2.0]])
@pytest.mark.parametrize("role", ["user", "item"])
def test_floats_as_categories_are_refused_by_their_type_alone(numbers, role):
    pd = pytest.importorskip("pandas")
    columns = {"user": ["a", "b"], "item": ["x", "y"], role: pd.Categorical(numbers)}
    said = refusal(lambda: open_table(pd.DataFrame(columns), user="user", items=["item"]))
    assert f'{role}="{role}" is of categories that are not all strings or all integers' in said


def test_codes_of_categories_do_not_hang_on_what_polars_has_seen_before():
    texts = pl.Series("page", ["new b", "new a", "new b", "new z"])
    seen = pl.Series([f"seen {number}" for number in range(3000)] + ["new z", "new a"])
    assert seen.cast(pl.Categorical).len() == 3002
    keys = code([texts.cast(pl.Categorical)])
    assert (keys.codes.tolist(), keys.size) == ([0, 1, 0, 2], 3)
    assert keys.take(np.arange(3))["page"].to_list() == ["new b", "new a", "new z"]


@pytest.mark.parametrize("piece", [1, 2, 3, 1000])
def test_categories_that_come_piece_by_piece(piece, monkeypatch):
    monkeypatch.setattr(coding, "_PIECE", piece)
    texts = pl.Series("page", [str(number**2 % 97) for number in range(300)])
    keys = code([texts.cast(pl.Categorical)])
    assert keys.codes.tolist() == code([texts]).codes.tolist()
    assert keys.take(keys.codes)["page"].equals(texts)


OTHER_PART = [pl.String(), pl.Categorical(), pl.Enum(["a", "c", "b"]), pl.Enum(["b", "c", "a"])]


@pytest.mark.parametrize("other", OTHER_PART, ids=["text", "categorical", "enum", "another enum"])
@pytest.mark.parametrize("first", OTHER_PART[1:3], ids=["categorical", "enum"])
def test_files_of_categories_are_read_as_those_of_texts(tmp_path, first, other):
    texts = pl.Series("user", ["b", "a", None, "b"]), pl.Series("user", ["c", "a", "b"])
    for number, (column, kind) in enumerate(zip(texts, (first, other), strict=True)):
        part = pl.DataFrame([column.cast(kind), column.alias("page").cast(kind)])
        part.write_parquet(tmp_path / f"{number}.parquet", row_group_size=2)
    users, pages = open_table(tmp_path, user="user", items=["page"]).pairs()
    assert users.codes.tolist() == pages.codes.tolist() == [0, 1, 0, 2, 1, 0]
    assert (users.size, pages.size) == (3, 3)
    assert pages.take(np.arange(3))["page"].to_list() == ["b", "a", "c"]


def test_a_text_that_has_two_numbers_is_one_key(monkeypatch):
    """As in a dictionary of Arrow that holds it twice, of old: a user must not become two."""
    monkeypatch.setattr(coding, "is_numbered_once", lambda dtype: dtype == pl.Enum)

    class TwoNumbers(NamedTuple):
        numbers: pl.Series
        texts: pl.Series

        def is_empty(self):
            return self.numbers.is_empty()

        def to_physical(self):
            return self.numbers

        def gather(self, rows):
            return self.texts.gather(rows)

    numbers = pl.Series([0, 1, 2, 1, 0], dtype=pl.UInt32)
    coder = CategoryCoder(pl.Series("user", dtype=pl.Categorical), 5)
    coder.append(TwoNumbers(numbers, pl.Series("user", ["a", "b", "a", "b", "a"])))
    keys = coder.keys()
    assert (keys.codes.tolist(), keys.size) == ([0, 1, 0, 1, 0], 2)
