"""Stores of arrays: what is refused at once, and what stays in a file."""

import re
from datetime import date

import numpy as np
import polars as pl
import pytest

from helpers.databases import rows_of
from helpers.refusals import refusal, refused
from shortlist.stores import MemoryStore


def test_arrays_that_are_mapped_from_files(tmp_path):
    counts = np.random.default_rng(1).integers(0, 100, 1000)
    np.save(tmp_path / "items.npy", np.array([f"item {i}" for i in range(1000)]))
    np.save(tmp_path / "counts.npy", counts)
    mapped = {
        name: np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in ("items", "counts")
    }
    store = MemoryStore(**mapped)
    refusal(store.rows, "call prepare() first")
    store.prepare()
    np.save(tmp_path / "order.npy", store.order)
    order = np.load(tmp_path / "order.npy", mmap_mode="r")
    again = MemoryStore(**mapped, order=order)
    assert again._counts is mapped["counts"]
    assert again.order is order
    for one in (store, again):
        with one.snapshot() as view:
            assert sorted(rows_of(view, 99)) == list(enumerate(counts.tolist()))
            assert view.items(np.array([7])).row(0) == ("item 7",)


@pytest.mark.parametrize("order", [[0, 1], [0, 1, 1], [0, 1, 3], [-1, 0, 1], [0, 1, 2, 2]])
def test_an_order_holds_every_position_once(order):
    refusal(lambda: MemoryStore(["a", "b", "c"], [3, 2, 1], order=order), "every position")


def test_an_order_falls():
    counts = np.array([3, 2, 1])
    store = MemoryStore(["a", "b", "c"], counts, order=[0, 1, 2])
    counts[2] = 5
    with store.snapshot() as view:
        view.sorted_access(0, 2)
        refusal(lambda: view.sorted_access(2, 1), "not come in falling order")


@pytest.mark.parametrize("counts", [[1.5, 2.0], [True, False], ["1", "2"], [[1, 2]], 5, [1, None]])
def test_counts_in_memory_are_whole_numbers(counts):
    refusal(lambda: MemoryStore(["a", "b"], counts), "counts: must be one array of whole numbers")


@pytest.mark.parametrize("ragged", [[[1], [1, 2]], [1, [2, 3]], [object(), 2], {"a": 1}])
def test_ragged_arrays_are_refused_by_name(ragged):
    refusal(lambda: MemoryStore(["a", "b"], ragged), "counts: must be one array of whole")
    refusal(lambda: MemoryStore(["a", "b"], [1, 2], order=ragged), "order: must be one array")
    refusal(lambda: MemoryStore(ragged, [1, 2]), "items")


def test_masked_arrays_are_refused():
    masked = np.ma.masked_array([5, 7], mask=[False, True])
    refusal(lambda: MemoryStore(["a", "b"], masked), "counts: is a masked array")
    refusal(lambda: MemoryStore(masked, [1, 2]), "items: is a masked array")
    refusal(lambda: MemoryStore(["a", "b"], [1, 2], order=masked), "order: is a masked array")


def objects(*values):
    held = np.empty(len(values), object)
    held[:] = values
    return held


@pytest.mark.parametrize("build", [list, pl.Series, lambda items: objects(*items)])
def test_items_that_could_not_be_named_are_refused_at_once(build):
    for items in (["a", None], [None, "a"], [3, None]):
        refusal(lambda items=items: MemoryStore(build(items), [1, 2]), "items: some are null")
    for items in (["a", "a"], [3, 3], [date(2024, 2, 29)] * 2):
        refusal(lambda items=items: MemoryStore(build(items), [1, 2]), "items: some are there more")


@pytest.mark.parametrize("items", [["a", 1], [1, "a"], ["a", 1.5], ["a", b"b"], [1, object()]])
def test_every_item_is_looked_at(items):
    for build in (list, lambda items: objects(*items)):
        error = refused(lambda build=build: MemoryStore(build(items), [1, 2]))
        assert str(error).startswith("items: must be one array")
    assert len(MemoryStore(objects("a", "b"), [1, 2])._items) == 2


@pytest.mark.parametrize("items", [[1.5, 2.5], [[1], [2]], [object(), 1], 5, None, [b"a", b"b"]])
def test_items_in_memory_are_of_a_type_that_identifies(items):
    error = refused(lambda: MemoryStore(items, [1, 2]))
    assert re.match("items(: must be one array| and counts are of diff)", str(error))
    assert error.__cause__ is error.__context__ is None


def test_arrays_of_many_kinds():
    for items in (pl.Series(["a", "b"]), np.array(["a", "b"]), ("a", "b"), np.array([1, 2])):
        for counts in ([1, 2], np.array([1, 2], np.uint8), pl.Series([1, 2]), (1, 2)):
            store = MemoryStore(items, counts)
            store.prepare()
            with store.snapshot() as view:
                assert rows_of(view, 5) == [(1, 2), (0, 1)]
                assert view.items(np.array([1])).to_series().to_list() == [items[1]]
    refusal(lambda: MemoryStore(["a"], [1, 2]), "different lengths")


def test_an_order_of_other_counts_is_refused():
    refusal(lambda: MemoryStore(["a", "b"], [1, 2], order=[0, 1]), "order: is not that of")
