"""A ledger outlives what happens to those who charge it, and to its disk."""

import itertools
import sqlite3
from pathlib import Path

import pytest

import shortlist as sl
from helpers import power
from helpers.budgets import columns, created, fast_folder, plan_of, played, running_by
from helpers.refusals import refusal

KILLS = 4


@pytest.mark.parametrize("seed", [1])
def test_nothing_is_delivered_without_a_charge_where_processes_are_killed(place, seed):
    """The same 300 times: `python -m bench ledger`."""
    created(place, epsilon=1e4, delta=1e-6)
    found = played("kills", place, KILLS, seed)
    assert found["kills"] == KILLS
    assert found["charges"] >= found["delivered"] > 0
    assert {name: found[name] for name in ("without a charge", "unreadable", "wrong sum")} == {
        "without a charge": 0, "unreadable": 0, "wrong sum": 0,
    }  # fmt: skip
    assert found["unknown"] <= KILLS
    assert len(plan_of(sl.Budget(place)).run()) == 1


class Disk(power.Disk):
    """One on which each charge, as it is acknowledged, is counted."""

    def __init__(self, folder):
        super().__init__(folder)
        self.acknowledged = 0

    def note(self):
        super().note()
        self.moments[-1] = (*self.moments[-1], self.acknowledged)

    def after_power_loss(self, moment, kept, place):
        *both, self.expected = whole = self.moments[moment]
        self.moments[moment] = tuple(both)
        try:
            return super().after_power_loss(moment, kept, place)
        finally:
            self.moments[moment] = whole


@pytest.fixture
def found():
    """Where a disk is looked at once the power is back."""
    with fast_folder() as folder:
        yield Path(folder) / "found"


def charged(path, monkeypatch, times=3):
    """A ledger to which so much was charged, on a disk that noted every write."""
    budget = created(path)
    disk = Disk(Path(path).parent)
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", power.connect)
        for number in range(1, times + 1):
            budget.charge(plan_of(budget))
            disk.acknowledged = number
            disk.note()
    disk.unregister()
    return disk


KEPT = [(), ("budget",), ("journal",), ("budget", "journal")]


def losses(disk, found):
    """Of every moment, and every way in which the power may have gone: how many charges lack."""
    for moment, kept in itertools.product(range(len(disk.moments)), KEPT):
        budget = sl.Budget(disk.after_power_loss(moment, kept, found))
        assert budget.verify() == []
        charges = len(columns(budget, "number"))
        assert charges <= disk.expected + 1
        yield max(0, disk.expected - charges)


def test_no_charge_that_was_acknowledged_is_lost_with_the_power(path, found, monkeypatch):
    disk = charged(path, monkeypatch)
    assert len(disk.moments) > 30
    assert sum(losses(disk, found)) == 0


@pytest.mark.parametrize("weaker", ["FULL", "NORMAL", "OFF"])
def test_it_would_be_seen_if_less_were_synced(path, found, monkeypatch, weaker):
    """With FULL alone, a journal that was removed may come back, and undo what was committed."""
    real = power.connect.execute

    def execute(self, statement, values=()):
        return real(
            self, statement.replace("synchronous = EXTRA", f"synchronous = {weaker}"), values
        )

    monkeypatch.setattr(power.connect, "execute", execute)
    disk = charged(path, monkeypatch)
    lost = 0
    try:
        lost = sum(losses(disk, found))
    except (sl.InputError, AssertionError):  # the file is damaged
        lost = 1
    assert lost > 0


def test_a_ledger_that_appears_is_whole(path):
    """Created beside its place, and named when it is complete."""
    before = set(Path(path).parent.iterdir())
    created(path)
    assert {file.name for file in set(Path(path).parent.iterdir()) - before} == {"plays.budget"}


def cut(postgresql):
    """End all other connections to the database, as a network does that fails."""
    postgresql.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_connection_that_is_cut_neither_loses_nor_doubles_a_charge(
    postgresql, monkeypatch, moment
):
    """Cut before the commit, or after it was done but not yet told."""
    budget = created(postgresql.url)
    cuts = []

    def cutting(execute, statement, *values):
        rows = execute(statement, *values)
        if statement.startswith("UPDATE shortlist_budgets") and not cuts:
            cuts.append(1)
            if moment == "after":
                execute("COMMIT")
            cut(postgresql)
        return rows

    running_by(monkeypatch, cutting)
    release = plan_of(budget).run()
    assert cuts == [1]
    assert release.budget.startswith("charge 1 of")
    assert columns(budget, "number", "outcome") == [("1", "released")]
    assert budget.verify() == []


def test_a_connection_that_is_always_cut_is_refused_unread(postgresql, monkeypatch):
    budget = created(postgresql.url)

    def cutting(execute, statement, *values):
        if statement.startswith("INSERT"):
            cut(postgresql)
        return execute(statement, *values)

    running_by(monkeypatch, cutting)
    plan = plan_of(budget)
    refusal(plan.run, "the connection broke while this question was charged", "sl.Budget.show")
    assert plan.engine.times_read == 0
    monkeypatch.undo()
    assert columns(budget, "number") == []


def test_a_server_that_is_killed_keeps_what_was_charged(server, postgresql):
    budget = created(postgresql.url)
    plan_of(budget).run()
    server.kill()
    plan = plan_of(budget)
    refusal(plan.run, "cannot be connected to")
    assert plan.engine.times_read == 0
    server.start()
    assert columns(budget, "number") == [("1",)]
    plan_of(budget).run()
    assert budget.verify() == []
