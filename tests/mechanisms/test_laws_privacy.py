"""Output laws: the privacy of scores, and of wrong thresholds and noises."""

import dataclasses
import math
from functools import cached_property

import numpy as np
import pytest

from helpers.laws import (
    FreshScores,
    build,
    histogram,
    honest,
    output_law,
    positions_law,
    with_wrong,
)
from helpers.losses import hockey_stick, largest_log_ratio, neighbours
from shortlist.draws import Order
from shortlist.draws.noise import Normal
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import (
    DiscoverThenRank,
    Peeling,
    Selection,
    WeightedGaussian,
    WeightedGaussianPeeling,
)
from shortlist.mechanisms._two_gaussians import TwoGaussians
from shortlist.privacy.calibration import threshold


class Loose(TwoGaussians):
    def _threshold(self, sigma):
        return threshold(sigma=sigma, delta=self.delta, max_items_per_user=2)


EPSILONS = [0.0, 0.2, 0.5, 1.0, 1.5, 2.0, 2.5]


def worst_excess(mechanism, pairs, **how):
    """The largest amount by which some delta exceeds what the cost says, over both directions."""
    laws = {}

    def output(data):
        if data not in laws:
            laws[data] = output_law(mechanism, data, **how)
        return laws[data]

    worst = -math.inf
    for data, more in pairs:
        p, q = output(data), output(more)
        for epsilon in EPSILONS:
            allowed = mechanism.cost.delta(epsilon)
            largest = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
            worst = max(worst, largest - allowed)
    return worst


def score_edges(mechanism):
    """Where the scores of a selection are cut into cells: near the thresholds, where they tell."""
    threshold = getattr(mechanism, "mean_threshold", None) or mechanism.threshold
    return tuple(threshold + offset for offset in (0.3, 1.0, 2.5))


FEW = list(neighbours(range(2), users=3))


@pytest.mark.parametrize(("mechanism", "k"), [(WeightedGaussian, None), (DiscoverThenRank, 1)])
def test_privacy_of_all_small_neighbours_with_their_scores(mechanism, k):
    mechanism = build(mechanism, k=k)
    assert worst_excess(mechanism, FEW, n_items=2, edges=score_edges(mechanism)) < 1e-9


class LoudScores(WeightedGaussian):
    """The right items, with scores that have a tenth of the noise."""

    def scored(self, named, draws):
        quiet = Normal(self.sigma / 10)
        ranked = draws.order(Order(named.weights, [quiet], digits=2))
        return Selection(named.positions[ranked.positions], ranked.values, noise_sd=self.sigma)


def test_scores_with_too_little_noise_are_caught():
    mechanism = build(LoudScores, k=None)
    assert worst_excess(mechanism, FEW, n_items=2, edges=score_edges(mechanism)) > 0.005


def test_peeled_scores_from_fresh_noise_are_caught():
    # Nearly all of the budget goes to the first stage, and is spent again by new noise. The
    # weights are about one standard deviation below the threshold.
    alone = frozenset({0})
    single = [((alone,) * 4, (alone,) * 5)]

    def excess(mechanism):
        mechanism = build(mechanism, k=1, delta=0.02)
        mechanism = dataclasses.replace(mechanism, discovery_share=0.99, threshold_share=0.02)
        edges = tuple(mechanism.first_threshold + x for x in (-1.0, 0.0, 1.0, 2.0))
        return worst_excess(mechanism, single, n_items=1, edges=edges)

    assert excess(DiscoverThenRank) < 1e-9
    assert excess(FreshScores) > 0.01


class LooseThreshold(WeightedGaussian):
    threshold = cached_property(lambda _: 0.7 * build(WeightedGaussian, k=None).threshold)


class LooseThresholds(DiscoverThenRank):
    """Both thresholds with the whole of the delta that is meant for the two together."""

    gaussians = with_wrong(Loose)


class LooseDiscovery(WeightedGaussianPeeling):
    threshold = cached_property(lambda self: 0.7 * self.discovery.threshold)


class LoosePeeling(Peeling):
    local_epsilon = cached_property(lambda self: 1.3 * self.epsilon / self.k)


@pytest.mark.parametrize("mechanism", [LooseThreshold, LooseDiscovery])
def test_a_threshold_that_is_30_percent_low_is_caught(mechanism):
    single = [((), (frozenset({0, 1}),)), ((), (frozenset({0}),))]
    assert worst_excess(build(mechanism, k=1), single) > 0.01


def test_a_peeling_that_is_30_percent_sharp_is_caught():
    mechanism = LoosePeeling(k=1, epsilon=1.0)
    low, high = PublicCounts(np.array([0, 9])), PublicCounts(np.array([1, 9]))
    p, q = positions_law(mechanism, low), positions_law(mechanism, high)
    assert largest_log_ratio(q, p) > 1.25


def test_neither_threshold_may_use_up_the_whole_delta():
    # One user who holds one item of their own: naming it at all is the loss.
    data = (frozenset({0}),)
    honest = build(DiscoverThenRank, k=2, delta=0.02)
    loose = build(LooseThresholds, k=2, delta=0.02)
    named = {m: 1 - output_law(m, data)[((), m.mean_sigma)] for m in (honest, loose)}
    assert named[honest] <= honest.threshold_delta
    assert named[loose] > 1.5 * honest.threshold_delta


class Quiet(WeightedGaussian):
    """Noise that is 30 % too small, with the right threshold."""

    sigma = cached_property(lambda self: 0.7 * honest(self).sigma)
    threshold = cached_property(lambda self: honest(self).threshold)


@pytest.mark.parametrize(("mechanism", "caught"), [(WeightedGaussian, False), (Quiet, True)])
def test_a_noise_that_is_30_percent_small_is_caught(mechanism, caught):
    mechanism = build(mechanism, k=None, epsilon=1.0, delta=0.02)
    excess = -math.inf
    for offset in (-1.5, -0.5, 0.5):
        weight = mechanism.threshold + offset
        p = positions_law(mechanism, histogram([weight], [9]))
        q = positions_law(mechanism, histogram([weight + 1], [9]))
        for epsilon in np.linspace(0, 1, 11):
            largest = max(hockey_stick(p, q, epsilon), hockey_stick(q, p, epsilon))
            excess = max(excess, largest - mechanism.cost.delta(epsilon))
    assert bool(excess > 0) is caught
