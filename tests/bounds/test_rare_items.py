"""Bounds below what mechanisms miss, and what the best algorithm attains."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.zipfian import answers, bounds_of, dealt
from shortlist.bounds import (
    least_missed_users,
    least_missing_mass,
    least_missing_mass_of_counts,
    least_top_k_missing_mass,
    rare_item_chance,
    rare_item_users,
)
from shortlist.mechanisms import WeightedGaussian, WeightedGaussianPeeling
from shortlist.metrics import missing_mass, top_k_missing_mass

BETA = 0.05
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def likeliest(n_users, epsilon, delta):
    """The largest chances that privacy allows item by item (Desfontaines et al. 2022)."""
    chances, e = [0.0], math.exp(epsilon)
    for _ in range(n_users):
        chances.append(min(e * chances[-1] + delta, 1 - (1 - chances[-1] - delta) / e, 1.0))
    return chances[1:]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("delta", [1e-8, 1e-3])
def test_a_rare_item_has_the_chance_that_the_best_algorithm_gives_it(epsilon, delta):
    for n_users, best in enumerate(likeliest(150, epsilon, delta), 1):
        chance = rare_item_chance(n_users, epsilon=epsilon, delta=delta)
        assert best <= chance * (1 + 1e-9)
        if chance < 1 / (1 + math.exp(epsilon)):  # attained: no smaller constant would do
            assert best == pytest.approx(chance, rel=1e-9)


@pytest.mark.parametrize("kept", [1, 10])
def test_the_mechanism_names_rare_items_less(kept):
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=kept)
    for n_users in range(1, 200):
        # Of users who hold this item alone: as likely as it can be.
        named = NormalDist().cdf((n_users - mechanism.threshold) / mechanism.sigma)
        assert named <= rare_item_chance(n_users, **BUDGET)


@given(st.floats(1e-3, 50), st.floats(1e-12, 0.49))
def test_rare_items_are_named_with_half_a_chance_at_most(epsilon, delta):
    most = rare_item_users(epsilon=epsilon, delta=delta)
    assert most == 0 or rare_item_chance(most, epsilon=epsilon, delta=delta) <= 0.5 + 1e-9
    assert rare_item_chance(most + 1, epsilon=epsilon, delta=delta) > 0.5 - 1e-9


def test_the_chance_is_the_sum_of_powers():
    chance = sum(Fraction(1, 10**6) * Fraction(2) ** i for i in range(7))
    assert rare_item_chance(7, epsilon=math.log(2), delta=1e-6) == pytest.approx(float(chance))
    assert rare_item_chance(10**9, epsilon=1e5, delta=1e-300) == 1
    assert rare_item_chance(3, epsilon=1e-12, delta=1e-9) == pytest.approx(3e-9)


def hard_counts(C, s, n_pairs, most):  # noqa: N803
    """A (C, s)-Zipfian table: all items that at most `most` users can hold, one with the rest."""
    ranks = np.arange(1, n_pairs + 1)
    light = np.minimum(most, np.floor(C * n_pairs / ranks**s * (1 + 1e-12))).astype(np.int64)
    light = light[light > 0]
    if light.sum() < n_pairs:
        return np.append(n_pairs - light[1:].sum(), light[1:])
    within = np.cumsum(light) <= n_pairs
    return np.append(light[within], max(n_pairs - light[within].sum(), 0))


HARD = st.tuples(st.floats(1, 20), st.floats(0.5, 4), st.integers(1, 3000))


@given(HARD, st.floats(0.1, 3), st.floats(1e-8, 1e-2))
def test_the_table_of_theorem_3_5_exists(shape, epsilon, delta):
    C, s, n_pairs = shape  # noqa: N806
    best = 0.0
    for most in range(1, rare_item_users(epsilon=epsilon, delta=delta) + 1):
        counts = hard_counts(C, s, n_pairs, most)
        falling = np.sort(counts)[::-1]
        assert counts.sum() == n_pairs
        assert (falling <= C * n_pairs / np.arange(1, len(falling) + 1) ** s * (1 + 1e-9)).all()
        missed = 1 - rare_item_chance(most, epsilon=epsilon, delta=delta)
        by_items = least_missing_mass_of_counts(counts, epsilon=epsilon, delta=delta)
        rare = counts[counts <= most].sum() / n_pairs
        assert by_items >= missed * rare - 1e-12
        best = max(best, missed * rare)
    asked = {"n_pairs": n_pairs, "epsilon": epsilon, "delta": delta}
    bound = least_missing_mass(C=C, s=s, **asked)
    assert bound <= best + 1e-12
    # Beside the bound stand the item with the rest where it is rare, and ranks just reached.
    assert bound >= best - (rare_item_users(epsilon=epsilon, delta=delta) + 2) / n_pairs


@pytest.mark.parametrize("s", [1.2, 1.5, 2.5])
def test_the_mechanism_misses_more_than_theorem_3_5(s):
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=1)
    n_pairs = 30_000
    held = dealt(hard_counts(1.0, s, n_pairs, rare_item_users(**BUDGET) - 1))
    bound = least_missing_mass(C=1.0, s=s, n_pairs=n_pairs, **BUDGET)
    by_items = least_missing_mass_of_counts(held.counts, **BUDGET)
    masses = [missing_mass(held.counts, named) for named in answers(held, mechanism, runs=5)]
    assert 0 < bound <= by_items <= np.mean(masses)
    upper = bounds_of(held, mechanism).missing_mass(C=1.0, s=s, beta=BETA)
    assert bound < max(masses) <= upper


@pytest.mark.parametrize("s", [1.2, 1.5, 2.5])
def test_theorem_3_5_grows_as_published(s):
    """Its sum is the published C^(1/s)/(s-1) (b/N)^((s-1)/s), with s and a half as constants."""
    n_pairs, users = 10**12, rare_item_users(epsilon=0.1, delta=1e-9)
    published = (users / n_pairs) ** ((s - 1) / s) / (s - 1)
    bound = least_missing_mass(C=1.0, s=s, n_pairs=n_pairs, epsilon=0.1, delta=1e-9)
    assert s / 2 * published <= bound <= s * published


@pytest.mark.parametrize("n_pairs", [100, 130, 1000])
def test_the_mechanism_misses_more_of_the_top_k_than_corollary_4_4(n_pairs):
    k, users = 10, 13
    rest = n_pairs - (k - 1) * users
    counts = np.append(rest, np.full(k - 1, users)) if rest >= users else np.full(k, n_pairs // k)
    held, mechanism = dealt(counts), WeightedGaussianPeeling(k=k, **BUDGET, max_items_per_user=1)
    masses = [top_k_missing_mass(held.counts, a, k) for a in answers(held, mechanism, runs=5)]
    bound = least_top_k_missing_mass(k=k, n_pairs=n_pairs, **BUDGET)
    assert 0 < bound <= np.mean(masses)
    lost = least_missed_users(k=k, n_users=n_pairs, **BUDGET)
    assert lost == pytest.approx(n_pairs * bound)


def test_corollary_4_4_is_its_formula():
    named = likeliest(12, **BUDGET)
    by_hand = max((1 - named[b - 1]) * 9 * b / 1000 for b in range(1, 13))
    assert least_top_k_missing_mass(k=10, n_pairs=1000, **BUDGET) == pytest.approx(by_hand)
    assert least_top_k_missing_mass(k=1, n_pairs=1000, **BUDGET) == 0
    assert least_top_k_missing_mass(k=1, n_pairs=1, **BUDGET) == pytest.approx(1 - 1e-6)


@pytest.mark.parametrize("epsilon", [5e-324, 1e-300, 1e-9, 700.0, 1e17, 9e99])
@pytest.mark.parametrize("delta", [5e-324, 1e-6, 1 - 2**-53])
def test_the_extremes_are_answered(epsilon, delta):
    budget = {"epsilon": epsilon, "delta": delta}
    assert rare_item_chance(1, **budget) == pytest.approx(delta, rel=1e-9)
    assert delta * (1 - 1e-9) <= rare_item_chance(2**53, **budget) <= 1
    assert rare_item_users(**budget) >= 0
    assert 0 <= least_missing_mass_of_counts(np.array([1, 2**52]), **budget) <= 1
    assert 0 <= least_missing_mass(C=1.0, s=5e-324, n_pairs=2**53, **budget) <= 1
    assert 0 <= least_top_k_missing_mass(k=2**53, n_pairs=2**53, **budget) <= 1
