"""The state of a series outlives crashes; an older one, or a copy, is seen and does not go on."""

import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

import shortlist as sl
from helpers.budgets import fast_folder, played
from helpers.refusals import refusal
from helpers.weekly import (
    Stopped,
    Weekly,
    assert_held,
    assert_restored,
    held_in,
    same_states,
    stopping_at,
    week,
    weekly,
)
from shortlist.budget.series_account import SeriesAccount
from shortlist.series._running_series import RunningSeries
from shortlist.series._stored_state import StoredSeries
from shortlist.series.terms import WHOLE

OLDER = "an older copy, such as a restored backup, or another copy went on"


@pytest.fixture
def plays():
    with weekly() as made:
        yield made


def stopped(*_, **__):
    raise Stopped


# --- crashes


def test_a_run_that_ends_at_any_step_is_made_again_as_if_it_had_not_begun(plays, monkeypatch):
    """With the same bits, to the last unit; once the state is written, the same answer is given."""
    with weekly() as twin:
        expected = [twin.as_twin(number) for number in (1, 2)]
        plays.as_twin(1)
        plays.backup()
        shutil.copy(plays.place, plays.folder / "ledger")
        with stopping_at(monkeypatch, None) as seen:
            plays.as_twin(2)
        steps = len(seen)
        assert steps > 20
        for step in range(1, steps + 1):
            plays.restore()
            shutil.copy(plays.folder / "ledger", plays.place)
            with stopping_at(monkeypatch, step), pytest.raises(Stopped):
                plays.as_twin(2)
            assert plays.as_twin(2).items == expected[1].items
            assert [one.items for one in plays.series.releases] == [e.items for e in expected]
            assert same_states(held_in(plays.path), held_in(twin.path))
        assert plays.budget.verify() == []


def test_a_series_whose_processes_are_killed_is_as_if_they_were_not():
    """The same 300 times, and in PostgreSQL, too: `python -m bench series-state`."""
    with fast_folder() as folder:
        assert_held(played("kills", folder, 6, 1, tool="series_kills.py"), 6)


def test_a_series_whose_older_copies_are_restored_goes_on_as_a_new_one():
    with fast_folder() as folder:
        assert_restored(played("restores", folder, 4, 1, tool="series_kills.py"), 4)


def test_what_was_written_and_not_noted_is_shown_to_nobody(plays, monkeypatch):
    plays.answered(1)
    with monkeypatch.context() as patch:
        patch.setattr(SeriesAccount, "note", stopped)
        with pytest.raises(Stopped):
            plays.answered(2)
    assert held_in(plays.path).state.runs == 2
    assert len(plays.series.releases) == 1
    assert "1 made" in str(plays.series)
    answer = plays.answered(2)
    assert answer.given_before is not None
    assert answer.items == plays.series.releases[1].items


# --- backups and copies


@pytest.mark.parametrize("made", range(4))
def test_an_older_state_is_refused_and_can_be_recovered(plays, made):
    plays.backup("0")
    lists = []
    for number in range(1, 4):
        lists.append(plays.answered(number).items)
        plays.backup(str(number))
    plays.restore(str(made))
    if made < 3:
        refusal(lambda: plays.answered(4), OLDER, "sl.Series.recover")
        refusal(lambda: plays.answered(1), OLDER)  # nor is an old answer given from it
        older, last = held_in(plays.path), 3
        again = sl.Series.recover(plays.path, budget=plays.budget)
        held = held_in(plays.path)
        assert held.users.is_empty()
        assert set(held.items.to_series()) == set(lists[-1])
        assert held.state.used_by_others == again.terms.accrued(last)
        assert_kept(held, older)
        refusal(lambda: sl.Series(plays.folder / "3").next(week(4), as_of="4"), OLDER)
    assert [one.items for one in plays.series.releases] == lists
    assert plays.answered(2).items == lists[1]
    assert set(plays.answered(4)) >= set(lists[-1])
    assert WHOLE * 3 // 5 < held_in(plays.path).state.used.max() <= WHOLE * 4 // 5
    assert plays.budget.verify() == []


def assert_kept(held, older):
    """The sums of what the older state had named, and of nothing else."""
    if older is None:
        return
    runs = older.state.runs
    before = dict(zip(older.items.to_series(), older.state.sums.tolist(), strict=True))
    named = set(older.items.to_series().to_numpy()[older.state.named_in > 0])
    for item, sums in zip(held.items.to_series(), held.state.sums[:, :runs].tolist(), strict=True):
        assert (sums == before.get(item)) is (item in named)


def test_a_state_that_is_lost_altogether_is_recovered_from_the_ledger(plays):
    lists = [plays.answered(number).items for number in (1, 2)]
    plays.path.unlink()
    recovered = sl.Series.recover(plays.folder / "new.series", budget=plays.place)
    assert [one.items for one in recovered.releases] == lists
    found = recovered.next(week(3), as_of="week 3")
    assert set(found) >= set(lists[1])
    named = [release.items for release in recovered.releases]
    held = held_in(plays.folder / "new.series")
    first = [next(n for n, items in enumerate(named, start=1) if i in items) for i in found]
    runs = dict(zip(held.items.to_series(), held.state.named_in.tolist(), strict=True))
    assert [runs[item] for item in found] == first
    assert recovered.terms == plays.series.terms


def test_a_series_without_a_run_is_recovered_as_new(plays):
    plays.path.unlink()
    sl.Series.recover(plays.path, budget=plays.budget)
    assert held_in(plays.path) is None
    plays.answered(1)


def test_of_several_series_one_is_named(plays):
    terms = {"periods": 2, "user": "user", "item": "title", "share": "1/4"}
    sl.Series.create(plays.folder / "two", budget=plays.budget, **terms)
    new = plays.folder / "new"
    refusal(lambda: sl.Series.recover(new, budget=plays.budget), "has paid for several such")
    assert not new.exists()
    assert sl.Series.recover(new, budget=plays.budget, charge=2).terms.periods == 2
    refusal(lambda: sl.Series.recover(plays.folder / "x", budget=plays.budget, charge=7), "no such")


def test_a_state_that_is_not_lost_is_left_as_it_is(plays):
    plays.answered(1)
    before = plays.path.read_bytes()
    sl.Series.recover(plays.path, budget=plays.budget)
    assert plays.path.read_bytes() == before


def test_a_recovery_that_ends_midway_can_be_done_again(plays, monkeypatch):
    plays.answered(1)
    plays.backup()
    plays.answered(2)
    plays.restore()
    with stopping_at(monkeypatch, None) as seen:
        sl.Series.recover(plays.path, budget=plays.budget)
    steps = len(seen)
    for step in range(1, steps + 1, 4):
        plays.restore()
        with stopping_at(monkeypatch, step), pytest.raises(Stopped):
            sl.Series.recover(plays.path, budget=plays.budget)
        refusal(lambda: plays.answered(3), OLDER)
        sl.Series.recover(plays.path, budget=plays.budget)
        assert len(plays.series.releases) == 2
    plays.answered(3)
    assert plays.budget.verify() == []


@pytest.mark.parametrize("made", [0, 1])
def test_of_two_copies_one_goes_on(plays, made):
    """Whichever comes first; nothing of the other leaves."""
    if made:
        plays.answered(1)
    copy = plays.backup("copy")
    other = sl.Series(copy)
    first = other.next(week(2), as_of="of the copy")
    refusal(lambda: plays.answered(2), OLDER)
    assert [one.items for one in plays.series.releases][-1] == first.items


def test_two_copies_that_run_at_once_do_not_both_answer(plays, monkeypatch):
    """Each has seen that it is the newest, and then made its run."""
    copy = sl.Series(plays.backup("copy"))
    real = SeriesAccount.note

    def noting(*given, **more):
        monkeypatch.setattr(SeriesAccount, "note", real)
        copy.next(week(1), as_of="week 1")
        return real(*given, **more)

    monkeypatch.setattr(SeriesAccount, "note", noting)
    refusal(lambda: plays.answered(1), OLDER)
    assert len(plays.series.releases) == 1


def test_what_a_copy_wrote_and_never_noted_is_not_kept(plays, monkeypatch):
    """Its sums were never answered: a test of them would be one more than are paid for."""
    plays.answered(1)
    copy = Path(plays.backup("copy"))
    with monkeypatch.context() as patch:
        patch.setattr(SeriesAccount, "note", stopped)
        with pytest.raises(Stopped):
            sl.Series(copy).next(week(2), as_of="week 2")
    plays.answered(2)
    assert held_in(copy).state.runs == 2
    refusal(lambda: sl.Series(copy).next(week(3), as_of="3"), OLDER)
    sums = held_in(copy).state.sums
    sl.Series.recover(copy, budget=plays.budget)
    assert not np.isin(held_in(copy).state.sums, sums).all(axis=1).any()


def test_an_older_ledger_is_refused(plays):
    plays.answered(1)
    shutil.copy(plays.place, plays.folder / "ledger")
    for number in (2, 3):
        plays.answered(number)
    shutil.copy(plays.folder / "ledger", plays.place)
    refusal(lambda: plays.answered(4), "the ledger lacks runs", "restore the newest ledger")
    again = lambda: sl.Series.recover(plays.path, budget=plays.budget)
    refusal(again, "the ledger lacks runs")


def test_of_what_a_run_replaces_nothing_older_is_kept(plays):
    for number in (1, 2):
        plays.answered(number)
    with sqlite3.connect(plays.path) as connection:
        kept = connection.execute("SELECT run FROM shortlist_cells WHERE name = 'used'").fetchall()
    connection.close()
    assert kept == [(2,)]


# --- damage


@pytest.mark.parametrize("name", ["now", "used", "slots", "users", "named_in"])
def test_a_state_that_was_changed_is_refused(plays, name):
    plays.answered(1)
    change = "UPDATE shortlist_cells SET cells = zeroblob(length(cells)) WHERE name = ?"
    with sqlite3.connect(plays.path) as connection:
        connection.execute(change, [name])
    connection.close()
    refusal(lambda: plays.answered(2), "was damaged, or changed by hand", "sl.Series.recover")


def test_a_file_that_is_no_database_any_more_is_refused(plays):
    plays.path.write_bytes(b"nothing" * 1000)
    refusal(lambda: sl.Series(plays.path), "is no series")


def test_an_answer_in_the_ledger_that_was_changed_is_seen(plays):
    plays.answered(1)
    with sqlite3.connect(plays.place) as connection:
        connection.execute("UPDATE shortlist_releases SET content = '{}' WHERE charge < 0")
    connection.close()
    assert "the answer that was kept was changed or removed" in plays.budget.verify()[0]
    refusal(lambda: plays.series.releases, "entries of this ledger were changed")


# --- mistakes that the tests above would see


def test_it_is_seen_where_an_older_state_goes_on_as_if_it_were_whole(plays, monkeypatch):
    plays.answered(1)
    plays.backup()
    first = list(plays.answered(2).scores)
    plays.restore()
    monkeypatch.setattr(RunningSeries, "_settled", lambda _, stored: stored.runs())
    refusal(lambda: plays.answered(2), OLDER)  # the ledger itself takes no second run 2
    monkeypatch.setattr(SeriesAccount, "note", lambda *_, **__: None)
    plays.restore()
    assert list(plays.answered(2).scores) != first


def test_it_is_seen_where_an_answer_is_drawn_twice(plays, monkeypatch):
    first = plays.answered(1)
    real = StoredSeries.runs
    monkeypatch.setattr(
        StoredSeries, "runs", lambda stored: [r._replace(as_of="?") for r in real(stored)]
    )
    refusal(lambda: plays.answered(1), "cannot be read or written")  # the file holds each date once
    monkeypatch.undo()
    assert plays.answered(1).items == first.items


def test_it_is_seen_where_a_series_is_not_charged(tmp_path, monkeypatch):
    monkeypatch.setattr(SeriesAccount, "charge", lambda *_: None)
    refusal(lambda: Weekly(tmp_path), "has not paid for this series")
