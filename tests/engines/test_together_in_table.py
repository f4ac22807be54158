"""Pairs and triples of items, wherever the rows lie: the same as of memory, and bounded alike."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.special import chdtrc

import shortlist as sl
from helpers.engine_places import DuckDB, is_slow, is_spoken_to_as_another, rows_of, sets_of
from helpers.exhaustive import exhaustive
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.engines import rows_in_table
from shortlist.engines.tables import _dialect
from shortlist.engines.tables._sets_from_rows import NumberedItems
from shortlist.engines.tables._sets_in_table import SetsInTable
from shortlist.mechanisms import DiscoverThenRank, ItemsThenPairs, LimitedDomain, PolicyGaussian

ASKED = {"epsilon": 5.0, "delta": 1e-3}
KINDS = {
    "text": (pl.Int64, lambda n: "aB é"[n % 4] + str(n)),
    "integers": (pl.String, lambda n: 7 - n),
}


def plays(kind="text", n_users=60):
    user, item = KINDS[kind]
    rng = np.random.default_rng(3)
    held = [rng.choice(9, rng.integers(1, 7), replace=False).tolist() for _ in range(n_users)]
    rows = [(n, item(i)) for n, items in enumerate(held) for i in (*items, items[0])]
    frame = pl.DataFrame(rows, ["user", "item"], orient="row")
    return frame.with_columns(pl.col("user").cast(user))


def shown(source):
    """How many users hold what, and how many each holds."""
    with sets_of(source) as (held, items):
        codes = np.flatnonzero(held.counts)
        counts = zip(items(codes).rows(), held.counts[codes].tolist(), strict=True)
        return items(codes).schema, sorted(counts), held.users_of_size()[1:].tolist()


def expected(rows, of):
    each = rows.unique().group_by("user").agg("item")["item"].to_list()
    counts = Counter(held for items in each for held in itertools.combinations(sorted(items), of))
    return sorted(counts.items())


@pytest.mark.parametrize(
    ("of", "kind"), [(2, "text"), *exhaustive((3, "integers"), (3, "text"), (2, "integers"))]
)
def test_who_holds_what_together_is_as_of_memory(place, of, kind):
    if is_slow(place) and (of, kind) in {(3, "text"), (2, "integers")}:
        pytest.skip("Spark is asked little")
    rows = plays(kind)
    source = place.source(rows).together(of)
    found = shown(source)
    assert found[0] == dict.fromkeys(source._engine.items, rows.schema["item"])
    assert found[1] == expected(rows, of)
    assert found == shown(sl.pairs(rows, user="user", item="item").together(of))
    assert place.left() == []


QUESTIONS = {
    "top-k": (sl.TopK(4), None),
    "one round": (sl.TopK(4), DiscoverThenRank),
    "counts": (sl.TopK(4), LimitedDomain),
    "chosen bound": (sl.Domain(), None),
    "users by users": (sl.Domain(), PolicyGaussian),
    "items first": (sl.TopK(4), ItemsThenPairs),
}


@pytest.mark.parametrize("asked", ["top-k", *exhaustive(*list(QUESTIONS)[1:])])
def test_answers_are_those_of_memory(place, asked):
    if is_slow(place) and asked != "top-k":
        pytest.skip("Spark is asked little")
    held = [[0, 1, 2]] * 900 + [[0, 1]] * 900 + [[3, 4]] * 300
    rows = [(user, f"item {item}") for user, items in enumerate(held) for item in items]
    frame = pl.DataFrame(rows, ["user", "item"], orient="row")
    question, mechanism = QUESTIONS[asked]
    source = place.source(frame).together(2)
    found = source.plan(question, mechanism=mechanism, **ASKED).run(SeededBits(3))
    pairs = {("item 0", "item 1"), ("item 0", "item 2"), ("item 1", "item 2"), ("item 3", "item 4")}
    assert set(found.items) == pairs
    assert question.name != "top-k" or found.items[0] == ("item 0", "item 1")
    assert place.left() == []


MANY = [f"item {place}" for place in range(5)]
USERS = range(200)
HEAVY = pl.DataFrame({"user": [u for u in USERS for _ in MANY], "item": MANY * len(USERS)})


def kept(source, seed):
    """The pairs of each user."""
    with sets_of(source, seed) as (held, items):
        rows = rows_of(held, items)
        assert rows_of(held, items) == rows, "a pass over the sets is not as the one before"
        assert held.largest == 3
    texts = ((user, *(item.removeprefix("0x") for item in pair)) for user, *pair in rows)
    found = {user: set() for user in USERS}
    for user, *pair in texts:
        found[user].add(tuple(pair))
    return found


def test_of_a_user_with_many_items_all_pairs_of_a_random_subset_count(place):
    """By the key and that user's own rows, and of every subset as often."""
    if is_spoken_to_as_another(place):
        pytest.skip("users are bounded by Spark, which is asked itself")
    source = place.source(HEAVY, max_items_per_user=3).together(2)
    first, again, other = (kept(source, seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    subsets = Counter(frozenset(itertools.chain(*pairs)) for pairs in other.values())
    assert all(len(held) == 3 for held in subsets)
    assert all(len(pairs) == 3 for pairs in other.values())
    uneven = sum((subsets[s] - 20) ** 2 for s in map(frozenset, itertools.combinations(MANY, 3)))
    assert chdtrc(9, uneven / 20) > 1e-3


def test_what_one_user_adds_is_bounded_whatever_else_is_in_the_table(engine):
    if is_slow(engine):
        pytest.skip("Spark is asked little")
    alone = engine.source(HEAVY, max_items_per_user=3).together(2)
    more = pl.DataFrame({"user": [-1] * 9, "item": [f"item {n / 2}" for n in range(9)]})
    others = engine.source(pl.concat([more, HEAVY]), max_items_per_user=3).together(2)
    with sets_of(others) as (held, items):
        rows = [row for row in rows_of(held, items) if row[0] != -1]
    with sets_of(alone) as (held, items):
        assert rows_of(held, items) == rows


def test_a_join_that_takes_each_pair_in_both_orders_is_caught(monkeypatch):
    together = rows_in_table.held_together

    def in_both_orders(held, of):
        found = together(held, of).values
        (rows,) = found.parts
        turned = rows.mutate(i0=rows["i1"], i1=rows["i0"])
        both = rows.union(turned.select(rows.columns))
        items = NumberedItems(
            lambda: both.group_by(["i0", "i1"]).agg(n=both.count()), ["i0", "i1"], held.scratch
        )
        return SetsInTable(replace(found, numbered=items, find_sets=lambda: (both,)), held.scratch)

    monkeypatch.setattr(rows_in_table, "held_together", in_both_orders)
    rows = plays()
    assert shown(DuckDB().source(rows).together(2))[1] != expected(rows, 2)


def test_rows_of_duckdb_are_added_up_in_memory_where_it_holds_them(monkeypatch):
    rows = plays()
    source = DuckDB().source(rows, pull=None).together(2)
    here = shown(source)
    monkeypatch.setattr(_dialect, "available_memory", lambda: 0)
    assert shown(source) == here
    said = " ".join(source.plan(sl.TopK(2), **ASKED).guarantee.assumes)
    assert "SHA-256 of (key, user, item)" in said
    assert source._engine.about()["together"] == 2


def test_duckdb_keeps_rows_that_may_make_more_pairs_than_memory_holds(monkeypatch):
    """At most 31.5 pairs for each row of a user whose 64 items count, of 140 bytes each."""
    monkeypatch.setattr(_dialect, "available_memory", lambda: 10**6)
    source = DuckDB().source(plays(), pull=None)
    for asked, stays in ((source, False), (source.together(2), True), (source.together(3), True)):
        with sets_of(asked) as (held, _):
            assert hasattr(held, "scratch") is stays


def test_what_is_asked_is_tried_before_the_charge(engine):
    if is_slow(engine):
        pytest.skip("Spark is asked little")
    engine.source(plays()).together(3).plan(sl.TopK(2), **ASKED).check()
    assert engine.left() == []
    source = engine.source(plays())
    refusal(lambda: source.top_k(2, of=2, by="item", **ASKED), "by group")
