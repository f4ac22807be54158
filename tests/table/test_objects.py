"""Dicts, and columns of objects."""

from datetime import UTC, date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shortlist as sl
from helpers.reading import open_pairs, rows_of
from helpers.refusals import MARKER, refusal
from helpers.written import FRAME, UUIDS
from shortlist.errors import SPENT
from shortlist.table import open_table
from shortlist.table.public_items import open_public_items


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
    "mixed", [[7, 7, 0.5], [datetime(2024, 1, 1, tzinfo=UTC)] * 3, [float("nan")] * 3, [1, 2]]
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
    assert MARKER not in refusal(lambda: open_pairs({MARKER: ["x"], "user": ["y"]}), "keys")


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


@pytest.mark.parametrize("value", ["x", None, True, 8, 8.0, 2**70])
def test_one_value_does_not_change_how_all_others_are_written(value):
    written = [item for _, item in rows_of(open_pairs(with_one_more(value)))]
    assert written[:500] == ["7"] * 500
    known = {"x": ["x"], None: [], True: ["true"], 8: ["8"], 2**70: [str(2**70)]}
    assert written[500:] == known[value]


@pytest.mark.parametrize("value", [0.5, 2.0**54, Decimal("1.5"), datetime(2024, 1, 1)])  # noqa: DTZ001
def test_one_object_that_identifies_nothing_is_refused_in_every_source(value):
    data = with_one_more(value)
    said = refusal(open_pairs(data).pairs, "Python objects")
    readers = pd.DataFrame({"item": data["item"], "count": 1})
    assert said == refusal(open_table(readers, count="count", items="item").counts)
    games = pd.DataFrame({"won": data["item"], "lost": data["item"]})
    source = sl.comparisons(games, winner="won", loser="lost", public_items=sl.IN_TABLE)
    assert f"{said} {SPENT}" == refusal(lambda: source.rank(1, epsilon=1.0))
    refusal(lambda: open_public_items(data[["item"]], {"item": pl.String()}), "objects")


@pytest.mark.parametrize("value", [0.5, datetime(2024, 1, 1), ["x"], Decimal("inf")])  # noqa: DTZ001
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
