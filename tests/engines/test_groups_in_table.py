"""Users' items in groups, wherever the rows lie: against dictionaries, and against memory."""

import contextlib
from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.special import chdtrc

import shortlist as sl
from helpers.engine_places import DuckDB, Memory, is_slow
from helpers.wrong_dialects import Neighbourly, Sampling, WithoutKey
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables._dialect import Dialect
from shortlist.engines.tables._groups_in_table import GroupsInTable
from shortlist.evidence import UserGroups, Wants
from shortlist.evidence.buckets import Buckets
from shortlist.evidence.grouped_sets import GroupedSets, Pairing

NAMED = {"user": "user", "item": "item"}
NAMES = ["a", "A", "a ", "á", "x|y", "it's", "日本", "", "NULL", "line\nend"]
ASKED = {"epsilon": 3.0, "delta": 1e-4}
QUICK, MORE = ("memory", "duckdb", "postgresql"), ("relation", "any engine", "spark")
in_places = pytest.mark.parametrize(
    "place",
    [
        "memory",
        "duckdb",
        "postgresql",
        *(pytest.param(p, marks=pytest.mark.exhaustive) for p in MORE),
    ],
    indirect=True,
)


def rows():
    """Users in one group and in several; repeated rows, and nulls in every column."""
    rng = np.random.default_rng(1)
    users, groups, items = (rng.choice(names, 500) for names in (NAMES * 3, NAMES[:4], NAMES))
    frame = pl.DataFrame({"user": users, "country": groups, "item": items})
    frame = frame.with_columns(user=pl.col("user") + (pl.int_range(pl.len()) % 4).cast(pl.String))
    nulls = {"user": [None, "a0", "a0"], "country": ["a", None, "a"], "item": ["a", "a", None]}
    return pl.concat([frame, frame[:50], pl.DataFrame(nulls)])


def distinct(frame):
    return sorted(set(frame.drop_nulls().rows()))


@contextlib.contextmanager
def groups_of(source, seed=1, **more):
    """Users' items in groups as a source shows them, and the names of positions."""
    engine = source.grouped("country", **more)._engine
    with engine.show(Wants(UserGroups), ExactDraws(SeededBits(seed))) as shown:
        yield shown.evidence, shown.items


def codes_of(sets, named):
    """The codes of all groups that anybody is in, and of all items, by their names."""
    groups = np.flatnonzero(sets.groups.recount().counts)
    items = np.flatnonzero(sets.items().recount().counts)
    of_groups = named(groups * sets.n_items + items[0])["country"].to_list()
    of_items = named(groups[0] * sets.n_items + items)["item"].to_list()
    codes = (dict(zip(of_groups, groups.tolist(), strict=True)),)
    return *codes, dict(zip(of_items, items.tolist(), strict=True))


def rows_of(sets, named):
    """Who holds what in which group; users are called by their values where they are known."""
    if isinstance(sets, GroupsInTable):
        columns = [*sets.groups.values.columns, *sets.known.columns]
        found = pl.DataFrame(sets.scratch.fetch_rows(sets.held.select("value", *columns)))
        texts = [pl.col(c).cast(pl.String) for c, t in found.schema.items() if t == pl.Binary]
        return sorted(found.with_columns(texts).rows())
    owners = np.repeat(np.arange(len(sets.groups.sizes)), sets.groups.sizes)
    listed = sets.groups.listed()
    places = sets._places().listed()
    found = []
    for user, group, place in zip(owners.tolist(), listed.tolist(), places.tolist(), strict=True):
        start, size = sets.parts.starts[place], sets.parts.sizes[place]
        held = sets.parts.items[start : start + size].astype(np.int64)
        found += [(user, *name) for name in named(group * sets.n_items + held).rows()]
    return sorted(found)


def check_sides(sets, named, held):
    """Groups, items and pairs of them, with how many users hold each; `held` are the rows."""
    groups, items = codes_of(sets, named)
    of_groups = Counter(group for _, group in {(user, group) for user, group, _ in held})
    of_items = Counter(item for _, item in {(user, item) for user, _, item in held})
    counts = sets.groups.recount().counts, sets.items().recount().counts
    assert {name: counts[0][code] for name, code in groups.items()} == of_groups
    assert {name: counts[1][code] for name, code in items.items()} == of_items
    lines, columns = sorted(groups)[::-2], sorted(items)[::3]
    among = sets.among(
        np.array([groups[line] for line in lines]), np.array([items[column] for column in columns])
    )
    expected = Counter((group, item) for _, group, item in held)
    table = among.recount().counts.reshape(len(lines), len(columns))
    assert table.tolist() == [[expected[line, column] for column in columns] for line in lines]
    kept = {(user, g, i) for user, g, i in held if g in lines and i in columns}
    sizes = Counter(Counter(user for user, _, _ in kept).values())
    found = dict(enumerate(among.users_of_size().tolist()))
    assert {size: n for size, n in found.items() if n and size} == sizes
    pairs = sets.pairs()
    counts = pairs.sets.recount().counts
    places = pairs.positions(np.arange(len(counts))).tolist()
    numbered = {(g, i): groups[g] * sets.n_items + items[i] for g, i in expected}
    assert {place: n for place, n in zip(places, counts.tolist(), strict=True) if n} == {
        numbered[pair]: n for pair, n in expected.items()
    }
    again = among.among(np.arange(among.n_items)[::-2])
    assert again.recount().counts.tolist() == table.ravel()[::-2].tolist()


@in_places
@pytest.mark.parametrize("public", [None, ["A", "nobody's", "a "]])
def test_sides_are_those_of_the_distinct_rows(place, public):
    if is_slow(place) and public is None:
        pytest.skip("with public groups Spark is asked as much")
    frame = rows()
    with groups_of(place.source(frame), public_groups=public) as (sets, named):
        held = [row for row in distinct(frame) if public is None or row[1] in public]
        assert sets.groups_are_public is (public is not None)
        assert sets.n_groups == len(public or set(frame["country"].drop_nulls()))
        check_sides(sets, named, held)
        if public is not None:
            assert sets.groups.recount().counts[1] == 0
            assert named(np.array([sets.n_items]))["country"].to_list() == ["nobody's"]
    assert place.left() == []


@in_places
@pytest.mark.parametrize("most", [pytest.param(1, marks=pytest.mark.exhaustive), 2])
def test_each_user_keeps_so_many_groups_whole_and_sums_are_those_of_memory(place, most):
    """Given what bounding kept, sums are those of memory to the last bit, round after round."""
    if is_slow(place) and most == 1:
        pytest.skip("of a Spark that bounds, another bound tells as much")
    frame = rows()
    with groups_of(place.source(frame)) as (sets, named):
        whole = rows_of(sets, named)
        bounded = sets.bounded(most, ExactDraws(SeededBits(2)))
        kept = rows_of(bounded, named)
        own, left = (Counter(u for u, _ in {(u, g) for u, g, _ in some}) for some in (whole, kept))
        assert left == {user: min(n, most) for user, n in own.items()}
        groups = {(user, group) for user, group, _ in kept}
        assert kept == [row for row in whole if row[:2] in groups]
        assert (bounded.n_groups, bounded.n_items) == (sets.n_groups, sets.n_items)
        check_sides(bounded, named, kept)
        check_sums(bounded, in_memory(kept, *codes_of(sets, named), sets))
    assert place.left() == []


@pytest.mark.parametrize("kind", [Memory, DuckDB])
@pytest.mark.parametrize("most", [1, 2, 3, 4])
def test_users_in_one_group_too_many_are_bounded_and_no_others(kind, most):
    frame = pl.DataFrame(
        [(user, group, 0) for user in range(4) for group in range(min(user + 1, 3))],
        schema=["user", "country", "item"],
        orient="row",
    )
    with groups_of(kind().source(frame)) as (sets, named):
        bounded = sets.bounded(most, ExactDraws(SeededBits(2)))
        left = Counter(user for user, *_ in rows_of(bounded, named))
        assert sorted(left.values()) == sorted(min(user + 1, 3, most) for user in range(4))
        assert bounded.groups.recount().counts.sum() == left.total()
        assert bounded.groups.largest == min(most, 3)


def in_memory(held, groups, items, sets):
    """The same rows in memory, groups and items by the same codes."""
    users = {user: number for number, user in enumerate(sorted({row[0] for row in held}))}
    numbered = [(users[user], groups[group], items[item]) for user, group, item in held]
    of_users, of_groups, of_items = np.array(numbered, np.uint32).T.copy()
    pairing = Pairing(sets.n_groups, sets.n_items)
    codes = pairing.pack(of_groups, of_items)
    return GroupedSets.of_buckets(Buckets.of_rows(of_users, codes, len(users)), pairing)


def check_sums(one, other):
    rng = np.random.default_rng(5)
    lines, columns = np.arange(one.n_groups)[::-1], rng.permutation(one.n_items)[:7]
    for ours, theirs in (
        (one.groups, other.groups),
        (one.items(), other.items()),
        (one.among(lines, columns), other.among(lines, columns)),
    ):
        assert ours.n_items == theirs.n_items
        weights = np.arange(theirs.largest + 1) ** 3 + 2**31
        assert ours.users_of_size().tolist()[1:] == theirs.users_of_size().tolist()[1:]
        assert ours.added_by_size(weights).tolist() == theirs.added_by_size(weights).tolist()
        steering = ours.steering(), theirs.steering()
        sizes = np.maximum(np.arange(theirs.largest + 1), 1)
        boosts = rng.integers(-1, 2**11 + 1, theirs.n_items).astype(np.int16)
        limits = 2**40 // 6 // sizes, 2**41 // sizes + 12345
        sums = [each.sums(boosts, *limits).tolist() for each in steering]
        assert sums[0] == sums[1]


# Which groups are kept

BOUND = 2
HELD = [f"group {place}" for place in range(5)]
USERS = range(200)
ALIKE = pl.DataFrame(
    [(user, group, item) for user in USERS for group in HELD for item in (1, 2)],
    schema=["user", "country", "item"],
    orient="row",
)


def kept(source, seed):
    """The groups that each user keeps."""
    with groups_of(source) as (sets, named):
        bounded = sets.bounded(BOUND, ExactDraws(SeededBits(seed)))
        found = {row[:2] for row in rows_of(bounded, named)}
        assert {row[:2] for row in rows_of(bounded, named)} == found
        _check_passes(bounded, named, found)
    return {user: tuple(g for u, g in sorted(found) if u == user) for user in USERS}


def _check_passes(bounded, named, found):
    """All passes are over the same rows."""
    counts = Counter(group for _, group in found)
    for _ in range(2):
        groups, items = codes_of(bounded, named)
        told = bounded.groups.recount().counts
        assert {name: told[code] for name, code in groups.items()} == counts
        assert bounded.items().recount().counts[items[1]] >= len(USERS)


def check_choice(source, others):
    """The choice is that of the key and of a user's own groups, and every one is as likely."""
    first, other = kept(source, 1), kept(source, 2)
    assert kept(source, 1) == first
    assert other != first
    seen = Counter(other.values())
    assert set(seen) <= set(combinations(HELD, BOUND))
    uneven = sum((seen[each] - 20) ** 2 for each in combinations(HELD, BOUND))
    assert chdtrc(9, uneven / 20) > 1e-3
    assert kept(others, 1) == first


def with_others():
    """Further users, whose groups come before and between those of the others."""
    more = [(user, f"group {n / 2}", n) for user in (-1, 7777) for n in range(9)]
    return pl.concat([pl.DataFrame(more, schema=ALIKE.schema, orient="row"), ALIKE.reverse()])


@in_places
def test_the_choice_is_that_of_the_key_and_of_the_user_s_own_groups(engine):
    check_choice(engine.source(ALIKE), engine.source(with_others()))


@pytest.mark.parametrize("dialect", [WithoutKey, Sampling, Neighbourly])
def test_engines_that_break_the_contract_are_caught(dialect):
    def planted(frame):
        place = DuckDB()
        place.native.execute("CREATE TEMP MACRO drawn() AS 0::UBIGINT")
        source = place.source(frame)
        grouped = source._engine.grouped_by

        def wrong(names):
            found = grouped(names)
            found._in_engine = found._in_engine._replace(dialect=dialect(place.connection))
            return found

        source._engine.grouped_by = wrong
        return source

    with pytest.raises(AssertionError):
        check_choice(planted(ALIKE), planted(with_others()))


# Questions


def plays():
    """In every country, title number i has (4 - i) 150 users, a third of whom hold it in two."""
    held = [
        (f"{country}{title}{user}", place, title)
        for country in ("FR", "CH")
        for i, title in enumerate(("Emma", "Dune", "été 日本"))
        for user in range((4 - i) * 150)
        for place in ((country,) if user % 3 else (country, "IT"))
    ]
    return pl.DataFrame(held, schema=["user", "country", "item"], orient="row")


QUESTIONS = {
    "several groups": lambda source, **more: source.top_k(
        2, by="country", max_groups_per_user=2, **more
    ),
    "public groups": lambda source, **more: source.top_k(
        2, by="country", public_groups=["CH", "XX", "FR"], **more
    ),
    "nobody knows": lambda source, **more: source.top_k(
        2, by="country", group_items=sl.GroupItems.UNKNOWN, **more
    ),
    "domain": lambda source, **more: source.domain(by="country", **more),
}


def test_answers_are_those_of_memory(place):
    source, known = place.source(plays()), Memory().source(plays())
    for name in QUESTIONS if type(place) is DuckDB else ("several groups",):
        found, expected = (
            QUESTIONS[name](each, random=SeededBits(3), **ASKED) for each in (source, known)
        )
        assert sorted(found.items) == sorted(expected.items), name
        assert found.by == expected.by
        assert place.left() == []


def test_known_items_are_those_of_memory(place):
    """Of which some are held by nobody."""
    given = {"known_items": ["nobody's", "Dune", "nobody's too"]}
    source, known = place.source(plays(), **given), Memory().source(plays(), **given)
    found, expected = (
        QUESTIONS["several groups"](each, random=SeededBits(3), **ASKED) for each in (source, known)
    )
    assert sorted(found.items) == sorted(expected.items)
    assert place.left() == []


def test_a_guarantee_says_where_users_are_bounded(engine):
    plan = engine.source(plays()).grouped("country").plan(sl.TopK(2), **ASKED)
    assert any(said.startswith("users are bounded in") for said in plan.guarantee.assumes)


def test_columns_of_groups_are_checked_before_anything_is_read(engine):
    source = engine.source(plays())
    for by in ("item", "nowhere", ["country", "country"]):
        with pytest.raises(sl.InputError):
            source.grouped(by)


def test_any_engine_is_asked_for_groups_in_words_that_are_the_same_for_all(any_engine):
    """Else this file would say nothing of engines that have no words of their own."""
    source = any_engine.source(rows())
    of_list = source.of_items(NAMES).grouped("country", public_groups=NAMES[:4])
    for asked in (source.grouped("country"), of_list):
        assert type(asked._engine._in_engine.dialect) is Dialect
