"""A series that is closed gives back what it has not used, and no more."""

from fractions import Fraction

import pytest

import shortlist as sl
from helpers.budgets import columns, created
from helpers.clock import stopped
from helpers.refusals import refusal
from helpers.weekly import TERMS, Stopped, stopping_at, week, weekly
from helpers.weeks import Right, share_of_claim, terms_of
from shortlist.budget import _entries, series_account
from shortlist.budget._units import Amount

FIRST = frozenset([0])


@pytest.fixture
def plays():
    with weekly() as made:
        yield made


def spent(plays):
    return plays.budget.standing().spent


@pytest.mark.parametrize("made", [1, 2, 5])
def test_the_rest_of_rho_comes_back_and_nothing_of_delta(plays, made):
    before = spent(plays)
    for number in range(1, made + 1):
        plays.answered(number)
    plays.series.close()
    after = spent(plays)
    assert after.delta == before.delta
    assert 0 <= after.first - before.first * Fraction(made, 5) < before.first / 2**50
    assert plays.budget.verify() == []


def test_before_the_first_run_all_comes_back(plays):
    plays.series.close()
    assert spent(plays) == Amount.nothing()
    assert plays.budget.verify() == []
    assert "closed after 0 runs, and rho = " in " ".join(str(plays.series).split())


def test_what_came_back_can_be_spent():
    with weekly(epsilon=11.0) as large:
        terms = TERMS | {"epsilon": 7.0, "budget": large.budget}
        again = lambda: sl.Series.create(large.folder / "next", **terms)
        large.answered(1)
        refusal(again, "Nothing was read and nothing was spent")
        large.series.close()
        again()
        assert columns(large.budget, "number", "outcome") == [
            ("1", "released"), ("1", "given back"), ("2", "unknown"),
        ]  # fmt: skip
        assert "given back" in str(large.budget)
        assert large.budget.verify() == []


def test_nothing_comes_back_of_epsilons(tmp_path):
    budget = created(tmp_path / "plays.budget", epsilon=1.0, delta=1e-4, accounting="basic")
    made = sl.Series.create(tmp_path / "plays.series", budget=budget, **TERMS)
    with weekly() as plays:
        plays.series = made
        plays.answered(1)
    made.close()
    assert budget.epsilon_left == 0
    assert "nothing came back" in " ".join(str(made).split())
    assert budget.verify() == []


def test_no_period_allows_more_for_it(tmp_path, monkeypatch):
    stopped(monkeypatch, "2026-11-22T12:00")
    terms = {"epsilon": 10.0, "delta": 1e-2, "per": ("month", "1/2")}
    budget = created(tmp_path / "plays.budget", **terms)
    series = sl.Series.create(tmp_path / "plays.series", budget=budget, **TERMS)
    left = budget.standing().left_now
    series.close()
    assert budget.standing().left_now == left
    assert budget.standing().left == budget.terms.total
    assert budget.verify() == []
    stopped(monkeypatch, "2026-12-22T12:00")
    assert budget.standing().left_now == Amount(*(part / 2 for part in budget.terms.total))


def test_a_closed_series_makes_no_run_and_its_lists_stay(plays):
    first = plays.answered(1).items
    plays.backup()
    plays.series.close()
    for action in (lambda: plays.answered(2), plays.series.close):
        refusal(action, "makes no more runs. It was closed after 1 run, and rho = ")
    assert plays.answered(1).items == first
    assert [one.items for one in plays.series.releases] == [first]
    assert "1 made, closed" in str(plays.series)
    plays.restore()
    refusal(lambda: sl.Series(plays.path).next(week(2), as_of="2"), "makes no more runs")


def test_a_run_that_was_not_noted_is_noted_first(plays, monkeypatch):
    """It counts as made, though its answer may not have left."""
    plays.answered(1)
    with monkeypatch.context() as patch:
        patch.setattr(series_account.SeriesAccount, "note", _ends)
        with pytest.raises(Stopped):
            plays.answered(2)
    plays.series.close()
    assert len(plays.series.releases) == 2
    assert "closed after 2 runs" in " ".join(str(plays.series).split())


def _ends(*_, **__):
    raise Stopped


def test_a_copy_that_went_on_cannot_be_noted_after_the_end(plays):
    plays.answered(1)
    copy = sl.Series(plays.backup("copy"))
    real = series_account.SeriesAccount.note

    def closed_meanwhile(account, *given, **more):
        plays.series.close()
        return real(account, *given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(series_account.SeriesAccount, "note", closed_meanwhile)
        refusal(lambda: copy.next(week(2), as_of="2"), "makes no more runs")
    assert len(plays.series.releases) == 1
    assert plays.budget.verify() == []


def test_a_closing_that_ends_midway_was_not_begun_or_is_done(plays, monkeypatch):
    plays.answered(1)
    whole = spent(plays)
    with stopping_at(monkeypatch, None) as seen:
        sl.Series(plays.path)
    first = len(seen) + 1
    for step in range(first, first + 40):
        with stopping_at(monkeypatch, step) as seen:
            try:
                sl.Series(plays.path).close()
            except Stopped:
                assert spent(plays) == whole
            else:
                break
    assert len(seen) > first
    assert spent(plays).first < whole.first
    assert plays.budget.verify() == []


def test_nothing_is_closed_by_an_older_file_nor_in_a_budget_that_is_continued(plays):
    plays.backup()
    plays.answered(1)
    newest = plays.path.read_bytes()
    plays.restore()
    refusal(plays.series.close, "an older copy")
    plays.path.write_bytes(newest)
    terms = {"epsilon": 1.0, "delta": 1e-4, "continues": plays.budget, "reason": "a new year"}
    sl.Budget.create(plays.folder / "next.budget", dataset="plays-2", **terms)
    refusal(plays.series.close, "another one continues it")


# --- mistakes


def test_what_runs_have_shown_by_then_is_what_they_keep():
    """After one of two runs, half of rho: and not a quarter, as when too much is given back."""
    terms = terms_of(delta=0.002, grid=(2, 9, 21))
    others = ((FIRST,) * 8,)
    assert share_of_claim(terms, Right, others, (FIRST,), spent=Fraction(1, 2)) < 1
    assert share_of_claim(terms, Right, others, (FIRST,), spent=Fraction(1, 8)) > 1.2


@pytest.mark.parametrize("wrong", ["one run more", "delta, too", "twice"])
def test_a_ledger_that_gives_back_too_much_is_seen(plays, monkeypatch, wrong):
    plays.answered(1)
    right = _entries.given_back

    def given_back(series, entries):
        back = right(series, entries)
        if wrong == "delta, too":
            return Amount(back.first, Fraction(1, 2**20))
        return Amount(back.first * Fraction(5, 4), back.delta)

    with monkeypatch.context() as patch:
        if wrong == "twice":
            plays.series.close()
            patch.setattr(series_account, "_closing_of", lambda *_: None)
            left = plays.budget.standing().spent.first
            patch.setattr(series_account, "given_back", lambda *_: Amount(left / 2, Fraction(0)))
        else:
            patch.setattr(series_account, "given_back", given_back)
        plays.series.close()
    found = "was closed before" if wrong == "twice" else "gives back what its series has used"
    assert found in plays.budget.verify()[0]


def test_a_run_behind_the_end_is_seen(plays, monkeypatch):
    plays.series.close()
    monkeypatch.setattr(series_account, "_closing_of", lambda *_: None)
    plays.answered(1)
    assert "its series was closed before it" in plays.budget.verify()[0]
