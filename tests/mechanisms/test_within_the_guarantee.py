"""How a mechanism's stages are counted: within (epsilon, delta), nearly all of it, and no worse."""

import itertools
import json
from functools import partial

import polars as pl
import pytest

import shortlist as sl
from helpers.command import top_k
from helpers.exhaustive import exhaustive
from shortlist.bits import SeededBits
from shortlist.mechanisms import (
    Accounting,
    AdaptiveGaussian,
    AdaptiveHittingSet,
    AdaptiveTopK,
    AddedNoise,
    ChosenBound,
    DiscoverThenRank,
    ItemsThenPairs,
    JointOrPeel,
    LimitedDomain,
    Peeling,
    PolicyGaussian,
    SetOrPeel,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
)
from shortlist.mechanisms.peeling import EDGE
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    ItemsByThreshold,
    Threshold,
)
from shortlist.privacy.accountant.gaussian_threshold import GaussianThreshold, noisy_weights
from shortlist.privacy.composed import composition_of

KINDS = [
    AdaptiveGaussian,
    AdaptiveHittingSet,
    AdaptiveTopK,
    ChosenBound,
    DiscoverThenRank,
    ItemsThenPairs,
    JointOrPeel,
    LimitedDomain,
    Peeling,
    PolicyGaussian,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
]
every = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
NOISE = [  # more of which is worse; of a local epsilon, less is
    "sigma",
    "threshold",
    "scale",
    "lead",
    "first_sigma",
    "first_threshold",
    "second_sigma",
    "mean_sigma",
    "mean_threshold",
]
MET = 0.995  # of delta, at least
BUDGETS = [(1e-3, 1e-12), (0.1, 0.1), (1.0, 1e-6), (5.0, 1e-9), (20.0, 1e-3)]
SIZES = [(1, 1), (2, 100_000), (30, 30), (300, 1)]
WIDE = [(2000, 10), (20, 100_000)]


def _threshold(mechanism):
    return GaussianThreshold(mechanism.sigma, mechanism.threshold)


def build(kind, k, bound, **given):
    given = {"k": k, "max_items_per_user": bound, "most_items": bound, **given}
    return kind(**{name: given[name] for name in kind.fields() if name in given})


def settings():
    """Extremes of each, without all of their combinations."""
    few = [*zip(BUDGETS, [*SIZES, SIZES[2]], strict=True), (BUDGETS[2], SIZES[0])]
    yield from few
    both = itertools.chain(itertools.product(BUDGETS, SIZES), itertools.product(BUDGETS[2:3], WIDE))
    yield from exhaustive(*(one for one in both if one not in few))


def noise(mechanism):
    """What a person who asks sees, by name: the larger, the noisier."""
    numbers = {name: getattr(mechanism, name) for name in NOISE if hasattr(mechanism, name)}
    if isinstance(mechanism, JointOrPeel):
        del numbers["threshold"]  # where the choice switches
    if hasattr(mechanism, "local_epsilon"):
        once = getattr(mechanism, "one_shot", False)  # exponential noise, which names better
        numbers["pick"] = (1.0 if once else EDGE) / mechanism.local_epsilon
    if isinstance(mechanism, ThresholdTopK):
        numbers["scale"] *= EDGE if mechanism.added is AddedNoise.GUMBEL else 1.0
    return numbers


@every
@pytest.mark.parametrize(("budget", "size"), list(settings()))
def test_nearly_all_of_delta_is_spent_and_never_more_and_none_needs_more_noise(kind, budget, size):
    epsilon, delta = budget
    mechanism = build(kind, *size, epsilon=epsilon, delta=delta)
    spent = mechanism.cost.delta(epsilon)
    assert spent <= delta
    assert spent == 0 or spent >= MET * delta
    usual = build(kind, *size, epsilon=epsilon, delta=delta, accounting=Accounting.ZCDP)
    assert usual.cost.delta(epsilon) <= delta
    before = noise(usual)
    assert {name: x for name, x in noise(mechanism).items() if x > before[name]} == {}


@every
@pytest.mark.parametrize("size", [pytest.param((1, 1), marks=pytest.mark.exhaustive), (20, 100)])
def test_more_budget_is_never_more_noise(kind, size):
    for row in (
        [build(kind, *size, epsilon=e, delta=1e-6) for e in (0.01, 0.1, 0.9, 1.0, 1.01, 10.0)],
        [build(kind, *size, epsilon=1.0, delta=d) for d in (1e-12, 1e-7, 1e-6, 1.02e-6, 0.01)],
    ):
        for less, more in itertools.pairwise(row):
            after = noise(more)
            for name, value in noise(less).items():
                assert after[name] <= value * (1 + 1e-12), (name, less, more)


@pytest.mark.parametrize(("k", "least"), [(5, 0.232), (20, 0.1065), (200, 0.0334)])
def test_picks_are_as_sharp_as_they_can_be(k, least):
    given = {"k": k, "epsilon": 1.0, "delta": 1e-6}
    assert least <= Peeling(**given).local_epsilon <= 1.005 * least
    assert ThresholdTopK(**given).scale == pytest.approx(1 / Peeling(**given).local_epsilon)


@pytest.mark.parametrize(("epsilon", "delta", "most"), [(1.0, 1e-6, 23.85), (0.1, 1e-5, 160.3)])
def test_thresholds_are_as_low_as_they_can_be(epsilon, delta, most):
    given = {"epsilon": epsilon, "delta": delta, "max_items_per_user": 100}
    assert 0.99 * most < WeightedGaussian(**given).threshold <= most
    assert PolicyGaussian(**given).threshold <= most


@pytest.mark.parametrize(
    "mechanism",
    [
        JointOrPeel(k=20, epsilon=1.0, delta=1e-6),
        SetOrPeel(k=20, epsilon=1.0, delta=1e-6),
        AdaptiveTopK(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100),
    ],
    ids=lambda mechanism: type(mechanism).__name__,
)
def test_a_choice_is_a_stage_before_what_it_decides(mechanism):
    """After it, the worst case would be too small: what follows may depend on what it told."""
    choice, ways = composition_of(mechanism.cost).stages
    assert isinstance(choice, BoundedRange)
    assert choice.times == 1
    assert isinstance(ways, EitherStage)


def test_the_first_threshold_of_discover_then_rank():
    mechanism = DiscoverThenRank(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    assert 44.0 < mechanism.first_threshold <= 44.6


@every
@pytest.mark.parametrize("epsilon", [50.0, 100.0])
def test_a_large_epsilon_is_within_reach(kind, epsilon):
    for k in (1, 7):
        assert build(kind, k, 10, epsilon=epsilon, delta=1e-6).cost.delta(epsilon) <= 1e-6


# --- mistakes that no small universe shows


def test_a_threshold_counted_as_if_it_were_independent_of_the_noise_is_no_lower():
    # Half of delta each would hold for any threshold; taking that for the exact one wastes noise,
    # and giving all of delta to both without looking at users between them does not always hold.
    exact = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    halves = WeightedGaussian(
        epsilon=1.0, delta=1e-6, max_items_per_user=100, accounting=Accounting.ZCDP
    )
    by_halves = noisy_weights(_threshold(halves), 100)
    assert by_halves.delta(1.0) < 0.6e-6  # what the exact one has more
    assert noisy_weights(_threshold(exact), 100).delta(1.0) > 0.995e-6
    twice = WeightedGaussian(epsilon=1.0, delta=2e-6, max_items_per_user=100)
    assert (
        noisy_weights(GaussianThreshold(twice.sigma, twice.threshold), 100).least_delta(1.0) > 1e-6
    )


def test_a_coin_of_one_item_where_users_have_two_is_seen_in_the_cost():
    for bound in (2, 100):
        one = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=1)
        honest = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=bound)
        assert (
            noisy_weights(GaussianThreshold(honest.sigma, honest.threshold), bound).delta(1.0)
            <= 1e-6
        )
        low = honest.sigma, min(one.threshold, honest.threshold - 0.5)
        assert noisy_weights(GaussianThreshold(*low), bound).least_delta(1.0) > 1e-6


def test_thresholds_of_two_tests_with_all_of_delta_each_are_seen_in_the_cost():
    mechanism = DiscoverThenRank(k=20, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    twice = mechanism._thresholds(mechanism.rho, 2e-6)
    assert all(
        one.least < t
        for one, t in zip(twice, (mechanism.first_threshold, mechanism.mean_threshold), strict=True)
    )
    loose = Composition(mechanism.stages(mechanism.rho), ItemsByThreshold(twice, 100))
    assert loose.least_delta(1.0) > 1.5e-6
    right = tuple(Threshold(t.sigma, t.least) for t in mechanism.gaussians.thresholds)
    assert (
        Composition(mechanism.stages(mechanism.rho), ItemsByThreshold(right, 100)).delta(1.0)
        <= 1e-6
    )


# --- where it is asked for

ROWS = pl.DataFrame({"user": [1, 2, 3, 4] * 20, "item": [f"i{n}" for n in range(20)] * 4})


def test_it_is_an_option_in_python():
    source = sl.pairs(ROWS, user="user", item="item", public_items=sorted(set(ROWS["item"])))
    asked = {"epsilon": 1.0, "delta": 1e-6, "random": SeededBits(1)}
    usual = source.top_k(20, **asked, mechanism=Peeling)
    many = source.top_k(20, **asked, mechanism=partial(Peeling, accounting=Accounting.ZCDP))
    assert usual.mechanism.accounting is Accounting.EXACT
    assert many.mechanism.accounting is Accounting.ZCDP
    assert many.mechanism.local_epsilon < usual.mechanism.local_epsilon
    assert many.guarantee.cost.rho < usual.guarantee.cost.rho


@pytest.mark.parametrize("accounting", list(Accounting))
def test_it_is_an_option_of_the_command(run, file, accounting):
    words = [*top_k(file), "--mechanism", "discover-then-rank", "--dry-run", "--json"]
    status, out, err = run(*words, "--option", f"accounting={accounting.value}")
    if accounting is Accounting.PUBLISHED:
        assert status != 0
        assert "accounting" in err
        return
    assert (status, err) == (0, "")
    told = json.loads(out)["mechanism"]["parameters"]
    assert told["accounting"] == accounting.value
    assert ("threshold_share" in told) == (accounting is Accounting.ZCDP)
