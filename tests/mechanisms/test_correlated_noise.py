"""Noise that counts share: how little is enough, and the law of what is released."""

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.exactness import between
from helpers.noisy_counts import KINDS, build, cells, evidence, scaled, squared_mu
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms.mechanism import ADD_OR_REMOVE
from shortlist.mechanisms.wrappers.noisy_counts import (
    CorrelatedNoise,
    independent,
    least_correlated,
)

fixed = settings(derandomize=True, deadline=None, max_examples=100)
NUMBERS = st.integers(1, 60).flatmap(lambda k: st.tuples(st.just(k), st.integers(1, k)))


def squared_distance(noise, k, m):
    """By the inverse of the covariance matrix, for each number of moved counts."""
    a, v = Fraction(noise.shared) ** 2, Fraction(noise.own) ** 2
    return max((j - a * j * j / (v + k * a)) / v for j in range(1, m + 1))


@fixed
@given(numbers=NUMBERS, mu=between(1e-100, 1e3), shared=between(1e-4, 10), factor=between(0.5, 2))
def test_what_it_takes_to_be_private_is_decided_exactly(numbers, mu, shared, factor):
    k, m = numbers
    own = factor * math.sqrt(m) / mu
    for noise in (CorrelatedNoise(shared / mu, own), CorrelatedNoise(0.0, own)):
        right = squared_distance(noise, k, m) <= Fraction(mu) ** 2
        assert noise.is_within(mu, k=k, m=m) is right


def test_the_distance_is_that_of_normal_laws_that_share_a_part():
    # bᵀ Σ⁻¹ b, numerically, for every set of moved counts.
    noise, k, m = CorrelatedNoise(1.3, 0.7), 5, 4
    covariance = np.full((k, k), 1.3**2) + np.eye(k) * 0.7**2
    largest = 0.0
    for bits in range(2**k):
        moved = np.array([bits >> i & 1 for i in range(k)])
        if moved.sum() <= m:
            largest = max(largest, float(moved @ np.linalg.solve(covariance, moved)))
    assert largest == pytest.approx(float(squared_distance(noise, k, m)), rel=1e-12)
    for factor, within in ((1 + 1e-9, True), (1 - 1e-9, False)):
        assert noise.is_within(math.sqrt(largest) * factor, k=k, m=m) is within
    # Users who move counts both ways are told apart better: the shared part hides nothing.
    both = np.array([1, -1, 0, 0, 0])
    assert float(both @ np.linalg.solve(covariance, both)) == pytest.approx(2 / 0.7**2)


@fixed
@given(numbers=NUMBERS, mu=between(1e-6, 100))
def test_the_noise_is_enough_and_hardly_more(numbers, mu):
    k, m = numbers
    noise = least_correlated(mu, k=k, m=m)
    assert squared_distance(noise, k, m) <= Fraction(mu) ** 2
    assert float(squared_distance(noise, k, m)) == pytest.approx(mu * mu, rel=1e-12)
    alone = independent(mu, m=m)
    assert alone.shared == 0
    assert squared_distance(alone, k, m) <= Fraction(mu) ** 2
    assert noise.sd <= alone.sd * (1 + 1e-12)
    if m > 1:
        assert noise.sd < 0.96 * alone.sd or m < k


@pytest.mark.parametrize("k", [1, 2, 3, 7, 20, 64, 300])
def test_no_other_ratio_of_the_parts_is_better(k):
    ratios = np.concatenate([[0.0], np.geomspace(1e-6, 1e3, 4001)])
    for m in {1, 2, 3, k // 3, k // 2, k - 1, k}:
        if not 1 <= m <= k:
            continue
        j = np.arange(1, m + 1)[:, None]
        distances = (j - j * j * ratios / (1 + k * ratios)).max(axis=0)
        least = float(((1 + ratios) * distances).min())
        found = least_correlated(1.0, k=k, m=m).sd ** 2
        assert found <= least * (1 + 1e-12)
        assert found >= least * (1 - 1e-3)


@pytest.mark.parametrize(("k", "share"), [(20, 0.63), (100, 0.57)])
def test_sd_beside_plain_noise(k, share):
    plain = independent(0.3, m=k).sd
    noise = least_correlated(0.3, k=k, m=k)
    assert noise.sd <= share * plain
    # The closed form, where the number of moved counts is taken to be any number.
    assert noise.sd == pytest.approx((math.sqrt(k) + 1) / (2 * 0.3), rel=1e-3)


def test_a_bound_on_users_helps_beyond_both():
    # 100 counts, of which a user is in 30 at most, at rho = 1: 11.8 instead of 15.
    noise = least_correlated(math.sqrt(2), k=100, m=30)
    assert noise.sd**2 == pytest.approx(11.8, abs=0.05)
    assert independent(math.sqrt(2), m=30).sd ** 2 == pytest.approx(15.0)


# --- in a release


SHARING = build("peeling", k=30, epsilon=9.0, delta=0.1, count_share=0.8)


@pytest.mark.parametrize("kind", KINDS)
def test_noise_is_shared_where_neighbours_add_or_remove_a_user_and_nowhere_else(kind):
    shares = 0
    for k, bound in ((1, None), (2, None), (40, None), (40, 1), (40, 10)):
        mechanism = build(kind, k=k, bound=bound, delta=1e-3)
        way, m = mechanism._best, mechanism._changed
        if way.shared is not None:
            shares += 1
            assert mechanism.adjacency == ADD_OR_REMOVE
            assert m > 1
            assert mechanism.count_shared_sd == way.shared.sd
            plain = math.sqrt(m / float(squared_mu(way, k=k, m=m)))
            assert way.of_each.sd < 0.97 * plain
        else:
            assert mechanism.count_shared_sd is None
            assert "is the same for all" not in " ".join(mechanism.explain())
    assert (shares > 0) is ("general" not in kind and not kind.startswith("one-shot"))


def test_it_is_said_that_a_part_is_shared():
    seen = evidence(SHARING, [100] * 40)
    selection = SHARING.select(seen, ExactDraws(SeededBits(1)))
    assert selection.noise_sd == SHARING.count_sd
    assert selection.shared_sd == SHARING.count_shared_sd == SHARING._best.shared.sd
    assert SHARING.parameters()["count_shared_sd"] == selection.shared_sd
    said = SHARING.explain()[-1]
    assert f"A part of it, of standard deviation {selection.shared_sd:.3g}, is the same" in said
    assert "cancels in differences and adds up in sums" in said


N = 4000


@pytest.fixture(scope="module")
def drawn():
    """What is added to two counts, again and again."""
    counts, draws = np.array([50, 10**6]), ExactDraws(SeededBits(1))
    return np.array([SHARING._noisy(counts, draws) - counts for _ in range(N)])


def off(seen, variance):
    """How far a mean square is from a variance, in standard errors."""
    squares = seen**2
    return abs(np.mean(squares) - variance) * math.sqrt(len(seen)) / np.std(squares)


def test_each_count_has_noise_of_the_sd_that_is_stated(drawn):
    assert (drawn == np.round(drawn)).all()
    of_each = SHARING._best.of_each
    for noise in drawn.T:
        assert deviation(Counter(noise.tolist()), cells(of_each)) < 4.5
        for factor in (0.7, 1.3):
            assert deviation(Counter(noise.tolist()), cells(scaled(of_each, factor))) > 4.5
        assert off(noise, SHARING.count_sd**2) < 4.5
        assert off(noise, (1.3 * SHARING.count_sd) ** 2) > 4.5


def test_differences_are_without_the_part_that_is_shared(drawn):
    way = SHARING._best
    own, shared = way.noise.sd**2, way.shared.sd**2
    rounding = 1 / 12  # of each count, on its own
    first, second = drawn.T
    for factor, near in ((1.0, True), (1.3, False)):
        assert bool(off(first - second, factor**2 * 2 * (own + rounding)) < 4.5) is near
        total = 4 * shared * factor**2 + 2 * (own + rounding)
        assert bool(off(first + second, total) < 4.5) is near
    assert off(first - second, 2 * (own + shared)) > 4.5


def deviation(seen, expected):
    """The largest distance of a frequency from its probability, in standard errors."""
    n = sum(seen.values())
    return max(
        abs(seen.get(i, 0) - n * p) / math.sqrt(max(n * p * (1 - p), 1))
        for i, p in expected.items()
    )
