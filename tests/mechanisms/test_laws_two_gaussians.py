"""Output laws where two Gaussians name an item: the names, the scores and the means."""

import itertools
import math

import numpy as np
import pytest
from scipy.special import ndtr

from helpers.laws import FreshScores, agree, build, histogram, positions_law, with_wrong
from helpers.oracles_of_counts import peeling_oracle
from helpers.oracles_of_users import subsets
from helpers.oracles_two_gaussians import normal_orthant, top_up
from shortlist.audit.exact.enumerator import law
from shortlist.draws.noise import Normal
from shortlist.mechanisms import DiscoverThenRank
from shortlist.mechanisms._two_gaussians import TwoGaussians


@pytest.mark.parametrize("k", [1, 2])
def test_adaptive_top_up_is_the_two_gaussians_it_stands_for(k):
    mechanism = build(DiscoverThenRank, k=k)
    weights, counts = [1.8, 2.6], [2, 3]
    oracle = top_up(mechanism, weights, counts)
    agree(positions_law(mechanism, histogram(weights, counts)), oracle, 2e-5)


class SortedNoise(TwoGaussians):
    def first_scores(self, weights, draws):
        return np.sort(super().first_scores(weights, draws))[::-1]


class FreshMean(TwoGaussians):
    def first_noise(self, weights, named, weight=1.0):
        kept = super().first_noise(weights, named, weight)
        return kept if weight == 1.0 else Normal(self.first_sigma, weight)


class SortedScores(DiscoverThenRank):
    """The scores of peeled items, best first, given to the items in the order picked."""

    gaussians = with_wrong(SortedNoise)


class FreshMeans(DiscoverThenRank):
    """The mean of two new Gaussians: which side the first one fell on is forgotten."""

    gaussians = with_wrong(FreshMean)


def scores_law(mechanism, evidence, edges, *, peeled):
    """The law of (positions, cells of their scores) where items were peeled, or where not."""

    def run(draws):
        selection = mechanism.select(evidence, draws)
        told = tuple(selection.positions.tolist()), tuple(selection.scores)
        return told if (selection.noise_sd == mechanism.first_sigma) is peeled else None

    law_of_all = law(run, edges)
    return {outcome: p for outcome, p in law_of_all.items() if outcome is not None}


def difference(law, oracle):
    return max(abs(law.get(o, 0) - oracle.get(o, 0)) for o in law.keys() | oracle.keys())


def cut_into_cells(edges):
    """Number and ends of each cell."""
    return list(enumerate(itertools.pairwise([-math.inf, *edges, math.inf])))


def peeled_scores_oracle(mechanism, weights, counts, edges):
    """Y1 of every item, at least k of them at T1 or above, k of these picked, each with its Y1."""
    first, sigma = mechanism.first_threshold, mechanism.first_sigma

    def chance(i, low, high):
        return max(0.0, ndtr((high - weights[i]) / sigma) - ndtr((low - weights[i]) / sigma))

    oracle = {}
    for named in subsets(len(weights)):
        found = [i for i, yes in enumerate(named) if yes]
        if len(found) < mechanism.k:
            continue
        failed = math.prod(chance(i, -math.inf, first) for i, yes in enumerate(named) if not yes)
        picks = peeling_oracle([counts[i] for i in found], mechanism.k, mechanism.local_epsilon)
        for places, p in picks.items():
            picked = tuple(found[j] for j in places)
            left = math.prod(chance(i, first, math.inf) for i in found if i not in picked)
            for cells in itertools.product(cut_into_cells(edges), repeat=mechanism.k):
                inside = math.prod(
                    chance(i, max(low, first), high)
                    for i, (_, (low, high)) in zip(picked, cells, strict=True)
                )
                outcome = picked, tuple(cell for cell, _ in cells)
                oracle[outcome] = oracle.get(outcome, 0) + p * failed * left * inside
    return oracle


@pytest.mark.parametrize(
    ("k", "weights", "counts"),
    [
        (1, [3.5], [4]),
        (2, [3.4, 6.5], [7, 8]),
        (2, [6.5, 3.0, 4.5], [7, 8, 7]),
    ],
)
def test_peeled_items_have_the_first_scores_that_named_them(k, weights, counts):
    # The picks by counts are often not in the order of the weights.
    evidence = histogram(weights, counts)

    def distance(mechanism):
        mechanism = build(mechanism, k=k)
        edges = tuple(mechanism.first_threshold + x for x in (-1.0, 0.5, 2.0, 4.0))
        seen = scores_law(mechanism, evidence, edges, peeled=True)
        return difference(seen, peeled_scores_oracle(mechanism, weights, counts, edges))

    assert distance(DiscoverThenRank) < 1e-9
    if len(weights) < 3:  # as many as show what is wrong
        assert distance(FreshScores) > 0.01
        assert k == 1 or distance(SortedScores) > 0.01


def mean_cells(mechanism, weight, edges, *, named):
    """Of one item: P(Y1 on this side of T1, C in each cell, and the item released)."""
    w, first, second = (
        mechanism.gaussians.first_share,
        mechanism.first_threshold,
        mechanism.mean_threshold,
    )
    side = ((-1, 0), -first) if named else ((1, 0), first)
    covariance = np.diag([mechanism.first_sigma**2, mechanism.second_sigma**2])

    def below(level):
        return normal_orthant([side, ((w, 1 - w), level)], np.repeat(weight, 2), covariance)

    least = -math.inf if named else second
    chances = {}
    for cell, (low, high) in cut_into_cells(edges):
        chances[cell] = below(high) - below(max(low, least)) if least < high else 0.0
    return chances


def mean_edges(mechanism):
    return tuple(mechanism.mean_threshold + x for x in (-0.5, 0.4, 1.2, 2.5))


@pytest.mark.parametrize(("weight", "people"), [(1.0, 1), (2.4, 3), (3.2, 4)])
@pytest.mark.parametrize("k", [1, 2])
def test_the_mean_of_one_item_has_the_first_noise_that_is_known(weight, people, k):
    def distance(mechanism):
        mechanism = build(mechanism, k=k)
        edges = mean_edges(mechanism)
        oracle = {}
        for named in [False, True][:k]:  # with k = 1 a named item is peeled
            for cell, p in mean_cells(mechanism, weight, edges, named=named).items():
                oracle[(0,), (cell,)] = oracle.get(((0,), (cell,)), 0) + p
        seen = scores_law(mechanism, histogram([weight], [people]), edges, peeled=False)
        seen.pop(((), ()))
        return difference(seen, oracle)

    assert distance(DiscoverThenRank) < 1e-8
    assert distance(FreshMeans) > 0.002


def test_the_means_of_two_items_are_their_own():
    mechanism = build(DiscoverThenRank, k=3)
    weights, edges = [1.4, 4.2], mean_edges(mechanism)
    released = [
        [mean_cells(mechanism, weight, edges, named=named) for named in (False, True)]
        for weight in weights
    ]
    each = [{cell: no[cell] + yes[cell] for cell in no} for no, yes in released]
    each = [chances | {None: 1 - sum(chances.values())} for chances in each]
    oracle = {pair: each[0][pair[0]] * each[1][pair[1]] for pair in itertools.product(*each)}
    seen = {}
    evidence = histogram(weights, [2, 5])
    for (positions, cells), p in scores_law(mechanism, evidence, edges, peeled=False).items():
        assert list(cells) == sorted(cells, reverse=True)
        cell_of = dict(zip(positions, cells, strict=True))
        pair = cell_of.get(0), cell_of.get(1)
        seen[pair] = seen.get(pair, 0) + p
    agree(seen, oracle, 1e-8)
