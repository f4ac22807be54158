"""Directories, lists of paths, and what is piped in."""

import gzip
import io
import os
import shlex
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shortlist as sl
from helpers.reading import open_pairs, rows_of
from helpers.refusals import MARKER, refusal, refused
from helpers.written import FRAME, MARK, ROWS, text
from shortlist.cli._shell import SHELL
from shortlist.table import open_table
from shortlist.table.public_items import open_public_items
from shortlist.table.scans import StandardInput


def test_a_directory_is_all_its_tables(tmp_path, write):
    write("a.csv", b"user,item\nu1,007\n")
    write("b.csv.gz", gzip.compress(b"item,user\n7,u2\n"))
    write("c.tsv", "user\titem\nü\u0301\t 7\n".encode())
    write(".hidden.csv", b"no")
    write("_SUCCESS", b"")
    write("_metadata.csv", b"no")
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "d.csv").write_bytes(b"user,item\nno,no\n")
    for given in (tmp_path, f"{tmp_path}/"):
        assert rows_of(open_pairs(given)) == ROWS


def divided(tmp_path, write_one, folders):
    """A folder of folders that are named by values, with one user in each."""
    for place, folder in enumerate(folders):
        (tmp_path / folder).mkdir(parents=True)
        write_one(tmp_path / folder / "part-0", place)
    return tmp_path


def as_csv(path, place):
    Path(f"{path}.csv").write_text(f"user,item\nu{place},7\n")


def as_parquet(path, place):
    frame = pl.DataFrame({"user": [f"u{place}"], "item": ["7"]})
    frame.write_parquet(f"{path}.parquet")


@pytest.mark.parametrize("write_one", [as_csv, as_parquet])
def test_folders_that_are_named_by_values_have_these_in_columns(tmp_path, write_one):
    folders = ["country=FR/day=2024-02-29", "country=S%2FW/day=07", "country=CH/day="]
    folder = divided(tmp_path / "plays", write_one, folders)
    shown = {("u0", "FR", "2024-02-29"), ("u1", "S/W", "07")}
    for given in (folder, str(folder), [folder], f"{folder}/*/*/part*", f"{tmp_path}/*/*/*/*"):
        table = open_table(given, user="user", items=["country", "day"])
        assert set(rows_of(table)) == shown
    assert len(rows_of(open_table(folder, user="user", items="country"))) == 3
    assert len(rows_of(open_table(folder, user="country", items="item"))) == 3
    assert len(rows_of(open_table(folder, user="day", items="country"))) == 2
    assert table.columns["day"] == pl.String


def test_a_column_that_a_file_has_comes_before_the_name_of_its_folder(tmp_path):
    folder = divided(tmp_path, as_csv, ["user=x", "user=y"])
    assert set(rows_of(open_pairs(folder))) == {("u0", "7"), ("u1", "7")}


def test_no_message_shows_a_value_that_a_folder_is_named_by(tmp_path):
    folder = divided(tmp_path / "plays", as_csv, [f"year={MARKER}", "year=2024"])
    (folder / f"year={MARKER}" / "part-0.csv").write_text("who,item\na,b\n")
    for given in (folder, f"{folder}/*/*", [folder]):
        said = refusal(lambda given=given: open_pairs(given), "year=…", "part-0.csv")
        assert MARKER not in said
    (folder / "top.csv").write_text("user,item\na,b\n")
    refusal(lambda: open_table(folder, user="year", items="item"), "top.csv", "is not a column")


# What another program converts


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my t.xlsx", """python -c 'import pandas; pandas.read_excel("{path}", dtype=str)"""),
        ("t.ods", '.to_csv("{stem}.csv", index=False)\''),
        ("t.zip", "unpack it, and give the folder: unzip {path} -d {stem}"),
        ("t.csv.bz2", "bunzip2 -k {path}"),
        ("t.parquet.xz", "unxz -k {path}"),
        ("t.json", "jq -c '.[]' {path} > {stem}.ndjson"),
        ("t.feather", '.write_parquet("{stem}.parquet")\''),
        ("t.sqlite", 'data="sqlite:///{path}" and table'),
    ],
)
def test_the_command_that_converts_a_file_is_told(write, name, said):
    path = write(name, b"SQLite format 3\0" if name.endswith("lite") else b"x")
    refusal(lambda: open_pairs(path), said.format(path=path, stem=path.with_suffix("")))


def test_the_command_converts_an_arrow_file(tmp_path):
    path = tmp_path / "t.arrow"
    FRAME.write_ipc(path)
    command = refusal(lambda: open_pairs(path)).partition("convert it: ")[2].removesuffix(".")
    _, flag, code = shlex.split(command)
    assert flag == "-c"
    exec(code)  # noqa: S102 - that it runs is what is tested
    assert rows_of(open_pairs(tmp_path / "t.parquet")) == ROWS


@pytest.mark.parametrize(
    "content", [b'[{"user": "a", "item": "b"}]', b'[\n{"user": 1}\n]', b" [\n]"]
)
def test_an_array_of_json_by_the_name_of_lines(write, content):
    path = write("t.ndjson", content)
    refusal(lambda: open_pairs(path), "jq -c '.[]'", "t.lines.ndjson")


# Addresses


@pytest.mark.parametrize("scheme", ["s3", "https", "gs", "S3", "abfss", "hf"])
def test_a_file_elsewhere_is_read_by_duckdb(scheme):
    address = f"{scheme}://me:s3cret@plays/2026.parquet"
    games = partial(sl.comparisons, winner="a", loser="b", public_items=["x"])
    ask = (partial(sl.pairs, user="user", item="item"), partial(sl.counts, item="i", count="n"))
    for source in (*ask, games):
        for given in (address, [address]):
            said = refusal(lambda g=given, s=source: s(g), f"({scheme.lower()}://…)", "duckdb.sql")
            assert "s3cret" not in said
    assert "duckdb:///plays.duckdb --table plays" in refused(lambda: games(address)).rendered(SHELL)


def test_a_url_of_a_file_here_is_a_path(write):
    path = write("t.csv", text(".csv"))
    for given in (f"file://{path}", [f"file://{path}"]):
        refusal(lambda given=given: open_pairs(given), "write the path alone")
    refusal(lambda: sl.pairs(f"file://{path}", user="user", item="item"), "write the path alone")


# Rows and counts that are no table


def told(data):
    """What the line that a refusal tells makes of the data."""
    line = refusal(lambda: open_pairs(data)).partition("give ")[2].removesuffix(".")
    return eval(line, {"data": data, "polars": pl})  # noqa: S307 - that it works is what is tested


ROWS_AS = {
    "list": lambda: ROWS,
    "tuple": lambda: tuple(ROWS),
    "set": lambda: set(ROWS),
    "generator": lambda: (row for row in ROWS),
    "zip": lambda: zip(*zip(*ROWS, strict=True), strict=True),
    "dicts": lambda: [{"user": user, "item": item} for user, item in ROWS],
    "array": lambda: np.array(ROWS),
    "structured": lambda: np.array(ROWS, dtype=[("user", "U9"), ("item", "U9")]),
}


@pytest.mark.parametrize("kind", ROWS_AS)
def test_rows_that_are_no_table_are_refused_with_the_line_that_makes_one(kind):
    assert sorted(rows_of(open_pairs(told(ROWS_AS[kind]())))) == sorted(ROWS)


def test_counts_that_are_no_table_are_refused_with_the_line_that_makes_one():
    for data in (Counter(a=3, b=1), pd.Series({"a": 3, "b": 1}, name="count").rename_axis("item")):
        table = open_table(told(data), count="count", items="item")
        items, counts = table.counts()
        assert (items["item"].to_list(), counts.tolist()) == (["a", "b"], [3, 1])
    assert told(pl.Series("item", ["a"])).columns == ["item"]


def test_a_directory_without_tables(tmp_path, write):
    write("read.me", b"x")
    refusal(lambda: open_pairs(tmp_path), "is a directory without a file", "glob")


def test_a_list_of_paths(tmp_path, write):
    paths = [write("a.csv", b"user,item\nu1,007\n"), str(write("b.csv", b"user,item\nu2,7\n"))]
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "c.ndjson").write_bytes(text(".ndjson", FRAME[2:]))
    paths.append(tmp_path / "more")
    assert rows_of(open_pairs(paths)) == ROWS
    assert rows_of(open_pairs(tuple(paths))) == ROWS
    said = refusal(lambda: open_pairs([*paths, MARKER]), "data[3] does not exist")
    assert MARKER not in said  # perhaps a list of items was given by mistake
    refusal(lambda: open_pairs([paths[0], f"{tmp_path}/x*.csv"]), "data[1] matches no file")
    refusal(lambda: open_table(paths, user="who", items="item"), "a.csv", 'user="who"')
    items = open_public_items([paths[0]], {"item": pl.String()}, also=())
    assert items["item"].to_list() == ["007"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_file_counts_once(tmp_path, write, link):
    path = write("a.csv", text(".csv"))
    refusal(lambda: open_pairs([path, str(path)]), "a.csv", "a second time")
    link(path, tmp_path / "b.csv")
    for given in (tmp_path, tmp_path / "*.csv", [path, tmp_path / "b.csv"]):
        refusal(lambda given=given: open_pairs(given), "b.csv", "a second time")


# The standard input


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".ndjson", ".parquet"])
@pytest.mark.parametrize("mark", [b"", MARK])
def test_what_is_piped_in(monkeypatch, suffix, mark):
    content = text(suffix)
    if suffix != ".parquet":
        content = gzip.compress(mark + content) if suffix == ".tsv" else mark + content
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    table = open_pairs(StandardInput(suffix))
    assert rows_of(table) == ROWS
    assert rows_of(table) == ROWS


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "the standard input is empty"),
        ("user,item\nü,é\n".encode("latin1"), "put iconv -f latin1 -t utf-8 before this command"),
        (b"who,item\n", 'the standard input: user="user" is not a column'),
    ],
)
def test_what_is_piped_in_and_cannot_be_read(monkeypatch, content, said):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    refusal(lambda: open_pairs(StandardInput()).pairs(), said)
