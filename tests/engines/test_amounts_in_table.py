"""Amounts are the same whole numbers wherever the rows lie, to the last bit."""

from functools import partial
from itertools import product

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers import engine_places
from helpers.engines import shown
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables import _amounts_in_table
from shortlist.evidence import PrivateCounts, PublicCounts, UserSets, Wants
from shortlist.mechanisms import LimitedDomain

BIG, LESS = np.finfo(float).max, np.nextafter
CAP = 600.1
ODD = [0.0, -0.0, 0.1, 600.1, 600.2, -0.3, BIG, -BIG, 1e300, -1e300, 5e-324, -5e-324, 1e-290]
ODD += [-LESS(1e-290, 0), LESS(1e-290, 1), LESS(CAP * 2048, 0), LESS(CAP * 2048, 1e9), -CAP * 2048]
ODD += [CAP / 2**20 * n for n in (1, 3, 5, 7)] + [2.0**53 + 2, np.nan, np.inf, -np.inf, None]
TITLES = ["Emma", "Dune", "Ulysses", "Kim"]
USER_SETS = Wants(UserSets)
DRAWS = ExactDraws(SeededBits(1))


def odd():
    """Each odd amount alone, of a user and an item of its own; and sums of random ones."""
    rng = np.random.default_rng(1)
    alone = pl.DataFrame({"user": range(len(ODD)), "item": [f"o{n}" for n in range(len(ODD))]})
    alone = alone.with_columns(spent=pl.Series(ODD, dtype=pl.Float64, strict=False))
    n = 400
    mixed = {"user": rng.integers(100, 120, n), "item": rng.choice(TITLES, n)}
    spent = rng.choice([-40.0, 0.1, 7.3, 133.3, 1 / 3], n) * rng.random(n)
    return pl.concat([alone, pl.DataFrame({**mixed, "spent": spent})])


def source(place, frame, **more):
    return place.source(frame, **{"amount": "spent", "cap": CAP} | more)


def sums_of(asked, bound=None):
    """The sum of each item that has one, as a mechanism of counts looks at it."""
    with asked._engine.show(Wants(PrivateCounts, bound), DRAWS) as held:
        counts = held.evidence.counts
        places = np.flatnonzero(counts)
        items = held.items(places)["item"]
        return dict(zip(items, counts[places].tolist(), strict=True))


def test_sums_are_those_of_memory(engine):
    if type(engine) is engine_places.AnyEngine:
        pytest.skip("amounts are refused there")
    held, known = source(engine, odd()), source(engine_places.Memory(), odd())
    assert sums_of(held) == sums_of(known)
    assert engine.left() == []
    with held._engine.show(USER_SETS, DRAWS) as found:
        sets, unit = found.evidence.recount().counts, found.evidence.unit
        summed = found.evidence.counts
        sizes = found.evidence.users_of_size().tolist()
    of_memory = shown(known, USER_SETS).evidence
    assert unit == of_memory.unit
    for there, here in ((sets, of_memory.recount().counts), (summed, of_memory.counts)):
        assert sorted(there) == sorted(here[here > 0])
    assert sizes == of_memory.users_of_size().tolist()
    of_list = source(engine, odd(), public_items=["Emma", "o4", "nobody"])
    with of_list._engine.show(Wants(PublicCounts), DRAWS) as found:
        exact = sums_of(known)
        assert found.evidence.counts.tolist() == [exact["Emma"], exact["o4"], 0]


@pytest.mark.parametrize("place", ["duckdb", "postgresql"], indirect=True)
@pytest.mark.parametrize("dtype", ["SMALLINT", "BIGINT", "REAL", "DECIMAL(15, 4)", "DECIMAL(9, 2)"])
def test_every_type_of_numbers_has_the_sums_of_memory(place, dtype):
    rng = np.random.default_rng(2)
    spent = rng.integers(-200, 3000, 300) if "INT" in dtype else rng.normal(300, 200, 300)
    frame = pl.DataFrame({"user": range(300), "item": ["a", "b", "c"] * 100, "spent": spent})
    name = place.table(frame).get_name()
    typed = f"typed_{name}"
    place.native.execute(
        f'CREATE TABLE {typed} AS SELECT "user", item, CAST(spent AS {dtype}) AS spent FROM {name}'
    )
    table = place.connection.table(typed)
    given = {"user": "user", "item": "item", "amount": "spent", "cap": CAP}
    there, here = (sl.pairs(table, **given, pull=pull) for pull in (False, True))
    assert sums_of(there) == sums_of(here)


def at_caps(asked, kind=PrivateCounts):
    """How many sums are above each cap; and the sum of each item at each of them."""
    parts = (0.001, 1 / 3, 1.0)
    with asked._engine.show(Wants(kind, caps=parts), DRAWS) as held:
        above = held.evidence.above(2).tolist()
        sums = []
        for place in range(len(parts)):
            found = held.evidence.at(place).counts
            places = np.flatnonzero(found)
            names = held.items(places)["item"]
            sums.append(dict(zip(names, found[places].tolist(), strict=True)))
        return above, sums


@pytest.mark.parametrize("kind", [PrivateCounts, UserSets])
def test_sums_at_caps_that_one_is_chosen_from_are_those_of_memory(engine, kind):
    if type(engine) is engine_places.AnyEngine:
        pytest.skip("amounts are refused there")
    there, here = (source(place, odd()) for place in (engine, engine_places.Memory()))
    above, sums = at_caps(here, kind)
    assert above[0] > above[1] > above[2] == 0
    assert at_caps(there, kind) == (above, sums)
    assert engine.left() == []


def test_sums_of_a_few_items_at_a_cap_are_those_of_memory(engine):
    """Their unit is that of all, and an item that nobody holds has a sum of 0."""
    if type(engine) is engine_places.AnyEngine:
        pytest.skip("amounts are refused there")
    sums = []
    for place in (engine, engine_places.Memory()):
        with source(place, odd())._engine.show(Wants(UserSets, caps=(1 / 3, 1.0)), DRAWS) as held:
            sets = held.evidence.at(0)
            codes = np.arange(sets.n_items)[::-1]
            few = sets.among(np.append(codes, -1))
            names = held.items(codes)["item"].to_list()
        assert few.unit == sets.unit == 1 / 2**20
        assert few.counts.tolist() == [*sets.counts[codes], 0]
        found = zip(names, few.counts.tolist()[:-1], strict=True)
        sums.append({name: steps for name, steps in found if steps})
    assert sums[0] == sums[1]
    assert engine.left() == []


def test_a_cap_is_chosen_in_an_engine(engine):
    if type(engine) is engine_places.AnyEngine:
        pytest.skip("amounts are refused there")
    rows = [(u, title, m) for u in range(300) for title, m in [("Emma", 3.0), ("Dune", 40.0)]]
    frame = pl.DataFrame(rows, schema=["user", "item", "spent"], orient="row")
    asked = source(engine, frame, cap=(5, 50, 600))
    asked.plan(sl.TopK(2), epsilon=1.0, delta=1e-6).check()
    found = asked.top_k(2, epsilon=40.0, delta=1e-6, random=SeededBits(1))
    assert (found.cap, found.items) == (50, ["Dune", "Emma"])


def test_bounded_sums_are_of_a_subset_of_each_users_items(engine):
    if type(engine) is engine_places.AnyEngine:
        pytest.skip("amounts are refused there")
    frame = pl.DataFrame(
        [(u, item, 10.0 * (1 + u)) for u, item in product(range(3), "abcde")],
        schema=["user", "item", "spent"],
        orient="row",
    )
    found = sums_of(source(engine, frame, cap=1024.0), 2)
    assert sum(found.values()) == 2 * sum(10 * (1 + u) * 1024 for u in range(3))


def test_questions_are_answered(engine):
    if type(engine) is engine_places.AnyEngine:
        pytest.skip("amounts are refused there")
    rows = [(u, title, m) for u in range(300) for title, m in [("Emma", 3.0), ("Dune", 40.0)]]
    frame = pl.DataFrame(rows, schema=["user", "item", "spent"], orient="row")
    huge = {"epsilon": 1e4, "delta": 1e-6, "random": SeededBits(1)}
    asked = source(engine, frame, cap=50)
    asked.plan(sl.TopK(2), epsilon=1.0, delta=1e-6).check()
    found = asked.top_k(2, noisy_counts=True, **huge)
    assert found.items == ["Dune", "Emma"]
    assert found.to_polars()["amount"].to_list() == pytest.approx([12_000, 900], abs=5)
    assert asked.top_k(2, mechanism=LimitedDomain, **huge).items == ["Dune", "Emma"]
    filtered = source(engine, frame, cap=50, where="spent < 40")
    assert filtered.of_items(TITLES).top_k(1, **huge).items == ["Emma"]
    assert engine.left() == []


@pytest.mark.parametrize("kind", [engine_places.DuckDB, engine_places.Relation])
def test_by_default_duckdb_hands_over_what_memory_holds(kind, monkeypatch):
    exact = sums_of(source(engine_places.Memory(), odd()))
    assert sums_of(source(kind(), odd(), pull=None)) == exact
    monkeypatch.setattr("shortlist.engines.tables._dialect.available_memory", lambda: 0)
    assert sums_of(source(kind(), odd(), pull=None)) == exact


def test_what_may_come_out_otherwise_is_refused_by_name(any_engine):
    place = engine_places.DuckDB()
    place.native.execute(
        "CREATE TABLE wide AS SELECT 1 AS user, 2 AS item, 3::DECIMAL(16) AS d, 3::HUGEINT AS h"
    )
    rows = place.connection.table("wide")
    for name in ("d", "h"):
        ask = partial(sl.pairs, rows, user="user", item="item", amount=name, cap=1)
        refusal(partial(ask, pull=False), f'amount="{name}"', "cast it to DOUBLE")
        assert sum(sums_of(ask(pull=True)).values()) == 2**20
    table = any_engine.table(odd())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shortlist.engines.tables._postgres.Postgres.computes_as_memory", False)
        refusal(
            lambda: sl.pairs(table, user="user", item="item", amount="spent", cap=1),
            "whether PostgreSQL would round the same way is not known here",
            "pull=True",
        )


def test_a_column_that_is_gone_is_noticed_before_the_charge():
    place = engine_places.DuckDB()
    asked = source(place, odd())
    place.native.execute(f"ALTER TABLE {asked._engine._in_engine.rows.get_name()} DROP spent")
    refusal(lambda: asked.plan(sl.TopK(2), epsilon=1.0, delta=1e-6).check())


def test_a_cap_of_each_row_is_noticed(monkeypatch):
    """Planted: what is clamped is a row, and not what a user and an item have together."""
    right = _amounts_in_table._steps

    def clamped(column, amounts):
        steps = right(column, amounts)
        return (steps > 0).ifelse((steps > 2**20).ifelse(2**20, steps), 0)

    monkeypatch.setattr(_amounts_in_table, "_steps", clamped)
    known = source(engine_places.Memory(), odd())
    assert sums_of(source(engine_places.DuckDB(), odd())) != sums_of(known)


def test_sums_that_no_cap_clamps_are_noticed(monkeypatch):
    """Planted: rows of a user and an item are added up, and nothing is clamped."""
    monkeypatch.setattr(_amounts_in_table, "_clamped", lambda sums: sums.cast("int64"))
    known = source(engine_places.Memory(), odd())
    assert sums_of(source(engine_places.DuckDB(), odd())) != sums_of(known)
