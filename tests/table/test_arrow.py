"""Objects of Arrow and of DuckDB."""

import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest

import shortlist as sl
from helpers.reading import open_pairs, rows_of
from helpers.refusals import refusal
from helpers.written import FRAME, ROWS, UUIDS


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
