"""Many charge one budget at once: what fits is accepted, and not one question more."""

import itertools
import os
import threading

import pytest

import shortlist as sl
from helpers.budgets import columns, created, plan_of, played
from ledgers import PART, TOTAL
from shortlist.budget._units import Amount


@pytest.mark.parametrize(
    ("kind", "times"),
    [("path", 8), pytest.param("path", 50, marks=pytest.mark.exhaustive), ("postgresql", 4)],
)
def test_eight_processes_of_eight_threads(request, kind, times):
    """Each charges 1/200 of the budget; with PostgreSQL 50 times by `python -m bench ledger`."""
    place = request.getfixturevalue(kind)
    place = getattr(place, "url", place)
    budget = created(place, epsilon=TOTAL)
    found = played("crowd", place, 8, 8, times)
    assert found == {"accepted": 200, "refused": 64 * times - 200, "failed": 0}
    assert budget.standing().spent == Amount.of(TOTAL, 0.0)
    assert len(columns(budget, "number")) == 200
    assert budget.verify() == []


def test_a_crowd_whose_connections_are_cut_again_and_again(postgresql):
    """Whoever was told that it was accepted was charged; and never is more charged than fits."""
    budget = created(postgresql.url, epsilon=TOTAL)
    done = threading.Event()

    def cut():
        while not done.wait(0.05):
            postgresql.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    cutting = threading.Thread(target=cut)
    cutting.start()
    try:
        found = played("crowd", postgresql.url, 2, 4, 8)
    finally:
        done.set()
        cutting.join()
    charges = len(columns(budget, "number"))
    assert found["accepted"] <= charges <= min(200, found["accepted"] + found["failed"])
    assert sum(found.values()) == 2 * 4 * 8
    assert budget.standing().spent == Amount.of(charges * PART, 0.0)
    assert budget.verify() == []


def test_threads_of_one_process_share_a_budget(place):
    budget = created(place, epsilon=10 * PART)
    done = []

    def ask():
        for _ in range(5):
            try:
                done.append(len(plan_of(budget).run()))
            except sl.InputError:
                done.append(0)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [0] * 10 + [1] * 10
    assert columns(budget, "outcome") == [("released",)] * 10
    assert budget.verify() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_budget_goes_through_a_fork(place):
    """Parent and child charge the same object in turns."""
    budget = created(place)
    budget.charge(plan_of(budget))
    child = os.fork()
    if child == 0:
        budget.charge(plan_of(budget))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    budget.charge(plan_of(budget))
    assert columns(budget, "number") == [("1",), ("2",), ("3",)]
    assert budget.verify() == []


def test_two_clients_under_two_names_share_one_budget(place):
    """As two machines do: nothing is shared but the ledger."""
    created(place, epsilon=6 * PART)
    clients = [sl.Budget(place, who=who) for who in ("Ann", "Bob")]
    for client, _ in itertools.product(clients, range(3)):
        client.charge(plan_of(client))
    for client in clients:
        with pytest.raises(sl.InputError, match="It is used up"):
            client.charge(plan_of(client))
    assert [who for (who,) in columns(clients[0], "who")] == ["Ann"] * 3 + ["Bob"] * 3
