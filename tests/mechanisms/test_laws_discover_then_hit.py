"""Discover, then hit: its exact law against its definition, and wrong stages."""

from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest

from helpers.hitting import contributions, positions_law
from helpers.oracles_of_users import averaged, hit_oracle
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import DiscoverThenHit
from shortlist.privacy.accountant import BoundedRange, EitherStage, SetThreshold, Threshold
from shortlist.privacy.accountant.as_normal import normal_noise_above
from shortlist.privacy.accountant.fitting import noise_on_weights, normal_noise
from shortlist.privacy.accountant.stages import mu_of
from shortlist.privacy.calibration import bounded_range_epsilon

LARGER = [frozenset(s) for s in ({0, 1}, {0}, {0, 1})]  # than the bound
ALONE = [frozenset({0})] * 5 + [frozenset({1})] * 4


def hit_distance(kind, k, data=LARGER):
    given = {"k": k, "epsilon": 4.0, "delta": 0.3, "max_items_per_user": 1}
    honest = DiscoverThenHit(**given)
    oracle = averaged(data, 1, lambda kept: hit_oracle(honest, data, kept))
    seen = positions_law(kind(**given), data, n_items=2)
    return max(abs(seen.get(o, 0) - oracle.get(o, 0)) for o in seen | oracle)


class SharpHit(DiscoverThenHit):
    """Picks with all of the budget, as if nothing were spent on discovery."""

    local_epsilon = cached_property(lambda self: self.epsilon)


class NoBound(DiscoverThenHit):
    """Discovery from whole sets."""

    def select(self, evidence, draws):
        return super().select(Whole(**vars(evidence)), draws)


class Whole(Contributions):
    def bounded(self, _, draws):
        return Contributions(**vars(self)).bounded(10**9, draws)


class PicksOfBounded(DiscoverThenHit):
    """Picks by what bounding kept."""

    def select(self, evidence, draws):
        kept = evidence.bounded(self.max_items_per_user, draws)
        return super().select(replace(kept, counts=kept.recount().counts), draws)


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("data", [LARGER, ALONE], ids=["larger", "alone"])
def test_discover_then_hit_is_its_definition(k, data):
    assert hit_distance(DiscoverThenHit, k, data) < 1e-8


@pytest.mark.parametrize(
    ("kind", "k", "data"), [(SharpHit, 1, ALONE), (NoBound, 1, LARGER), (PicksOfBounded, 2, LARGER)]
)
def test_a_wrong_stage_of_discover_then_hit_is_caught(kind, k, data):
    assert hit_distance(kind, k, data) > 1e-3


@pytest.mark.parametrize("k", [1, 2, 7])
def test_the_stages_of_discover_then_hit_fit_into_its_cost(k):
    mechanism = DiscoverThenHit(k=k, epsilon=1.0, delta=1e-5, max_items_per_user=20)
    whole = Fraction(mechanism.cost.rho)

    def gaussian(sigma):
        return 1 / (2 * Fraction(sigma) ** 2)

    def picks(local_epsilon):
        return k * Fraction(local_epsilon) ** 2 / 8

    first = gaussian(mechanism.first_sigma)
    assert whole * Fraction(9, 10) < first + picks(mechanism.local_epsilon) <= whole
    for named in range(k):
        second = gaussian(mechanism.gaussians_after(named).second_sigma)
        spent = first + second + picks(mechanism.picks_after(named))
        assert whole * Fraction(8, 10) < spent <= whole


def way_after(mechanism, named, shared):
    """The square of the mu of noise and picks together, as noise, for a user who shares so much."""
    second, _ = mechanism.split(mechanism.rest, named)
    picks = normal_noise_above(BoundedRange(mechanism.picks_after(named), mechanism.k))
    return shared * 2 * second + picks**2


def declared(mechanism, shared):
    """That of the way which stands for them in the cost."""
    _, branch = mechanism.composition.stages
    return mu_of(branch.second, shared) ** 2


class ByFewest(DiscoverThenHit):
    """The way that stands for all is that after no item, with the least for picks."""

    def stages(self, rho):
        first, branch = super().stages(rho)
        second, noise = self.split(self.shares(rho)[1], 0)
        way = noise_on_weights(second), normal_noise(noise)
        return first, EitherStage(branch.first, way)


class SharpAfter(DiscoverThenHit):
    """Picks after a second Gaussian by what they cost in zCDP."""

    def picks_after(self, named):
        return bounded_range_epsilon(self.k, self.split(self.rest, named)[1])


@pytest.mark.parametrize("k", [1, 2, 7, 30])
@pytest.mark.parametrize("shared", [0.0, 0.3, 0.99, 1.0])
def test_each_way_to_go_on_costs_no_more_than_the_one_that_stands_for_all(k, shared):
    mechanism = DiscoverThenHit(k=k, epsilon=1.0, delta=1e-5, max_items_per_user=20)
    for named in {0, k // 2, k - 1}:
        assert way_after(mechanism, named, shared) <= declared(mechanism, shared)


@pytest.mark.parametrize(
    ("kind", "shared"), [(ByFewest, 0.3), (SharpAfter, 0.3), (SharpAfter, 1.0)]
)
def test_a_way_that_costs_more_than_what_stands_for_it_is_caught(kind, shared):
    mechanism = kind(k=7, epsilon=1.0, delta=1e-5, max_items_per_user=20)
    assert way_after(mechanism, 6, shared) > declared(mechanism, shared) * 1.01


def test_a_threshold_for_sets_covers_that_of_each_mean():
    mechanism = DiscoverThenHit(k=5, epsilon=1.0, delta=1e-5, max_items_per_user=20)
    weights = 1 / np.sqrt(np.arange(1, 21))
    for_sets = SetThreshold(mechanism.threshold_delta / 2)
    for named in range(5):
        _, mean = mechanism.gaussians_after(named).thresholds
        assert (mean.chance(weights) <= for_sets.chance(weights) * (1 + 1e-9)).all()
        sharp = Threshold(mean.sigma, mean.least - 0.3 * mean.sigma)
        assert (sharp.chance(weights) > for_sets.chance(weights)).any()


def test_where_enough_is_discovered_picks_are_by_whom_they_reach():
    mechanism = DiscoverThenHit(k=2, epsilon=60.0, delta=0.1, max_items_per_user=3)
    data = [frozenset({0, 1})] * 60 + [frozenset({2})] * 40
    for seed in range(5):
        picked = mechanism.select(contributions(data, 3), ExactDraws(SeededBits(seed)))
        assert set(picked.positions.tolist()) in ({0, 2}, {1, 2})
        assert picked.noise_sd == mechanism.first_sigma
