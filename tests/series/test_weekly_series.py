"""A series as callers have it: created, asked, refused, looked at."""

import itertools
import stat
from datetime import date
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.budgets import columns, created
from helpers.clock import stopped
from helpers.refusals import refusal
from helpers.weekly import COLUMNS, TERMS, Twin, held_in, week, weekly
from shortlist.bits import SeededBits
from shortlist.series import _running_series
from shortlist.series._running_series import after_run
from shortlist.series._state_places import state_place

ROWS = pl.DataFrame({"user": [1], "title": ["a"]})


def in_duckdb():
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("ibis")
    return sl.pairs(duckdb.sql("SELECT 1 AS user, 'a' AS title"), **COLUMNS)


@pytest.fixture
def plays():
    with weekly() as made:
        yield made


def test_each_list_holds_the_one_before_and_costs_nothing_more(plays):
    spent = plays.budget.standing().spent
    lists = [set(plays.answered(number)) for number in range(1, 6)]
    assert lists[0]
    assert all(before <= now for before, now in itertools.pairwise(lists))
    assert plays.budget.standing().spent == spent
    assert columns(plays.budget, "number", "question", "outcome") == [("1", "series", "released")]
    assert plays.budget.verify() == []
    assert [set(release) for release in plays.series.releases] == lists


def test_a_list_says_what_it_is(plays, tmp_path):
    release = plays.answered(1, title="Plays", note="Of all plays.")
    about = release.about
    assert (release.question, about.dataset, about.as_of) == ("series", "plays", "week 1")
    assert release.guarantee == plays.series.guarantee
    assert release.budget.startswith('charge 1 of "plays": rho = ')
    assert release.budget.endswith("; run 1 of 5")
    assert list(release.scores) == sorted(release.scores, reverse=True)
    text, words = str(release), release.explain()
    assert "The next run of its series costs nothing more." in text
    assert "a list of a series of 5 runs" in text
    assert "All lists of its series together cost that much" in " ".join(words.split())
    release.save(tmp_path / "list.json")
    assert sl.load(tmp_path / "list.json") == release
    release.report(tmp_path / "list.html")


def test_the_day_is_that_before_a_row_is_read(plays, monkeypatch):
    """A later time would tell how long the run took."""

    def after_midnight(*given):
        stopped(monkeypatch, "2027-01-01")
        return after_run(*given)

    stopped(monkeypatch, "2026-12-31T23:59")
    monkeypatch.setattr(_running_series, "after_run", after_midnight)
    assert plays.answered(1).about.made_on == date(2026, 12, 31)


def test_the_k_best_are_the_first(plays):
    best = plays.answered(1, k=3)
    whole = plays.answered(1)
    assert best.items == whole.items[:3]
    assert (best.k, whole.k) == (3, None)
    assert "Fewer than 50 came out yet" in str(plays.answered(1, k=50))


def test_an_answer_is_given_again_whatever_the_rows_are_now(plays):
    first = plays.answered(1)
    again = plays.series.next(week(2), as_of="week 1")
    assert (again.items, list(again.scores)) == (first.items, list(first.scores))
    assert again.given_before.charge == 1
    assert len(plays.series.releases) == 1


def test_two_lists_can_be_compared(plays):
    plays.answered(1)
    plays.answered(2)
    found = sl.diff(*plays.series.releases)
    assert "series" in str(found)
    again = sl.diff(plays.series.release("week 1"), plays.series.release("week 2"))
    assert again.to_json() == found.to_json()
    refusal(lambda: plays.series.release("week 3"), "this series has no such list")


def test_another_process_goes_on(plays):
    plays.answered(1)
    again = sl.Series(plays.path)
    assert again.next(week(2), as_of="week 2").budget.endswith("run 2 of 5")
    plays.answered(3)
    assert [release.about.as_of for release in again.releases] == ["week 1", "week 2", "week 3"]


def test_users_and_items_are_known_again_by_their_values(plays):
    """Of whatever files and frames the rows are, and in whichever order."""
    rows = pl.DataFrame({"user": [3, 1, 2], "title": ["b", "a", "a"]})
    ask = partial(plays.series.next, random=Twin(1))
    ask(sl.pairs(rows, **COLUMNS), as_of="1")
    rows[::-1].vstack(rows).write_parquet(plays.folder / "rows.parquet")
    ask(sl.pairs(plays.folder / "rows.parquet", **COLUMNS), as_of="2")
    held = held_in(plays.path)
    assert held.users.to_series().to_list() == [1, 2, 3]
    assert held.items.to_series().to_list() == ["a", "b"]
    assert len(held.state.slots) == 3
    assert held.state.sums.shape == (2, 2)


def test_several_columns_make_an_item():
    with weekly(item=["title", "country"]) as plays:
        rows = pl.DataFrame(
            {"user": range(400), "title": ["a", "b"] * 200, "country": ["CH"] * 400}
        )
        source = sl.pairs(rows, user="user", item=["title", "country"])
        found = plays.series.next(source, as_of="1")
        assert set(found) == {("a", "CH"), ("b", "CH")}


def test_a_group_is_a_part_of_the_item():
    """So a list holds what enough users hold in each group, under the same promise."""
    with weekly(item=["city", "title"], epsilon=3.0, max_items_per_user=4) as plays:
        rows = pl.DataFrame(
            {
                "user": range(400),
                "city": ["Bern", "Basel"] * 200,
                "title": ["a"] * 200 + ["b"] * 200,
            }
        )
        source = sl.pairs(rows, user="user", item=["city", "title"])
        found = plays.series.next(source, as_of="1").to_polars()
        assert dict(found.group_by("city").len().rows()) == {"Bern": 2, "Basel": 2}


def test_a_week_without_rows_is_a_week(plays):
    nothing = sl.pairs(
        pl.DataFrame({"user": [], "title": []}).cast({"user": pl.Int64, "title": str}), **COLUMNS
    )
    assert plays.series.next(nothing, as_of="1").items == []
    assert plays.answered(2).items
    assert "Nothing came out yet" in str(plays.series.releases[0])


def test_only_the_owner_may_look_into_the_file(plays):
    assert stat.S_IMODE(plays.path.stat().st_mode) == 0o600


def test_what_is_shown_is_of_what_left(plays):
    lists = [set(plays.answered(number)) for number in (1, 2)]
    text = str(plays.series)
    assert "A series of 5 runs: 2 made, 3 left" in text
    new = len(lists[1] - lists[0])
    row = next(line for line in text.splitlines() if "week 2" in line)
    assert row.split() == ["2", "week", "2", str(len(lists[1])), str(new)]
    assert "1 made" not in repr(plays.series)


# --- what is refused


def test_no_run_beyond_the_last():
    with weekly(periods=1) as plays:
        plays.answered(1)
        refusal(lambda: plays.answered(2), "the one run of this series was made", "create another")
        assert plays.answered(1).given_before is not None


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (lambda: sl.pairs(ROWS, user="title", item="user"), 'of the columns "user" (users)'),
        (lambda: sl.pairs(ROWS, **COLUMNS, max_items_per_user=7), "created with 4, which cannot"),
        (lambda: sl.pairs(ROWS, **COLUMNS, public_items=["a"]), "omit public_items"),
        (lambda: sl.pairs(ROWS, **COLUMNS, known_items=["a"]), "a series knows by itself"),
        (lambda: sl.pairs(ROWS, **COLUMNS, dataset="other"), 'the budget is of "plays"'),
        (lambda: sl.pairs(ROWS, **COLUMNS, as_of="2025"), "and not to the source"),
        (lambda: sl.counts({"n": [1], "title": ["a"]}, item="title", count="n"), "sl.pairs"),
        (in_duckdb, "pull=True"),
    ],
)
def test_other_rows_are_refused_unread(plays, rows, said):
    refusal(lambda: plays.series.next(rows(), as_of="1"), said)
    assert plays.series.releases == []
    assert held_in(plays.path) is None


def test_rows_of_an_engine_are_read_here_where_that_is_asked_for(plays):
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("SELECT 1 AS user, 'a' AS title")
    assert plays.series.next(sl.pairs(relation, **COLUMNS, pull=True), as_of="1").items == []


def test_a_source_with_a_budget_is_refused(plays):
    source = sl.pairs(ROWS, **COLUMNS, budget=plays.budget)
    refusal(lambda: plays.series.next(source, as_of="1"), "was paid for when it was created")


def test_a_type_that_changed_is_refused(plays):
    plays.series.next(sl.pairs(ROWS, **COLUMNS), as_of="1")
    texts = sl.pairs(ROWS.cast({"user": pl.String}), **COLUMNS)
    refusal(
        lambda: plays.series.next(texts, as_of="2"),
        'the column "user" was of type Int64, and is now of type String',
        "cast it",
    )


@pytest.mark.parametrize("as_of", [None, "", 7])
def test_a_run_needs_a_date(plays, as_of):
    refusal(lambda: plays.series.next(week(1), as_of=as_of), "as_of")


def test_a_seed_is_refused(plays):
    refusal(lambda: plays.answered(1, random=SeededBits(1)), "a seeded list is not private")


def test_two_runs_at_once_are_refused(plays):
    with state_place(plays.path).writing():
        refusal(lambda: plays.answered(1), "another run is being made", "ask again")
    plays.answered(1)


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"max_items_per_user": None}, "picked privately"),
        ({"periods": 0}, "periods"),
        ({"epsilon": None}, "one of epsilon and share is needed"),
        ({"share": "1/2"}, "already says"),
        ({"delta": 0.0}, "delta"),
        ({"user": "title"}, "names of columns, all different"),
        ({"epsilon": 50.0}, "has rho = "),
        ({"user": "person", "item": "title"}, 'the budget protects "user"'),
        ({"budget": None}, "a series needs a budget"),
    ],
)
def test_a_series_that_cannot_be_paid_or_made_is_not_created(tmp_path, terms, said):
    budget = created(tmp_path / "plays.budget", epsilon=10.0, delta=1e-2)
    given = TERMS | {"budget": budget} | terms
    refusal(lambda: sl.Series.create(tmp_path / "plays.series", **given), said)
    assert not (tmp_path / "plays.series").exists()
    assert columns(budget, "number") == []


def test_what_was_paid_goes_on_where_another_budget_continues_its_own(plays):
    plays.answered(1)
    terms = {"epsilon": 1.0, "delta": 1e-4, "continues": plays.budget, "reason": "a new year"}
    sl.Budget.create(plays.folder / "next.budget", dataset="plays-2", **terms)
    plays.answered(2)
    assert len(plays.series.releases) == 2
    assert plays.budget.verify() == []
    another = TERMS | {"budget": plays.budget}
    refusal(lambda: sl.Series.create(plays.folder / "other", **another), "continues")


def test_what_exists_is_not_created_again(plays):
    create = partial(sl.Series.create, plays.path, budget=plays.budget, **TERMS)
    refusal(create, "exists, and its state is never overwritten")
    assert len(columns(plays.budget, "number")) == 1


def test_a_file_of_something_else_is_no_series(plays):
    refusal(lambda: sl.Series(plays.place), "is no series")
    refusal(lambda: sl.Series(plays.folder / "none"), "does not exist")


def test_another_budget_is_refused(plays):
    other = created(plays.folder / "other.budget", epsilon=10.0, delta=1e-2, dataset="plays")
    refusal(lambda: sl.Series(plays.path, budget=other), "has not paid for this series")


def test_a_share_is_the_most_that_fits(tmp_path):
    budget = created(tmp_path / "plays.budget", epsilon=3.0, delta=1e-6)
    terms = {"periods": 52, "share": "1/2", "budget": budget, **COLUMNS}
    for name in ("one", "two"):
        sl.Series.create(tmp_path / name, **terms)
    refusal(lambda: sl.Series.create(tmp_path / "three", **terms), "costs rho")


def test_a_budget_of_epsilons_pays_by_the_exact_curve(tmp_path):
    budget = created(tmp_path / "plays.budget", epsilon=1.0, delta=1e-4, accounting="basic")
    sl.Series.create(tmp_path / "plays.series", budget=budget, **TERMS)
    assert budget.epsilon_left == 0


def test_no_message_and_no_list_tells_of_what_was_not_named(plays):
    rows = pl.DataFrame({"user": [1, 2, 3], "title": ["Ann's diary", "b", "c"]})
    release = plays.series.next(sl.pairs(rows, **COLUMNS), as_of="1")
    with plays.place.open("rb") as file:
        ledger = file.read()
    assert b"diary" not in ledger
    for text in (str(release), release.to_json(), str(plays.series), repr(plays.series)):
        assert "diary" not in text


def test_it_is_not_pickled(plays):
    import pickle

    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(plays.series)


def test_the_budget_may_be_in_postgresql(postgresql, tmp_path):
    budget = created(postgresql.url, epsilon=10.0, delta=1e-2, dataset="plays")
    made = sl.Series.create(tmp_path / "plays.series", budget=budget, **TERMS)
    made.next(week(1), as_of="1")
    refusal(lambda: sl.Series(tmp_path / "plays.series"), "name it by budget")
    again = sl.Series(tmp_path / "plays.series", budget=postgresql.url)
    again.next(week(2), as_of="2")
    assert len(again.releases) == 2
    assert budget.verify() == []
