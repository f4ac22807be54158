"""What every engine answers of users' sets, against dictionaries of sets, and against memory."""

import datetime as dt
from collections import Counter

import duckdb
import numpy as np
import polars as pl
import pytest

from helpers.engine_places import Relation, Spark, is_slow, rows_of, sets_of, stays_in_engine
from shortlist import kernels
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables import _spark as spark_dialect
from shortlist.engines.tables._dialect import Dialect
from shortlist.engines.tables._duckdb import in_order_once
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import ChosenBound

LOOK_ALIKE = [
    *("a", "A", "a ", " a", "á", "a\u0301", "ß", "ss", "ſ", "", "0", "00", "it's", 'say "hi"'),
    *(
        "x|y",
        "x",
        "|y",
        "null",
        "NULL",
        "\\N",
        "a,b",
        "日本",
        "\u200b",
        "line\nend",
        "tab\t",
        "%s",
        "{x}",
    ),
]


def texts():
    """Texts that are easily taken for each other, as users and items; nulls, rows that repeat."""
    rng = np.random.default_rng(1)
    names = np.array(LOOK_ALIKE)
    users = rng.choice(names, 400).tolist() + [None, "a", None] + ["heavy"] * len(names) * 2
    items = rng.choice(names, 400).tolist() + ["a", None, None] + [*LOOK_ALIKE] * 2
    return pl.DataFrame({"user": users, "item": items}, schema_overrides={"item": pl.String})


def numbers():
    """Large and negative integers, nulls, repeated rows, and one user who holds everything."""
    rng = np.random.default_rng(2)
    items = np.array([-(2**62), -1, 0, 1, 7, 2**40, 2**62 + 1, *range(100, 160)])
    users = np.append(rng.integers(-3, 40, 500), [2**61] * len(items))
    held = np.append(rng.choice(items, 500), items)
    frame = pl.DataFrame({"user": users, "item": held})
    return pl.concat([frame, pl.DataFrame({"user": [1, None], "item": [None, 1]}), frame[:50]])


def dated():
    """Items of two columns, one of dates."""
    rng = np.random.default_rng(3)
    days = [dt.date(1970, 1, 1) + dt.timedelta(int(day)) for day in rng.integers(-9, 9, 300)]
    users = rng.integers(0, 30, 300)
    columns = {"user": users, "item": rng.integers(0, 3, 300), "day": days}
    return pl.DataFrame(columns)


def narrow():
    """Integers of 32 bits, of which some engines put a user and an item into one of 64 bits."""
    rng = np.random.default_rng(4)
    ends = [-(2**31), -1, 0, 1, 2**31 - 1]
    users, items = rng.choice([*ends, *range(5, 30)], 300), rng.choice([*ends, 7, 8], 300)
    return pl.DataFrame({"user": users, "item": items})


def narrow_within_wide():
    """Items of two columns, of which the last is of 32 bits and the first of more."""
    rng = np.random.default_rng(5)
    frame = narrow()
    wide = rng.choice([-(2**40), -1, 0, 2**62], frame.height)
    return frame.select("user", pl.Series("wide", wide), "item")


def empty():
    return pl.DataFrame({"user": [None, 1], "item": ["x", None]}, schema={"user": int, "item": str})


TABLES = {
    "texts": texts,
    "numbers": numbers,
    "narrow": narrow,
    "narrow within wide": narrow_within_wide,
    "dated": dated,
    "empty": empty,
}


def distinct(frame):
    return sorted(set(frame.drop_nulls().rows()))


@pytest.fixture(params=TABLES)
def frame(request, place):
    if is_slow(place) and request.param == "numbers":
        pytest.skip("these are bounded on Spark, in another test")
    return TABLES[request.param]()


@pytest.fixture
def source(place, frame):
    item = frame.columns[1:]
    return place.source(frame, item=item)


def test_sets_are_those_of_the_distinct_rows(source, frame, place):
    """Everything that is asked of whole sets, and what `among` and `unreached` make of them."""
    rows = distinct(frame)
    with sets_of(source) as (held, items):
        if stays_in_engine(source):
            assert rows_of(held, items) == rows
        sizes = Counter(Counter(row[0] for row in rows).values())
        found = {size: n for size, n in enumerate(held.users_of_size().tolist()) if n and size}
        assert found == sizes
        codes = np.flatnonzero(held.counts)
        names = items(codes)
        assert names.schema == frame.select(frame.columns[1:]).schema
        counts = Counter(row[1:] for row in rows)
        assert dict(zip(names.rows(), held.counts[codes].tolist(), strict=True)) == counts
        weights = np.arange(held.largest + 1) ** 3 + 2**31
        expected = Counter()
        degree = Counter(row[0] for row in rows)
        for user, *item in rows:
            expected[tuple(item)] += int(weights[degree[user]])
        added = held.added_by_size(weights)
        assert dict(zip(names.rows(), added[codes].tolist(), strict=True)) == expected
        _check_restricted(held, codes, dict(zip(codes.tolist(), names.rows(), strict=True)), rows)
    assert place.left() == []


def _check_restricted(held, codes, names, rows):
    """Sets among some items and one that nobody holds; then the users whom picks leave."""
    chosen = codes[:: max(len(codes) // 7, 1)]
    among = held.among(np.append(chosen, -1))
    wanted = {names[code] for code in chosen.tolist()}
    kept = [row for row in rows if row[1:] in wanted]
    assert among.n_items == len(chosen) + 1
    assert among.counts.tolist() == [*(held.counts[chosen].tolist()), 0]
    sizes = Counter(Counter(row[0] for row in kept).values())
    found = {size: n for size, n in enumerate(among.users_of_size().tolist()) if n and size}
    assert found == sizes
    _check_restricted_again(among, rows=kept, names=[names[code] for code in chosen.tolist()])
    unreached = held.unreached(chosen)
    for place, code in enumerate(chosen[:3].tolist()):
        counts = Counter(row[1:] for row in kept)
        left = [counts[names[code]] for code in chosen.tolist()]
        assert unreached.counts.tolist()[place:] == left[place:]
        unreached.reach(place)
        reached = {row[0] for row in kept if row[1:] == names[code]}
        kept = [row for row in kept if row[0] not in reached]
        unreached.leave_out(place)
        values, sizes = unreached.groups()
        left = np.delete(unreached.counts, range(place + 1))
        assert dict(zip(values.tolist(), sizes.tolist(), strict=True)) == Counter(left.tolist())
        assert values.tolist() == sorted(values.tolist(), reverse=True)
        for value in values.tolist():
            members = unreached.members(value)
            assert set(members.tolist()) == {
                i for i, n in enumerate(unreached.counts.tolist()) if n == value and i > place
            }


def _check_restricted_again(among, rows, names):
    """Some of the items by places that are other than those they have, and whom nobody holds."""
    again = among.among(np.array([-1, *range(len(names) - 1, -1, -2)]))
    left = names[::-2]
    counts = Counter(row[1:] for row in rows)
    assert again.counts.tolist() == again.recount().counts.tolist()
    assert again.counts.tolist() == [0, *(counts[name] for name in left)]


def test_rows_out_of_order_are_never_taken_for_distinct():
    """DuckDB need not keep the order of a query within another: then it says so, and stops."""
    columns, rows = ["value", "i0"], "SELECT unnest([2, 1, 2]) AS value, 7 AS i0"
    words = in_order_once(columns).format(rows=rows)
    assert sorted(duckdb.sql(words).fetchall()) == [(1, 7), (2, 7)]
    unordered = words.replace(' ORDER BY "value", "i0"', "")
    assert unordered != words
    with pytest.raises(duckdb.Error, match="out of order"):
        duckdb.sql(unordered).fetchall()


def test_users_with_very_many_rows_get_no_array_on_spark(spark, monkeypatch):
    monkeypatch.setattr(spark_dialect, "_MOST_AT_ONCE", -1)
    monkeypatch.setattr(spark_dialect, "_arrays", None)
    frame = numbers()
    rows = distinct(frame)
    with sets_of(Spark(spark).source(frame)) as (held, items):
        assert rows_of(held, items) == rows
        sizes = Counter(Counter(user for user, _ in rows).values())
        found = enumerate(held.users_of_size().tolist())
        assert {size: n for size, n in found if n} == sizes


@pytest.mark.parametrize("bound", [1, 4])
def test_each_user_keeps_so_many_and_weights_are_those_of_memory(place, bound):
    """Given what bounding kept, sums are those of memory to the last bit, round after round."""
    if is_slow(place) and bound == 1:
        pytest.skip("of a Spark that bounds, another bound tells as much")
    frame = numbers()
    rows = distinct(frame)
    source = place.source(frame)
    with sets_of(source) as (held, items):
        bounded = held.bounded(bound, ExactDraws(SeededBits(2)))
        sizes = Counter(min(n, bound) for n in Counter(row[0] for row in rows).values())
        found = dict(enumerate(bounded.users_of_size().tolist()))
        assert {size: n for size, n in found.items() if n and size} == sizes
        assert bounded.counts.tolist() == held.counts.tolist()
        if not stays_in_engine(source):
            return
        kept = rows_of(bounded, items)
        assert set(kept) <= set(rows)
        assert Counter(Counter(row[0] for row in kept).values()) == sizes
        twin = _in_memory(kept, held, items)
        assert bounded.weigh().weights.tolist() == twin.weigh().weights.tolist()
        _check_light(bounded, twin.weigh().weights, held.counts)
        assert bounded.recount().counts.tolist() == twin.recount().counts.tolist()
        _check_rounds(bounded, twin)
    assert place.left() == []


@pytest.mark.parametrize("most", [0, 2**20])
def test_what_spark_looks_up_is_alike_in_a_statement_and_in_a_table(spark, monkeypatch, most):
    monkeypatch.setattr(spark_dialect, "_MOST_IN_A_STATEMENT", most)
    test_each_user_keeps_so_many_and_weights_are_those_of_memory(Spark(spark), 4)


def _in_memory(kept, held, items):
    """The same rows in memory, items by the same codes."""
    codes = {name: code for code, (name,) in enumerate(items(np.arange(held.n_items)).rows())}
    users = {user: number for number, user in enumerate(sorted({row[0] for row in kept}))}
    numbered = np.array([(users[user], codes[item]) for user, item in kept], np.uint32)
    twin = Contributions.of_rows(
        numbered[:, 0].copy(), numbered[:, 1].copy(), n_users=len(users), n_items=held.n_items
    )
    return Contributions(twin.starts, twin.sizes, twin.items, twin.n_items, twin.counts, 4)


def _check_rounds(bounded, twin):
    rng = np.random.default_rng(5)
    one, other = bounded.steering(), twin.steering()
    sizes = np.maximum(np.arange(bounded.largest + 1), 1)
    boosts = rng.integers(0, 2**11 + 1, bounded.n_items).astype(np.int16)
    for floor in (2**40 // 6, 2**40 // 7 + 1, 2**40 // 8):
        boosts[(rng.random(len(boosts)) < 0.1) & (boosts >= 0)] = kernels.FOUND
        boosts[(rng.random(len(boosts)) < 0.2) & (boosts >= 0)] = kernels.DROPPED
        boosts[(rng.random(len(boosts)) < 0.3) & (boosts > 0)] = 0
        floors, caps = floor // sizes, 2**41 // sizes + 12345
        assert one.sums(boosts, floors, caps).tolist() == other.sums(boosts, floors, caps).tolist()


def _check_light(bounded, weights, counts):
    """What is not shown is what weighs less, and each rank is an item of its own."""
    below = int(np.median(weights[weights > 0]))
    shown = bounded.weigh(below)
    heavy = weights >= below
    assert shown.weights.tolist() == np.where(heavy, weights, 0).tolist()
    assert shown.counts[heavy].tolist() == counts[heavy].tolist()
    hidden = np.flatnonzero((weights > 0) & ~heavy)
    assert shown.below_threshold.n == len(hidden)
    assert shown.below_threshold.below == below
    ranks = np.arange(shown.below_threshold.n)
    first, second = (
        shown.below_threshold.fetch(ranks[::2]),
        shown.below_threshold.fetch(ranks[1::2]),
    )
    fetched = first.and_also(second)
    assert sorted(fetched.positions.tolist()) == hidden.tolist()
    assert fetched.weights.tolist() == weights[fetched.positions].tolist()
    assert fetched.counts.tolist() == counts[fetched.positions].tolist()


def test_counts_are_the_same_before_sets_are_asked_for_and_after(source, frame):
    counts = Counter(row[1:] for row in distinct(frame))
    sizes = Counter(Counter(row[0] for row in distinct(frame)).values())
    for is_first in (False, True):
        with sets_of(source) as (held, items):
            largest = None if is_first else held.largest
            codes = np.flatnonzero(held.counts)
            names = items(codes).rows()
            assert dict(zip(names, held.counts[codes].tolist(), strict=True)) == counts
            assert held.recount().counts.tolist() == held.counts.tolist()
            assert largest in (None, held.largest)
            found = {size: n for size, n in enumerate(held.users_of_size().tolist()) if n and size}
            assert found == sizes


def test_weights_are_the_same_before_items_are_numbered_and_after(engine):
    """Users drop items of which nobody else holds some: these have holders, and no weight."""
    source = engine.source(numbers())
    first, after = (_weighed(source, is_numbered) for is_numbered in (False, True))
    assert first == after
    assert 0 < len(first) < len(set(numbers().drop_nulls()["item"]))


def _weighed(source, is_numbered):
    """Weight and holders of each item by name, shown or not."""
    with sets_of(source) as (held, items):
        if is_numbered:
            assert held.counts.all()
        bounded = held.bounded(1, ExactDraws(SeededBits(2)))
        below = 2**33
        shown = bounded.weigh(below)
        codes = np.flatnonzero(shown.weights)
        assert (shown.weights[codes] >= below).all()
        light = shown.below_threshold.fetch(np.arange(shown.below_threshold.n))
        assert ((light.weights > 0) & (light.weights < below)).all()
        columns = [codes, shown.weights[codes], shown.counts[codes]]
        codes, weights, counts = map(np.append, columns, light)
        names = items(codes)["item"].to_list()
        assert held.counts[codes].tolist() == counts.tolist()
        return dict(zip(names, zip(weights.tolist(), counts.tolist(), strict=True), strict=True))


def test_what_is_stated_is_public_and_what_follows_from_noise_is_not(monkeypatch):
    """What stands in statements stands in the engine's logs."""
    stated, state = [], Dialect.state

    def noted(dialect, name, rows):
        stated.append(rows.column_names)
        state(dialect, name, rows)

    monkeypatch.setattr(Dialect, "state", noted)
    frame = numbers()
    with sets_of(Relation().source(frame)) as (held, _):
        ChosenBound(epsilon=1.0, delta=1e-6).select(held, ExactDraws(SeededBits(1)))
    names = {name for columns in stated for name in columns}
    assert {"floor", "cap"} < names
    assert "square" not in names
