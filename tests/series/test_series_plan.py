"""What is said of a series before anything is spent, and before a run is made."""

import itertools

import numpy as np
import pytest

import shortlist as sl
from helpers.budgets import columns, created
from helpers.refusals import refusal
from helpers.weekly import COLUMNS, held_in, week, weekly
from shortlist.series._played import Played

TERMS = {"periods": 6, "epsilon": 3.0, "delta": 1e-6, **COLUMNS}
GUESS = {"users": 2_000, "items": 200}


@pytest.fixture
def plays():
    with weekly() as made:
        yield made


@pytest.mark.parametrize("kind", sl.SeriesKind)
def test_a_plan_says_what_the_series_says_when_it_is_created(tmp_path, kind):
    budget = created(tmp_path / "plays.budget", epsilon=10.0, delta=1e-2)
    plan = sl.Series.plan(**TERMS, kind=kind, budget=budget)
    text = plan.explain()
    assert "All lists of its 6 runs together cost epsilon = 3 and delta = 1e-06" in text
    assert "it takes rho = " in text.lower()
    assert columns(budget, "number") == []
    assert list(tmp_path.iterdir()) == [tmp_path / "plays.budget"]
    made = sl.Series.create(tmp_path / "plays.series", **TERMS, kind=kind, budget=budget)
    assert (plan.terms, plan.guarantee.cost) == (made.terms, made.guarantee.cost)


def test_a_plan_says_how_many_users_an_item_needs_and_how_large_the_file_grows():
    terms = TERMS | {"periods": 52, "epsilon": 1.0, "delta": 1e-5}
    text = sl.Series.plan(**terms).explain()
    assert "by run 1, an item needs about 176 users, and by run 52 about 25" in text
    assert "with 10,000,000 items, about 4.2 GB by the last run" in text
    of_periods = sl.Series.plan(**terms, kind=sl.SeriesKind.PERIOD).explain()
    assert "in run 1, an item needs about 59 users, and in run 52 about 33" in of_periods
    assert "with 10,000,000 users, about 0.08 GB" in of_periods


def test_a_plan_that_the_budget_would_refuse_says_so(tmp_path):
    budget = created(tmp_path / "plays.budget", epsilon=1.0, delta=1e-2)
    plan = sl.Series.plan(**TERMS, budget=budget)
    assert "It would be refused: the budget of" in plan.explain()
    plan = sl.Series.plan(**TERMS | {"user": "person"}, budget=budget)
    assert 'It would be refused: the budget protects "user"' in plan.explain()


@pytest.mark.parametrize(
    ("terms", "said"),
    [({"max_items_per_user": None}, "picked privately"), ({"share": "1/2"}, "already says")],
)
def test_what_cannot_be_created_is_not_planned(terms, said):
    refusal(lambda: sl.Series.plan(**TERMS | terms), said)


def test_what_to_expect_is_played_on_invented_weeks():
    found = sl.Series.plan(**TERMS).expect(**GUESS)
    assert len(found.named) == 6
    assert 0 < found.named[0] < found.named[-1] <= 200
    assert all(before <= now for before, now in itertools.pairwise(found.named))
    assert repr(found) == repr(sl.Series.plan(**TERMS).expect(**GUESS))
    assert "A list so far in each of 6 runs, of 2,000 users who each draw 10 of 200" in repr(found)
    assert f"- run 6: {found.named[-1]}" in repr(found)
    of_periods = sl.Series.plan(**TERMS, kind=sl.SeriesKind.PERIOD).expect(**GUESS)
    assert 0 < max(of_periods.named) < found.named[-1]


@pytest.mark.parametrize("kind", sl.SeriesKind)
def test_each_invented_pair_comes_once(kind):
    facts = sl.Series.plan(**TERMS, kind=kind).facts
    played = Played(facts, 300, 50, 1.0, 5)
    tables = [set(zip(u.tolist(), i.tolist(), strict=True)) for u, i in played._tables()]
    users, items = played.table.pairs
    every = set(zip(users.tolist(), items.tolist(), strict=True))
    if kind is sl.SeriesKind.SO_FAR:
        assert all(before < now for before, now in itertools.pairwise(tables))
        assert tables[-1] == every
    else:
        assert sum(map(len, tables)) == len(every)
        assert set().union(*tables) == every
    assert np.all(np.diff(users) >= 0)


def test_what_to_expect_is_drawn():
    altair = pytest.importorskip("altair")
    chart = sl.Series.plan(**TERMS).expect(**GUESS).plot()
    assert isinstance(chart, altair.LayerChart)
    values = chart.data.values
    assert [row["across"] for row in values] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("guess", "said"),
    [
        ({"users": 0}, "users"),
        ({"exponent": 11}, "must be from 0 to 10"),
        ({"users": 1_000_000, "items_per_user": 100}, "too large to be invented"),
        ({"users": 2_000_000, "items_per_user": 20}, "too large to be invented"),
    ],
)
def test_guesses_out_of_range_are_refused(guess, said):
    refusal(lambda: sl.Series.plan(**TERMS).expect(**GUESS | guess), said)


# --- of a run


def test_a_run_can_be_asked_about_before_it_is_made(plays):
    text = plays.series.explain(week(1), as_of="week 1")
    assert text.startswith("This would be run 1 of 5, which costs nothing more")
    assert held_in(plays.path) is None
    plays.answered(1)
    assert "is given again" in plays.series.explain(week(1), as_of="week 1")
    assert "by run 2, an item needs" in plays.series.explain(week(2), as_of="week 2")
    assert len(plays.series.releases) == 1


def test_a_run_that_would_be_refused_is_refused_unread(plays):
    plays.backup()
    for number in range(1, 6):
        plays.answered(number)
    refusal(lambda: plays.series.explain(week(6), as_of="6"), "all 5 runs of this series were made")
    other = sl.pairs({"title": ["a"], "person": [1]}, user="person", item="title")
    refusal(lambda: plays.series.explain(other, as_of="7"), 'of the columns "user" (users)')
    plays.restore()
    refusal(lambda: plays.series.explain(week(1), as_of="week 1"), "an older copy")
