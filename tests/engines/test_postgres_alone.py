"""What PostgreSQL alone does: numbers are packed, and what is left of users is kept in arrays."""

import datetime as dt
import re

import numpy as np
import polars as pl
import pytest

from helpers.engine_places import rows_of, sets_of
from shortlist import kernels
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables import _postgres
from shortlist.engines.tables._postgres import Postgres
from shortlist.errors import InputError
from shortlist.evidence.contributions import Contributions

TEXTS = ["a", "A", "it's", 'say "hi"', "\N{GRINNING FACE}", "", "NULL", "{1,2}", "%s", ":x"]
DAYS = [dt.date(1, 1, 1), dt.date(1970, 1, 1), dt.date(9999, 12, 31)]
VALUES = {
    "text": TEXTS,
    "wide": [-(2**63), 2**63 - 1, -1, 0, 2**31, -(2**31) - 1],
    "narrow": [-(2**31), 2**31 - 1, -1, 0, *range(5, 15)],
    "day": DAYS,
    "one": [7],
}
TABLES = {
    "texts": ("text", "text"),
    "wide": ("narrow", "wide"),
    "narrow": ("narrow", "narrow"),
    "several": ("wide", "day", "text"),
    "one user": ("one", "narrow"),
    "one item": ("narrow", "one"),
}


def table(kinds, seed=1, n=150):
    """Rows of a user and the columns of an item, some repeated, some with a null."""
    rng = np.random.default_rng(seed)
    columns = [[VALUES[kind][i] for i in rng.integers(0, len(VALUES[kind]), n)] for kind in kinds]
    columns[-1][:3] = [None] * 3
    return pl.DataFrame(dict(zip(["user", "item", "more"], columns, strict=False)))


def in_memory(bounded, named):
    """The same rows in memory, items by the same codes."""
    rows = rows_of(bounded, named)
    codes = {row: code for code, row in enumerate(named(np.arange(bounded.n_items)).rows())}
    users = {user: number for number, user in enumerate(dict.fromkeys(row[0] for row in rows))}
    numbered = np.array([(users[user], codes[tuple(item)]) for user, *item in rows], np.uint32)
    return Contributions.of_rows(*numbered.T.copy(), n_users=len(users), n_items=bounded.n_items)


def rounds(sets, seed=5):
    """What is asked for, round after round: what is found or dropped stays so."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum(np.arange(sets.largest + 1), 1)
    boosts = rng.integers(0, 2**11 + 1, sets.n_items).astype(np.int16)
    caps = 2**41 // sizes + 12345, np.full(len(sizes), 2**41)  # the second binds nobody
    for floor, cap in zip((2**40 // 6, 2**40 // 7 + 1, 2**40 // 8, 0), caps * 2, strict=True):
        boosts[(rng.random(len(boosts)) < 0.1) & (boosts >= 0)] = kernels.FOUND
        boosts[(rng.random(len(boosts)) < 0.3) & (boosts >= 0)] = kernels.DROPPED
        boosts[(rng.random(len(boosts)) < 0.3) & (boosts > 0)] = 0
        yield boosts, floor // sizes, cap


@pytest.mark.parametrize("kinds", TABLES.values(), ids=TABLES)
def test_sums_are_those_of_memory(postgres, kinds):
    frame = table(kinds)
    with sets_of(postgres.source(frame, item=frame.columns[1:])) as (held, named):
        bounded = held.bounded(3, ExactDraws(SeededBits(2)))
        steering, twin = bounded.steering(), in_memory(bounded, named).steering()
        for asked in rounds(bounded):
            assert steering.sums(*asked).tolist() == twin.sums(*asked).tolist()
    assert postgres.left() == []


def test_statements_are_the_same_whatever_rows_and_noise_say(postgres, monkeypatch):
    """Engines log them."""
    stated, run = [[]], Postgres._run

    def noted(dialect, statement):
        stated[-1].append(re.sub(r"shortlist_\w+", "a table", statement))
        run(dialect, statement)

    monkeypatch.setattr(Postgres, "_run", noted)
    for seed in (1, 2):
        frame = table(("narrow", "narrow"), seed, n=seed * 80)
        with sets_of(postgres.source(frame)) as (held, _):
            steering = held.steering()
            asked = list(rounds(held, seed))
            stated.append([])
            for each in asked:
                steering.sums(*each)
            stated.append([])
    assert stated[1] == stated[3]
    assert any("sqrt" in statement for statement in stated[1])


@pytest.mark.parametrize("row", [(2**31, 1), (-(2**31) - 1, 1), (1, 2**31), (1, -(2**31) - 1)])
def test_a_number_that_comes_after_its_size_was_looked_at_is_taken_for_no_other(
    postgres, monkeypatch, row
):
    """A user and an item are packed into 64 bits where all rows that were there fit."""
    monkeypatch.setattr(_postgres, "_fit_together", lambda *_: True)
    source = postgres.source(pl.DataFrame([(0, 0), row], ["user", "item"], orient="row"))
    with pytest.raises(InputError), sets_of(source) as (held, _):
        assert held.users_of_size().tolist() == [0, 2]
