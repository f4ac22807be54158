"""Rows of users and items of which everybody knows some: where these come from, what is said."""

import datetime as dt

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.command import domain
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.engines.rows_in_memory import RowsInMemory
from shortlist.mechanisms import PolicyGreedy, WeightedGaussian
from shortlist.table import open_table
from shortlist.table.keys import Extended

PRICE = {"epsilon": 1.0, "delta": 1e-6}
TYPES = {
    "text": (lambda n: f"title {n}", pl.String),
    "integers": (lambda n: n * n - 40, pl.Int32),
    "dates": (lambda n: dt.date(2026, 1, 1) + dt.timedelta(days=n), pl.Date),
}


def table(of=str, dtype=pl.String, sizes=(300, 200, 9)):
    """An item of each size, of which every user holds one."""
    rows = [(f"{u} of {n}", of(n)) for n, size in enumerate(sizes) for u in range(size)]
    return pl.DataFrame(rows, schema={"user": pl.String, "title": dtype}, orient="row")


def knowing(known, held=None, **given):
    held = table() if held is None else held
    return sl.pairs(held, user="user", item="title", known_items=known, **given)


@pytest.mark.parametrize("kind", TYPES)
def test_known_items_have_a_place_whether_anybody_holds_them_or_not(kind):
    of, dtype = TYPES[kind]
    known = [of(n) for n in (7, 1, 5)]  # of which two are in no row
    engine = knowing(known, table(of, dtype))._rows
    plan = knowing(known, table(of, dtype)).plan(sl.Domain(), **PRICE)
    with engine.show(plan.mechanism.wants, None) as shown:
        public = shown.items(shown.evidence.public)
        every = shown.items(np.arange(shown.evidence.n_items))
        counts = shown.evidence.counts
    assert sorted(public["title"]) == sorted(known)
    assert public["title"].dtype == dtype
    held = dict(zip(every["title"], counts.tolist(), strict=True))
    assert [held[of(n)] for n in range(3)] == [300, 200, 9]
    assert [held[of(n)] for n in (5, 7)] == [0, 0]


def test_items_of_several_columns_are_known_likewise():
    held = table().with_columns(year=pl.lit(1818))
    source = sl.pairs(
        held, user="user", item=["title", "year"], known_items=[("1", 1), ("2", 1818)]
    )
    with source._rows.show(source.plan(sl.Domain(), **PRICE).mechanism.wants, None) as shown:
        assert sorted(shown.items(shown.evidence.public).rows()) == [("1", 1), ("2", 1818)]


def test_a_further_code_is_found_again():
    rows = open_table(table(), user="user", items="title")
    coding = RowsInMemory(rows, None)._held()[1]
    (of_one,) = coding.find(pl.DataFrame({"title": ["1"]}))
    extended = Extended(
        coding, np.array([4, of_one, 3]), pl.DataFrame({"title": ["y", "one", "x"]})
    )
    asked = pl.DataFrame({"title": ["y", "2", "none", "one", "x"]})
    codes = extended.find(asked)
    assert codes.tolist() == [4, coding.find(asked)[1], -1, of_one, 3]
    taken = extended.take(codes[[0, 1, 3, 4]])["title"].to_list()
    assert taken == ["y", "2", "one", "x"]  # as it is called there


# --- where a list comes from


def last_week(**given):
    return knowing(None, **given).domain(**PRICE, random=SeededBits(1))


def test_a_release_is_a_list_as_it_is_and_as_it_was_saved(tmp_path):
    release = last_week()
    assert release.items == ["0", "1"]
    release.save(tmp_path / "last.json")
    release.save(tmp_path / "last.csv")
    asked = [release, tmp_path / "last.json", str(tmp_path / "last.json"), ["0", "1"]]
    asked += [release.to_polars()["title"], release.to_polars().select("title")]
    answers = [knowing(known).domain(**PRICE, random=SeededBits(2)) for known in asked]
    assert all(answer.items == answers[0].items for answer in answers)
    assert all(answer.scores == answers[0].scores for answer in answers)


def test_items_are_known_in_groups():
    held = table(sizes=(2000, 40)).with_columns(place=pl.lit("a"))
    given = {"by": "place", "random": SeededBits(1), **PRICE}
    ask = lambda known: knowing(known, held).top_k(9, **given).items
    assert ask(None) == [("a", "0")]
    assert ask(["0", "1", "nobody holds it"]) == [("a", "0"), ("a", "1")]
    plan = knowing(["0"], held).grouped("place").plan(sl.TopK(2), **PRICE)
    assert "the list of 1 known items was public before" in plan.guarantee.assumes
    assert "a known item is found if its mean noisy weight" in plan.explain()


def test_after_a_release_that_names_nothing_nothing_is_known():
    empty = knowing(None, table(sizes=(1,))).domain(**PRICE)
    assert empty.items == []
    source = knowing(empty)
    assert "known" not in " ".join(source.plan(sl.Domain(), **PRICE).guarantee.assumes)
    assert source.domain(**PRICE, random=SeededBits(1)) == last_week()


def test_groups_of_a_release_are_one_list():
    held = table().with_columns(place=pl.lit("a"))
    held = pl.concat([held, held.with_columns(pl.col("user") + "'", place=pl.lit("b"))])
    grouped = knowing(None, held).domain(by="place", **PRICE, random=SeededBits(1))
    assert len(grouped) > len({title for _, title in grouped.items})
    assert knowing(grouped)._rows.n_known == len({title for _, title in grouped.items})


# --- what is said


def test_a_plan_says_what_known_items_need():
    plan = knowing(["0", "9"]).plan(sl.Domain(), **PRICE)
    assert "the list of 2 known items was public before" in plan.guarantee.assumes
    assert "with a chance of at most 1 %" in plan.explain()
    top = knowing(["0", "9"]).plan(sl.TopK(2, noisy_counts=True), **PRICE).explain()
    assert "If the rounds do not stop early, all known items are found." in top
    assert "known" not in knowing(None).plan(sl.Domain(), **PRICE).explain()


def test_the_price_is_the_same():
    for question in (sl.TopK(2), sl.Domain(), sl.HittingSet(2)):
        plans = [knowing(known).plan(question, **PRICE) for known in (None, ["0", "9"])]
        assert plans[0].mechanism == plans[1].mechanism
        assert plans[0].guarantee.cost == plans[1].guarantee.cost


def test_a_budget_tells_lists_apart(tmp_path):
    budget = sl.Budget.create(
        tmp_path / "plays.budget", epsilon=9.0, delta=1e-5, protects="user", dataset="plays"
    )
    asked = {"budget": budget, "as_of": "2026-11"}
    first = knowing(["0"], **asked).domain(epsilon=1.0, delta=1e-7)
    assert knowing(["0"], **asked).domain(epsilon=1.0, delta=1e-7, reuse=True).given_before
    assert knowing(["1"], **asked).domain(epsilon=1.0, delta=1e-7, reuse=True).given_before is None
    assert knowing(None, **asked).domain(epsilon=1.0, delta=1e-7, reuse=True).given_before is None
    assert first.given_before is None


def test_the_default_makes_use_of_what_is_known():
    one = {"max_items_per_user": 1}
    assert knowing(None, **one).default_for(sl.Domain()) is PolicyGreedy
    assert knowing(["0"], **one).default_for(sl.Domain()) is PolicyGreedy
    plan = knowing(["0", "9"], **one).plan(sl.Domain(), **PRICE)
    assert "a known item first" in plan.explain()
    assert "with a chance below 1 %" in plan.explain()


# --- refusals


def test_what_makes_no_use_of_them_is_refused():
    asked = knowing(["0"])
    ask = lambda: asked.domain(**PRICE, mechanism=WeightedGaussian)
    refusal(ask, "mechanism=WeightedGaussian", "no use of known_items", "omit")
    grouped = table().with_columns(place=pl.lit("a"))
    by_place = lambda: knowing(["0"], grouped).domain(**PRICE, by="place")
    refusal(by_place, "known_items", "names no pair", "omit by", "further columns of an item")
    refusal(lambda: knowing(["0"], public_items=["1"]), "known_items", "public_items", "omit one")


def test_a_list_that_is_none_is_refused():
    rank = knowing(None).top_k(1, **PRICE)
    refusal(lambda: sl.pairs(table(), user="title", item="user", known_items=rank), '"user"')
    refusal(lambda: knowing([1, 2]), "known_items", "text")
    refusal(lambda: knowing("last.json"), 'known_items="last.json"', "no existing file")
    refusal(lambda: knowing(["0", "0"]), "known_items", "twice")
    refusal(lambda: knowing([]), "known_items", "empty")
    held = table()
    refusal(lambda: knowing(held, held), "known_items", "omit known_items")


# --- in the shell


def test_the_command_takes_a_list(run, complaint, tmp_path):
    last, file = str(tmp_path / "last.json"), tmp_path / "plays.parquet"
    table().with_columns(place=pl.lit("a")).write_parquet(file)
    assert run(*domain(file), "--output", last)[0] == 0
    knowing, alone = (run(*domain(file), *more)[1] for more in (("--known-items", last), ()))
    assert "known items was public before" in " ".join(knowing.split())
    assert "known" not in alone
    told = complaint(*domain(file), "--known-items", last, "--by", "place")
    assert "a list of items names no pair" in told
