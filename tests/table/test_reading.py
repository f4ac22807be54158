"""Files, globs and batches: what is read of them, and that a refusal quotes nothing."""

import io
import os

import numpy as np
import polars as pl
import pytest

from helpers.reading import open_pairs, refusal, rows_of
from helpers.refusals import MARKER
from shortlist.table import open_table


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


# Files


def test_paths_are_checked(tmp_path, write):
    refusal(lambda: open_pairs(tmp_path / "gone.csv"), "gone.csv", "does not exist")
    refusal(lambda: open_pairs(str(tmp_path / "*.csv")), "*.csv", "matches no file")
    refusal(lambda: open_pairs("long" * 999 + ".csv"), "does not exist")
    refusal(lambda: open_pairs(tmp_path), "is a directory", "glob")
    refusal(lambda: open_pairs(write("a.csv", b"")), "a.csv", "is empty")
    refusal(lambda: open_pairs(write("a.xml", b"x")), '".xml"', ".parquet, .csv, .ndjson")
    refusal(lambda: open_pairs(write("plays", b"x")), "no suffix")
    refusal(lambda: open_pairs(os.fsencode(tmp_path)), "not a table")


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "ndjson"])
def test_foreign_files_are_refused(write, suffix):
    path = write(f"t.{suffix}", PNG + MARKER.encode())
    refusal(lambda: open_pairs(path), f"t.{suffix}")


def test_a_parquet_file_cut_short_is_refused(write):
    buffer = io.BytesIO()
    pl.DataFrame({"user": [MARKER] * 99, "item": ["x"] * 99}).write_parquet(buffer)
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


@pytest.mark.parametrize("wrong", [f"{MARKER},x,y", f'"{MARKER},x', f"{MARKER}\udcff,x"])
def test_malformed_csv_lines_are_not_quoted(write, wrong):
    lines = "user,item\n" + "a,b\n" * 3000 + wrong + "\n"
    table = open_pairs(write("t.csv", lines.encode(errors="surrogateescape")))
    refusal(table.pairs, "t.csv", "a row cannot be parsed")


@pytest.mark.parametrize(
    "wrong",
    [
        f"{MARKER}",
        f'{{"user":"{MARKER}","item":',
        f'["{MARKER}"]',
        f'{{"user":"{MARKER}","item":9{"9" * 60}}}',
        f'{{"user":"{MARKER}\udcff","item":1}}',
    ],
)
def test_malformed_json_lines_are_not_quoted(write, wrong):
    lines = '{"user":"a","item":1}\n' * 3000 + wrong + "\n"
    path = write("t.ndjson", lines.encode(errors="surrogateescape"))
    refusal(lambda: open_pairs(path).pairs(), "t.ndjson", "cannot be read")


def test_the_first_line_of_a_csv_without_header_is_not_quoted(write):
    path = write("t.csv", f"{MARKER},x\n".encode())
    refusal(lambda: open_pairs(path), 'user="user"', "must hold the columns' names")


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
    streamed = rows_of(table)
    monkeypatch.delattr(pl.LazyFrame, "collect_batches")
    assert streamed == rows_of(table) == expected.select("user", "b", "a").rows()


@pytest.mark.parametrize("suffix", ["parquet", "csv", "ndjson"])
def test_text_in_files_comes_back_from_batches(suffix, tmp_path):
    users = [None if i % 31 == 0 else f"user {i % 700}" for i in range(5000)]
    frame = pl.DataFrame({"user": users, "item": [f"{i % 90} " * (i % 5) for i in range(5000)]})
    frame = frame.with_columns(pl.col("item").replace("", None))
    path = tmp_path / f"t.{suffix}"
    {"parquet": lambda to: frame.write_parquet(to, row_group_size=512)}.get(
        suffix, getattr(frame, f"write_{suffix}", None)
    )(path)
    assert rows_of(open_pairs(path)) == frame.drop_nulls().rows()


@pytest.mark.parametrize("values", [range(5000), [f"{i}" for i in range(5000)]])
def test_a_stream_that_ends_early_is_refused(values, tmp_path, monkeypatch):
    """As Polars' does where a page is damaged: the panic is lost in a thread of its own."""
    frame = pl.DataFrame({"user": values, "item": values})
    frame.write_parquet(tmp_path / "t.parquet", row_group_size=512)
    table = open_pairs(tmp_path / "t.parquet")
    whole = pl.LazyFrame.collect_batches

    def cut_short(rows, **options):
        yield next(iter(whole(rows, **options)))

    monkeypatch.setattr(pl.LazyFrame, "collect_batches", cut_short)
    refusal(table.pairs, "t.parquet", "cannot be read to its end")


def test_a_file_of_nulls_has_no_rows(tmp_path):
    frame = pl.DataFrame({"user": [None, 1], "item": [5, None]}, schema_overrides={"user": pl.Int8})
    frame.write_parquet(tmp_path / "t.parquet")
    users, items = open_pairs(tmp_path / "t.parquet").pairs()
    assert (len(users.codes), users.size, items.size) == (0, 0, 0)
    assert items.find(pl.DataFrame({"item": [5]})).tolist() == [-1]
    assert items.take(np.array([], int)).height == 0


def test_a_header_that_may_be_rows_is_not_shown(write):
    path = write("t.csv", f"user,item\ralice,{MARKER}\r".encode())
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


def test_a_url_is_no_path_and_is_not_quoted():
    said = refusal(
        lambda: open_table("postgresql://me:s3cret@host/db", user="u", items=["i"]), "sl.store"
    )
    assert "s3cret" not in said
