"""What it takes to be named, as a chart: made from a plan, without a look at the rows."""

import sys
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.charts import rows_of
from helpers.refusals import MARKER, refusal
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.mechanisms import LimitedDomain, WeightedGaussian, finding


@pytest.fixture(autouse=True)
def _nothing_is_read(monkeypatch):
    monkeypatch.setattr(RowsInMemory, "show", None)


def plan(question=None, *, bound=100, public=None, **given):
    rows = pl.DataFrame({"user": [1, 2], "title": [MARKER, MARKER]})
    source = sl.pairs(
        rows, user="user", item="title", max_items_per_user=bound, public_items=public
    )
    given = {"epsilon": 1.0, "delta": 1e-6} | given
    return source.plan(question or sl.Domain(), **given)


def drawn(chart):
    curves = {}
    for row in rows_of(chart):
        curves.setdefault(row["curve"], []).append((row["across"], row["up"]))
    return chart.to_dict()["title"], curves


def test_a_curve_for_users_of_1_item_10_100_and_the_most():
    title, curves = drawn(plan(mechanism=WeightedGaussian).plot())
    assert title["text"] == "domain: what it takes to be named"
    assert title["subtitle"] == [
        "WeightedGaussian, epsilon = 1, delta = 1e-06. No data was read.",
        "The chances are exact.",
    ]
    assert list(curves) == ["each holds 1 item", "each holds 10 items", "each holds 100 items"]
    for points in curves.values():
        assert points == sorted(points)
        assert points[0][1] < 0.01
        assert points[-1][1] > 0.99


@pytest.mark.parametrize(("bound", "held"), [(1, [1]), (7, [1, 7]), (10, [1, 10])])
def test_no_more_items_than_count(bound, held):
    _, curves = drawn(plan(bound=bound, mechanism=WeightedGaussian).plot())
    assert [int(name.split()[2]) for name in curves] == held


def test_of_the_best_it_says_that_others_count_too():
    title, curves = drawn(plan(sl.TopK(20)).plot())
    assert title["text"] == "top-k: what it takes to be found"
    assert (
        "Whether an item that is found is among the best hangs on the others." in title["subtitle"]
    )
    assert any("on an invented table" in line for line in title["subtitle"])
    assert len(curves) == 3


def test_it_does_not_depend_on_the_table():
    rows = pl.DataFrame({"user": [7] * 9, "title": list("abcdefghi")})
    source = sl.pairs(rows, user="user", item="title", max_items_per_user=100)
    other = source.plan(sl.Domain(), epsilon=1.0, delta=1e-6)
    assert other.plot().to_dict() == plan().plot().to_dict()


def test_counts_around_a_selection_change_nothing_of_what_is_found():
    title, curves = drawn(plan(sl.Domain(count_share=0.3)).plot())
    assert "NoisyClippedCounts" in title["subtitle"][0]
    assert len(curves) == 3


def test_what_would_be_too_large_is_left_out_and_named(monkeypatch):
    monkeypatch.setattr(finding, "_MOST_ROWS", 500_000)
    title, curves = drawn(plan(bound=500).plot())
    assert "each holds 1 item" in curves
    assert title["subtitle"][-1].startswith("Left out, as too large a table: each holds ")
    assert title["subtitle"][-1].endswith("each holds 500 items.")
    assert "each holds 500 items" not in curves


def test_public_items_and_what_hangs_on_others_are_refused():
    public = plan(sl.TopK(2), public=["a", "b"], delta=0.0)
    assert refusal(public.plot) == (
        "JointOrPeel has no such chances: everybody knows the items, and any of them may be named; "
        "use expect(), which plays it on an invented table, or metrics.compare on a table that may "
        "be looked at."
    )
    local = plan(sl.TopK(2), mechanism=partial(LimitedDomain, k_bar=10))
    assert "hangs on the counts of the others" in refusal(local.plot)


@pytest.mark.parametrize(
    ("question", "instead"),
    [
        (sl.TopK(2, noisy_counts=True), "use expect()"),
        (sl.HittingSet(2, noisy_counts=True), "explain() of the plan"),
    ],
)
def test_what_is_around_a_mechanism_is_refused_likewise(question, instead):
    assert instead in refusal(plan(question, public=["a", "b"]).plot)


def test_no_table_is_promised_that_cannot_be_invented():
    rows = pl.DataFrame({"user": [1], "title": ["Emma"], "minutes": [3.0], "day": ["Monday"]})
    public = {"user": "user", "item": "title", "public_items": ["Emma", "Ulysses"]}
    of_amounts = sl.pairs(rows, **public, amount="minutes", cap=(60, 120))
    in_groups = sl.pairs(rows, **public).grouped("day", public_groups=["Monday"])
    for source in (of_amounts, in_groups):
        asked = source.plan(sl.TopK(1, noisy_counts=True), epsilon=1.0, delta=1e-6)
        assert "explain() of the plan says how items are selected" in refusal(asked.plot)


def test_it_is_saved(tmp_path):
    plan(mechanism=WeightedGaussian).plot().save(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")


def test_it_needs_altair(monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    assert 'run pip install "shortlist[plot]"' in refusal(plan().plot)
