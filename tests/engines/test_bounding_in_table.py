"""Which items of a user are kept: by a keyed hash of that user's rows, and of nothing else.

The planted engines are those of others: one samples where a task that runs again draws anew, one
hashes without a key.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy.special import chdtrc

from helpers.engine_places import DuckDB, is_slow, is_spoken_to_as_another, rows_of, sets_of
from helpers.wrong_dialects import AfterTheHash, Neighbourly, Sampling, WithoutKey
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.engines.tables import _duckdb as duckdb_dialect

BOUND = 2
HELD = [f"item {place}" for place in range(5)]
USERS = [*range(200), 2**40]
ROWS = pl.DataFrame(
    {"user": [user for user in USERS for _ in HELD], "item": HELD * len(USERS)},
)


def kept(source, seed):
    """What each user keeps."""
    with sets_of(source) as (held, items):
        bounded = held.bounded(BOUND, ExactDraws(SeededBits(seed)))
        found = rows_of(bounded, items)
        assert rows_of(bounded, items) == found, "a pass over the sets is not as the one before"
        assert Counter(Counter(user for user, _ in found).values()) == {BOUND: len(USERS)}
        _check_sums(bounded, found, items)
    return found


def _check_sums(bounded, found, items):
    """All passes add up what the same rows do."""
    counts = Counter(item for _, item in found)
    names = [name for (name,) in items(np.arange(bounded.n_items)).rows()]
    for _ in range(2):
        assert dict(zip(names, bounded.recount().counts.tolist(), strict=True)) == counts


def check_contract(source, others):
    """The choice is that of the key and of a user's own rows; and it is another for another key.

    Over users under one key, every subset is as likely: nothing of it is of the first items, or of
    neighbours.
    """
    first, other = kept(source, 1), kept(source, 2)
    assert kept(source, 1) == first
    assert other != first
    sets = Counter(tuple(item for user, item in other if user == held) for held in USERS)
    assert chance_of(sets, len(USERS)) > 1e-3
    with sets_of(others) as (held, items):
        bounded = held.bounded(BOUND, ExactDraws(SeededBits(1)))
        assert [row for row in rows_of(bounded, items) if row[0] in set(USERS)] == first


def with_others():
    """Further users, whose items come before and between those of the others."""
    more = pl.DataFrame(
        {"user": [-1] * 9 + [7777] * 9, "item": [f"item {n / 2}" for n in range(18)]}
    )
    return pl.concat([more, ROWS.reverse()])


def test_the_choice_is_that_of_the_key_and_of_the_user_s_own_rows(engine):
    if is_spoken_to_as_another(engine):
        pytest.skip("users are bounded by Spark, which is asked itself")
    check_contract(engine.source(ROWS), engine.source(with_others()))


def test_every_subset_of_one_user_is_as_likely_under_many_keys(engine):
    """Over keys, for one user: where a key enters after the hash, single bits would decide."""
    if is_slow(engine):
        pytest.skip("Spark seeds the hash of an item by that of the key")
    source = engine.source(ROWS[:5])
    dialect, rng = source._engine._in_engine.dialect, np.random.default_rng(7)
    with sets_of(source) as (held, _):
        named = held.values.sets
        keys = [tuple(rng.integers(0, 2**62, 2).tolist()) for _ in range(150)]
        hashes = [dialect.hashed(key, named["value"], [named["i0"]]) for key in keys]
        columns = {f"h{place}": hashed for place, hashed in enumerate(hashes)}
        values = pl.DataFrame(held.scratch.fetch_rows(named.select(**columns)))
    sets = Counter(tuple(sorted(column.arg_sort()[:BOUND].to_list())) for column in values)
    assert chance_of(sets, len(keys)) > 1e-3


def chance_of(sets, n):
    """That subsets, all as likely, are at least as uneven: by chi-square."""
    assert set(sets) <= set(combinations(HELD, BOUND)) | set(combinations(range(5), BOUND))
    uneven = sum((sets[each] - n / 10) ** 2 for each in sets) + (10 - len(sets)) * (n / 10) ** 2
    return chdtrc(9, uneven / (n / 10))


def planted(dialect, rows=ROWS):
    place = DuckDB()
    place.native.execute("CREATE TEMP MACRO drawn() AS 0::UBIGINT")
    source = place.source(rows)
    engine = source._engine
    engine._in_engine = engine._in_engine._replace(dialect=dialect(place.connection))
    return source


@pytest.mark.parametrize("dialect", [WithoutKey, Sampling, Neighbourly])
def test_engines_that_break_the_contract_are_caught(dialect):
    with pytest.raises(AssertionError):
        check_contract(planted(dialect), planted(dialect, with_others()))


def test_a_key_that_enters_last_is_caught():
    place = planted(AfterTheHash, ROWS[:5])
    with pytest.raises(AssertionError, match=r"> 0\.001"):
        test_every_subset_of_one_user_is_as_likely_under_many_keys(_Given(place))


def beside_memory(connection):
    """DuckDB where rows decide whether users are bounded there or in memory."""
    return duckdb_dialect.DuckDB(connection).beside_memory()


def test_what_may_be_bounded_in_memory_keeps_the_contract_too():
    check_contract(planted(beside_memory), planted(beside_memory, with_others()))
    one = _Given(planted(beside_memory, ROWS[:5]))
    test_every_subset_of_one_user_is_as_likely_under_many_keys(one)


def test_no_two_users_share_a_hash_that_stands_for_bits_of_their_own():
    """Each user's set is then independent of all others, as it is in memory."""
    rows = pl.DataFrame({"user": ["a|b", "a", "1|a", "a"], "item": ["c", "b|c", "|b", "|1|a|b"]})
    source = planted(beside_memory, rows)
    with sets_of(source) as (held, _):
        named = held.values.sets
        hashed = source._engine._in_engine.dialect.hashed((1, 2), named["value"], [named["i0"]])
        values = pl.DataFrame(held.scratch.fetch_rows(named.select(hashed=hashed)))
    assert values["hashed"].n_unique() == len(rows)
    assert values["hashed"].str.len_bytes().unique().to_list() == [64]


class _Given:
    """A place that has one source."""

    def __init__(self, source):
        self._given = source

    def source(self, _):
        return self._given
