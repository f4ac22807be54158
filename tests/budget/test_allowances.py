"""Allowances: a part of the total for each day, week, month or year, whoever asks and how often."""

import json
from datetime import date
from fractions import Fraction

import pytest

import shortlist as sl
from helpers.budgets import columns, created, plan_of, played, tampered
from helpers.clock import stopped
from helpers.refusals import refusal
from ledgers import PART, TOTAL
from shortlist.budget._allowances import Period
from shortlist.budget._units import Amount

TWELVE = {"epsilon": 12 * PART, "per": ("month", "1/12")}
"""One question of `plan_of` a month."""


@pytest.mark.parametrize(
    ("period", "day", "begin", "then"),
    [
        ("day", "2026-02-28", "2026-02-28", "2026-03-01"),
        ("day", "2028-02-28", "2028-02-28", "2028-02-29"),
        ("week", "2026-11-22", "2026-11-16", "2026-11-23"),  # a Sunday
        ("week", "2026-11-23", "2026-11-23", "2026-11-30"),
        ("week", "2027-01-01", "2026-12-28", "2027-01-04"),
        ("month", "2026-12-31", "2026-12-01", "2027-01-01"),
        ("month", "2026-02-28", "2026-02-01", "2026-03-01"),
        ("year", "2028-12-31", "2028-01-01", "2029-01-01"),
        ("year", "2027-01-01", "2027-01-01", "2028-01-01"),
    ],
)
def test_the_calendar(period, day, begin, then):
    asked = date.fromisoformat(day)
    assert str(Period(period).begin(asked)) == begin
    assert str(Period(period).next(asked)) == then


def test_a_month_allows_its_part_and_the_next_one_again(place, monkeypatch):
    stopped(monkeypatch, "2026-11-01")
    budget = created(place, **TWELVE)
    for month in (11, 12):
        stopped(monkeypatch, f"2026-{month}-01T00:00")
        plan_of(budget).run()
        stopped(monkeypatch, f"2026-{month}-30T23:59:59.999")
        refusal(
            plan_of(budget).run,
            "allows 1/12 of its total per month. Of that, epsilon = 0 is left until 202",
            "and this question costs epsilon = 0.007812. Nothing was read and nothing was spent",
            "Ask from then on: nothing is left for this month.",
        )
    stopped(monkeypatch, "2027-01-01")
    budget.charge(plan_of(budget))
    assert len(columns(budget, "number")) == 3
    assert budget.verify() == []


def test_what_was_not_spent_in_one_month_is_not_added_to_the_next(place, monkeypatch):
    stopped(monkeypatch, "2026-11-01")
    budget = created(place, **TWELVE)
    stopped(monkeypatch, "2027-10-05")
    budget.charge(plan_of(budget))
    refusal(lambda: budget.charge(plan_of(budget)), "left until 2027-11-01 (UTC)")


def test_a_total_holds_beside_an_allowance(path, monkeypatch):
    stopped(monkeypatch, "2026-11-01")
    budget = created(path, epsilon=1.5 * PART, per=("day", "1"))
    budget.charge(plan_of(budget))
    stopped(monkeypatch, "2026-11-02")
    refusal(lambda: budget.charge(plan_of(budget)), "has epsilon = 0.003906 left", "all that is")


def test_what_no_month_allows_is_told_from_what_a_later_one_does(path):
    budget = created(path, **TWELVE)
    refusal(
        lambda: budget.charge(plan_of(budget, 2 * PART)),
        'No month allows so much. Ask with share="1/12", or with a smaller epsilon and delta: all',
        "left of this month is worth epsilon = 0.00781",
    )
    assert columns(budget, "number") == []


def test_of_an_allowance_that_is_nearly_empty_nothing_is_offered(path, monkeypatch):
    stopped(monkeypatch, "2026-11-01")
    budget = created(path, epsilon=3.0, delta=1e-6, per=("month", "1/12"))
    rows = {"user": [1, 1, 2, 3], "item": ["a", "b", "a", "a"]}
    source = sl.pairs(rows, user="user", item="item", budget=budget)
    source.domain(share="1/12")
    told = refusal(lambda: source.domain(share="1/12"), "nothing is left for this month")
    assert "worth epsilon" not in told


def test_a_clock_that_goes_back_gives_no_month_again(place, monkeypatch):
    stopped(monkeypatch, "2026-11-01")
    budget = created(place, **TWELVE)
    stopped(monkeypatch, "2026-12-01")
    plan_of(budget).run()
    stopped(monkeypatch, "2026-11-15")
    refusal(lambda: budget.charge(plan_of(budget)), "left until 2027-01-01 (UTC)")
    assert budget.verify() == []


@pytest.mark.parametrize(("per", "share"), [("week", "1/52"), ("month", "1/12"), ("year", "1/7")])
def test_a_share_of_the_allowance_fits_it_to_the_last_bit(path, monkeypatch, per, share):
    budget = created(path, epsilon=3.0, delta=1e-6, per=(per, share))
    rows = {"user": [1, 1, 2, 3], "item": ["a", "b", "a", "a"]}
    source = sl.pairs(rows, user="user", item="item", budget=budget)
    half = Fraction(share) / 2
    for year in (2026, 2027, 2028):
        stopped(monkeypatch, f"{year}-06-10")
        for _ in range(2):
            source.domain(share=half)
        left = budget.standing().left_now
        assert 0 <= left.first < budget.terms.total.first / 10**5
        refusal(lambda: source.domain(share=half), f"allows {share} of its total per {per}")
    assert budget.verify() == []


@pytest.mark.parametrize("kind", ["path", "postgresql"])
def test_a_crowd_spends_no_more_than_is_allowed(request, kind):
    place = request.getfixturevalue(kind)
    place = getattr(place, "url", place)
    budget = created(place, epsilon=TOTAL, per=("year", "1/4"))
    found = played("crowd", place, 4, 4, 8)
    assert found == {"accepted": 50, "refused": 4 * 4 * 8 - 50, "failed": 0}
    assert budget.standing().spent == Amount.of(TOTAL / 4, 0.0)
    assert budget.verify() == []


def test_what_is_left_of_a_month_is_shown(path, monkeypatch):
    stopped(monkeypatch, "2026-11-22")
    budget = created(path, epsilon=3.0, delta=1e-6, per=("month", Fraction(1, 12)))
    text = str(budget)
    assert "\nrho, this month        0   0.01394   0.01394  ━" in text
    assert "At most 1/12 of the total may be spent per month: until 2026-12-01 (UTC)" in text
    source = sl.pairs({"user": [1], "item": ["a"]}, user="user", item="item", budget=budget)
    said = source.plan(sl.Domain(), share="1/24").explain()
    assert "enough for 23 more such questions, 1 of them in this month." in said
    assert "It would be refused: the budget of" in source.plan(sl.Domain(), share="1/6").explain()


def test_without_an_allowance_nothing_is_said_of_one(path):
    budget = created(path)
    budget.charge(plan_of(budget))
    assert "month" not in str(budget) + budget.to_json()
    assert budget.standing().left_now == budget.standing().left


@pytest.mark.parametrize(
    ("per", "said"),
    [
        ("month", 'must be a period and a part of the total, such as ("month", "1/12")'),
        (("month",), "must be a period and a part"),
        (("moth", "1/12"), 'moth: must be day, week, month or year. Did you mean "month"?'),
        (("month", 1 / 12), "a float is rounded"),
        (("month", "13/12"), "must be a part of a whole, above 0 and at most 1"),
    ],
)
def test_what_is_no_allowance_is_refused(path, per, said):
    refusal(lambda: created(path, per=per), "per", said)


def test_an_earlier_version_would_refuse_such_a_ledger(path, tmp_path):
    """It would not heed the allowance, and knows version 1 of the tables."""
    created(path, **TWELVE)
    created(tmp_path / "plain.budget")
    for place, version in ((path, 2), (tmp_path / "plain.budget", 1)):
        with tampered(place) as ledger:
            assert ledger.execute("SELECT version FROM shortlist_budgets").fetchall() == [
                (version,)
            ]


def test_a_period_that_was_changed_is_found(path, monkeypatch):
    """As by whoever wants more this month, and makes all hashes anew."""
    from shortlist.budget._entries import digest

    stopped(monkeypatch, "2026-11-01")
    budget = created(path, **TWELVE)
    budget.charge(plan_of(budget))
    with tampered(path) as ledger:
        (body,) = ledger.execute("SELECT body FROM shortlist_entries WHERE number = 1").fetchone()
        record = json.loads(body)
        assert record["period"] == ["2026-11-01", ["0", "0"]]
        body = json.dumps(record | {"period": ["2026-10-01", ["0", "0"]]})
        ledger.execute(
            "UPDATE shortlist_entries SET body = ?, hash = ? WHERE number = 1", (body, digest(body))
        )
        ledger.execute("UPDATE shortlist_budgets SET head = ?", (digest(body),))
    assert budget.verify() == ["entry 1: its period is not that of its time"]
    refusal(lambda: str(budget), "entries of this ledger were changed")
