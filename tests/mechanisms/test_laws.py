"""Output laws: the enumerator's law of each mechanism against brute force, and its privacy."""

import dataclasses
import itertools
import math
from functools import cached_property

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import multivariate_normal

from helpers.losses import hockey_stick, largest_log_ratio, neighbours
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import UNIT, ExactDraws
from shortlist.draws.noise import Normal
from shortlist.evidence import PrivateCounts, PublicCounts, WeightedHistogram
from shortlist.evidence.contributions import Contributions, unit_weight
from shortlist.mechanisms import (
    DiscoverThenHit,
    DiscoverThenRank,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    LimitedDomain,
    Peeling,
    PermuteAndFlip,
    Selection,
    UserPeeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
)
from shortlist.mechanisms._two_gaussians import TwoGaussians
from shortlist.privacy.calibration import threshold

EPSILON, DELTA = 2.0, 0.2  # so large that even one user is sometimes named


def build(mechanism, *, k, bound=2, epsilon=EPSILON, delta=DELTA):
    given = {"k": k, "epsilon": epsilon, "delta": delta, "max_items_per_user": bound}
    return mechanism(**{name: given[name] for name in given if name in mechanism.fields()})


def shown(held, mechanism, draws):
    """What the mechanism may look at: bounded, unless everybody knows the items."""
    if mechanism.evidence is Contributions:
        return held
    if mechanism.evidence is PublicCounts:
        return held.count()
    bounded = held.bounded(mechanism.max_items_per_user, draws)
    return bounded.recount() if mechanism.evidence is PrivateCounts else bounded.weigh()


def output_law(mechanism, data, n_items=3, edges=()):
    """The law of what leaves, for a data set of frozensets of item numbers: rows to selection."""
    rows = [(user, item) for user, items in enumerate(data) for item in sorted(items)]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))

    def run(draws):
        held = Contributions.of_rows(users, items, n_users=len(data), n_items=n_items)
        evidence = shown(held, mechanism, draws)
        selection = mechanism.select(evidence, draws)
        scores = tuple(selection.scores) if edges else ()
        return (*selection.positions.tolist(), scores, selection.noise_sd)

    return law(run, edges)


def histogram(weights, counts):
    return WeightedHistogram(
        np.array([round(w / UNIT) for w in weights]), np.array(counts), max_items_per_user=2
    )


def positions_law(mechanism, evidence):
    return law(lambda draws: tuple(mechanism.select(evidence, draws).positions.tolist()))


def agree(law, oracle, tolerance):
    assert abs(sum(law.values()) - 1) < tolerance
    for outcome in law.keys() | oracle.keys():
        assert abs(law.get(outcome, 0) - oracle.get(outcome, 0)) < tolerance, outcome


def peeling_oracle(counts, k, epsilon):
    """Each ordered k-tuple by the definition, item by item."""
    law = {}
    for picked in itertools.permutations(range(len(counts)), min(k, len(counts))):
        left, p = list(range(len(counts))), 1.0
        for item in picked:
            weights = [math.exp(epsilon * (counts[i] - max(counts))) for i in left]
            p *= weights[left.index(item)] / sum(weights)
            left.remove(item)
        law[picked] = p
    return law


def subsets(n):
    return itertools.product([False, True], repeat=n)


def test_peeling_is_the_exponential_mechanism_repeated():
    for d in range(1, 5):
        for counts in itertools.combinations_with_replacement(range(4), d):
            for k in range(1, d + 2):
                mechanism = Peeling(k=k, epsilon=1.3)
                oracle = peeling_oracle(counts, k, mechanism.local_epsilon)
                agree(positions_law(mechanism, PublicCounts(np.array(counts))), oracle, 1e-12)


def test_weighted_gaussian_names_items_independently():
    mechanism = build(WeightedGaussian, k=None)
    weights = [0.0, 0.7, 1.0, 3.5]
    law = positions_law(mechanism, histogram(weights, [0, 1, 1, 4]))
    sets = {}
    for positions, p in law.items():
        sets[frozenset(positions)] = sets.get(frozenset(positions), 0) + p
    chance = {i: ndtr((w - mechanism.threshold) / mechanism.sigma) for i, w in enumerate(weights)}
    oracle = {}
    for named in subsets(3):
        outcome = frozenset(i for i, yes in zip((1, 2, 3), named, strict=True) if yes)
        oracle[outcome] = math.prod(chance[i] if i in outcome else 1 - chance[i] for i in (1, 2, 3))
    agree(sets, oracle, 1e-9)  # the threshold is rounded to a grid of 2^-32


def test_published_peeling_within_what_was_discovered():
    mechanism = build(WeightedGaussianPeeling, k=2)
    weights, counts = [1.0, 2.4, 2.0], [1, 3, 2]
    oracle = {}
    for named in subsets(3):
        found = [i for i in range(3) if named[i]]
        p = math.prod(
            ndtr((1 if named[i] else -1) * (weights[i] - mechanism.threshold) / mechanism.sigma)
            for i in range(3)
        )
        picks = peeling_oracle([counts[i] for i in found], 2, mechanism.local_epsilon)
        for picked, q in picks.items():
            outcome = tuple(found[j] for j in picked)
            oracle[outcome] = oracle.get(outcome, 0) + p * q
    agree(positions_law(mechanism, histogram(weights, counts)), oracle, 1e-9)


def normal_orthant(constraints, mean, covariance):
    """P(each constraint · X <= bound) for normal X, by SciPy's own integration."""
    matrix = np.array([c for c, _ in constraints])
    bounds = np.array([b for _, b in constraints])
    return multivariate_normal.cdf(
        bounds,
        mean=matrix @ mean,
        cov=matrix @ covariance @ matrix.T,
        allow_singular=True,
        abseps=1e-9,
        releps=1e-9,
        maxpts=2_000_000,
    )


@pytest.mark.parametrize("k", [1, 2])
def test_adaptive_top_up_is_the_two_gaussians_it_stands_for(k):
    # Variables: the first noisy weights Y1 of both items, then their second ones Y2.
    mechanism = build(DiscoverThenRank, k=k)
    weights, counts = [1.8, 2.6], [2, 3]
    sigmas = np.repeat([mechanism.first_sigma, mechanism.second_sigma], 2)
    mean, covariance = np.tile(weights, 2), np.diag(sigmas**2)
    w = mechanism.gaussians.first_share
    y1, y2 = np.eye(4)[:2], np.eye(4)[2:]
    both = w * y1 + (1 - w) * y2
    first, second = mechanism.first_threshold, mechanism.mean_threshold
    oracle = {}

    def add(outcome, constraints):
        p = normal_orthant(constraints, mean, covariance)
        oracle[outcome] = oracle.get(outcome, 0) + p

    for named in subsets(2):
        sides = [(-y1[i], -first) if named[i] else (y1[i], first) for i in range(2)]
        if sum(named) >= k:
            found = [i for i in range(2) if named[i]]
            p = normal_orthant(sides, mean, covariance)
            picks = peeling_oracle([counts[i] for i in found], k, mechanism.local_epsilon)
            for picked, q in picks.items():
                outcome = tuple(found[j] for j in picked)
                oracle[outcome] = oracle.get(outcome, 0) + p * q
            continue
        for kept in subsets(2):
            if any(n and not y for n, y in zip(named, kept, strict=True)):
                continue
            levels = [
                (-both[i], -second) if kept[i] else (both[i], second)
                for i in range(2)
                if not named[i]
            ]
            found = [i for i in range(2) if kept[i]]
            if len(found) < 2:
                add(tuple(found), sides + levels)
            else:
                for order in itertools.permutations(range(2)):
                    ahead = (both[order[1]] - both[order[0]], 0.0)
                    add(order[:k], [*sides, *levels, ahead])
    agree(positions_law(mechanism, histogram(weights, counts)), oracle, 2e-5)


class FreshNoise(TwoGaussians):
    def first_noise(self, weights, named, weight=1.0):
        kept = super().first_noise(weights, named, weight)
        return Normal(self.first_sigma) if weight == 1.0 else kept


class SortedNoise(TwoGaussians):
    def first_scores(self, weights, draws):
        return np.sort(super().first_scores(weights, draws))[::-1]


class FreshMean(TwoGaussians):
    def first_noise(self, weights, named, weight=1.0):
        kept = super().first_noise(weights, named, weight)
        return kept if weight == 1.0 else Normal(self.first_sigma, weight)


class Loose(TwoGaussians):
    def _threshold(self, sigma):
        return threshold(sigma=sigma, delta=self.delta, max_items_per_user=2)


def with_wrong(kind):
    """Gaussians of a wrong kind in the place of those of a mechanism."""

    def gaussians(self):
        honest = DiscoverThenRank(**{name: getattr(self, name) for name in self.fields()}).gaussians
        return kind(
            **{field.name: getattr(honest, field.name) for field in dataclasses.fields(honest)}
        )

    return property(gaussians)


class FreshScores(DiscoverThenRank):
    """Scores of peeled items from noise drawn anew: one more Gaussian, which nobody pays for."""

    gaussians = with_wrong(FreshNoise)


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


@pytest.mark.parametrize(("weight", "people"), [(1.0, 1), (2.4, 3), (4.0, 4)])
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


HITTING = [DiscoverThenHit, UserPeeling]
ALL = [WeightedGaussian, WeightedGaussianPeeling, DiscoverThenRank, Peeling, *HITTING]
OF_COUNTS = [Joint, JointOrPeel, JointPermuteAndFlip, LimitedDomain, PermuteAndFlip]  # and Peeling
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


SMALL = list(neighbours(range(3), users=3))
FEWER_USERS = list(neighbours(range(3), users=2))


@pytest.mark.parametrize("mechanism", ALL + OF_COUNTS)
@pytest.mark.parametrize("k", [1, 2])
def test_privacy_of_all_small_neighbours(mechanism, k):
    if mechanism is WeightedGaussian and k == 2:
        pytest.skip("has no k")
    adaptive = mechanism in (DiscoverThenHit, DiscoverThenRank)  # whose laws take longest
    pairs = FEWER_USERS if adaptive and k == 2 else SMALL
    assert worst_excess(build(mechanism, k=k), pairs) < 1e-9


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

    def scored(self, weights, named, draws):
        quiet = Normal(self.sigma / 10)
        ranked = draws.order(weights[named], [quiet], digits=2)
        return Selection(named[ranked.positions], ranked.values, noise_sd=self.sigma)


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


def test_peeling_is_pure():
    mechanism = Peeling(k=2, epsilon=1.0)
    for data, more in SMALL:
        p, q = output_law(mechanism, data), output_law(mechanism, more)
        assert largest_log_ratio(p, q) <= 1 + 1e-12
        assert largest_log_ratio(q, p) <= 1 + 1e-12


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


def honest(mechanism):
    return WeightedGaussian(**{name: getattr(mechanism, name) for name in mechanism.fields()})


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


@pytest.mark.parametrize("mechanism", ALL + OF_COUNTS)
def test_row_order_and_item_names_change_nothing_but_the_draw(mechanism):
    rows = [(0, 0), (0, 1), (0, 2), (1, 1), (2, 1), (2, 2), (0, 1)]
    mechanism = build(mechanism, k=2)

    def law_of(rows, back):
        users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))

        def run(draws):
            held = Contributions.of_rows(users, items, n_users=3, n_items=3)
            evidence = shown(held, mechanism, draws)
            return tuple(back[i] for i in mechanism.select(evidence, draws).positions.tolist())

        return law(run)

    original = law_of(rows, [0, 1, 2])
    agree(law_of(rows[::-1], [0, 1, 2]), original, 1e-9)
    agree(law_of([(2 - u, (i + 1) % 3) for u, i in rows], [2, 0, 1]), original, 1e-9)


@pytest.mark.parametrize("mechanism", ALL)
def test_the_code_draws_from_its_law(mechanism):
    # Frequencies within 4.5 standard errors, and not within that of a law 30 % off.
    mechanism = build(mechanism, k=2)
    data = (frozenset({0, 1}), frozenset({0}), frozenset({0, 1, 2}), frozenset({0, 2}))

    def positions_only(mechanism):
        law = {}
        for outcome, p in output_law(mechanism, data).items():
            law[outcome[:-2]] = law.get(outcome[:-2], 0) + p
        return law

    expected = positions_only(mechanism)
    rows = [(user, item) for user, items in enumerate(data) for item in items]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    held = Contributions.of_rows(users, items, n_users=4, n_items=3)
    draws, n, seen = ExactDraws(SeededBits(20)), 4000, {}
    for _ in range(n):
        selection = mechanism.select(shown(held, mechanism, draws), draws)
        outcome = tuple(selection.positions.tolist())
        seen[outcome] = seen.get(outcome, 0) + 1

    def deviation(law):
        return max(
            abs(seen.get(o, 0) / n - p) / math.sqrt(max(p * (1 - p), 1 / n) / n)
            for o, p in law.items()
        )

    assert seen.keys() <= expected.keys()
    assert deviation(expected) < 4.5
    assert deviation(positions_only(build(type(mechanism), k=2, epsilon=EPSILON * 1.3))) > 4.5


def test_unit_weights_never_exceed_norm_one():
    for size in [*range(1, 2000), 10**6, 2**40, 2**62]:
        weight = unit_weight(size)
        assert size * weight**2 <= 2**64 < size * (weight + 1) ** 2
