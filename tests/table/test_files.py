"""Directories, lists of paths, and what is piped in."""

import gzip
import io
import os
import sys

import polars as pl
import pytest

from helpers.reading import open_pairs, rows_of
from helpers.refusals import MARKER, refusal
from helpers.written import FRAME, MARK, ROWS, text
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
    (tmp_path / f"year={MARKER}").mkdir()
    assert MARKER not in refusal(lambda: open_pairs(tmp_path), "divided by the values")


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
