"""Phases: who hears them, and that they tell nothing of the rows."""

import re
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from shortlist.bits import SeededBits
from shortlist.errors import Words
from shortlist.runtime.phases import listening, measured, phase, watching
from shortlist.table.coding import read_pieces


def heard_in(ask):
    """What is told while something is asked."""
    phases = []
    with listening(lambda now: phases.append(str(now))):
        ask()
    return phases


def nested():
    with phase("Selecting"):
        for n in (1, 2):
            with phase("round {n} of {rounds}", n=n, rounds=2):
                pass


def test_phases_are_told_within_others_and_when_these_go_on():
    once = ["Selecting, round 1 of 2", "Selecting", "Selecting, round 2 of 2", "Selecting"]
    assert heard_in(nested) == ["Selecting", *once]
    assert heard_in(nested) == ["Selecting", *once]


def test_nothing_is_made_where_nobody_listens(monkeypatch):
    monkeypatch.setattr(Words, "__init__", lambda *_, **__: pytest.fail("words are made"))
    nested()


def test_nobody_listens_after_the_end_nor_in_other_threads():
    phases = []
    with listening(phases.append), ThreadPoolExecutor(1) as pool:
        pool.submit(nested).result()
    nested()
    assert phases == []


def test_a_phase_ends_where_it_fails():
    def fails():
        with phase("Selecting"), pytest.raises(ZeroDivisionError), phase("dividing"):
            _ = 1 / 0

    assert heard_in(fails) == ["Selecting", "Selecting, dividing", "Selecting"]


def test_no_answer_is_lost_by_who_listens():
    def deaf(_):
        raise ValueError

    with listening(deaf):
        nested()


def test_an_interruption_while_listening_is_one():
    def interrupts(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), listening(interrupts):
        nested()
    assert heard_in(nested)[0] == "Selecting"


def plays(n_users, n_titles):
    """Each user holds three titles."""
    users = [user for user in range(n_users) for _ in range(3)]
    held = [f"{(user + place) % n_titles}" for place, user in enumerate(users)]
    return pl.DataFrame({"user": users, "title": held})


QUESTIONS = {
    "top-k": lambda source, **more: source.top_k(3, **more),
    "domain": lambda source, **more: source.domain(**more),
    "hitting set": lambda source, **more: source.hitting_set(3, **more),
    "groups": lambda source, **more: source.top_k(3, by="country", **more),
}


@pytest.mark.parametrize("asked", QUESTIONS)
def test_phases_tell_of_rounds_and_of_nothing_else(asked):
    """How many there were follows from noisy sums that mechanisms release."""
    for n_users, n_titles in ((5, 50), (3000, 4), (4000, 4001)):
        rows = plays(n_users, n_titles).with_columns(country=pl.lit("FR"))
        source = sl.pairs(rows, user="user", item="title", max_items_per_user=10)
        ask = partial(QUESTIONS[asked], source, epsilon=3.0, delta=1e-4, random=SeededBits(1))
        *first, last = heard_in(ask)
        first, others = first[:3], first[3:]
        data = "data of type DataFrame"
        assert first == ["Calibrating", f"Checking {data}", f"Reading {data}"]
        assert last == "Selecting"
        assert all(re.fullmatch("Selecting(, round [1-7] of [1-7])?", other) for other in others)


def test_a_budget_is_waited_for(tmp_path):
    budget = sl.Budget.create(tmp_path / "b", epsilon=9, delta=1e-3, protects="user", dataset="d")
    source = sl.pairs(plays(9, 3), user="user", item="title", budget=budget)
    phases = heard_in(partial(source.domain, epsilon=3.0, delta=1e-4))
    checked = "Checking data of type DataFrame"
    assert phases[:3] == ["Calibrating", checked, "Charging the budget"]
    assert phases[-1] == "Keeping the answer in the budget"


def test_an_engine_is_named_and_no_address(tmp_path):
    import duckdb

    path = tmp_path / "plays.db"
    with duckdb.connect(path) as connection:
        connection.register("given", plays(300, 4).to_arrow())
        connection.execute("CREATE TABLE plays AS FROM given")

    def ask():
        named = {"user": "user", "item": "title", "max_items_per_user": 10}
        sl.pairs(f"duckdb:///{path}", table="plays", **named).domain(epsilon=3.0, delta=1e-4)

    phases = heard_in(ask)
    assert phases[0] == "Connecting to the database"
    assert "Reading rows in DuckDB" in phases
    assert "Selecting, round 2 of 6" in phases
    assert not any("plays.db" in p for p in phases)


def test_a_file_is_named_as_it_was_given(tmp_path):
    path = tmp_path / "plays.csv"
    plays(9, 3).write_csv(path)
    source = sl.pairs(path, user="user", item="title")
    phases = heard_in(partial(source.domain, epsilon=3.0, delta=1e-4))
    assert f'Reading data="{path}"' in phases


def shares_of(ask):
    """What a watcher hears while something is asked: each share as it is then, and None."""
    shares = []
    with watching(lambda share: shares.append(share and share())):
        ask()
    return shares


def half_done():
    with phase("Selecting"), measured(lambda: 0.5):
        pass


def test_how_much_is_done_is_told_to_watchers_alone():
    assert shares_of(half_done) == [0.5, None]
    assert heard_in(half_done) == ["Selecting"]
    with watching(pytest.fail):
        pass
    half_done()  # nobody watches any more


def test_what_was_done_before_a_failure_is_over():
    def fails():
        with measured(lambda: 0.5):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        shares_of(fails)
    shares = []
    with watching(shares.append), pytest.raises(ZeroDivisionError):
        fails()
    assert shares[-1] is None


@pytest.mark.parametrize(("ending", "expected"), [("parquet", [0.0, None]), ("csv", [])])
def test_it_is_known_how_much_is_read_of_a_file_that_says_how_much_it_holds(
    tmp_path, ending, expected
):
    path = tmp_path / f"plays.{ending}"
    getattr(plays(900, 3), f"write_{ending}")(path)
    source = sl.pairs(path, user="user", item="title")
    assert shares_of(partial(source.top_k, 3, epsilon=3.0, delta=1e-4)) == expected


def test_the_share_of_what_is_read_rises_to_one(tmp_path):
    plays(900, 3).write_parquet(tmp_path / "plays.parquet")
    n_rows, pieces = read_pieces(pl.scan_parquet(tmp_path / "plays.parquet"), streamed=True)
    seen, shares = 0, []
    with watching(shares.append):
        for piece in pieces:
            seen += len(piece)
            assert shares[0]() == pytest.approx(seen / n_rows)
    assert seen == n_rows == 2700
    assert shares[1:] == [None]
