"""Amounts by group are the same whole numbers wherever rows lie, and users are in few groups."""

from collections import Counter
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers import engine_places
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables import _amounts_in_table
from shortlist.engines.tables._groups_in_table import GroupsInTable
from shortlist.evidence import GroupedCounts, UserGroups, Wants

STEPS, CAP = 2**20, 8.0
LANDS, TITLES = ["NO", "se", "日本", "O'"], ["Emma", "Dune", "Ulysses"]
FEW = {"epsilon": 1e4, "delta": 1e-6, "max_groups_per_user": 2}
in_places = pytest.mark.parametrize(
    "place",
    [
        "memory",
        "duckdb",
        "postgresql",
        *(pytest.param(p, marks=pytest.mark.exhaustive) for p in ("relation", "spark")),
    ],
    indirect=True,
)


@pytest.fixture
def draws():
    return ExactDraws(SeededBits(1))


def rows():
    """Many rows of a user, a land and a title; some of nothing, below 0, or without an amount."""
    rng = np.random.default_rng(1)
    n = 600
    frame = pl.DataFrame(
        {
            "user": rng.choice([f"u{user}" for user in range(40)], n),
            "land": rng.choice(LANDS, n),
            "item": rng.choice(TITLES, n),
            "spent": rng.choice([-3.0, 0.0, 0.1, 1 / 3, 2.5, 100.0, np.nan], n),
        }
    )
    refunds = {"user": ["u1", "u1", "r"], "land": ["NO", "se", "se"], "item": ["Emma"] * 3}
    refunds |= {"spent": [-1e6, -1e6, -1.0]}
    nulls = {"user": ["u1", None, "u2"], "land": [None, "NO", "NO"], "item": ["Emma", "Emma", None]}
    nulls |= {"spent": [5.0, 5.0, 5.0]}
    return pl.concat([frame, pl.DataFrame(refunds), pl.DataFrame(nulls)])


def spent(frame):
    """What each user has of each title in each land, in steps, clamped; what is above 0."""
    added = Counter()
    for user, land, title, amount in frame.drop_nulls().rows():
        if np.isfinite(amount):
            added[user, land, title] += int(np.floor(amount / CAP * STEPS))
    return {key: min(steps, STEPS) for key, steps in added.items() if steps > 0}


def source(place, frame, **more):
    return place.source(frame, **{"amount": "spent", "cap": CAP} | more)


def summed(held):
    sums = Counter()
    for (_, land, title), steps in held.items():
        sums[land, title] += steps
    return sums


def found_in_each(sets, named):
    """The sum, and the number of holders, of each title in each land that has a sum."""
    sums, holders = {}, {}
    for group, (own, codes) in enumerate(sets.each()):
        assert own.unit == 1 / STEPS
        held = np.flatnonzero(own.counts)
        places = group * sets.n_in_each + (held if codes is None else codes[held])
        pairs = named(places).rows()
        sums |= dict(zip(pairs, own.counts[held].tolist(), strict=True))
        holders |= dict(zip(pairs, own.recount().counts[held].tolist(), strict=True))
    return sums, holders


@in_places
@pytest.mark.parametrize("public", [None, ["se", "nowhere", "NO"]])
def test_sums_are_those_of_the_definition(place, public, draws):
    exact = spent(rows())
    asked = source(place, rows()).grouped("land", public_groups=public)
    with asked._engine.show(Wants(UserGroups), draws) as shown:
        sums, holders = found_in_each(shown.evidence, shown.items)
        n_groups = shown.evidence.n_groups
    kept = {key: steps for key, steps in exact.items() if public is None or key[1] in public}
    assert n_groups == (len(public) if public else len(LANDS))
    assert sums == summed(kept)
    assert holders == Counter((land, title) for _, land, title in kept)
    assert place.left() == []


@in_places
def test_sums_of_a_list_in_public_groups_are_those_of_the_definition(place, draws):
    lands, titles = ["se", "nowhere", "NO", "日本", "O'"], ["Dune", "nobody's", "Emma"]
    asked = source(place, rows(), public_items=titles).grouped("land", public_groups=lands)
    wants = Wants(GroupedCounts, groups=len(LANDS))
    with asked._engine.show(wants, draws) as shown:
        found, unit = shown.evidence.counts.tolist(), shown.evidence.unit
        named = shown.items(np.arange(len(found))).rows()
    sums = summed(spent(rows()))
    assert unit == 1 / STEPS
    assert dict(zip(named, found, strict=True)) == {
        (land, title): sums[land, title] for land in lands for title in titles
    }
    assert place.left() == []


@contextmanager
def bounded(place, most, draws):
    """Users' amounts in at most so many lands each, and the names of positions."""
    asked = source(place, rows()).grouped("land", max_groups_per_user=most)
    with asked._engine.show(Wants(UserGroups), draws) as shown:
        yield shown.evidence.bounded(most, draws), shown.items


@in_places
@pytest.mark.parametrize("most", [1, 2])
def test_a_user_counts_in_so_many_groups_with_all_that_was_spent_there(place, most, draws):
    exact = spent(rows())
    lands = Counter(user for user, _ in {(user, land) for user, land, _ in exact})
    with bounded(place, most, draws) as (kept, named):
        sums, holders = found_in_each(kept, named)
        assert kept.groups.recount().counts.sum() == sum(min(n, most) for n in lands.values())
        if isinstance(kept, GroupsInTable):
            assert sums == summed(held := those_of(kept, exact))
            assert (
                len({(user, land) for user, land, _ in held}) == kept.groups.recount().counts.sum()
            )
    whole = summed(exact)
    assert all(steps <= whole[pair] for pair, steps in sums.items())
    assert sum(holders.values()) < len(exact)
    assert place.left() == []


def those_of(kept, exact):
    """What is exact of who was kept in an engine: all of a user in a land, or nothing."""
    pairs = kept.groups.values.sets
    found = kept.scratch.fetch_rows(pairs.select("value", *kept.groups.values.columns))
    texts = pl.DataFrame(found).select(pl.all().cast(pl.String)).rows()
    return {key: steps for key, steps in exact.items() if key[:2] in texts}


def test_a_land_of_refunds_is_no_group_of_a_user(draws):
    """Who has no sum above 0 somewhere is not there, so that no group that counts is dropped."""
    frame = pl.DataFrame(
        [
            (user, land, "Emma", amount)
            for user in range(50)
            for land, amount in (("NO", 5.0), ("se", -5.0))
        ],
        schema=["user", "land", "item", "spent"],
        orient="row",
    )
    asked = source(engine_places.DuckDB(), frame).grouped("land")
    with asked._engine.show(Wants(UserGroups), draws) as shown:
        kept = shown.evidence.bounded(1, draws)
        assert found_in_each(kept, shown.items)[0] == {("NO", "Emma"): 50 * 5 * STEPS // 8}


def plays():
    """In every land another title is what users spend most on; all hold all."""
    held = [
        (f"{land}{user}", land, title, 8.0 if land == best else 0.5 + 0.1 * place)
        for land in LANDS[:3]
        for user in range(300)
        for place, (title, best) in enumerate(zip(TITLES, LANDS, strict=False))
    ]
    return pl.DataFrame(held, schema=["user", "land", "item", "spent"], orient="row")


BEST = dict(zip(LANDS, TITLES, strict=False))


@in_places
def test_questions_are_answered(place):
    asked = source(place, plays())
    price = FEW | {"max_groups_per_user": 1, "random": SeededBits(1)}
    asked.grouped("land").plan(sl.TopK(1), epsilon=1.0, delta=1e-6).check()
    found = asked.top_k(1, by="land", noisy_counts=True, **price).to_polars()
    assert dict(found.select("land", "item").rows()) == BEST
    assert found["amount"].to_list() == pytest.approx([2400] * 3, abs=20)
    public = {"by": "land", "public_groups": ["NO", "nowhere"], **price}
    of_list = asked.of_items(TITLES).top_k(1, **public).to_polars()
    assert dict(of_list.filter(land="NO").select("land", "item").rows()) == {"NO": "Emma"}
    filtered = source(place, plays(), where="item <> 'Emma'")
    assert "Emma" not in filtered.top_k(1, by="land", **price).items
    assert place.left() == []


@pytest.mark.parametrize("kind", [engine_places.DuckDB, engine_places.Relation])
def test_by_default_duckdb_hands_over_what_memory_holds(kind, monkeypatch):
    ask = {"by": "land", **FEW}
    for room in (None, 0):
        if room is not None:
            monkeypatch.setattr("shortlist.engines.tables._dialect.available_memory", lambda: 0)
        found = source(kind(), plays(), pull=None).top_k(1, random=SeededBits(1), **ask)
        assert dict(found.to_polars().select("land", "item").rows()) == BEST


CAPS = (0.5, 2.0, CAP)


@in_places
@pytest.mark.parametrize("listed", [False, True])
def test_sums_at_caps_that_one_is_chosen_from_are_those_of_the_definition(place, listed, draws):
    titles = TITLES if listed else None
    lands = [*LANDS, "nowhere"]
    asked = source(place, rows(), cap=CAPS, public_items=titles)
    kind, parts = GroupedCounts if listed else UserGroups, tuple(cap / CAP for cap in CAPS)
    wants = Wants(kind, groups=len(lands), caps=parts)
    exact = spent(rows())
    with asked.grouped("land", public_groups=lands)._engine.show(wants, draws) as shown:
        above = shown.evidence.above(2).tolist()
        at_caps = [shown.evidence.at(place) for place in range(len(CAPS))]
        if listed:
            named = shown.items(np.arange(len(lands) * len(TITLES))).rows()
            sums = [dict(zip(named, each.counts.tolist(), strict=True)) for each in at_caps]
        else:
            sums = [found_in_each(each, shown.items)[0] for each in at_caps]
    for part, n, found in zip(parts, above, sums, strict=True):
        of_users = Counter(user for (user, _, _), steps in exact.items() if steps / part > STEPS)
        assert n == sum(min(most, 2) for most in of_users.values())
        capped = {key: min(int(steps / part), STEPS) for key, steps in exact.items()}
        assert {pair: steps for pair, steps in found.items() if steps} == summed(capped)
    assert place.left() == []


@in_places
def test_the_cap_is_chosen_by_the_groups_in_which_users_count(place, draws):
    wants = Wants(UserGroups, groups=1, caps=(1 / STEPS, 1.0))
    asked = source(place, rows(), cap=CAPS).grouped("land", max_groups_per_user=1)
    with asked._engine.show(wants, draws) as shown:
        above = shown.evidence.above(100).tolist()
        kept = found_in_each(shown.evidence.at(1), shown.items)[1]
    assert above == [sum(kept.values()), 0]  # nearly every sum has more than a step
    assert sum(kept.values()) < len(spent(rows()))


@in_places
def test_one_cap_is_chosen_for_all_groups(place):
    asked = source(place, plays(), cap=(0.25, 8.0, 200.0))
    price = FEW | {"max_groups_per_user": 1, "random": SeededBits(1)}
    found = asked.top_k(1, by="land", noisy_counts=True, **price)
    assert found.cap == 8
    assert dict(found.to_polars().select("land", "item").rows()) == BEST
    assert found.to_polars()["amount"].to_list() == pytest.approx([2400] * 3, abs=30)
    assert place.left() == []


# Planted mistakes


def is_right(draws):
    """Whether sums in DuckDB are those of the definition, and of users in at most one group."""
    place = engine_places.DuckDB()
    with source(place, rows()).grouped("land")._engine.show(Wants(UserGroups), draws) as shown:
        sums, _ = found_in_each(shown.evidence, shown.items)
    with bounded(place, 1, draws) as (kept, named):
        few, _ = found_in_each(kept, named)
        return sums == summed(spent(rows())) and few == summed(those_of(kept, spent(rows())))


def test_nothing_wrong_is_seen_where_nothing_is(draws):
    assert is_right(draws)


def test_a_cap_of_each_row_is_noticed(monkeypatch, draws):
    """Planted: what is clamped is a row."""
    right = _amounts_in_table._steps

    def clamped(column, amounts):
        steps = right(column, amounts)
        return (steps > STEPS).ifelse(STEPS, steps)

    monkeypatch.setattr(_amounts_in_table, "_steps", clamped)
    assert not is_right(draws)


def test_sums_that_no_cap_clamps_are_noticed(monkeypatch, draws):
    """Planted: rows of a user, a group and an item are added up, and nothing is clamped."""
    monkeypatch.setattr(_amounts_in_table, "_clamped", lambda sums: sums.cast("int64"))
    assert not is_right(draws)


def test_a_user_who_counts_in_all_groups_is_noticed(monkeypatch, draws):
    """Planted: users' groups are bounded, and what they spent in others counts as well."""
    monkeypatch.setattr(GroupsInTable, "_in", lambda self, groups: replace(self, groups=groups))
    assert not is_right(draws)
