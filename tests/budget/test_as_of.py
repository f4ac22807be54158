"""An answer is found by its question and its date; that of other data is never given silently."""

import json
import re
import shutil
import warnings
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import polars as pl
import pytest

import shortlist as sl
from helpers.budgets import CHANGED, TinyCounts, columns, created, plan_of, tampered
from helpers.clock import stopped
from helpers.refusals import refusal
from shortlist.errors import ChargedAgainWarning
from shortlist.release import About

ROWS = {"user": range(600), "item": ["a", "b"] * 300}
ASK = {"epsilon": 0.3, "delta": 1e-8}
WEEKS = ("2026-11-15", "2026-11-22", None)


class Dated(TinyCounts):
    """Counts in a table that is known by what it is given."""

    def __init__(self, is_in="a file of 4711 bytes"):
        super().__init__()
        self.is_in = is_in

    def identity(self):
        return self.is_in


def plan(budget, engine=None, **about):
    asked = plan_of(budget, engine=engine or Dated())
    return replace(asked, about=About(dataset="plays-2026", **about))


def charge_of(release):
    return release.given_before and release.given_before.charge


@pytest.fixture
def budget(path):
    return created(path)


def test_each_date_has_its_own_answer_and_each_retry_is_free(place):
    budget = created(place)
    first = [charge_of(plan(budget, as_of=week).run(reuse=True)) for week in WEEKS]
    again = [charge_of(plan(budget, as_of=week).run(reuse=True)) for week in WEEKS]
    assert (first, again) == ([None] * 3, [1, 2, 3])
    assert budget.standing().spent.first == 3 * plan(budget).guarantee.epsilon
    assert budget.verify() == []


@pytest.mark.parametrize("as_of", WEEKS)
def test_other_data_as_of_the_same_date_is_refused_and_nothing_is_read(place, as_of):
    budget, other = created(place), Dated("a file of 4712 bytes")
    plan(budget, as_of=as_of).run()
    spent = budget.head
    said = refusal(lambda: plan(budget, other, as_of=as_of).run(reuse=True), CHANGED)
    when = f", as of {as_of}" if as_of else ""
    assert said == (
        f"reuse: this was answered before{when}, {CHANGED}. To ask anew, say as of when the data "
        "is now, by as_of; to take that answer all the same, ask with sl.Reuse.CHANGED_DATA."
    )
    assert (other.times_read, budget.head) == (0, spent)


def test_there_are_three_ways_on(budget):
    plan(budget, as_of="week 1").run()
    other = Dated("elsewhere")
    taken = plan(budget, other, as_of="week 1").run(reuse=sl.Reuse.CHANGED_DATA)
    assert charge_of(taken) == 1
    assert "given before" in str(taken)
    assert other.times_read == 0
    assert charge_of(plan(budget, other, as_of="week 2").run(reuse=True)) is None
    assert charge_of(plan(budget, other, as_of="week 1").run()) is None
    assert columns(budget, "number") == [("1",), ("2",), ("3",)]


def test_of_several_answers_that_of_the_same_data_is_given(budget):
    for place in ("first", "second", "first"):
        plan(budget, Dated(place), as_of="now").run()
    given = {
        place: charge_of(plan(budget, Dated(place), as_of="now").run(reuse=reuse))
        for reuse in (True, sl.Reuse.CHANGED_DATA)
        for place in ("first", "second")
    }
    assert given == {"first": 3, "second": 2}
    changed = plan(budget, Dated("third"), as_of="now").run(reuse=sl.Reuse.CHANGED_DATA)
    assert charge_of(changed) == 3


def test_where_nothing_was_answered_changed_data_is_asked(budget):
    assert charge_of(plan(budget).run(reuse=sl.Reuse.CHANGED_DATA)) is None


def test_what_tells_a_table_leaves_the_ledger_nowhere(path):
    budget = created(path)
    release = plan(budget, as_of="now").run()
    with tampered(path) as connection:
        ((fingerprint, content),) = connection.execute(
            "SELECT plan, content FROM shortlist_releases WHERE charge = 1"
        )
    assert re.fullmatch("[0-9a-f]{64}", fingerprint)
    told = refusal(lambda: plan(budget, Dated("x"), as_of="now").run(reuse=True))
    for shown in (budget.to_json(), budget.to_csv(), str(budget), release.to_json(), content, told):
        assert fingerprint not in shown
        assert "4711" not in shown
    plan(budget, Dated("x"), as_of="now").run()
    asked = [json.loads(entry["body"]).get("plan") for entry in json.loads(budget.to_json())]
    assert asked[1] == asked[3] is not None  # of one question, whatever the table


def test_a_retry_after_a_crash_says_that_nothing_was_kept(place):
    budget = created(place)
    budget.charge(plan(budget, as_of="now"))
    with pytest.warns(
        ChargedAgainWarning, match="no answer was kept: it failed, or is still"
    ) as told:
        release = plan(budget, as_of="now").run(reuse=True)
    assert told[0].filename == __file__
    assert charge_of(release) is None
    assert release.budget.startswith("charge 2 of ")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert charge_of(plan(budget, as_of="now").run(reuse=True)) == 2
        assert charge_of(plan(budget, as_of="later").run(reuse=True)) is None
    assert columns(budget, "number", "outcome") == [
        ("1", "unknown"),
        ("2", "released"),
        ("3", "released"),
    ]


def test_a_title_and_a_note_are_those_of_the_retry(budget, monkeypatch):
    first = plan(budget, as_of="now", title="Old", note="x").run()
    stopped(monkeypatch, "2026-12-24")
    again = plan(budget, as_of="now", title="New").run(reuse=True)
    assert (again.about.title, again.about.note) == ("New", None)
    assert (again.about.made_on, again.items) == (first.about.made_on, first.items)


def test_what_changes_while_it_is_asked_is_of_no_table(budget, monkeypatch):
    """Nobody knows then whether the answer is of the table as it was or as it is."""
    table = Dated("before")
    show = table.show

    def changing(*given):
        table.is_in = "after"
        return show(*given)

    monkeypatch.setattr(table, "show", changing)
    plan(budget, table).run()
    for place in ("before", "after"):
        refusal(lambda place=place: plan(budget, Dated(place)).run(reuse=True), CHANGED)
    assert charge_of(plan(budget, Dated("after")).run(reuse=sl.Reuse.CHANGED_DATA)) == 1


def test_the_day_is_that_before_a_row_is_read(budget, monkeypatch):
    """A later time would tell how long the rows took."""

    class Slow(Dated):
        def show(self, *given):
            stopped(monkeypatch, "2027-01-01")
            return super().show(*given)

    stopped(monkeypatch, "2026-12-31T23:59")
    release = plan(budget, Slow()).run()
    assert release.about.made_on == date(2026, 12, 31)
    times = [
        json.loads(entry["body"]).get("time", "")[:4] for entry in json.loads(budget.to_json())
    ]
    assert "2027" not in times


def test_a_source_without_a_name_asks_about_the_data_set_of_its_budget(path):
    budget = created(path, epsilon=3.0, delta=1e-6)
    frame = pl.DataFrame(ROWS)
    named, unnamed = (
        sl.pairs(frame, user="user", item="item", budget=budget, as_of="now", **more)
        for more in ({"dataset": "plays-2026"}, {})
    )
    named.domain(**ASK)
    assert unnamed.domain(**ASK, reuse=True).given_before.charge == 1


def test_spaces_at_the_ends_make_no_other_question(budget):
    plan(budget, as_of="2026-11-22").run()
    said = {"as_of": " 2026-11-22 ", "title": "Plays ", "note": "\N{NO-BREAK SPACE}new"}
    again = plan(budget, **said).run(reuse=True)
    assert charge_of(again) == 1
    about = again.about
    assert (about.as_of, about.title, about.note) == ("2026-11-22", "Plays", "new")
    assert About(dataset="plays ").dataset == "plays"


def test_a_time_of_day_is_no_date():
    """Now is another time in each retry."""
    noon = datetime(2026, 11, 22, 12, 0, 0, 1, tzinfo=UTC)
    told = refusal(lambda: sl.pairs(ROWS, user="user", item="item", as_of=noon), "a time of day")
    assert "give its date(), or a text" in told
    for day in (date(2026, 11, 22), datetime(2026, 11, 22, tzinfo=UTC)):
        assert About.of_data(None, day).as_of == "2026-11-22"


@pytest.mark.parametrize("wrong", ["same data", 1, None, "changed"])
def test_what_is_no_reuse_is_refused(budget, wrong):
    refusal(lambda: plan(budget).run(reuse=wrong), "reuse=", "must be True, False or one of")
    assert budget.standing().spent.first == 0


def test_never_is_false(budget):
    plan(budget).run()
    assert charge_of(plan(budget).run(reuse=sl.Reuse.NEVER)) is None
    assert plan(budget).kept(sl.Reuse.NEVER) is None


def test_an_entry_of_version_0_2_matches_nothing(tmp_path):
    """It does not say as of when its answer is: that is never given for a later one's."""
    saved = Path(__file__).parents[1] / "saved" / "0.2.0" / "plays.budget"
    budget = sl.Budget(shutil.copy(saved, tmp_path))
    frame = pl.DataFrame(ROWS).rename({"item": "title"})
    ask = {"epsilon": 1.0, "delta": 1e-7}  # as its first charge: a top 5 with the same privacy
    for number, as_of in enumerate((None, "2026-11-22"), start=3):
        plays = sl.pairs(frame, user="user", item="title", budget=budget, as_of=as_of)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for reuse in list(sl.Reuse)[1 if as_of else 2 :]:
                release = plays.top_k(5, **ask, reuse=reuse)
                assert release.budget.startswith(f"charge {number} of ")
    assert budget.verify() == []
    entries = [json.loads(entry["body"]) for entry in json.loads(budget.to_json())]
    charges = [entry for entry in entries if entry["kind"] == "charge"]
    asked = [charge["mechanism"] for charge in charges]
    assert asked[0] == asked[2] == asked[3]
    assert ["as_of" in charge for charge in charges] == [False, False, True, True]
