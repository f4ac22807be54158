"""Discover, then hit: its exact law against its definition, and wrong stages."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest
from scipy.special import ndtr

from helpers.hitting import contributions, picks_oracle, positions_law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import DiscoverThenHit
from shortlist.privacy.calibration import bounded_range_epsilon


def named_by_mean(gaussians, weight):
    """P(an item of that weight is not named at first, and then by the mean), by quadrature."""
    share, sigma = gaussians.first_share, gaussians.first_sigma
    nodes, shares = np.polynomial.legendre.leggauss(400)
    low, high = weight - 12 * sigma, min(gaussians.first_threshold, weight + 12 * sigma)
    first = (nodes + 1) / 2 * (high - low) + low
    density = np.exp(-(((first - weight) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))
    missing = gaussians.mean_threshold - share * first - (1 - share) * weight
    chance = ndtr(-missing / ((1 - share) * gaussians.second_sigma))
    return float(shares @ (density * chance)) * (high - low) / 2


def first_named(mechanism, weights):
    """The items that the first Gaussian can name, and the probability of each set of them."""
    held = [x for x, weight in enumerate(weights) if weight > 0]
    for named in itertools.product([False, True], repeat=len(held)):
        chances = [
            ndtr(
                (1 if yes else -1)
                * (weights[x] - mechanism.first_threshold)
                / mechanism.first_sigma
            )
            for x, yes in zip(held, named, strict=True)
        ]
        found = [x for x, yes in zip(held, named, strict=True) if yes]
        yield held, found, math.prod(chances)


def hit_oracle(mechanism, data, kept):
    """The law of DiscoverThenHit by its definition, given what bounding kept of each user."""
    weights = [sum(len(held) ** -0.5 for held in kept if x in held) for x in range(2)]
    k, outcomes = mechanism.k, {}

    def add(domain, epsilon, p):
        for picked, q in picks_oracle(data, domain, k, epsilon).items():
            outcomes[picked] = outcomes.get(picked, 0) + p * q

    for held, found, p in first_named(mechanism, weights):
        if len(found) >= k:
            add(found, mechanism.local_epsilon, p)
            continue
        gaussians = mechanism.gaussians_after(len(found))
        picks = bounded_range_epsilon(k, mechanism.picks_rho(len(found)))
        others = [x for x in held if x not in found]
        missed = {
            x: ndtr((gaussians.first_threshold - weights[x]) / gaussians.first_sigma)
            for x in others
        }
        for more in itertools.product([False, True], repeat=len(others)):
            chance = p
            for x, yes in zip(others, more, strict=True):
                by_mean = named_by_mean(gaussians, weights[x]) / missed[x]
                chance *= by_mean if yes else 1 - by_mean
            add(found + [x for x, yes in zip(others, more, strict=True) if yes], picks, chance)
    return outcomes


def averaged(data, bound, oracle):
    """The mean of an oracle's laws over what bounding may keep of each user."""
    kept = [list(itertools.combinations(sorted(held), min(bound, len(held)))) for held in data]
    outcomes = {}
    for choice in itertools.product(*kept):
        for outcome, p in oracle([frozenset(c) for c in choice]).items():
            outcomes[outcome] = outcomes.get(outcome, 0) + p / math.prod(map(len, kept))
    return outcomes


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
        local_epsilon = bounded_range_epsilon(k, mechanism.picks_rho(named))
        assert whole * Fraction(9, 10) < first + second + picks(local_epsilon) <= whole


def test_where_enough_is_discovered_picks_are_by_whom_they_reach():
    mechanism = DiscoverThenHit(k=2, epsilon=60.0, delta=0.1, max_items_per_user=3)
    data = [frozenset({0, 1})] * 60 + [frozenset({2})] * 40
    for seed in range(5):
        picked = mechanism.select(contributions(data, 3), ExactDraws(SeededBits(seed)))
        assert set(picked.positions.tolist()) in ({0, 2}, {1, 2})
        assert picked.noise_sd == mechanism.first_sigma
