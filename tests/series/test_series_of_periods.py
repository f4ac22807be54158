"""A series of lists of single periods, as callers have it."""

from datetime import date
from fractions import Fraction

import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from helpers.weekly import COLUMNS, Twin, held_in, same_states, week, weekly
from shortlist.series.terms import WHOLE

PERIOD = sl.SeriesKind.PERIOD


@pytest.fixture
def plays():
    with weekly(kind=PERIOD, epsilon=3.0) as made:
        yield made


def of_users(numbers, titles):
    """Each of these users holds each of the titles."""
    rows = [(user, title) for user in numbers for title in titles]
    return sl.pairs(pl.DataFrame(rows, schema=["user", "title"], orient="row"), **COLUMNS)


def test_a_list_is_of_its_own_period(plays):
    spent = plays.budget.standing().spent
    first = plays.series.next(of_users(range(300), ["a", "b"]), as_of="1")
    second = plays.series.next(of_users(range(300, 600), ["b", "c"]), as_of="2")
    assert (set(first), set(second)) == ({"a", "b"}, {"b", "c"})
    assert (first.question, first.mechanism.name) == ("period", "PeriodGaussian")
    assert plays.budget.standing().spent == spent
    found = sl.diff(first, second)
    assert (found.new, found.gone) == (["c"], ["a"])
    rows = [line.split() for line in str(plays.series).splitlines() if line.strip()[:1].isdigit()]
    assert rows == [["1", "1", "2", "2"], ["2", "2", "2", "1"]]
    assert plays.budget.verify() == []


def test_nothing_is_kept_but_accounts_and_what_was_named(plays):
    plays.series.next(of_users(range(300), ["a", "b"]), as_of="1")
    plays.series.next(of_users([1, 2, 999], ["Ann's diary"]), as_of="2")
    held = held_in(plays.path)
    assert held.items.to_series().sort().to_list() == ["a", "b"]
    assert len(held.state.slots) == 0
    assert held.users.height == 301
    assert b"diary" not in plays.path.read_bytes()


def test_a_list_says_what_it_is(plays, tmp_path):
    release = plays.series.next(of_users(range(300), ["a", "b"]), as_of="1", title="Plays")
    text, words = str(release), " ".join(release.explain().split())
    assert "period: 2 items of plays, as of 1" in text
    assert "The next run of its series costs nothing more." in text
    assert "All lists of its series together cost that much" in words
    release.save(tmp_path / "list.json")
    assert sl.load(tmp_path / "list.json") == release
    release.report(tmp_path / "list.html")
    nothing = plays.series.next(of_users([1], ["a"]), as_of="2")
    assert "Nothing came out: no other item of the period could be named" in str(nothing)
    assert "To be named in run 3, an item needs about" in " ".join(str(plays.series).split())


def test_the_rows_of_a_span_are_those_of_its_days(plays):
    days = [date(2026, 11, 9), date(2026, 11, 16)]
    rows = pl.DataFrame(
        [(user, "ab"[n], day) for n, day in enumerate(days) for user in range(300)],
        schema=["user", "title", "day"],
        orient="row",
    )
    span = sl.days("day", date(2026, 11, 16), date(2026, 11, 22))
    release = plays.series.next(sl.pairs(rows, **COLUMNS, where=span), as_of="2026-W47")
    assert release.items == ["b"]
    assert "2026-11-16" in release.about.where


def test_a_state_that_is_lost_is_recovered(plays):
    lists = [set(plays.answered(number)) for number in (1, 2)]
    plays.path.unlink()
    again = sl.Series.recover(plays.folder / "new.series", budget=plays.place)
    held = held_in(plays.folder / "new.series")
    assert set(held.items.to_series()) == lists[0] | lists[1]
    assert held.state.used_by_others == again.terms.accrued(2)
    again.next(week(3), as_of="week 3")
    used = held_in(plays.folder / "new.series").state.used
    assert again.terms.accrued(2) <= used.min() <= used.max() <= again.terms.accrued(3) <= WHOLE


def test_an_older_state_is_refused_and_the_same_bits_give_the_same_state(plays):
    plays.backup()
    with weekly(kind=PERIOD, epsilon=3.0) as twin:
        for number in (1, 2):
            assert plays.as_twin(number).items == twin.as_twin(number).items
        assert same_states(held_in(plays.path), held_in(twin.path))
    plays.restore()
    refusal(lambda: plays.answered(3), "an older copy")


def test_another_process_goes_on(plays):
    plays.answered(1, random=Twin(1))
    again = sl.Series(plays.path)
    assert again.next(week(2), as_of="2").mechanism.parameters()["run"] == 2


def test_a_kind_is_one_of_them():
    refusal(lambda: weekly(kind="period").__enter__(), "must be one of shortlist.SeriesKind")


def test_who_was_forgotten_gets_no_second_account(plays):
    plays.series.next(of_users(range(300), ["a"]), as_of="1")
    used = held_in(plays.path).state.used[0]
    plays.series.forget(0)
    assert held_in(plays.path).users.height == 299
    plays.series.next(of_users([0], ["a"]), as_of="2")
    half = (plays.series.terms.accrued(2) - used) // 2
    assert used + half - 2**21 < held_in(plays.path).state.used[-1] <= used + half


def test_what_comes_back_is_what_had_not_accrued(plays):
    before = plays.budget.standing().spent
    for number in (1, 2):
        plays.answered(number)
    plays.series.close()
    after = plays.budget.standing().spent
    used = Fraction(3, 10) + Fraction(7, 10) * Fraction(2, 5)
    assert 0 <= after.first - before.first * used < before.first / 2**50
    assert after.delta == before.delta
    assert plays.budget.verify() == []
