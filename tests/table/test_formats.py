"""Files of every format, however they are packed and encoded."""

import gzip
import os
import sys
from functools import partial

import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import shortlist as sl
from helpers.reading import open_pairs, rows_of
from helpers.refusals import MARKER, refusal
from helpers.written import FRAME, MARK, ROWS, text
from shortlist.errors import GuessWarning
from shortlist.table import Writing, open_table
from shortlist.table.public_items import open_public_items


def zstd(content):
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(content)
    return packed.getvalue().to_pybytes()


SEMICOLON = Writing(";")
PACK = {"": bytes, ".gz": gzip.compress, ".zst": zstd}


# Formats


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("mark", [b"", MARK])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".ndjson", ".jsonl"])
def test_text_comes_back_from_every_file(write, suffix, packed, mark):
    path = write(f"t{suffix}{packed}".upper(), PACK[packed](mark + text(suffix)))
    assert rows_of(open_pairs(path)) == ROWS
    write("empty.csv", b"user,item\n")


@pytest.mark.parametrize("suffix", [".csv", ".txt", ".csv.gz"])
def test_a_separator(write, suffix):
    content = b'user;item\nu1;"a;b"\nu2;a,b\n'
    path = write(f"t{suffix}", gzip.compress(content) if suffix.endswith("gz") else content)
    table = open_pairs(path, writing=SEMICOLON)
    assert rows_of(table) == [("u1", "a;b"), ("u2", "a,b")]
    refusal(lambda: open_pairs(path, writing=Writing("|")), "first line", "and the separator")
    known = write("known.csv", b"item\na,b\n")
    assert open_public_items(known, table.items, table=table.parts)["item"].to_list() == ["a,b"]


@pytest.mark.parametrize("separator", [";", "\t", "|"])
@pytest.mark.parametrize("suffix", [".csv", ".txt", ".csv.gz"])
def test_a_separator_is_found_in_the_first_line_alone_and_told(write, suffix, separator):
    content = f'user{separator}"it,em"\nu1{separator}"a{separator}b,c"\n'.encode()
    path = write(f"t{suffix}", gzip.compress(content) if suffix.endswith("gz") else content)
    with pytest.warns(GuessWarning, match="as the first line has it") as caught:
        table = open_table(path, user="user", items="it,em")
    assert len(caught) == 1
    assert f"give separator={separator!r}" in str(caught[0].message)
    assert rows_of(table) == [("u1", f"a{separator}b,c")]
    given = open_table(path, user="user", items="it,em", writing=Writing(separator))
    assert rows_of(given) == rows_of(table)


@pytest.mark.parametrize(
    "header", ["user,item", '"user",item', 'user,"a;b;c;d",item', "user,item;x"]
)
def test_a_comma_needs_no_words(write, header):
    rest = header.count(",") * ","
    path = write("t.csv", f"{header}\nu;1;2;3;4{rest}\n".encode())
    assert "user" in open_table(path, user="user", items=header.split(",")[-1]).columns


def test_tabs_in_the_first_line_of_a_txt_file(write):
    with pytest.warns(GuessWarning, match="tabs"):
        assert rows_of(open_pairs(write("t.txt", text(".tsv")))) == ROWS
    assert rows_of(open_pairs(write("t.txt", b"user,item\nu\tv,w\n"))) == [("u\tv", "w")]


@pytest.mark.parametrize("separator", ["", ";;", "\n", '"', "é", 7, b","])
def test_what_separates_nothing(write, separator):
    path = write("t.csv", text(".csv"))
    read = partial(sl.pairs, path, user="user", item="item", separator=separator)
    refusal(read, "separator=", "one ASCII character")


@pytest.mark.parametrize("data", [FRAME, "t.parquet", "t.ndjson"])
def test_a_separator_where_nothing_is_separated(write, data):
    if isinstance(data, str):
        data = write(data, text(data[1:]))
    refusal(lambda: open_pairs(data, writing=SEMICOLON), "separator=';'", "omit it")


def test_parquet_is_not_compressed_twice(write):
    path = write("t.parquet.gz", gzip.compress(text(".parquet")))
    refusal(lambda: open_pairs(path), '".gz"', "is not read")


@pytest.mark.parametrize("header", ["user,item,item", "user,user,item", "user,item,x,item"])
def test_a_column_that_stands_twice_in_the_first_line(write, header):
    path = write("t.csv", f"{header}\n{','.join([MARKER] * (header.count(',') + 1))}\n".encode())
    refusal(lambda: open_pairs(path), "stands twice in the first line")
    refusal(lambda: open_table(path, count="user", items=["item"]), "stands twice")
    play = partial(sl.comparisons, path, winner="user", loser="item", public_items=sl.IN_TABLE)
    refusal(play, "stands twice")


def test_names_that_the_parser_makes_are_no_columns(write):
    path = write("t.csv", b"user,item,x,x\nu,i,1,2\n")
    assert rows_of(open_pairs(path)) == [("u", "i")]
    refusal(lambda: open_table(path, user="user", items="x_duplicated_0"), "is not a column")
    own = write("own.csv", b"user,item,item_duplicated_0\nu,i,j\n")
    items = ["item", "item_duplicated_0"]
    assert rows_of(open_table(own, user="user", items=items)) == [("u", "i", "j")]


# Encodings


def unpacked(suffix):
    """Of a suffix what is in the file, and what it is compressed by."""
    _, inner, *packed = suffix.split(".")
    return f".{inner}", "".join(f".{name}" for name in packed)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16le", "utf-16be", "utf-32"])
@pytest.mark.parametrize("suffix", [".csv", ".ndjson", ".csv.gz", ".csv.zst"])
def test_utf_16_or_32_is_named_with_what_converts_it(write, encoding, suffix):
    inner, packed = unpacked(suffix)
    path = write(f"my t{suffix}", PACK[packed](text(inner).decode().encode(encoding)))
    said = refusal(lambda: open_pairs(path), "is not in UTF-8", f"iconv -f {encoding} -t utf-8")
    new = str(path).replace("my t.", "my t.utf8.").removesuffix(packed)
    assert said.endswith(f" > '{new}'.")


@pytest.mark.parametrize("suffix", [".csv", ".ndjson", ".csv.gz", ".csv.zst"])
def test_latin_1_is_named_with_what_converts_it(write, suffix):
    frame = pl.DataFrame({"user": ["a"] * 9000, "item": ["x"] * 8999 + [f"{MARKER} é"]})
    inner, packed = unpacked(suffix)
    path = write(f"t{suffix}", PACK[packed](text(inner, frame).decode().encode("latin1")))
    said = refusal(open_pairs(path).pairs, "is not in UTF-8", "iconv -f latin1 -t utf-8")
    assert MARKER not in said
    refusal(lambda: open_public_items(path, {"item": pl.String()}), "iconv -f latin1")


def test_latin_1_in_the_first_line(write):
    path = write("t.csv", "usér,item\na,b\n".encode("latin1"))
    refusal(lambda: open_pairs(path), "iconv -f latin1")
    path = write("t.csv", "usér,item\na,b\n".encode())
    assert rows_of(open_table(path, user="usér", items="item")) == [("a", "b")]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no iconv")
def test_the_command_converts(write, tmp_path):
    path = write("my plays.csv", "user,item\nü,é\n".encode("latin1"))
    said = refusal(open_pairs(path).pairs)
    command = said.partition("convert it: ")[2].removesuffix(".")
    assert os.system(command) == 0  # noqa: S605 - that it runs in a shell is what is tested
    assert rows_of(open_pairs(tmp_path / "my plays.utf8.csv")) == [("ü", "é")]


@pytest.mark.parametrize("packed", PACK)
@pytest.mark.parametrize("encoding", ["latin1", "cp1252", "utf-16", "utf-16le", "UTF8"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".ndjson"])
def test_text_in_the_encoding_that_is_given(write, encoding, suffix, packed):
    frame = pl.DataFrame({"usér": ["ü", "b"], "item": ["é", "x"]})
    content = text(suffix, frame).decode().encode(encoding)
    path = write(f"t{suffix}{packed}", PACK[packed](content))
    table = open_table(path, user="usér", items="item", writing=Writing(encoding=encoding))
    assert rows_of(table) == frame.rows()


def test_an_encoding_is_tried_at_rows_only_when_they_are_read(write):
    """What a row holds must not be found out before the charge."""
    content = f"user,item\na,x\nb,{MARKER}".encode() + b"\x81\n"
    table = open_pairs(write("t.csv", content), writing=Writing(encoding="cp1252"))
    said = refusal(table.pairs, "not in the encoding that was given", "check encoding")
    assert MARKER not in said


@pytest.mark.parametrize("known", ["latin1", "utf-8"])
def test_a_public_list_may_be_in_utf_8_beside_a_table_that_is_not(write, known):
    table = write("t.csv", "user,item\na,é\n".encode("latin1"))
    listed = write("known.csv", "item\né\n".encode(known))
    named = {"user": "user", "item": "item", "public_items": listed, "encoding": "latin1"}
    assert sl.pairs(table, **named).top_k(1, epsilon=1.0).items == ["é"]


HALVES = [r"\ud83d", r"a\udc00", r"\ud83dx", r"\ud83d\u0041", r"\u0000"]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("column", ["user", "item"])
def test_half_of_a_character_is_refused_once_it_is_read(write, half, column):
    """Two of them, that differ, would be one user."""
    row = {"user": MARKER, "item": "a", column: f"{MARKER}{half}"}
    lines = [f'{{"user": "{u}", "item": "{i}"}}' for u, i in (("b", "c"), row.values())]
    table = open_pairs(write("t.ndjson", "\n".join(lines).encode()))
    refusal(table.pairs, "half of a character", "write whole characters", "not shown")


def test_a_character_of_two_halves_is_one_and_other_columns_may_hold_what_they_will(write):
    row = rb'{"user": "u", "item": "\ud83d\ude00", "other": "\ud83d"}'
    assert rows_of(open_pairs(write("t.ndjson", row))) == [("u", "\U0001f600")]


@pytest.mark.parametrize("encoding", ["latin-99", "hex", "", 7, b"latin1"])
def test_what_is_no_encoding(write, encoding):
    path = write("t.csv", text(".csv"))
    read = partial(sl.pairs, path, user="user", item="item", encoding=encoding)
    refusal(read, "encoding=", "such as latin1")


@pytest.mark.parametrize("data", [FRAME, "t.parquet"])
def test_an_encoding_where_there_is_no_text(write, data):
    if isinstance(data, str):
        data = write(data, text(data[1:]))
    refusal(lambda: open_pairs(data, writing=Writing(encoding="latin1")), "encoding=", "omit it")
