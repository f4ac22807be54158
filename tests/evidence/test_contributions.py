"""Contributions against dictionaries of sets, fractions, and the exact law of the subset."""

import itertools
import math
import subprocess
import sys
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import buckets, contributions
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.user_sets import unit_weight
from shortlist.runtime import threads

fixed = settings(derandomize=True, deadline=None, max_examples=150)
N_USERS, N_ITEMS = 7, 9
ROWS = st.lists(st.tuples(st.integers(0, N_USERS - 1), st.integers(0, N_ITEMS - 1)), max_size=60)


def of_rows(rows, n_users=N_USERS, n_items=N_ITEMS):
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    return Contributions.of_rows(users, items, n_users=n_users, n_items=n_items)


def of_sizes(sizes, n_items):
    """Users who hold the items 0, 1, … up to their sizes."""
    users = np.repeat(np.arange(len(sizes)), sizes).astype(np.uint32)
    items = np.concatenate([np.arange(size) for size in sizes]).astype(np.uint32)
    return Contributions.of_rows(users, items, n_users=len(sizes), n_items=n_items)


def items_of(held):
    """Each user's items, in the order they are kept."""
    ranges = zip(held.starts.tolist(), held.sizes.tolist(), strict=True)
    return [held.items[start : start + size].tolist() for start, size in ranges]


def sets_of(rows, n_users=N_USERS):
    sets = {user: set() for user in range(n_users)}
    for user, item in rows:
        sets[user].add(item)
    return sets


@fixed
@given(rows=ROWS)
@example(rows=[])
@example(rows=[(3, 2)] * 5)
def test_rows_become_each_user_s_distinct_items(rows):
    held, sets = of_rows(rows), sets_of(rows)
    for user, items in enumerate(items_of(held)):
        assert len(items) == len(set(items))
        assert set(items) == sets[user]
    holders = Counter(item for items in sets.values() for item in items)
    assert held.counts.tolist() == [holders[item] for item in range(N_ITEMS)]
    assert held.count().counts.tolist() == held.counts.tolist()
    assert held.max_items_per_user is None


@pytest.mark.parametrize(("n_users", "n_items"), [(0, 0), (3, 0), (0, 3), (3, 3)])
def test_a_table_without_rows(n_users, n_items):
    held = of_rows([], n_users, n_items)
    bounded = held.bounded(2, ExactDraws(SeededBits(1)))
    assert bounded.sizes.tolist() == [0] * n_users
    assert bounded.weigh().weights.tolist() == bounded.count().counts.tolist() == [0] * n_items


@fixed
@given(rows=ROWS, bound=st.integers(1, N_ITEMS + 2), seed=st.integers(0, 2**32))
def test_bounding_keeps_a_subset_of_the_right_size(rows, bound, seed):
    held, sets = of_rows(rows), sets_of(rows)
    before = [array.copy() for array in (held.starts, held.sizes, held.items, held.counts)]
    bounded = held.bounded(bound, ExactDraws(SeededBits(seed)))
    for user, items in enumerate(items_of(bounded)):
        assert len(items) == len(set(items)) == min(bound, len(sets[user]))
        assert set(items) <= sets[user]
    assert bounded.counts.tolist() == held.counts.tolist()
    assert bounded.max_items_per_user == bound
    after = [held.starts, held.sizes, held.items, held.counts]
    assert all((x == y).all() for x, y in zip(before, after, strict=True))


@fixed
@given(rows=ROWS, bound=st.integers(1, N_ITEMS + 2), seed=st.integers(0, 2**32))
def test_a_recount_is_of_what_bounding_left(rows, bound, seed):
    held = of_rows(rows)
    bounded = held.bounded(bound, ExactDraws(SeededBits(seed)))
    left = Counter(item for items in items_of(bounded) for item in items)
    assert bounded.recount().counts.tolist() == [left[item] for item in range(N_ITEMS)]
    assert bounded.recount().max_items_per_user == bound
    assert held.recount().counts.tolist() == held.counts.tolist()
    assert held.recount().max_items_per_user is None


@fixed
@given(rows=ROWS, seed=st.integers(0, 2**32))
def test_bounding_again_only_shrinks(rows, seed):
    draws = ExactDraws(SeededBits(seed))
    once = of_rows(rows).bounded(4, draws)
    twice = once.bounded(2, draws)
    for more, fewer in zip(items_of(once), items_of(twice), strict=True):
        assert set(fewer) <= set(more)
        assert len(fewer) == min(2, len(more))


def test_users_within_the_bound_draw_nothing():
    bits = SeededBits(1)
    of_sizes([1, 2, 3], 3).bounded(3, ExactDraws(bits))
    assert bits.words(1)[0] == SeededBits(1).words(1)[0]


@pytest.mark.parametrize("bound", [1, 2, 3])
def test_the_subset_is_exactly_uniform(bound):
    held = of_sizes([4], 4)
    subset = law(lambda draws: frozenset(items_of(held.bounded(bound, draws))[0]))
    every = [frozenset(s) for s in itertools.combinations(range(4), bound)]
    assert subset.keys() == set(every)
    assert all(math.isclose(p, 1 / len(every)) for p in subset.values())


@pytest.mark.parametrize("bound", [1, 2])
def test_subsets_are_independent_between_users(bound):
    held = of_sizes([3, 1, 3], 3)
    joint = law(lambda d: tuple(frozenset(s) for s in items_of(held.bounded(bound, d))))
    choices = math.comb(3, bound)
    assert len(joint) == choices**2
    assert all(math.isclose(p, 1 / choices**2) for p in joint.values())


@pytest.mark.parametrize("bound", [7, 23])  # few items kept, few items dropped
def test_frequencies_of_kept_items_and_pairs(bound):
    n, size = 9000, 30
    held = of_sizes([size] * n, size).bounded(bound, ExactDraws(SeededBits(2)))
    kept = np.zeros((n, size))
    for user, items in enumerate(items_of(held)):
        kept[user, items] = 1
    share, pair = bound / size, bound * (bound - 1) / (size * (size - 1))
    together = kept.T @ kept

    def errors(seen, p):
        return np.abs(seen - n * p) / math.sqrt(n * p * (1 - p))

    singles, pairs = np.diag(together), together[np.triu_indices(size, 1)]
    assert errors(singles, share).max() < 4.5
    assert errors(pairs, pair).max() < 4.5
    wrong = share * 1.3 if share < 0.5 else 1 - 1.3 * (1 - share)
    assert errors(singles, wrong).min() > 4.5


def test_subsets_of_equal_users_differ():
    held = of_sizes([30] * 50, 30).bounded(7, ExactDraws(SeededBits(3)))
    assert len({frozenset(items) for items in items_of(held)}) == 50


def test_large_tables_are_drawn_in_batches(monkeypatch):
    held = of_sizes([30] * 200, 30)
    whole = items_of(held.bounded(7, ExactDraws(SeededBits(4))))
    monkeypatch.setattr(contributions, "_BATCH", 64)
    assert items_of(held.bounded(7, ExactDraws(SeededBits(4)))) == whole


def weights_by_fractions(sets, n_items):
    weights = [Fraction(0)] * n_items
    for items in sets:
        for item in items:
            weights[item] += Fraction(math.isqrt(2**64 // len(items)))
    return weights


@fixed
@given(rows=ROWS, bound=st.integers(1, N_ITEMS), seed=st.integers(0, 2**32))
def test_weights_are_the_exact_sums(rows, bound, seed):
    bounded = of_rows(rows).bounded(bound, ExactDraws(SeededBits(seed)))
    histogram = bounded.weigh()
    assert histogram.weights.tolist() == weights_by_fractions(items_of(bounded), N_ITEMS)
    assert histogram.counts.tolist() == bounded.counts.tolist()
    assert histogram.max_items_per_user == bound
    assert ((histogram.weights > 0) <= (histogram.counts > 0)).all()


@fixed
@given(rows=ROWS, added=st.sets(st.integers(0, N_ITEMS - 1)), bound=st.integers(1, N_ITEMS))
def test_one_user_adds_at_most_norm_one(rows, added, bound):
    # The others' subsets are independent of the added user: here the same bits, drawn first.
    before = of_rows(rows, N_USERS + 1).bounded(bound, ExactDraws(SeededBits(5))).weigh()
    more = [*rows, *((N_USERS, item) for item in added)]
    after = of_rows(more, N_USERS + 1).bounded(bound, ExactDraws(SeededBits(5))).weigh()
    moved = [Fraction(int(x), 2**32) for x in after.weights - before.weights]
    counted = after.counts - before.counts
    assert sum(x**2 for x in moved) <= 1
    assert all(x >= 0 for x in moved)
    assert set(counted.tolist()) <= {0, 1}
    assert sum(x > 0 for x in moved) == min(bound, len(added))


def test_no_size_exceeds_norm_one_and_each_comes_near_it():
    sizes = np.arange(1, 5001)
    held = of_sizes(sizes[[0, 1, 2, 6, 99, 4999]], 5000).bounded(5000, ExactDraws(SeededBits(6)))
    assert held.weigh().weights[0] == sum(unit_weight(size) for size in (1, 2, 3, 7, 100, 5000))
    for size in sizes.tolist():
        norm = size * Fraction(unit_weight(size), 2**32) ** 2
        assert 1 - Fraction(size, 2**31) <= norm <= 1


@fixed
@given(rows=ROWS, shuffled=st.randoms(use_true_random=False))
def test_weights_do_not_depend_on_the_order_of_rows(rows, shuffled):
    other = list(rows)
    shuffled.shuffle(other)
    one, two = (
        of_rows(r).bounded(N_ITEMS, ExactDraws(SeededBits(7))).weigh() for r in (rows, other)
    )
    assert one.weights.tolist() == two.weights.tolist()
    assert one.counts.tolist() == two.counts.tolist()


def test_weigh_needs_a_bound():
    with pytest.raises(ValueError, match="bounded"):
        of_rows([(0, 0)]).weigh()


def on_cores(monkeypatch, number):
    """Share even the smallest work among so many threads."""
    monkeypatch.setattr(threads.os, "cpu_count", lambda: number)
    monkeypatch.setattr(threads, "_WORTH_A_THREAD", 0)


def everything(users, items, n_users, n_items):
    held = Contributions.of_rows(users, items, n_users=n_users, n_items=n_items)
    bounded = held.bounded(3, ExactDraws(SeededBits(9)))
    return held, bounded, bounded.weigh().weights.tolist()


@pytest.mark.parametrize("number", [2, 3, 8])
@pytest.mark.parametrize("n_users", [12_000, 30_000])
def test_threads_and_buckets_of_users_change_nothing(monkeypatch, number, n_users):
    rng = np.random.default_rng(8)
    n_items, n = 300, 60_000
    users = (n_users * rng.random(n) ** 2).astype(np.uint32)
    items = (n_items * rng.random(n) ** 3).astype(np.uint32)
    one_held, one_bounded, one_weights = everything(users, items, n_users, n_items)
    on_cores(monkeypatch, number)
    held, bounded, weights = everything(users, items, n_users, n_items)
    assert items_of(held) == items_of(one_held)
    assert items_of(bounded) == items_of(one_bounded)
    assert held.counts.tolist() == one_held.counts.tolist()
    assert weights == one_weights == weights_by_fractions(items_of(bounded), n_items)
    sets = sets_of(zip(users.tolist(), items.tolist(), strict=True), n_users)
    assert all(set(kept) == sets[user] for user, kept in enumerate(items_of(held)))
    assert int(held.counts.sum()) == sum(map(len, sets.values()))


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(("rows", "chunk"), [(2**15, 2**19), (50, 700), (1, 64), (3, 10**5)])
def test_users_without_codes_are_grouped(monkeypatch, number, rows, chunk):
    on_cores(monkeypatch, number)
    monkeypatch.setattr(buckets, "_ROWS", rows)
    monkeypatch.setattr(buckets, "_CHUNK", chunk)
    rng = np.random.default_rng(11)
    for n in (0, 1, 64, 5000):
        names = rng.integers(0, 2**64, 300, np.uint64)
        users, items = rng.integers(0, 300, n), rng.integers(0, 40, n)
        sets = {}
        for user, item in zip(users.tolist(), items.tolist(), strict=True):
            sets.setdefault(user, set()).add(item)
        held = Contributions.of_rows(
            names[users], items.astype(np.uint32), n_users=None, n_items=40
        )
        assert sorted(map(sorted, items_of(held))) == sorted(map(sorted, sets.values()))
        holders = Counter(item for kept in sets.values() for item in kept)
        assert held.counts.tolist() == [holders[item] for item in range(40)]


def test_users_without_codes_are_grouped_alike_each_time():
    rng = np.random.default_rng(12)
    users, items = rng.integers(0, 2**64, 400, np.uint64), rng.integers(0, 9, 4000)
    users = users[rng.integers(0, 400, 4000)]
    one, other = (
        items_of(
            Contributions.of_rows(users.copy(), items.astype(np.uint32), n_users=None, n_items=9)
        )
        for _ in range(2)
    )
    assert one == other  # so that a seed decides everything


def test_too_many_users_are_refused(monkeypatch):
    monkeypatch.setattr(buckets, "MOST_USERS", 2)
    users, items = np.arange(3, dtype=np.uint32), np.zeros(3, np.uint32)
    for kind, n_users in ((np.uint32, 3), (np.uint64, None)):
        with pytest.raises(ValueError, match="too many users"):
            Contributions.of_rows(users.astype(kind), items.copy(), n_users=n_users, n_items=1)


@pytest.mark.parametrize(("number", "bucket"), [(1, 2), (3, 2), (3, 4), (8, 1)])
def test_the_smallest_tables_are_shared_rightly(monkeypatch, number, bucket):
    on_cores(monkeypatch, number)
    monkeypatch.setattr(buckets, "_SHIFT", bucket.bit_length() - 1)
    rng = np.random.default_rng(10)
    for n in range(60):
        users, items = rng.integers(0, N_USERS, n), rng.integers(0, N_ITEMS, n)
        rows = list(zip(users.tolist(), items.tolist(), strict=True))
        sets = sets_of(rows)
        arrays = users.astype(np.uint32), items.astype(np.uint32)
        held, bounded, weights = everything(*arrays, N_USERS, N_ITEMS)
        assert [set(kept) for kept in items_of(held)] == list(sets.values())
        assert weights == weights_by_fractions(items_of(bounded), N_ITEMS)
        holders = Counter(item for kept in sets.values() for item in kept)
        assert held.counts.tolist() == [holders[item] for item in range(N_ITEMS)]


def test_kernels_work_where_no_cache_can_be_written():
    code = """if True:
        from numba.core import caching
        caching.CacheImpl._locator_classes = []  # as where no folder can be written to
        from shortlist import kernels
        print(kernels.weigh.compiled.signatures)
    """
    command = [sys.executable, "-W", "error", "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603 - ours
    assert "int64" in run.stdout


@fixed
@given(st.lists(st.frozensets(st.integers(0, 6)), max_size=9), st.permutations(range(7)))
def test_sets_among_some_items(data, order):
    known = np.array([*order[:4], -1])
    rows = [(user, item) for user, items in enumerate(data) for item in items]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    held = Contributions.of_rows(users, items, n_users=len(data), n_items=7)
    kept = held.among(known)
    assert kept.n_items == 5
    left = [s for whole in data if (s := {order.index(x) for x in whole & set(order[:4])})]
    ends = zip(kept.starts, kept.starts + kept.sizes, strict=True)
    own = [kept.items[start:end].tolist() for start, end in ends]
    assert list(map(sorted, own)) == list(map(sorted, left))
    assert kept.counts.tolist() == [sum(x in s for s in data) for x in known.tolist()]
    assert kept.counts.tolist() == kept.recount().counts.tolist()
    assert held.counts.tolist() == [sum(x in s for s in data) for x in range(7)]  # unchanged


@pytest.mark.parametrize("bound", [1, 3, 100])
def test_items_are_listed_one_user_after_another(bound):
    rng = np.random.default_rng(1)
    users, items = rng.integers(0, 9, 60).astype(np.uint32), np.arange(60, dtype=np.uint32)
    held = Contributions.of_rows(users, items, n_users=9, n_items=60)
    bounded = held.bounded(bound, ExactDraws(SeededBits(1)))
    listed = bounded.listed()
    sizes = np.minimum(np.bincount(users, minlength=9), bound)
    assert users[listed].tolist() == np.repeat(np.arange(9), sizes).tolist()
    assert len(set(listed.tolist())) == len(listed)
    none = Contributions.of_rows(users[:0], items[:0], n_users=0, n_items=0)
    assert none.bounded(2, ExactDraws(SeededBits(1))).listed().tolist() == []
