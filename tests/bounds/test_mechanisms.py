"""Bounds above what mechanisms miss, and no longer so with a constant that is too small."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln, ndtr
from scipy.stats import gamma

from helpers.refusals import refusal
from helpers.zipfian import answers, bounds_of, dealt, falling_counts
from shortlist.bounds import (
    WeightedGaussianBounds,
    least_missing_mass,
    least_missing_mass_of_counts,
    least_top_k_missing_mass,
    rare_item_chance,
    rare_item_users,
    zipf_largest_set,
)
from shortlist.bounds.weighted_gaussian import _lost_by_picks
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import WeightedGaussian, WeightedGaussianPeeling
from shortlist.metrics import hits, missing_mass, top_k_missing_mass, zipf_fit

BETA = 0.05
BUDGET = {"epsilon": 1.0, "delta": 1e-6}


def spread_out(low, high, n_items):
    """Counts between two numbers, as many of each size."""
    return np.linspace(high, low, n_items).astype(np.int64)


# What the weighted Gaussian mechanism misses


@pytest.mark.parametrize(("set_size", "kept"), [(1, 1), (8, 8), (8, 2)])
def test_items_with_more_users_are_named(set_size, kept):
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=kept)
    held = dealt(spread_out(10, 600, 300), set_size)
    most = bounds_of(held, mechanism).missed_count(beta=BETA)
    missed = [
        round(missing_mass(held.counts, named, p=math.inf) * held.counts.sum())
        for named in answers(held, mechanism, runs=20)
    ]
    assert max(missed) <= most < held.counts.max()
    assert np.mean(missed) > most / (2.5 if kept < set_size else 2)  # the constants are not loose


def chance_missed(count, bounds):
    """Of an item whose users all hold the largest set; noise and users left, summed up."""
    left = np.arange(count + 1)
    kept = min(bounds.max_items_per_user, bounds.largest_set)
    share = kept / bounds.largest_set
    noise = ndtr((bounds.threshold - left / math.sqrt(kept)) / bounds.sigma)
    noise[0] = 1.0  # nobody is left, and so the item is not seen
    if share == 1:
        return float(noise[-1])
    ways = gammaln(count + 1) - gammaln(left + 1) - gammaln(count - left + 1)
    chances = np.exp(ways + left * math.log(share) + (count - left) * math.log1p(-share))
    return float((chances * noise).sum())


@given(
    st.integers(1, 60),
    st.integers(1, 60),
    st.floats(0.01, 30),
    st.floats(1, 100),
    st.floats(1e-3, 0.5),
)
def test_the_chance_to_be_missed_summed_up(largest_set, kept, sigma, threshold, beta):
    bounds = WeightedGaussianBounds(
        n_pairs=10**6,
        largest_set=largest_set,
        sigma=sigma,
        threshold=threshold,
        max_items_per_user=kept,
    )
    most = bounds.missed_count(beta=beta)
    of_each = beta / (bounds.n_pairs / threshold)
    assert chance_missed(most + 1, bounds) <= of_each * (1 + 1e-9)
    if kept >= largest_set:  # exact: one user fewer would be too few
        assert chance_missed(most - 1, bounds) >= of_each * (1 - 1e-6)
    elif 2 * kept <= largest_set:
        assert chance_missed(most // 3, bounds) > of_each


@pytest.mark.parametrize("kept", [8, 2])
def test_without_the_factor_of_the_largest_set_items_with_more_users_are_missed(kept):
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=kept)
    held = dealt(spread_out(10, 600, 300), 8)
    for wrong in {1, kept} - {8}:
        most = bounds_of(held, mechanism, largest_set=wrong).missing_mass_linf(beta=BETA)
        for named in answers(held, mechanism, runs=5):
            assert missing_mass(held.counts, named, p=math.inf) > most


def test_without_the_noise_items_with_more_users_are_missed():
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=1)
    held = dealt(spread_out(10, 100, 500))
    most = bounds_of(held, mechanism, sigma=1e-9).missing_mass_linf(beta=BETA)
    for named in answers(held, mechanism, runs=5):
        assert missing_mass(held.counts, named, p=math.inf) > most


@pytest.mark.parametrize(
    ("s", "set_size", "kept"), [(1.3, 1, 1), (1.6, 1, 1), (2, 8, 8), (2, 8, 3)]
)
def test_the_missing_mass_of_zipfian_tables(s, set_size, kept):
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=kept)
    held = dealt(falling_counts(300_000, s, flat=9.0 * (set_size > 1)), set_size)
    fit, bounds = zipf_fit(held.counts, s), bounds_of(held, mechanism)
    bound = bounds.missing_mass(C=fit.C, s=s, beta=BETA)
    masses = [missing_mass(held.counts, named) for named in answers(held, mechanism, runs=5)]
    assert max(masses) <= bound < 1
    assert np.mean(masses) > bound / 5
    # Any bound on the largest set is one; that of Lemma 3.1 follows from C and s.
    largest = zipf_largest_set(C=fit.C, s=s, n_pairs=bounds.n_pairs)
    assert largest >= held.sizes.max()
    looser = bounds_of(held, mechanism, largest_set=largest)
    assert looser.missing_mass(C=fit.C, s=s, beta=BETA) >= bound


@pytest.mark.parametrize("kept", [64, 16])
def test_without_the_factor_of_the_largest_set_more_mass_is_missed(kept):
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=kept)
    held = dealt(np.full(200, 120), 64)
    fit = zipf_fit(held.counts, s=4.0)
    bound = bounds_of(held, mechanism).missing_mass(C=fit.C, s=fit.s, beta=BETA)
    wrong = bounds_of(held, mechanism, largest_set=1).missing_mass(C=fit.C, s=fit.s, beta=BETA)
    for named in answers(held, mechanism, runs=5):
        assert wrong < missing_mass(held.counts, named) <= bound


def test_the_published_constant_is_too_small_where_counts_are_flat():
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=1)
    held = dealt(np.full(200, 20))  # fewer than the threshold: nearly all is missed
    s, n = 40.0, 4000
    C = zipf_fit(held.counts, s).C  # noqa: N806
    noise = mechanism.threshold + mechanism.sigma * math.sqrt(2 * math.log(6 * n / BETA))
    most = max(noise, math.log(3 * (C * n) ** (1 / s) / BETA))
    published = C ** (1 / s) / (s - 1) * (9 / n * most) ** ((s - 1) / s)
    for named in answers(held, mechanism, runs=5):
        mass = missing_mass(held.counts, named)
        assert published < mass <= bounds_of(held, mechanism).missing_mass(C=C, s=s, beta=BETA)


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=30),
    st.sampled_from([0.5, 1.0, 1.5, 3.0]),
    st.integers(1, 40),
)
def test_the_mass_of_all_rare_items_is_within_the_bound(counts, s, most):
    """The step that the published proof has wrong, for any counts: no noise, no sampling."""
    counts = np.array(counts)
    bounds = WeightedGaussianBounds(
        n_pairs=int(counts.sum()), largest_set=1, sigma=1e-9, threshold=most, max_items_per_user=1
    )
    rare = counts[counts <= most].sum() / counts.sum()
    bound = bounds.missing_mass(C=zipf_fit(counts, s).C, s=s, beta=BETA)
    assert rare <= bound * (1 + 1e-12)


def test_the_bound_is_continuous_where_s_is_1():
    mechanism = WeightedGaussian(**BUDGET, max_items_per_user=4)
    bounds = bounds_of(dealt(falling_counts(10**6, 1.2, flat=5), 4), mechanism)
    below, at, above = (
        bounds.missing_mass(C=0.02, s=s, beta=BETA) for s in (1 - 1e-9, 1, 1 + 1e-9)
    )
    assert below == pytest.approx(at, rel=1e-6)
    assert above == pytest.approx(at, rel=1e-6)
    assert 0 < at < 1


def test_nothing_overflows():
    bounds = WeightedGaussianBounds(
        n_pairs=10**15, largest_set=10**6, sigma=1e6, threshold=1e7, max_items_per_user=1
    )
    for s in (1e-6, 0.5, 1, 2, 1e6):
        for C in (1e-300, 1, 1e99):  # noqa: N806
            assert 0 <= bounds.missing_mass(C=C, s=s, beta=1e-12) <= 1
    assert bounds.missed_count(beta=1 - 1e-12) <= 10**15
    assert zipf_largest_set(C=1e99, s=1e-3, n_pairs=10) == 10


# Top-k and hitting set


def test_the_top_k_missing_mass():
    mechanism = WeightedGaussianPeeling(k=5, **BUDGET, max_items_per_user=4)
    held = dealt(falling_counts(100_000, 1.5, flat=6.0), 8)
    masses = [top_k_missing_mass(held.counts, a, 5) for a in answers(held, mechanism, runs=10)]
    n_items = int(np.count_nonzero(held.counts))
    asked = {"k": 5, "n_items": n_items, "local_epsilon": mechanism.local_epsilon, "beta": BETA}
    bound = bounds_of(held, mechanism).top_k_missing_mass(**asked)
    assert max(masses) <= bound < 0.1
    nothing = WeightedGaussianPeeling(k=5, epsilon=1e-3, delta=1e-6, max_items_per_user=4)
    weak = bounds_of(held, nothing)
    assert weak.top_k_missing_mass(**asked | {"local_epsilon": nothing.local_epsilon}) == 1


def test_the_top_k_missing_mass_of_items_that_discovery_misses():
    k, discovery = 20, WeightedGaussianPeeling(k=20, **BUDGET, max_items_per_user=1)
    held = dealt(np.append(4000, np.full(k - 1, 30)))
    asked = {"k": k, "n_items": k, "local_epsilon": 100.0, "beta": BETA}
    bound = bounds_of(held, discovery).top_k_missing_mass(**asked)
    for named in answers(held, discovery, runs=5):
        mass = top_k_missing_mass(held.counts, named, k)
        assert bound / 3 < mass <= bound < 1  # without the factor k it would be 20 times smaller


@given(st.integers(1, 30), st.integers(1, 10**6), st.floats(0.01, 10), st.floats(1e-9, 0.9))
def test_the_bounds_of_picks_are_their_formulas(k, n_items, local_epsilon, beta):
    bounds = WeightedGaussianBounds(**SETTING | {"n_pairs": 10**9})
    asked = {"k": k, "n_items": n_items, "local_epsilon": local_epsilon, "beta": beta}
    missed = bounds.missed_count(beta=beta / 2)  # the other half is for the picks
    logs, sums = k * math.log(n_items), gamma.isf(beta / 2, k)
    lost = k * missed + (logs + sums) / local_epsilon
    assert bounds.top_k_missing_mass(**asked) == pytest.approx(min(1, lost / 10**9))
    within_reach = 10**6 - k * missed - logs / local_epsilon
    least = (1 - (1 - 1 / k) ** k) * within_reach - sums / local_epsilon
    assert bounds.hits(optimum=10**6, **asked) == pytest.approx(max(0, least))


@pytest.mark.parametrize("k", [1, 2, 7, 30])
def test_picks_together_fall_short_by_a_sum_of_exponentials(k):
    sums = np.random.default_rng(1).standard_exponential((100_000, k)).sum(axis=1)
    for beta in (0.5, 0.05, 0.002):
        chance = _lost_by_picks(k, 1, 0.25, beta)[1]
        assert abs(np.mean(sums / 0.25 > chance) - beta) < 5 * math.sqrt(beta / 100_000)


def test_picks_among_many_alike():
    """Against k best items a little above many others, picks lose nearly what the bound says."""
    rng = np.random.default_rng(1)
    k, n_items, local_epsilon = 5, 2000, 0.1
    counts = np.full(n_items, 200)
    counts[:k] += int((math.log(n_items) - 4) / local_epsilon)
    certain, chance = _lost_by_picks(k, n_items, local_epsilon, BETA)
    noisy = counts + rng.gumbel(scale=1 / local_epsilon, size=(50, n_items))
    picked = np.argsort(-noisy)[:, :k]
    lost = counts[:k].sum() - counts[picked].sum(axis=1)
    assert lost.max() <= certain + chance
    assert lost.mean() > max(chance, (certain + chance) / 4)  # the logarithm of M is needed


def user_peeling(held, domain, k, local_epsilon, rng):
    """Algorithm 4 with Gumbel noise in floats: a reference for tests, not private."""
    ranges = zip(held.starts.tolist(), held.sizes.tolist(), strict=True)
    left = [set(held.items[start : start + size].tolist()) for start, size in ranges]
    domain, chosen = list(domain), []
    while domain and len(chosen) < k:
        counts = np.bincount([i for items in left for i in items], minlength=held.n_items)
        noisy = counts[domain] + rng.gumbel(scale=1 / local_epsilon, size=len(domain))
        chosen.append(domain.pop(int(noisy.argmax())))
        left = [items for items in left if chosen[-1] not in items]
    return chosen


def test_the_users_reached():
    n, local_epsilon, rng = 4000, 0.2, np.random.default_rng(1)
    # Two items reach n users each, and a third a little more than half of both.
    halves, middle = np.arange(2 * n), np.arange(n // 2 - 100, 3 * n // 2 + 100)
    users = np.concatenate([halves, middle]).astype(np.uint32)
    items = np.repeat([0, 1, 2], [n, n, len(middle)]).astype(np.uint32)
    held = Contributions.of_rows(users, items, n_users=2 * n, n_items=3)
    discovery = WeightedGaussian(**BUDGET, max_items_per_user=2)
    asked = {"n_items": 3, "local_epsilon": local_epsilon, "beta": BETA}
    bound = bounds_of(held, discovery).hits(k=2, optimum=2 * n, **asked)
    for domain in answers(held, discovery, runs=5):
        reached = hits(held, user_peeling(held, domain, 2, local_epsilon, rng))
        assert 0.9 * reached < bound <= reached
        assert bound / 0.75 > reached  # without the factor of greedy choice, 3/4 at k = 2


def test_the_users_reached_by_items_that_discovery_misses():
    k, users, rng = 20, 20, np.random.default_rng(1)
    discovery = WeightedGaussian(**BUDGET, max_items_per_user=1)
    held = dealt(np.full(k, users))
    bound = bounds_of(held, discovery).hits(
        k=k, optimum=k * users, n_items=k, local_epsilon=100.0, beta=BETA
    )
    for domain in answers(held, discovery, runs=5):
        reached = hits(held, user_peeling(held, domain, k, 100.0, rng))
        assert bound <= reached < (1 - (1 - 1 / k) ** k) * k * users  # the factor alone


# What is refused

SETTING = {
    "n_pairs": 1000, "largest_set": 5, "sigma": 4.0, "threshold": 20.0, "max_items_per_user": 5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_pairs", 0), ("n_pairs", 1.5), ("largest_set", 0), ("max_items_per_user", True),
        ("sigma", 0.0), ("sigma", math.nan), ("sigma", "4"), ("threshold", 0.5),
        ("threshold", math.inf), ("n_pairs", 10**400), ("largest_set", 2**64),
        ("max_items_per_user", 10**20), ("sigma", 1e200), ("sigma", 10**400),
    ],
)  # fmt: skip
def test_a_setting_out_of_range_is_refused(name, value):
    refusal(lambda: WeightedGaussianBounds(**SETTING | {name: value}), f"{name}=", "must be")


@pytest.mark.parametrize(
    "ask",
    [
        lambda bounds: bounds.missed_count(beta=0),
        lambda bounds: bounds.missed_count(beta=1),
        lambda bounds: bounds.missed_count(beta=5e-324),
        lambda bounds: bounds.missing_mass(C=0, s=1.5, beta=0.1),
        lambda bounds: bounds.missing_mass(C=1, s=-1, beta=0.1),
        lambda bounds: bounds.missing_mass(C=1, s=1e300, beta=0.1),
        lambda bounds: bounds.top_k_missing_mass(k=0, n_items=3, local_epsilon=1, beta=0.1),
        lambda bounds: bounds.hits(k=1, optimum=3, n_items=0, local_epsilon=1, beta=0.1),
        lambda _: rare_item_chance(0, epsilon=1.0, delta=0.1),
        lambda _: rare_item_chance(10**30, epsilon=1.0, delta=0.1),
        lambda _: rare_item_chance(2, epsilon=1e308, delta=0.1),
        lambda _: rare_item_users(epsilon=0.0, delta=0.1),
        lambda _: rare_item_users(epsilon=1.0, delta=0.0),
        lambda _: least_missing_mass(C=0.5, s=1.5, n_pairs=10, epsilon=1.0, delta=0.1),
        lambda _: least_top_k_missing_mass(k=0, n_pairs=10, epsilon=1.0, delta=0.1),
        lambda _: least_missing_mass_of_counts(np.array([-5, 10]), epsilon=1.0, delta=0.1),
        lambda _: least_missing_mass_of_counts(np.array([1.5]), epsilon=1.0, delta=0.1),
        lambda _: least_missing_mass_of_counts([2**63], epsilon=1.0, delta=0.1),
    ],
)
def test_a_number_out_of_range_is_refused(ask):
    refusal(lambda: ask(WeightedGaussianBounds(**SETTING)), "must be")


@pytest.mark.parametrize("beta", [0, -0.1, 1, 1.5, 5e-324, 1e-200, math.nan, "0.1"])
def test_the_chance_to_fail_is_refused_as_it_was_given(beta):
    bounds, asked = WeightedGaussianBounds(**SETTING), {"beta": beta}
    picks = {"k": 2, "n_items": 3, "local_epsilon": 1.0}
    for ask in (
        lambda: bounds.missed_count(**asked),
        lambda: bounds.missing_mass_linf(**asked),
        lambda: bounds.missing_mass(C=1, s=1.5, **asked),
        lambda: bounds.top_k_missing_mass(**picks, **asked),
        lambda: bounds.hits(optimum=3, **picks, **asked),
    ):
        refusal(ask, f"beta={beta!r}: must be")


@pytest.mark.parametrize("optimum", [-1, math.nan, math.inf, "5", None])
def test_what_the_best_items_reach_is_a_number_of_users(optimum):
    asked = {"k": 2, "n_items": 3, "local_epsilon": 1.0, "beta": 0.1}
    bounds = WeightedGaussianBounds(**SETTING)
    refusal(lambda: bounds.hits(optimum=optimum, **asked), "optimum=", "at least 0")
    assert bounds.hits(optimum=0, **asked) == 0


@pytest.mark.parametrize("largest_set", [1, 2**53])
@pytest.mark.parametrize("kept", [1, 2**53])
@pytest.mark.parametrize("sigma", [1e-300, 9e99])
def test_the_extremes_are_answered(largest_set, kept, sigma):
    given = {"largest_set": largest_set, "max_items_per_user": kept, "sigma": sigma}
    for threshold, n_pairs in itertools.product([1, 9e99], [1, 2**53]):
        more = {"threshold": threshold, "n_pairs": n_pairs}
        bounds = WeightedGaussianBounds(**given | more)
        for beta in (1.1e-100, 1 - 2**-53):
            assert 0 <= bounds.missed_count(beta=beta) <= n_pairs
            for C, s in itertools.product([5e-324, 9e99], repeat=2):  # noqa: N806
                assert 0 <= bounds.missing_mass(C=C, s=s, beta=beta) <= 1
            for local_epsilon in (5e-324, 9e99):
                picks = {"k": 2**53, "n_items": 2**53, "local_epsilon": local_epsilon}
                assert 0 <= bounds.top_k_missing_mass(**picks, beta=beta) <= 1
                assert bounds.hits(optimum=2**53, **picks, beta=beta) >= 0
