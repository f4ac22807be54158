"""The sensitive table is no list of what everybody knows, under whatever name it is given."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import shortlist as sl
from helpers.command import top_k
from helpers.refusals import MARKER, refusal

TABLE = pl.DataFrame(
    {"item": [MARKER] * 4, "user": ["a", "b", "c", "c"], "count": [1] * 4, "other": ["x"] * 4}
)
LEAVE_OUT = "or omit public_items."
IN_TABLE = "give sl.IN_TABLE."

SOURCES = {
    "pairs": (partial(sl.pairs, user="user", item="item"), LEAVE_OUT),
    "counts": (partial(sl.counts, count="count", item="item"), IN_TABLE),
    "comparisons": (partial(sl.comparisons, winner="item", loser="other"), IN_TABLE),
}


@pytest.fixture(params=SOURCES)
def source(request):
    return SOURCES[request.param]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.parquet"
    TABLE.write_parquet(path)
    return path


def check(source, data, public):
    build, remedy = source
    said = refusal(lambda: build(data, public_items=public), "is the sensitive table itself")
    assert said.endswith(remedy)
    assert MARKER not in said


def linked(make, path):
    link = path.with_name("link.parquet")
    make(path, link)
    return link


def copied(path, name="other.parquet"):
    TABLE[:1].write_parquet(path.with_name(name))
    return path.with_name(name)


FILES = {
    "path": lambda path: path,
    "text": str,
    "another way": lambda path: path.parent / ".." / path.parent.name / path.name,
    "relative": os.path.relpath,
    "symbolic link": partial(linked, os.symlink),
    "hard link": partial(linked, os.link),
    "glob": lambda path: str(path.with_name("*.parquet")),
    "glob of more": lambda path: str(copied(path).with_name("*.parquet")),
    "directory": lambda path: path.parent,
    "list": lambda path: [copied(path), path],
    "scan": pl.scan_parquet,
    "scan of it": lambda path: pl.scan_parquet(path).select("item").unique(),
    "scan of more": lambda path: pl.concat([pl.scan_parquet(copied(path)), pl.scan_parquet(path)]),
    "narwhals": lambda path: nw.from_native(pl.scan_parquet(path)),
    "dataset": pa.dataset.dataset,
}


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("form", FILES)
def test_the_same_file_is_refused(source, path, form, monkeypatch):
    monkeypatch.chdir(path.parent)
    check(source, path, FILES[form](path))


@pytest.mark.parametrize("form", ["scan", "scan of more", "narwhals", "dataset"])
def test_a_file_of_the_table_is_refused(source, path, form):
    check(source, FILES[form](path), path)


FRAMES = {
    "polars": TABLE.clone,
    "polars lazy": TABLE.lazy,
    "pandas": TABLE.to_pandas,
    "pyarrow": TABLE.to_arrow,
    "batch": lambda: TABLE.to_arrow().to_batches()[0],
    "reader": lambda: TABLE.to_arrow().to_reader(),
    "dataset": lambda: pa.dataset.dataset(TABLE.to_arrow()),
}


@pytest.mark.parametrize("form", FRAMES)
def test_the_same_frame_is_refused(source, form):
    data = FRAMES[form]()
    check(source, data, data)


def test_the_same_frame_behind_narwhals_is_refused(source):
    for data in (TABLE, TABLE.lazy(), pd.DataFrame(TABLE.to_dict(as_series=False))):
        check(source, data, nw.from_native(data))
        check(source, nw.from_native(data), data)


def test_nothing_is_read_before_it_is_refused(source):
    lazy = TABLE.lazy().map_batches(pytest.fail, schema=TABLE.schema)
    check(source, lazy, lazy)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_another_file_is_a_list(path, suffix, tmp_path):
    known = tmp_path / f"known{suffix}"
    frame = pl.DataFrame({"item": ["a", "b"]})
    getattr(frame, f"write_{suffix[1:]}")(known)
    for public in (known, pl.read_csv(known) if suffix == ".csv" else pl.scan_parquet(known)):
        assert len(
            sl.pairs(path, user="user", item="item", public_items=public).top_k(2, epsilon=1)
        )


def test_in_the_shell(complaint, tmp_path):
    table = tmp_path / "t.csv"
    TABLE.rename({"item": "title"}).write_csv(table)
    said = complaint(*top_k(table, "--public-items", tmp_path / "*.csv"))
    assert "is the sensitive table itself" in said
    assert said.rstrip().endswith("or omit --public-items.")
    words = ["top-k", table, "--item", "title", "--count", "count", "-k", 1, "--epsilon", 1]
    assert "give --public-items-in-table." in complaint(*words, "--public-items", table)
    assert MARKER not in said


TAKEN_OUT = {
    "made lazy": lambda frame: frame.lazy(),
    "a column of it, lazily": lambda frame: frame.lazy().select("item"),
    "a column of it": lambda frame: frame.select("item"),
    "its values": lambda frame: frame["item"],
}


@pytest.mark.parametrize("form", TAKEN_OUT)
@pytest.mark.parametrize("data", ["eager", "lazy"])
def test_what_lies_in_the_memory_of_the_table_is_refused(source, form, data):
    check(source, TABLE if data == "eager" else TABLE.lazy(), TAKEN_OUT[form](TABLE))


def test_a_value_of_a_dict_is_refused(source):
    columns = TABLE.to_dict(as_series=False)
    check(source, columns, columns["item"])


@pytest.mark.parametrize("form", [lambda f: f["item"].to_list(), lambda f: f["item"].to_numpy()])
def test_what_was_copied_is_not_quoted_where_items_repeat(source, form):
    build, _ = source
    said = refusal(lambda: build(TABLE, public_items=form(TABLE)), "an item twice")
    assert MARKER not in said


def test_another_frame_of_the_same_items_is_a_list(source):
    build, _ = source
    known = pl.DataFrame({"item": ["a", "b"]})
    for public in (known, known.lazy(), known["item"]):
        build(TABLE, public_items=public)


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="standard input has no name")
def test_what_is_piped_in_from_the_list_is_refused(path):
    words = [*top_k("-"), "--public-items", path.with_suffix(".csv")]
    TABLE.rename({"item": "title"}).write_csv(path.with_suffix(".csv"))
    with path.with_suffix(".csv").open() as stdin:
        done = subprocess.run(  # noqa: S603 - the program that is run is our own
            [sys.executable, "-m", "shortlist", *map(str, words)],
            stdin=stdin, capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 2
    assert "is the sensitive table itself" in done.stderr
