"""Later rounds in PostgreSQL, where what is left of each user is kept from round to round."""

import datetime as dt
import re

import numpy as np
import polars as pl
import pytest

from helpers.engine_places import rows_of, sets_of
from shortlist import kernels
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables._postgres import Postgres
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
    for floor in (2**40 // 6, 2**40 // 7 + 1, 0):
        boosts[(rng.random(len(boosts)) < 0.1) & (boosts >= 0)] = kernels.FOUND
        boosts[(rng.random(len(boosts)) < 0.3) & (boosts >= 0)] = kernels.DROPPED
        boosts[(rng.random(len(boosts)) < 0.3) & (boosts > 0)] = 0
        yield boosts, floor // sizes, 2**41 // sizes + 12345


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
