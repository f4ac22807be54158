"""The state of a series in PostgreSQL: the same contract as in a file."""

import numpy as np
import pytest

import shortlist as sl
from helpers.budgets import created, fast_folder, played
from helpers.refusals import refusal
from helpers.weekly import (
    TERMS,
    Twin,
    assert_held,
    assert_restored,
    held_in,
    same_states,
    week,
    weekly,
)
from shortlist.series._running_series import RunningSeries
from shortlist.series._state_places import state_place


@pytest.fixture
def plays(postgresql, tmp_path):
    """A series in a database, whose budget is in a file."""
    budget = created(tmp_path / "plays.budget", epsilon=10.0, delta=1e-2, dataset="plays")
    series = sl.Series.create(postgresql.url, budget=budget, **TERMS)
    series.place, series.database, series.url = tmp_path, postgresql, postgresql.url
    return series


def in_schema(url, schema):
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema}"


def answered(series, number):
    return series.next(week(number), as_of=f"week {number}", random=Twin(number))


def test_it_is_as_in_a_file_to_the_last_unit(plays):
    with weekly() as twin:
        for number in (1, 2, 3):
            assert answered(plays, number).items == twin.as_twin(number).items
            one, other = held_in(plays.url), held_in(twin.path)
            assert same_states(one, other)
            user = one.users.to_series()[number]
            plays.forget(user)
            twin.series.forget(user)
        assert answered(sl.Series(plays.url), 3).given_before is not None
        assert len(held_in(plays.url).forgotten.accounts) >= 1
        plays.close()
        refusal(lambda: answered(plays, 4), "makes no more runs")


def test_an_older_state_is_refused_and_can_be_recovered(plays):
    lists = [answered(plays, 1).items]
    for name in ("runs", "cells"):
        plays.database.run(f"CREATE TABLE old_{name} AS TABLE shortlist_{name}")
    lists.append(answered(plays, 2).items)
    for name in ("runs", "cells"):
        plays.database.run(f"DELETE FROM shortlist_{name}")
        plays.database.run(f"INSERT INTO shortlist_{name} SELECT * FROM old_{name}")
    refusal(lambda: answered(plays, 3), "an older copy, such as a restored backup")
    sl.Series.recover(plays.url, budget=plays.place / "plays.budget")
    assert held_in(plays.url).users.is_empty()
    assert set(answered(plays, 3)) >= set(lists[-1])
    assert [one.items for one in plays.releases[:2]] == lists


def test_a_state_that_is_lost_is_recovered_from_the_ledger(plays):
    first = answered(plays, 1).items
    plays.database.run("DROP TABLE shortlist_series, shortlist_runs, shortlist_cells")
    refusal(lambda: sl.Series(plays.url), "has no series", "sl.Series.create")
    again = sl.Series.recover(plays.url, budget=plays.place / "plays.budget")
    assert set(answered(again, 2)) >= set(first)


def test_two_runs_at_once_are_refused(plays):
    with state_place(plays.url).writing():
        refusal(lambda: answered(plays, 1), "another run is being made", "ask again")
    answered(plays, 1)


def test_it_is_in_no_database_that_has_a_budget(plays):
    inside = created(plays.url, epsilon=10.0, delta=1e-2, dataset="plays")
    refusal(
        lambda: answered(plays, 1), "has a budget in the same database", "back the two up apart"
    )
    new = in_schema(plays.url, "other")
    plays.database.run("CREATE SCHEMA other")
    refusal(
        lambda: sl.Series.create(new, budget=inside, **TERMS), "has a budget in the same database"
    )
    assert inside.epsilon_left > 9


def test_a_schema_has_one_series(plays):
    budget = plays.place / "plays.budget"
    refusal(lambda: sl.Series.create(plays.url, budget=budget, **TERMS), "has a series", "schema")
    plays.database.run("CREATE SCHEMA other")
    other = in_schema(plays.url, "other")
    made = sl.Series.create(other, budget=budget, **TERMS)
    assert held_in(other) is None
    answered(made, 1)
    assert held_in(plays.url) is None


def test_a_damaged_state_is_refused(plays):
    answered(plays, 1)
    plays.database.run("UPDATE shortlist_cells SET cells = cells || cells")
    refusal(lambda: answered(plays, 2), "was damaged, or changed by hand")


def test_where_the_server_stops_the_run_was_not_made(plays, monkeypatch):
    answered(plays, 1)
    real = RunningSeries._made

    def stopped(series, *given):
        run = real(series, *given)
        end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        with plays.database.server.connect() as connection:
            connection.execute(end, [plays.database.name])
        return run

    with monkeypatch.context() as patch:
        patch.setattr(RunningSeries, "_made", stopped)
        refusal(lambda: answered(plays, 2), "the connection to the server is lost", "ask again")
    assert held_in(plays.url).state.runs == 1
    answered(plays, 2)
    assert np.all(held_in(plays.url).state.used <= plays.terms.accrued(2))


@pytest.mark.parametrize("times", [4, pytest.param(40, marks=pytest.mark.exhaustive)])
def test_a_series_whose_processes_are_killed_is_as_if_they_were_not(postgresql, times):
    with fast_folder() as folder:
        assert_held(
            played("kills", folder, times, 1, postgresql.url, tool="series_kills.py"), times
        )


@pytest.mark.parametrize("times", [4, pytest.param(20, marks=pytest.mark.exhaustive)])
def test_a_series_whose_older_copies_are_restored_goes_on_as_a_new_one(postgresql, times):
    with fast_folder() as folder:
        found = played("restores", folder, times, 1, postgresql.url, tool="series_kills.py")
    assert_restored(found, times)


@pytest.mark.parametrize("url", ["mysql://host/plays", 7, None])
def test_another_place_is_refused(url):
    said = refusal(lambda: sl.Series(url), "a URL that begins with postgresql://")
    assert "mysql" not in said
