"""The threshold algorithm: right on every instance, and how much it reads."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.exhaustive import exhaustive
from helpers.refusals import refusal
from helpers.threshold import threshold_algorithm
from helpers.views import Listed
from shortlist.algorithms.threshold_algorithm import balanced

fixed = settings(derandomize=True, deadline=None, max_examples=200)
AGGREGATES = {
    "min": lambda values: np.min(values, axis=0),
    "sum": lambda values: np.sum(values, axis=0),
    "product": lambda values: np.prod(values, axis=0),
    "median": lambda values: np.median(values, axis=0),
    "first": lambda values: values[0],
    "constant": lambda values: np.zeros(len(values[0])),
}
every = pytest.mark.parametrize("aggregate", AGGREGATES.values(), ids=AGGREGATES)


def doubling(t):
    return ([2**j] * t for j in itertools.count())


def is_best(rows, aggregate, k, lengths=None):
    """The values are those of a sort, and each item has its own."""
    sources = [Listed(row) for row in rows]
    totals = aggregate(list(rows))
    ids, values = threshold_algorithm(sources, aggregate, k, lengths)
    assert values.tolist() == np.sort(totals)[::-1][:k].tolist()
    assert totals[ids].tolist() == values.tolist()
    assert len(set(ids.tolist())) == len(ids) == min(k, len(totals))
    return sources


@every
@pytest.mark.parametrize(
    ("t", "m", "values"),
    [
        (1, 3, 3),
        (2, 1, 3),
        (2, 2, 3),
        (2, 3, 2),
        (3, 2, 2),
        *exhaustive((2, 3, 3), (3, 1, 3), (3, 2, 3)),
    ],
)
def test_every_small_instance(aggregate, t, m, values):
    for cells in itertools.product(range(values), repeat=t * m):
        rows = np.array(cells).reshape(t, m)
        for k in range(1, m + 2):
            is_best(rows, aggregate, k)
            is_best(rows, aggregate, k, doubling(t))


@every
@fixed
@given(data=st.data(), t=st.integers(1, 3), m=st.integers(1, 30), most=st.sampled_from([1, 9, 999]))
def test_any_instance(aggregate, data, t, m, most):
    rows = [data.draw(st.lists(st.integers(0, most), min_size=m, max_size=m)) for _ in range(t)]
    k = data.draw(st.integers(1, m + 2))
    is_best(np.array(rows), aggregate, k)
    is_best(np.array(rows) / 7, aggregate, k, doubling(t))


@pytest.mark.parametrize("t", [1, 2, 3])
def test_equal_lists_are_read_no_further_than_needed(t):
    rows = np.tile(np.arange(1000), (t, 1))
    for k in (1, 10):
        sources = is_best(rows, AGGREGATES["sum"], k)
        assert [s.n_sorted for s in sources] == [k] * t
        assert sum(s.n_random for s in sources) == 0


def test_a_list_that_says_nothing_costs_its_length():
    # All tie in one list; the best of the other is the best, and is found at once.
    sources = is_best(np.array([np.zeros(500, int), np.arange(500)]), AGGREGATES["sum"], 1)
    assert sources[0].accesses <= 2
    # The sums are all equal: any is best, but only half the lists show it.
    sources = is_best(np.array([np.arange(500), np.arange(500)[::-1]]), AGGREGATES["sum"], 1)
    assert 250 <= sources[0].n_sorted <= 251


def test_no_correct_algorithm_of_sorted_accesses_reads_much_less():
    # Instance optimality at two lists and sums: a certificate must show k items at the threshold.
    rng = np.random.default_rng(0)
    for _ in range(100):
        rows = rng.integers(0, 30, (2, 40))
        sources = is_best(rows, AGGREGATES["sum"], 3)
        ends = -np.sort(-rows, axis=1)
        worst = np.sort(rows.sum(axis=0))[-3]
        certificate = min(
            a + b
            for a, b in itertools.product(range(1, 41), repeat=2)
            if ends[0, a - 1] + ends[1, b - 1] <= worst or 40 in (a, b)
        )
        assert sum(s.accesses for s in sources) <= 4 * certificate + 4


# --- lengths


def first(n, lengths):
    return list(itertools.islice(lengths, n))


@pytest.mark.parametrize("size", [1, 2, 17, 10**4, 10**9])
@pytest.mark.parametrize("k", [1, 3, 100, 10**5])
@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 9.0), (25.0, 1.0), (1.0, 1e9)])
def test_balanced_lengths_double_and_meet_the_bound(size, k, costs):
    lengths = first(60, balanced(size, k, costs))
    few = min(k, size)
    bound = math.sqrt(size * few) + math.sqrt(size / 2)
    tilt = math.sqrt(costs[1] / costs[0])
    assert lengths[0][0] <= math.ceil(few * tilt)
    assert lengths[0][1] <= math.ceil(few / tilt)
    for one, two in itertools.pairwise(lengths):
        assert all(a <= b <= 2 * a for a, b in zip(one, two, strict=True))
    ends = [max(1, min(math.ceil(x), size + 1)) for x in (bound * tilt, bound / tilt)]
    assert any(np.abs(np.subtract(pair, ends)).max() <= 1 for pair in lengths)
    assert lengths[-1] == (size + 1, size + 1)


def test_as_much_is_spent_on_both():
    for sorted_length, random_length in first(12, balanced(10**8, 100, (1.0, 16.0)))[2:]:
        assert sorted_length == pytest.approx(16 * random_length, rel=0.05)


def test_lengths_that_end_too_early_are_refused():
    sources = [Listed(np.arange(9)), Listed(np.arange(9)[::-1].copy())]
    ask = lambda lengths: threshold_algorithm(sources, AGGREGATES["min"], 2, lengths)[1].tolist()
    refusal(lambda: ask([[1, 1], [2, 2]]), "lengths: ended before the best were known")
    refusal(lambda: ask([]), "lengths: ended")
    assert sorted(ask([[1, 1], [10, 10]])) == [3, 4]
    assert sorted(ask([[8, 8]])) == [3, 4]


def test_values_of_random_access_keep_their_fractions():
    class Mixed(Listed):
        def sorted_access(self, start, n):
            ids, values = super().sorted_access(start, n)
            return ids, values.astype(np.int64)

    sources = [Mixed(np.array([3.0, 2.0, 0.5])), Listed(np.array([0.0, 0.0, 9.0]))]
    assert threshold_algorithm(sources, AGGREGATES["sum"], 1)[1].tolist() == [9.5]
