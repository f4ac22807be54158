"""What to expect of an answer: played on an invented table, whatever the plan's own rows are."""

import polars as pl
import pytest

import shortlist as sl
from helpers.charts import rows_of
from helpers.refusals import MARKER, refusal
from shortlist.expectations.playing import Expectation
from shortlist.mechanisms import OneShotLaplace, ThresholdTopK

SMALL = {"users": 2_000, "items": 200, "items_per_user": 5, "runs": 10}
ROWS = pl.DataFrame({"user": [1, 2], "title": [MARKER, MARKER]})


def plan(question, *, epsilon=1.0, delta=1e-6, public=None, **given):
    source = sl.pairs(ROWS, user="user", item="title", public_items=public)
    return source.plan(question, epsilon=epsilon, delta=delta, **given)


def test_more_budget_and_more_users_name_more():
    poor, usual, rich = (
        plan(sl.Domain(), epsilon=epsilon).expect(**SMALL).named for epsilon in (0.1, 1.0, 10.0)
    )
    assert poor < usual < rich
    many = plan(sl.Domain()).expect(**{**SMALL, "users": 20_000}).named
    assert many > usual


def test_with_all_the_budget_there_is_the_answer_is_the_true_one():
    public = [str(i) for i in range(200)]
    found = plan(sl.TopK(10), epsilon=1e4, delta=0.0, public=public).expect(**SMALL)
    assert (found.named, found.right) == (10.0, 10.0)
    assert found.chances == (1.0,) * 10 + (0.0,) * 190


def test_with_next_to_none_it_is_a_lottery():
    public = [str(i) for i in range(200)]
    found = plan(sl.TopK(10), epsilon=1e-6, delta=0.0, public=public).expect(**SMALL)
    assert found.named == 10
    assert found.right < 3


def test_the_same_guess_has_the_same_answer_and_reads_no_row(monkeypatch):
    one = plan(sl.TopK(10))
    monkeypatch.setattr(type(one.engine), "_read", one.engine._read)
    monkeypatch.setattr(one.engine, "show", None)
    assert one.expect(**SMALL) == one.expect(**SMALL)
    rows = pl.DataFrame({"user": range(50), "title": ["a"] * 50})
    other = sl.pairs(rows, user="user", item="title").plan(sl.TopK(10), epsilon=1.0, delta=1e-6)
    assert other.expect(**SMALL) == one.expect(**SMALL)


def test_it_says_what_was_played_and_what_came_out():
    said = str(plan(sl.TopK(10)).expect(**SMALL))
    assert said.startswith(
        "top-k by GreedyOrAdaptive of 2,000 users who each draw 5 of 200 items, Zipf exponent 1:"
        "\n- 10.0 of 10 items named\n"
    )
    assert "of them among the 10 of the largest counts\n" in said
    assert said.endswith("\nMeans of 10 runs. No data was read, and nothing was spent.")
    assert "\n- each of the 10 most common items named in at least half of the runs\n" in said
    named = str(plan(sl.Domain()).expect(**SMALL))
    assert "of them among" not in named
    assert MARKER not in said + named


@pytest.mark.parametrize(
    ("chances", "said"),
    [
        ((0.4, 1.0), "not even the most common item"),
        ((0.5, 0.4), "the most common item"),
        ((0.9, 0.5, 0.0, 1.0), "each of the 2 most common items"),
        ((0.9, 0.5), "each item"),
    ],
)
def test_it_says_which_items_to_expect(chances, said):
    found = Expectation(described="a plan", k=2, named=1.0, right=1.0, chances=chances, runs=4)
    assert f"\n- {said} named in at least half of the runs\n" in str(found)


def test_a_flat_table_has_no_best():
    flat = plan(sl.TopK(10)).expect(**SMALL, exponent=0.0)
    steep = plan(sl.TopK(10)).expect(**SMALL, exponent=1.5)
    assert flat.right < steep.right


def test_it_is_plotted_up_to_where_nothing_is_named():
    found = plan(sl.Domain()).expect(**SMALL)
    points = [(row["across"], row["up"]) for row in rows_of(found.plot())]
    assert points[0] == (1.0, 1.0)
    assert points == sorted(points)
    assert points[-1][1] < 0.1
    assert found.plot().to_dict()["title"]["text"] == "What to expect"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"users": 0}, "users=0: must be a whole number, 1 or more"),
        ({"items": 1.5}, "items=1.5: must be a whole number"),
        ({"exponent": -1.0}, "exponent=-1.0: must be from 0 to 10"),
        ({"exponent": float("nan")}, "exponent=nan: must be a number, and finite"),
        ({"items_per_user": 0}, "items_per_user=0: must be a whole number"),
        ({"runs": 0}, "runs=0: must be a whole number"),
        ({"users": 10**9}, "a table of 5,000,000,000 rows is too large to be invented"),
    ],
)
def test_numbers_out_of_range_are_refused(given, said):
    assert said in refusal(lambda: plan(sl.Domain()).expect(**{**SMALL, **given}))


def test_what_cannot_be_played_is_refused_with_what_can():
    assert "use metrics.compare" in refusal(lambda: plan(sl.HittingSet(2)).expect(**SMALL))
    for counted in (False, True):  # of private items, fewer than k may be found
        assert "of 3 items" in str(plan(sl.TopK(3, noisy_counts=counted)).expect(users=99, items=2))
    few = plan(sl.TopK(3), public=["a", "b", "c"], delta=0.0)
    assert "is less than the 3 items asked for" in refusal(lambda: few.expect(users=9, items=2))
    counts = pl.DataFrame({"title": ["a", "b"], "readers": [5, 3]})
    source = sl.counts(counts, item="title", count="readers", public_items=sl.IN_TABLE)
    histogram = source.plan(sl.TopK(1), epsilon=1.0, mechanism=OneShotLaplace)
    assert histogram.expect(**SMALL).named == 1
    store = sl.store(sl.stores.MemoryStore(["a", "b"], [5, 3]))
    stored = store.plan(sl.TopK(1), epsilon=1.0, mechanism=ThresholdTopK)
    assert "is shown what no invented table has" in refusal(lambda: stored.expect(**SMALL))
