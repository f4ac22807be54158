"""Rows that are filtered before users are bounded: what counts, and where it is said."""

import json
from contextlib import contextmanager
from itertools import chain, combinations

import polars as pl

import shortlist as sl
from helpers.budgets import created
from helpers.forms import counting
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.budget._entries import record_of
from shortlist.draws import ExactDraws
from shortlist.engines.engine import ShownEvidence
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.mechanisms import WeightedGaussian

PRICE = {"epsilon": 1.0, "delta": 1e-6}
USERS = 300
WHERE = "country = 'NO'"
ROWS = pl.DataFrame(
    [(u, f"{n}", "SE") for u in range(USERS) for n in range(9)]
    + [(u, "kept", "NO") for u in range(USERS)],
    schema=["user", "title", "country"],
    orient="row",
)


def source(data=ROWS, where=WHERE, **more):
    return sl.pairs(data, user="user", item="title", where=where, **more)


def shown(asked):
    """The items of the evidence with their weights, in units of one user with one item."""
    plan = asked.plan(sl.Domain(), **PRICE, mechanism=WeightedGaussian)
    with plan.engine.show(plan.mechanism.wants, ExactDraws(SeededBits(1))) as evidence:
        weights = evidence.evidence.weights
        items = evidence.items(weights.nonzero()[0])
        return dict(zip(items["title"], (weights[weights > 0] / 2**32).tolist(), strict=True))


def bounded_before(right, wants, draws):
    """A filter after bounding: of each user any item counts, and then only those that are kept."""
    whole = sl.pairs(ROWS, user="user", item="title")._rows
    with right(whole, wants, draws) as evidence:
        weights, items = evidence.evidence.weights, evidence.items
        names = items(range(len(weights)))["title"]
        weights[(names != "kept").to_numpy()] = 0
        yield ShownEvidence(evidence.evidence, items)


def test_what_is_left_out_takes_no_place_of_what_counts():
    assert shown(source(max_items_per_user=1)) == {"kept": USERS}


def test_a_filter_after_bounding_is_found(monkeypatch):
    right = RowsInMemory.show
    monkeypatch.setattr(
        RowsInMemory,
        "show",
        contextmanager(lambda _, wants, draws: bounded_before(right, wants, draws)),
    )
    assert shown(source(max_items_per_user=1))["kept"] < USERS / 3


def test_neighbours_are_neighbours_whatever_the_filter():
    """On all tables of three users: one user more adds what that user alone would show."""
    held = {1: [("a", 1), ("b", 2)], 2: [("a", 2)], 3: [("a", 1), ("c", 1)]}
    some = list(chain.from_iterable(combinations(held, n) for n in range(4)))
    for where in ("n = 1", "title = 'a' or n > 1", "user <> 2", "n is null"):
        alone = {}
        for users in some:
            rows = [(u, title, n) for u in users for title, n in held[u]]
            table = pl.DataFrame(
                rows, schema={"user": pl.Int64, "title": pl.String, "n": pl.Int64}, orient="row"
            )
            counts = dict(zip(*counted(source(table, where)), strict=True))
            if len(users) == 1:
                alone[users[0]] = counts
            elif len(users) > 1:
                titles = set(chain.from_iterable(alone[u] for u in users))
                assert counts == {t: sum(alone[u].get(t, 0) for u in users) for t in titles}


def counted(asked):
    held, items = asked._rows._held()
    return items.take(range(held.n_items))["title"].to_list(), held.counts.tolist()


def test_a_release_a_plan_and_a_page_say_which_rows_counted():
    asked = source(dataset="plays", as_of="2026-11-22")
    plan = asked.plan(sl.TopK(1), **PRICE)
    assert "Only rows count where country = 'NO'." in plan.explain().split("\n")
    release = plan.run()
    assert list(release) == ["kept"]
    assert release.about.where == WHERE
    assert release.about.of == "of plays, as of 2026-11-22, where country = 'NO'"
    assert release.about.of in str(release)
    assert json.loads(release.to_json())["about"]["where"] == WHERE
    assert ("where country" in release.to_markdown(), "where country" in release._repr_html_()) == (
        True,
        True,
    )
    assert "where country" in asked._repr_html_()


def test_a_page_and_a_file_hold_the_filter(tmp_path):
    release = source().top_k(1, **PRICE)
    release.save(tmp_path / "top.json")
    assert sl.load(tmp_path / "top.json").about.where == WHERE
    release.report(tmp_path / "top.html")
    page = (tmp_path / "top.html").read_text()
    assert "Rows where" in page
    assert "country = &#39;NO&#39;" in page


def test_a_filter_is_written_one_way():
    for where in ("country='NO'", " (country\n=  'NO' ) -- Norway"):
        assert source(where=where).top_k(1, **PRICE).about.where == WHERE
    assert sl.pairs(ROWS, user="user", item="title").top_k(1, **PRICE).about.where is None


def test_an_answer_is_given_again_for_the_same_filter_alone(tmp_path):
    budget = created(tmp_path / "plays.budget", epsilon=9.0, delta=1e-4)

    def ask(where):
        asked = source(where=where, as_of="2026-11-22", budget=budget)
        release = asked.domain(**PRICE, reuse=True)
        return release.given_before and release.given_before.charge

    filters = [WHERE, "country = 'SE'", None, "country  =  'NO'", "country = 'SE'", None]
    assert [ask(where) for where in filters] == [None, None, None, 1, 2, 3]


def test_the_ledger_holds_the_filter():
    plan = source().plan(sl.TopK(1), **PRICE)
    assert record_of(plan)["data"]["where"] == WHERE
    without = sl.pairs(ROWS, user="user", item="title").plan(sl.TopK(1), **PRICE)
    assert "where" not in record_of(without)["data"]


def test_groups_are_of_rows_that_count():
    release = (
        source(where="country <> 'XX' and title = 'kept' or title = '1'")
        .grouped("country", max_groups_per_user=2)
        .top_k(1, **PRICE)
    )
    assert sorted(release) == [("NO", "kept"), ("SE", "1")]


def test_public_and_known_items_are_counted_of_rows_that_count():
    public = source(public_items=["kept", "1"]).top_k(2, epsilon=1.0, noisy_counts=True)
    assert next(iter(public)) == "kept"
    assert public.to_polars()["count"][1] < USERS / 3
    assert list(source(known_items=["kept"]).top_k(1, **PRICE)) == ["kept"]


def test_a_table_of_which_nothing_is_kept_is_empty():
    assert len(source(where="country is null").top_k(3, **PRICE)) == 0


def test_what_is_wrong_with_a_filter_is_said_before_rows_are_read_or_charged():
    lazy, reads = counting(ROWS)
    charged = []

    class Noting:
        def charge(self, plan):
            charged.append(plan)

    for where in ("country = 1", "land = 'NO'", "random() > 0", "country in (select 1)"):
        refusal(lambda where=where: source(lazy, where, budget=Noting()).domain(**PRICE), "where")
    assert (reads, charged) == ([], [])


def test_lists_of_different_rows_are_not_compared():
    now, before = source().top_k(1, **PRICE), source(where=None).top_k(1, **PRICE)
    refusal(lambda: sl.diff(before, now), 'they differ in the filter of rows, "none" before')
