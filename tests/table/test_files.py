"""Files and frames as people have them."""

import gzip
import io
import os
import sys
import uuid
from datetime import UTC, date, datetime
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import shortlist as sl
from helpers.refusals import refusal
from shortlist.errors import SPENT
from shortlist.table import open_table
from shortlist.table.public_items import open_public_items
from shortlist.table.scans import StandardInput

PRIVATE = "Zz-private-91"
ROWS = [("u1", "007"), ("u2", "7"), ("ü\u0301", " 7")]
FRAME = pl.DataFrame(ROWS, schema=["user", "item"], orient="row")
open_pairs = partial(open_table, user="user", items=["item"])


def rows_of(table):
    users, items = table.pairs()
    return users.take(users.codes).hstack(items.take(items.codes)).rows()


def text(suffix, frame=FRAME):
    content = io.BytesIO()
    if suffix in (".ndjson", ".jsonl"):
        frame.write_ndjson(content)
    elif suffix == ".parquet":
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator="\t" if suffix == ".tsv" else ",")
    return content.getvalue()


def zstd(content):
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as stream:
        stream.write(content)
    return packed.getvalue().to_pybytes()


PACK = {"": bytes, ".gz": gzip.compress, ".zst": zstd}
MARK = b"\xef\xbb\xbf"


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


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
    table = open_pairs(path, separator=";")
    assert rows_of(table) == [("u1", "a;b"), ("u2", "a,b")]
    refusal(lambda: open_pairs(path), "first line", "and the separator")
    known = write("known.csv", b"item\na,b\n")
    assert open_public_items(known, table.items, separator=";")["item"].to_list() == ["a,b"]


def test_tabs_in_the_first_line_of_a_txt_file(write):
    assert rows_of(open_pairs(write("t.txt", text(".tsv")))) == ROWS
    assert rows_of(open_pairs(write("t.txt", b"user,item\nu\tv,w\n"))) == [("u\tv", "w")]


@pytest.mark.parametrize("separator", ["", ";;", "\n", '"', "é", 7, b","])
def test_what_separates_nothing(write, separator):
    path = write("t.csv", text(".csv"))
    refusal(lambda: open_pairs(path, separator=separator), "separator=", "one ASCII character")


@pytest.mark.parametrize("data", [FRAME, "t.parquet", "t.ndjson"])
def test_a_separator_where_nothing_is_separated(write, data):
    if isinstance(data, str):
        data = write(data, text(data[1:]))
    refusal(lambda: open_pairs(data, separator=";"), "separator=';'", "omit it")


def test_parquet_is_not_compressed_twice(write):
    path = write("t.parquet.gz", gzip.compress(text(".parquet")))
    refusal(lambda: open_pairs(path), '".gz"', "is not read")


@pytest.mark.parametrize("header", ["user,item,item", "user,user,item", "user,item,x,item"])
def test_a_column_that_stands_twice_in_the_first_line(write, header):
    path = write("t.csv", f"{header}\n{','.join([PRIVATE] * (header.count(',') + 1))}\n".encode())
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


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16le", "utf-16be"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".ndjson", ".csv.gz", ".csv.zst"])
def test_utf_16_is_named_with_what_converts_it(write, encoding, suffix):
    inner, packed = unpacked(suffix)
    path = write(f"my t{suffix}", PACK[packed](text(inner).decode().encode(encoding)))
    said = refusal(lambda: open_pairs(path), "is not in UTF-8", f"iconv -f {encoding} -t utf-8")
    new = str(path).replace("my t.", "my t.utf8.").removesuffix(packed)
    assert said.endswith(f" > '{new}'.")


@pytest.mark.parametrize("suffix", [".csv", ".ndjson", ".csv.gz", ".csv.zst"])
def test_latin_1_is_named_with_what_converts_it(write, suffix):
    frame = pl.DataFrame({"user": ["a"] * 9000, "item": ["x"] * 8999 + [f"{PRIVATE} é"]})
    inner, packed = unpacked(suffix)
    path = write(f"t{suffix}", PACK[packed](text(inner, frame).decode().encode("latin1")))
    said = refusal(open_pairs(path).pairs, "is not in UTF-8", "iconv -f latin1 -t utf-8")
    assert PRIVATE not in said
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
    command = said.partition("Convert it: ")[2].removesuffix(".")
    assert os.system(command) == 0  # noqa: S605 - that it runs in a shell is what is tested
    assert rows_of(open_pairs(tmp_path / "my plays.utf8.csv")) == [("ü", "é")]


# Directories and lists


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
    (tmp_path / f"year={PRIVATE}").mkdir()
    assert PRIVATE not in refusal(lambda: open_pairs(tmp_path), "divided by the values")


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
    said = refusal(lambda: open_pairs([*paths, PRIVATE]), "data[3] does not exist")
    assert PRIVATE not in said  # perhaps a list of items was given by mistake
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


# Arrow


def arrow(frame=FRAME):
    return pa.table(frame.to_dict(as_series=False))


def written_dataset(table, folder):
    pa.dataset.write_dataset(table, folder, format="parquet")
    return pa.dataset.dataset(folder)


@pytest.mark.parametrize(
    "form",
    [
        lambda table, _: table.to_batches()[0],
        lambda table, _: table.to_reader(),
        lambda table, _: pa.dataset.dataset(table),
        written_dataset,
    ],
)
def test_objects_of_arrow(form, tmp_path):
    table = open_pairs(form(arrow(FRAME.with_columns(other=1.5)), tmp_path))
    assert table.columns == {"user": pl.String, "item": pl.String}
    assert rows_of(table) == ROWS


def test_dictionaries_of_a_reader():
    words = pa.array(["x", "y", None]).dictionary_encode()
    numbers = pa.array([7, None, 8]).dictionary_encode()
    table = open_pairs(pa.table({"user": numbers, "item": words}).to_reader())
    assert table.columns == {"user": pl.Int64, "item": pl.String}
    assert rows_of(table) == [(7, "x")]


def test_a_reader_is_read_once():
    source = sl.pairs(arrow().to_reader(), user="user", item="item")
    for _ in range(2):
        assert len(source.top_k(2, epsilon=1.0, delta=1e-6)) <= 2
    table = open_pairs(arrow().to_reader())
    table.pairs()
    refusal(table.pairs, "can be read only once")


UUIDS = [uuid.UUID(int=7**i) for i in (5, 20, 40)]


def test_uuids_of_arrow():
    storage = pa.array([u.bytes for u in UUIDS] + [None], pa.binary(16))
    items = pa.ExtensionArray.from_storage(pa.uuid(), storage)
    table = pa.table({"user": ["a", "b", "c", "d"], "item": items})
    for form in (table, table.to_reader()):
        assert [item for _, item in rows_of(open_pairs(form))] == [str(u) for u in UUIDS]


def test_a_relation_of_duckdb():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.connect().sql("select * from (values (1, 'x'), (2, 'y')) as t(user, item)")
    table = open_pairs(relation)
    assert table.columns == {"user": pl.Int32, "item": pl.String}
    assert rows_of(table) == [(1, "x"), (2, "y")]


@pytest.mark.parametrize("lossless", [False, True])
def test_uuids_of_duckdb(lossless):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect(config={"arrow_lossless_conversion": str(lossless).lower()})
    values = ", ".join(f"('{u}'::uuid, 7)" for u in UUIDS)
    relation = connection.sql(f"select * from (values {values}) as t(item, user)")
    forms = (lambda: relation, relation.to_arrow_table, relation.df, relation.arrow)
    for form in forms:  # one by one: a connection has one open result
        table = open_pairs(form())
        assert table.columns["item"] == pl.String
        assert sorted(item for _, item in rows_of(table)) == sorted(str(u) for u in UUIDS)


# Dicts


def test_a_dict_of_columns():
    table = open_pairs({"user": [1, 1, 2], "item": ["x", None, "y"], "other": [0.5, 1, 2]})
    assert table.columns == {"user": pl.String, "item": pl.String}
    assert rows_of(table) == [("1", "x"), ("2", "y")]
    arrays = {"user": np.array([1, 1, 2], np.int16), "item": pl.Series([5, None, 6])}
    table = open_pairs(arrays | {"other": [object()] * 3})
    assert table.columns == {"user": pl.Int16, "item": pl.Int64}
    assert rows_of(table) == [(1, 5), (2, 6)]
    for held in (["3", "4"], [3, 4], np.array([3, 4])):
        counted = open_table({"item": ["a", "b"], "n": held}, count="n", items=["item"])
        assert counted.counts()[1].tolist() == [3, 4]


@pytest.mark.parametrize(
    "mixed", [[7, 7, 0.5], [datetime(2024, 1, 1, tzinfo=UTC)] * 3, [True] * 3, [1, 2]]
)
def test_a_dict_of_columns_that_are_not_text(mixed):
    table = open_pairs({"user": [1, 2, 3], "item": mixed})
    refusal(lambda: rows_of(table), "data of type dict: the columns are not of one length")


@pytest.mark.parametrize("one", [2**63, -5, "x", None, date(2024, 1, 1)])
@pytest.mark.parametrize("first", [True, False])
def test_one_value_of_a_list_changes_no_other_and_no_type(one, first):
    """A type that is found by looking could be decided by a single user."""
    held = [one, *[7] * 60] if first else [*[7] * 60, one]
    table = open_pairs({"user": range(61), "item": held})
    assert table.columns == {"user": pl.String, "item": pl.String}
    assert sum(item == "7" for _, item in rows_of(table)) == 60


def test_the_keys_of_a_dict_may_be_users():
    assert PRIVATE not in refusal(lambda: open_pairs({PRIVATE: ["x"], "user": ["y"]}), "keys")


# pandas


def objects(*values):
    items = pd.Series(values, dtype=object)
    return pd.DataFrame({"user": [f"u{i}" for i in range(len(values))], "item": items})


@pytest.mark.parametrize("category", [False, True])
def test_dates_and_uuids_in_columns_of_objects_are_text(category):
    days = [date(2024, 2, 29), None, date(1, 1, 1)]
    written = ["2024-02-29", "0001-01-01"]
    for values, wanted in ((days, written), (UUIDS, [str(u) for u in UUIDS])):
        data = objects(*values)
        data = data.assign(item=data["item"].astype("category")) if category else data
        table = open_pairs(data)
        assert table.columns["item"] == pl.String
        assert [item for _, item in rows_of(table)] == wanted


def test_public_dates_are_written_as_those_of_a_column_of_objects():
    days = [date(2024, 2, 29), date(1, 1, 1)]
    typed = pl.DataFrame({"item": days})
    for given in (days, typed, typed.to_arrow(), objects(*days)[["item"]], objects(*days)["item"]):
        known = open_public_items(given, {"item": pl.String()})
        assert known["item"].to_list() == ["2024-02-29", "0001-01-01"]
    known = open_public_items(UUIDS, {"item": pl.String()})["item"].to_list()
    assert known == [str(u) for u in UUIDS]
    moments = [datetime(2024, 2, 29)]  # noqa: DTZ001
    refusal(lambda: open_public_items(moments, {"item": pl.String()}), "of type datetime")


def test_objects_that_are_missing():
    values = ["a", None, float("nan"), pd.NA, pd.NaT, date(2024, 1, 1), UUIDS[0]]
    wanted = ["a", "2024-01-01", str(UUIDS[0])]
    assert [item for _, item in rows_of(open_pairs(objects(*values)))] == wanted


def with_one_more(value):
    """No type within the first hundred rows, then many sevens, and one user who holds another."""
    return objects(*[None] * 100, *[7] * 500, value)


@pytest.mark.parametrize("value", [0.5, "x", None, True, 8])
def test_one_value_does_not_change_how_all_others_are_written(value):
    data = with_one_more(value)
    said = refusal(open_pairs(data).pairs, "Python objects")
    readers = pd.DataFrame({"item": data["item"], "count": 1})
    assert said == refusal(open_table(readers, count="count", items="item").counts)
    games = pd.DataFrame({"won": data["item"], "lost": data["item"]})
    source = sl.comparisons(games, winner="won", loser="lost", public_items=sl.IN_TABLE)
    assert f"{said} {SPENT}" == refusal(lambda: source.rank(1, epsilon=1.0))
    refusal(lambda: open_public_items(data[["item"]], {"item": pl.String()}), "objects")


@pytest.mark.parametrize("value", [0.5, datetime(2024, 1, 1), b"x", 7])  # noqa: DTZ001
def test_objects_of_other_types_are_refused(value):
    refusal(open_pairs(objects("a", value)).pairs, "Python objects")
    refusal(open_pairs(objects(value)).pairs, "Python objects")
    frame = pl.DataFrame({"user": ["u"], "item": pl.Series([value], dtype=pl.Object)})
    refusal(open_pairs(frame).pairs, "Python objects")


@pytest.mark.filterwarnings("ignore:Dask support is moving:FutureWarning")
def test_columns_of_objects_of_dask():
    dask = pytest.importorskip("dask")
    frames = pytest.importorskip("dask.dataframe")
    with dask.config.set({"dataframe.convert-string": False}):
        data = frames.from_pandas(with_one_more(0.5), npartitions=2)
        refusal(open_pairs(data).pairs, "Python objects")
        data = frames.from_pandas(objects("a", None, "b"), npartitions=2)
        assert [item for _, item in rows_of(open_pairs(data))] == ["a", "b"]


def test_a_lazy_frame_that_promises_another_type():
    def lie(frame):
        return frame.with_columns(item=pl.lit(7.0))

    lazy = FRAME.lazy().map_batches(lie, schema=FRAME.schema, validate_output_schema=False)
    refusal(open_pairs(lazy).pairs, "of another kind")


def test_levels_of_an_index_are_columns():
    data = pd.DataFrame({"user": ["b", "a"], "item": ["x", "y"], "day": [1, 2]})
    for levels in (["user"], ["item"], ["user", "item"], ["day"], ["item", "day"]):
        assert rows_of(open_pairs(data.set_index(levels))) == [("b", "x"), ("a", "y")]
    assert rows_of(open_pairs(data.set_index("user", drop=False))) == [("b", "x"), ("a", "y")]
    many = data.set_index(["user", "item"])
    assert open_table(many, count="day", items=["item"]).counts()[1].tolist() == [1, 2]
    assert open_public_items(many, {"item": pl.String()})["item"].to_list() == ["x", "y"]
    days = data.assign(day=[date(2024, 1, 1), date(2024, 1, 2)]).set_index("day")
    written = [day for _, day in rows_of(open_table(days, user="user", items="day"))]
    assert written == ["2024-01-01", "2024-01-02"]
