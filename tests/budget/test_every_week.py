"""A list every week for a year: from a table that grows, with crashes, under one total."""

from datetime import date, timedelta

import polars as pl
import pytest

import shortlist as sl
from helpers.budgets import columns, created
from helpers.clock import stopped
from helpers.exhaustive import exhaustive
from helpers.refusals import refusal
from shortlist.budget.ledger import Charged
from shortlist.errors import ChargedAgainWarning

WEEKS, LOST = 52, 5
MONDAYS = [date(2026, 1, 5) + timedelta(weeks=week) for week in range(WEEKS)]
SHARE = f"1/{WEEKS + LOST}"
GONE = 30
"""The week from which nobody holds one of the items any more."""


def write(week, path):
    """The table of a week: more users each time."""
    users = range(3000 + 50 * week)
    held = [(u, f"item {i}") for i in range(8) for u in users if u % (i + 2) == 0]
    rows = pl.DataFrame(held, schema=["user", "item"], orient="row")
    rows.filter((pl.col("item") != "item 0") | pl.lit(week < GONE)).write_parquet(path)


def job(budget, path, monday):
    source = sl.pairs(path, user="user", item="item", budget=budget, as_of=monday)
    return source.top_k(3, share=SHARE, title="Most held", reuse=True)


def killed(*_):
    raise KeyboardInterrupt


def crashing(monkeypatch, week):
    """Let every fifth week end too soon, once: before its answer is kept, or after."""
    keep = Charged.keep
    if week % 10 == 4:
        monkeypatch.setattr(Charged, "keep", property(lambda _: killed))
    elif week % 10 == 9:
        kept_first = lambda charge: lambda release: (keep.__get__(charge)(release), killed())
        monkeypatch.setattr(Charged, "keep", property(kept_first))
    return week % 5 == 4


@pytest.mark.parametrize("place", ["sqlite", *exhaustive("postgresql")], indirect=True)
def test_a_year_of_weeks_ends_with_what_was_planned(place, tmp_path, monkeypatch):
    budget, path = created(place, epsilon=8.0, delta=1e-6), tmp_path / "plays.parquet"
    tops, lists, prices = [], [], []
    for week, monday in enumerate(MONDAYS):
        stopped(monkeypatch, f"{monday}T06:00")
        write(week, path)
        with monkeypatch.context() as patch:
            if crashing(patch, week):
                with pytest.raises(KeyboardInterrupt):
                    job(budget, path, monday)
        if week % 10 == 4:
            with pytest.warns(ChargedAgainWarning):
                release = job(budget, path, monday)
        else:
            release = job(budget, path, monday)
            assert (release.given_before is not None) is (week % 10 == 9)
        assert release.items == job(budget, path, monday).items
        prices.append(budget.standing().spent)
        release.report(tmp_path / f"top-{monday}.html")
        page = (tmp_path / f"top-{monday}.html").read_text()
        tops.append(page[page.index("<h1>") : page.index("</header>")])
        lists.append(release)
    lost = [str(day) for week, day in enumerate(MONDAYS) if week % 10 == 4]
    paid = columns(budget, "as_of", "outcome")
    assert [day for day, outcome in paid if outcome == "unknown"] == lost
    assert [day for day, outcome in paid if outcome == "released"] == list(map(str, MONDAYS))
    assert len(set(tops)) == WEEKS
    assert [release.about.made_on for release in lists] == MONDAYS
    assert all("item 0" in release for release in lists[: GONE - 1])
    assert all("item 0" not in release for release in lists[GONE:])
    standing = budget.standing()
    assert list(standing.spent) == [(WEEKS + LOST) * part for part in prices[0]]  # to the last bit
    assert standing.spent.within(standing.terms.total)
    assert standing.spent.first / standing.terms.total.first > 0.999
    assert budget.verify() == []
    refusal(lambda: job(budget, path, "one more"), "Nothing was read")
