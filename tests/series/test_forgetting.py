"""Who is erased leaves a hash and two numbers, and gets no second account on returning."""

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.refusals import refusal
from helpers.weekly import (
    COLUMNS,
    Stopped,
    Twin,
    held_in,
    same_states,
    stopping_at,
    week,
    weekly,
)  # fmt: skip
from shortlist.series._forgetting import after_forgetting
from shortlist.series._state_places import state_place

ANN = "ann@example.org"


@pytest.fixture
def plays():
    with weekly() as made:
        yield made


def answered(plays, number, *more):
    """A week whose users have names, and more pairs of a user and a title."""
    names = {"user": [], "title": []}
    for place in range(200):
        names["user"] += [f"user {place}"] * 2
        names["title"] += ["Emma", f"Title {place % 3}"]
    for user, title in more:
        names["user"].append(user)
        names["title"].append(title)
    rows = sl.pairs(pl.DataFrame(names), **COLUMNS)
    return plays.series.next(rows, as_of=str(number), random=Twin(number))


def account(held, user):
    """What a user has used, and in how many slots."""
    code = held.users.to_series().to_list().index(user)
    mine = held.state.slots // 2**32 == code
    return int(held.state.used[code]), int(mine.sum() + (held.state.emptied == code).sum())


def test_nothing_of_the_person_is_left_but_two_numbers(plays, monkeypatch):
    packed = pl.DataFrame.write_ipc
    unpacked = lambda frame, file, **more: packed(
        frame, file, **more | {"compression": "uncompressed"}
    )
    monkeypatch.setattr(pl.DataFrame, "write_ipc", unpacked)
    answered(plays, 1, (ANN, "Emma"), (ANN, "a rare title"))
    before = held_in(plays.path)
    used, slots = account(before, ANN)
    assert ANN.encode() in plays.path.read_bytes()
    plays.series.forget(ANN)
    assert ANN.encode() not in plays.path.read_bytes()
    after = held_in(plays.path)
    assert list(after.forgotten.accounts.values()) == [(used, slots)]
    assert slots == 2
    assert after.users.equals(before.users.filter(pl.col("user") != ANN))
    assert after.items.equals(before.items)
    for name in ("sums", "named_in", "counted"):
        assert np.array_equal(getattr(after.state, name), getattr(before.state, name))
    for user in after.users.to_series():
        assert account(after, user) == account(before, user)


def test_no_hash_is_left_that_a_guess_could_be_held_against(plays):
    answered(plays, 1, (ANN, "Emma"))
    answered(plays, 2, (ANN, "Emma"))
    with state_place(plays.path).reading() as execute:
        marks = execute("SELECT key, added, seal FROM shortlist_runs")
    plays.series.forget(ANN)
    file = plays.path.read_bytes()
    assert not any(mark in file for row in marks for mark in row[:2])
    assert marks[0][2].encode() in file  # by which the ledger knows the run


def test_who_returns_goes_on_with_the_account(plays):
    answered(plays, 1, *((ANN, f"rare {n}") for n in range(3)))
    used, slots = account(held_in(plays.path), ANN)
    assert slots == 3
    plays.series.forget(ANN)
    answered(plays, 2, *((ANN, f"other {n}") for n in range(3)))
    held = held_in(plays.path)
    assert account(held, ANN)[1] == 4  # the most that there are
    assert used < account(held, ANN)[0] <= plays.series.terms.accrued(2)
    assert held.forgotten.accounts == {}
    plays.series.forget(ANN)
    answered(plays, 3)
    assert list(held_in(plays.path).forgotten.accounts.values()) == [account(held, ANN)]


def test_who_has_returned_keeps_her_account_when_another_is_erased(plays):
    answered(plays, 1, *((ANN, f"rare {n}") for n in range(3)))
    plays.series.forget(ANN)
    answered(plays, 2, (ANN, "another"))
    before = account(held_in(plays.path), ANN)
    plays.series.forget("user 0")
    assert account(held_in(plays.path), ANN) == before
    assert before[1] == 4


def test_a_series_goes_on_as_if_nobody_was_erased(plays):
    """But for who was: the ledger notes nothing, and what left is given again."""
    with weekly() as twin:
        for number in (1, 2):
            lists = [answered(one, number, (ANN, "Emma")).items for one in (plays, twin)]
            assert lists[0] == lists[1]
            head = plays.budget.head
            plays.series.forget(ANN)
            assert plays.budget.head == head
            assert answered(plays, number).items == lists[0]
        assert plays.budget.verify() == []
        held, others = held_in(plays.path), held_in(twin.path)
        assert np.array_equal(held.state.sums, others.state.sums)


def test_an_erasure_that_ends_midway_was_not_begun(plays, monkeypatch):
    answered(plays, 1, (ANN, "Emma"))
    before = held_in(plays.path)
    plays.backup()
    with stopping_at(monkeypatch, None) as seen:
        plays.series.forget(ANN)
    for step in range(1, len(seen) + 1):
        plays.restore()  # this is the state after the last run, too
        with stopping_at(monkeypatch, step), pytest.raises(Stopped):
            plays.series.forget(ANN)
        assert same_states(held_in(plays.path), before)
    plays.series.forget(ANN)
    answered(plays, 2)


def test_of_a_state_that_is_lost_nobody_is_known(plays):
    answered(plays, 1, (ANN, "Emma"))
    plays.series.forget(ANN)
    plays.backup()
    answered(plays, 2)
    plays.restore()
    refusal(lambda: plays.series.forget(ANN), "an older copy")
    series = sl.Series.recover(plays.path, budget=plays.budget)
    assert held_in(plays.path).forgotten.accounts == {}
    series.forget(ANN)
    answered(plays, 3, (ANN, "Emma"))
    assert account(held_in(plays.path), ANN)[0] > series.terms.accrued(2)


def test_who_is_new_after_a_loss_has_used_what_had_accrued_also_beside_the_erased(plays):
    answered(plays, 1)
    plays.backup()
    answered(plays, 2)
    plays.restore()
    plays.series = sl.Series.recover(plays.path, budget=plays.budget)
    answered(plays, 3, (ANN, "Emma"))
    plays.series.forget(ANN)
    answered(plays, 4, (ANN, "Emma"), ("new", "Emma"))
    for user in (ANN, "new"):
        assert account(held_in(plays.path), user)[0] > plays.series.terms.accrued(2)


def test_a_damaged_state_is_seen_after_an_erasure(plays):
    answered(plays, 1, (ANN, "Emma"))
    plays.series.forget(ANN)
    with state_place(plays.path).writing() as execute:
        execute("UPDATE shortlist_cells SET cells = $1 WHERE name = 'forgotten'", b"[1]")
    refusal(lambda: answered(plays, 2), "was damaged")


def test_an_id_that_is_not_known_changes_nothing(plays):
    plays.series.forget(ANN)
    answered(plays, 1)
    before = held_in(plays.path)
    plays.series.forget("nobody")
    assert same_states(held_in(plays.path), before)


@pytest.mark.parametrize("ids", [(), (None,), (True,), ([1, 2],), ("x",)])
def test_what_cannot_be_an_id_is_refused_and_not_quoted(plays, ids):
    plays.answered(1)
    said = refusal(lambda: plays.series.forget(*ids), "must be of the type of the column of users")
    assert "Int64" in said


def test_ids_are_numbers_or_as_a_shell_gives_them(plays):
    plays.answered(1)
    first, second = held_in(plays.path).users.to_series()[:2]
    plays.series.forget(first, str(second))
    assert not {first, second} & set(held_in(plays.path).users.to_series())
    plays.series.next(week(2), as_of="2")
    assert len(held_in(plays.path).forgotten.accounts) < 2


def test_it_is_seen_where_a_second_account_is_given(plays, monkeypatch):
    answered(plays, 1, *((ANN, f"rare {n}") for n in range(4)))
    held = held_in(plays.path)
    erased = after_forgetting(held, [ANN])
    wrong = erased._replace(forgotten=held.forgotten)
    assert len(erased.forgotten.accounts) == 1
    monkeypatch.setattr("shortlist.series._running_series.after_forgetting", lambda *_: wrong)
    plays.series.forget(ANN)
    answered(plays, 2, *((ANN, f"other {n}") for n in range(4)))
    assert (held_in(plays.path).state.slots % 2**32).size > 0
    assert len(held_in(plays.path).items.filter(pl.col("title").str.contains("rare|other"))) > 4
