"""All questions, wherever the rows lie; and what is left behind there."""

import duckdb
import ibis
import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.engine_places import is_slow
from helpers.refusals import MARKER, refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables import _sets_in_table as sets
from shortlist.engines.tables._postgres import Postgres
from shortlist.engines.tables._scratch import Scratch
from shortlist.engines.tables._sets_in_table import SetsInTable
from shortlist.evidence import UserGroups, Wants
from shortlist.mechanisms import (
    AdaptiveTopK,
    ClippedCountEach,
    LimitedDomain,
    PolicyGaussian,
    PolicyGreedy,
    UserPeeling,
    WeightedGaussian,
)

TITLES = ["Emma", "Dune", "été 日本", "Ulysses", "Watt"]
ASKED = {"epsilon": 3.0, "delta": 1e-4}


def plays():
    """Item number i has (5 - i) 200 users; those of one item hold nothing else, but for a few."""
    held = [title for i, title in enumerate(TITLES) for _ in range((5 - i) * 200)]
    users = [f"u{place:04d}" for place in range(len(held))]
    more = {"user": ["u0000"] * 5 + ["alone", None], "item": [*TITLES, MARKER, "Emma"]}
    return pl.concat([pl.DataFrame({"user": users, "item": held}), pl.DataFrame(more)])


PRIVATE = {
    "top-k": lambda source, **more: source.top_k(3, **more),
    "domain": lambda source, **more: source.domain(**more),
    "hitting set": lambda source, **more: source.hitting_set(3, **more),
    "top-k with counts": lambda source, **more: source.top_k(3, count_share=0.5, **more),
    "domain with counts": lambda source, **more: source.domain(count_share=0.5, **more),
    "one round": lambda source, **more: source.domain(mechanism=WeightedGaussian, **more),
    "counts": lambda source, **more: source.top_k(3, mechanism=LimitedDomain, **more),
    "users by users": lambda source, **more: source.domain(mechanism=PolicyGaussian, **more),
    "one unit": lambda source, **more: source.domain(mechanism=PolicyGreedy, **more),
    "peeling": lambda source, **more: source.hitting_set(3, mechanism=UserPeeling, **more),
}
PUBLIC = {
    "top-k": lambda source, **more: source.top_k(3, **more),
    "hitting set": lambda source, **more: source.hitting_set(3, **more),
    "top-k with counts": lambda source, **more: source.top_k(3, count_share=0.5, **more),
}


def test_private_items_are_those_of_memory(place):
    source, known = place.source(plays()), sl.pairs(plays(), user="user", item="item")
    asked = ("top-k", "domain", "users by users") if is_slow(place) else PRIVATE
    for ask in (PRIVATE[name] for name in asked):
        found = ask(source, random=SeededBits(3), **ASKED)
        expected = ask(known, random=SeededBits(3), **ASKED)
        assert sorted(found.items) == sorted(expected.items)
        assert set(found.items) <= set(TITLES)
        assert len(found.items) >= 3
        assert place.left() == []


def test_public_items_are_those_of_memory(place):
    public = ["nobody's", *TITLES]
    source = place.source(plays(), public_items=public)
    known = sl.pairs(plays(), user="user", item="item", public_items=public)
    for ask in PUBLIC.values() if not is_slow(place) else [PUBLIC["hitting set"]]:
        found, expected = (ask(each, random=SeededBits(4), **ASKED) for each in (source, known))
        assert found.items == expected.items == TITLES[:3]
        assert place.left() == []


def test_counts_of_a_list_are_those_of_memory(place):
    listed = ["Watt", "nobody's", "Emma"]
    counted = sl.ShareOfUsers.COUNTED
    for mechanism, share in ((None, counted), (None, None), (ClippedCountEach, None)):
        more = {"mechanism": mechanism, "share_of_users": share}
        found, expected = (
            source.user_counts(listed, **more, random=SeededBits(5), **ASKED)
            for source in (place.source(plays()), sl.pairs(plays(), user="user", item="item"))
        )
        assert found.items == listed
        assert list(found.scores) == list(expected.scores)
        assert found.users == expected.users
        assert place.left() == []


@pytest.mark.parametrize("most", [1, 2])
def test_counts_of_a_list_in_groups_are_those_of_memory(place, most):
    listed, groups = ["Watt", "nobody's", "Emma"], ["odd", "even", "nobody's"]
    odd = pl.col("user").str.contains("[13579]$")
    by = pl.when(odd).then(pl.lit("odd")).otherwise(pl.lit("even")).alias("g")
    rows = pl.concat([plays().with_columns(by), twice()])
    counts, users = [], []
    for source in (place.source(rows), sl.pairs(rows, user="user", item="item")):
        asked = source.of_items(listed).grouped("g", public_groups=groups, max_groups_per_user=most)
        question = sl.UserCounts(sl.ShareOfUsers.COUNTED)
        mechanism = asked.plan(question, epsilon=3.0).mechanism
        with asked._engine.show(mechanism.wants, ExactDraws(SeededBits(5))) as shown:
            counts.append(shown.evidence.counts)
            users.append(shown.evidence.users)
            named = shown.items(np.arange(9)).rows()
        told = asked.user_counts(epsilon=3.0, random=SeededBits(5))
        assert sorted(told.items) == sorted(named)
    assert named[:4] == [("odd", "Watt"), ("odd", "nobody's"), ("odd", "Emma"), ("even", "Watt")]
    assert [each.sum() for each in counts] == [counts[1].sum()] * 2
    assert (np.abs(counts[0] - counts[1]) <= (most == 1)).all()  # one user's group is random
    assert (counts[1][6:] == 0).all()
    assert users[0].sum() == users[1].sum() == len(set(rows["user"].drop_nulls())) + (most == 2)
    assert users[0][2] == users[1][2] == 0
    assert place.left() == []


def test_hitting_sets_of_groups_are_those_of_memory(place):
    if is_slow(place):
        pytest.skip("each group is asked by itself")
    by = pl.when(pl.col("user") < "u1500").then(pl.lit("few")).otherwise(pl.lit("more")).alias("g")
    rows = plays().with_columns(by)
    lists = {"by": "g", "public_groups": ["more", "few"]}
    for source in (place.source(rows), sl.pairs(rows, user="user", item="item")):
        asked = {"random": SeededBits(4), **ASKED}
        found = source.hitting_set(2, by="g", **asked).items
        assert found == [
            ("few", "Emma"),
            ("few", "Dune"),
            ("more", "été 日本"),
            ("more", "Ulysses"),
        ]
        known = source.of_items(TITLES).hitting_set(2, **lists, **asked)
        assert sorted(known.items) == sorted(found)
    assert place.left() == []


def test_what_one_group_needs_is_dropped_before_the_next(engine):
    if is_slow(engine):
        pytest.skip("each group is asked by itself")
    by = pl.when(pl.col("user") < "u1500").then(pl.lit("few")).otherwise(pl.lit("more")).alias("g")
    source = engine.source(plays().with_columns(by)).grouped("g", max_groups_per_user=2)
    draws = ExactDraws(SeededBits(4))
    mechanism = UserPeeling(k=2, max_items_per_user=3, **ASKED)
    with source._engine.show(Wants(UserGroups), draws) as shown:
        scratch, held = shown.evidence.scratch, []
        for own, _ in shown.evidence.each():
            held.append(len(scratch._names))
            mechanism.select(own, draws)
            assert len(scratch._names) > held[-1]
        assert held == held[:1] * 2
        assert len(scratch._names) == held[0]
    assert engine.left() == []


def twice():
    """One user more, who is in two groups."""
    return pl.DataFrame({"user": ["both"] * 2, "item": ["Emma"] * 2, "g": ["odd", "even"]})


def test_known_items_are_those_of_memory(place):
    """Some of them are held by few or nobody; and where users' sets are bounded."""
    given = {"known_items": ["nobody's", "nobody's too", "Dune", "Watt"], "max_items_per_user": 4}
    source = place.source(plays(), **given)
    wants = source.plan(sl.Domain(), **ASKED).mechanism.wants
    with source._rows.show(wants, ExactDraws(SeededBits(1))) as shown:
        named = shown.items(np.arange(shown.evidence.n_items))["item"].to_list()
        assert len(named) == len(set(named)) == len(TITLES) + 1 + 2
        assert sorted(np.array(named)[shown.evidence.public]) == sorted(given["known_items"])
        counts = dict(zip(named, shown.evidence.counts.tolist(), strict=True))
        assert (counts["nobody's"], counts["Watt"], counts["Dune"]) == (0, 201, 801)
    asked = [PRIVATE["top-k"]] if is_slow(place) else [PRIVATE["domain"], PRIVATE["hitting set"]]
    for ask in asked:
        found = ask(source, random=SeededBits(3), **ASKED)
        assert set(found.items) <= {*TITLES, *given["known_items"]}
        assert len(found.items) >= 3
        greedy = source.domain(**ASKED, mechanism=PolicyGreedy, random=SeededBits(3))
        assert set(greedy.items) <= {*TITLES, *given["known_items"]}
        assert {"Dune", "Watt"} <= set(greedy.items)
    few, seeded = place.source(plays().head(1), **given), SeededBits(3)
    short = few.top_k(3, **ASKED, mechanism=AdaptiveTopK, random=seeded)  # else none in 1 of 150
    assert set(short.items) <= set(given["known_items"])
    assert len(short.items) == 3
    assert place.left() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError, ValueError("Zz-private-91")])
def test_nothing_is_left_after_an_error(engine, monkeypatch, error):
    if is_slow(engine) and error is not KeyboardInterrupt:
        pytest.skip("what is raised is of no consequence to an engine")

    def fails(*_):
        assert engine.left()
        raise error

    monkeypatch.setattr(SetsInTable, "added_by_size", fails)
    source = engine.source(plays())
    with pytest.raises(BaseException) as caught:
        source.domain(**ASKED)
    assert type(caught.value) is (error if isinstance(error, type) else type(error))
    assert engine.left() == []


def test_what_an_engine_says_is_not_quoted(place):
    """A query that fails at a row: the cast of a text that is no number."""
    table = place.table(plays())
    if not isinstance(table, ibis.Table):
        pytest.skip("of tables of Ibis")
    broken = table.mutate(item=table.item.cast("int64"))
    source = sl.pairs(broken, user="user", item="item")
    said = refusal(
        lambda: source.top_k(3, **ASKED),
        "failed at a query",
        "Count the question's epsilon and delta as spent",
    )
    assert "Emma" not in said
    assert MARKER not in said
    assert place.left() == []


def test_more_users_than_can_be_added_up_are_refused(place, monkeypatch):
    if is_slow(place) or not hasattr(place, "native"):
        pytest.skip("of engines alike")
    monkeypatch.setattr(sets, "MOST_USERS", 2)
    source = place.source(plays())
    refusal(
        lambda: source.domain(mechanism=WeightedGaussian, **ASKED), "too many users", "as spent"
    )
    assert place.left() == []


def test_an_engine_that_is_gone_is_refused(postgres):
    source = postgres.source(plays())
    postgres.native.close()
    refusal(lambda: source.top_k(3, **ASKED), "PostgreSQL has lost the connection")


def test_questions_from_many_threads_take_turns(engine):
    from concurrent.futures import ThreadPoolExecutor

    source = engine.source(plays())
    with ThreadPoolExecutor(3) as pool:
        asked = [pool.submit(source.top_k, 2, **ASKED) for _ in range(3)]
        assert [each.result().items for each in asked] == [["Emma", "Dune"]] * 3
    assert engine.left() == []


def test_two_sources_on_one_connection_take_turns_and_leave_nothing(engine):
    from concurrent.futures import ThreadPoolExecutor

    sources = [engine.source(plays()) for _ in range(2)]
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(sources[i % 2].top_k, 2, **ASKED) for i in range(6)]
        assert [each.result().items for each in asked] == [["Emma", "Dune"]] * 6
    assert engine.left() == []


def test_a_table_may_have_any_name():
    """Not even that of a variable by which DuckDB finds what it is given."""
    native = duckdb.connect()
    native.execute("CREATE TABLE rows AS SELECT person, 'Emma' AS title FROM range(500) t(person)")
    source = sl.pairs(native.table("rows"), user="person", item="title")
    assert source.domain(**ASKED).items == ["Emma"]


def test_a_drop_that_fails_is_tried_again(postgres, monkeypatch):
    dialect, failed = Postgres(postgres.connection), []
    drop = dialect.drop

    def dropped(name):
        if name not in failed:
            failed.append(name)
            raise RuntimeError
        drop(name)

    monkeypatch.setattr(dialect, "drop", dropped)
    with Scratch(dialect) as scratch:
        kept = [scratch.give({"c": np.arange(3)}) for _ in range(2)]
    assert failed == [table.get_name() for table in reversed(kept)]
    assert postgres.left() == []


def test_more_items_than_fit_a_statement_are_given(engine):
    public = [f"item {number}" for number in range(3000)] + ["Emma"]
    source = engine.source(plays(), public_items=public)
    assert source.top_k(1, epsilon=3.0).items == ["Emma"]
