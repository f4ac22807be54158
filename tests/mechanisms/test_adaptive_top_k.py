"""Adaptive top-k: its law elsewhere, mistakes that are caught, and what it spends."""

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

from helpers import wrong_top_k as wrong
from helpers.hitting import contributions
from helpers.losses import hockey_stick
from helpers.oracles import ORACLES
from helpers.oracles_of_top_k import top_k_oracle
from helpers.wrong_top_k import coarse
from shortlist.algorithms import clipped_counts
from shortlist.algorithms.clipped_counts import ClippedCounts, TwoMeasurements, clipped_weights
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, RoundingGrid
from shortlist.mechanisms import Accounting, AdaptiveTopK, adaptive_top_k
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts
from shortlist.privacy.accountant import BoundedRange, Composition, GaussianStage
from shortlist.privacy.accountant.fitting import normal_noise

ORACLE = ORACLES[AdaptiveTopK]
IN_ROUNDS = replace(ORACLE, law=partial(top_k_oracle, forced=lambda _: {None: 1.0}))
BY_COUNTS = replace(ORACLE, law=partial(top_k_oracle, forced=lambda m: {m.looked_at[0]: 1.0}))


# --- the law


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"k": 1, "max_items_per_user": 1}, marks=pytest.mark.exhaustive),
        pytest.param({"k": 3}, marks=pytest.mark.exhaustive),
        pytest.param({"k": 2, "accounting": Accounting.ZCDP}, marks=pytest.mark.exhaustive),
        {"k": 1, "epsilon": 0.7, "delta": 0.02},
    ],
)
def test_the_law_with_other_parameters(given):
    mechanism = coarse(AdaptiveTopK, **given)
    oracle = replace(ORACLE, data=[({0, 1}, {0}), ({0, 1}, {0, 1}, {1})])
    assert oracle.distance(mechanism, mechanism) < ORACLE.within


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("kind", "oracle"), [(wrong.InRounds, IN_ROUNDS), (wrong.Picks, BY_COUNTS)]
)
@pytest.mark.parametrize("k", [1, 2])
def test_each_way_alone_has_its_law_and_is_private(kind, oracle, k):
    mechanism = coarse(kind, k=k)
    assert oracle.distance(mechanism, mechanism) < ORACLE.within
    assert oracle.excess(mechanism, mechanism.cost) < 1e-9


@pytest.mark.parametrize("n", [1, 3, 6, 7, 9])
def test_ways_are_chosen_by_the_largest_counts(n):
    counts = np.array([1, 900, 0, 40, 1, 40, 7])
    assert adaptive_top_k._largest(counts, n).tolist() == sorted(counts, reverse=True)[:n]


def test_every_branch_is_taken_in_the_variant_that_is_enumerated():
    """By counts or in rounds; stopped or not; decided or open; looked at with either bound."""
    outcomes = ORACLE.output(coarse(AdaptiveTopK), ({0, 1},) * 3)
    assert {len(positions) for positions, _ in outcomes} == {0, 1}
    assert {scores is None for _, scores in outcomes} == {True, False}
    assert len({scores for _, scores in outcomes}) > 4


# --- mistakes


@pytest.mark.parametrize(
    ("kind", "oracle"),
    [
        (wrong.Doubled, ORACLE),
        (wrong.WithoutBest, ORACLE),
        (wrong.LowBar, replace(BY_COUNTS, data=[({0, 1}, {0}, {0})])),
        (wrong.AllLookedAt, BY_COUNTS),
        (wrong.RoundTwice, IN_ROUNDS),
        (wrong.StopsByAll, IN_ROUNDS),
        (wrong.Peeking, IN_ROUNDS),
        (wrong.ThinNoise, IN_ROUNDS),
    ],
)
def test_a_mistake_has_another_law(kind, oracle):
    k = 2 if kind is wrong.LowBar else 1
    assert oracle.differs(coarse(kind, k=k), coarse(AdaptiveTopK, k=k), by=0.01)


class ByWholeSets(ClippedCounts):
    """As if all users held two of the items found, whatever was found."""

    def _weights(self, bound):
        return np.array([2**20, *[clipped_weights(bound, 2)[2]] * self.held.largest], np.int64)


def test_clipping_by_what_was_not_found_has_another_law(monkeypatch):
    data = [({0, 1},) * 7, ({0, 1},) * 6 + ({0},) * 3]
    oracle = replace(IN_ROUNDS, data=data)
    right = coarse(wrong.InRounds, k=1)
    assert oracle.distance(right, right) < ORACLE.within
    monkeypatch.setattr(clipped_counts, "ClippedCounts", ByWholeSets)
    assert oracle.differs(right, right, by=0.01)


def excess_of_looks(bound, sd, rho):
    """By how much two looks at two items, which one more user holds, are above their cost."""
    looks = TwoMeasurements((bound,), (sd,), 0.1, lambda _: RoundingGrid(3 * 2**20, 0, 2))

    def told(draws, n):
        ranked = looks.best(contributions([{0, 1}] * n, 2), 2, draws)
        return tuple(ranked.items.tolist()), tuple(ranked.counts)

    laws = [law(partial(told, n=n)) for n in (1, 2)]
    cost = Composition((normal_noise(rho), BoundedRange(0.1, 2)))
    losses = [
        hockey_stick(*pair, epsilon) - cost.delta(epsilon)
        for pair in (laws, laws[::-1])
        for epsilon in (0.0, 0.5, 1.0, 1.5)
    ]
    return max(losses)


def test_noise_for_a_smaller_norm_than_the_bound_breaks_the_claim():
    rho = 0.5
    assert excess_of_looks(2, math.sqrt(2 / rho), rho) < 1e-9
    assert excess_of_looks(2, math.sqrt(1 / rho), rho) > 0.01


# --- what it spends


SETTINGS = [
    (k, epsilon, delta)
    for k in (1, 5, 20, 200)
    for epsilon, delta in ((0.1, 1e-6), (1.0, 1e-5), (3.0, 1e-6), (8.0, 0.01))
]


@pytest.mark.parametrize(("k", "epsilon", "delta"), SETTINGS)
def test_delta_is_used_up_and_not_exceeded(k, epsilon, delta):
    mechanism = AdaptiveTopK(k=k, epsilon=epsilon, delta=delta, max_items_per_user=100)
    assert 0.995 * delta <= mechanism.cost.delta(epsilon) <= delta
    assert mechanism.threshold_delta == delta / 4


@pytest.mark.parametrize(("k", "epsilon", "delta"), SETTINGS)
def test_shares_of_zcdp_are_those_of_the_note(k, epsilon, delta):
    given = {"k": k, "epsilon": epsilon, "delta": delta, "max_items_per_user": 100}
    by_rho = AdaptiveTopK(**given, accounting=Accounting.ZCDP)
    exact = AdaptiveTopK(**given)
    assert by_rho.cost.delta(epsilon) <= delta
    assert by_rho.cost.lost == delta / 4
    assert exact.rho >= by_rho.rho
    whole = by_rho.rho / 0.975
    assert by_rho.cost.rho == pytest.approx(whole, rel=1e-9)
    for mechanism in (by_rho, exact):
        assert mechanism.route_epsilon**2 / 8 == pytest.approx(0.025 * whole, rel=1e-9)
        assert k * mechanism.local_epsilon**2 / 8 == pytest.approx(mechanism.rho, rel=1e-9)
        in_choices = 2 * mechanism._choice_epsilon**2 / 8
        in_gaussians = 1 / (2 * mechanism.sigma**2)
        rho = mechanism._rounds.rho
        assert in_choices == pytest.approx(0.04 * rho, rel=1e-9)
        assert in_choices + in_gaussians == pytest.approx(rho, rel=1e-9)
        assert in_choices + in_gaussians <= rho * (1 + 1e-12)
    assert by_rho._rounds == (by_rho.rho, by_rho.threshold_delta)
    assert exact._rounds.rho >= exact.rho
    assert exact._rounds.lost >= exact.threshold_delta


def test_what_is_derived():
    """The figures of 0.1's formulas at the same zCDP, and the slack of 6."""
    given = {"epsilon": 1.0, "delta": 1e-5, "max_items_per_user": 100}
    mechanism = AdaptiveTopK(k=10, **given, accounting=Accounting.ZCDP)
    assert mechanism.rho / 0.975 == pytest.approx(0.0296234, rel=1e-5)
    assert mechanism.route_epsilon == pytest.approx(0.076972, rel=1e-4)
    assert mechanism.local_epsilon == pytest.approx(0.152007, rel=1e-4)
    lead = 1 + (math.log(200 / 2.5e-6) + 6) / mechanism.local_epsilon
    assert mechanism.lead == pytest.approx(lead, rel=1e-9)
    assert mechanism.parameters()["lead"] == mechanism.lead


@pytest.mark.parametrize(("k", "bound"), [(5, 1), (5, 2), (20, 100)])
def test_an_item_of_one_user_alone_passes_some_threshold_with_what_is_lost_at_most(k, bound):
    from scipy.special import ndtr

    mechanism = AdaptiveTopK(k=k, epsilon=1.0, delta=1e-4, max_items_per_user=bound)
    parts, sigma = mechanism.design.schedule.parts, mechanism.sigma
    passed = []
    for d in range(1, bound + 1):
        cap, lost = min(1, 4 / math.sqrt(d)), 0.0
        for r, threshold in enumerate(mechanism.thresholds):
            so_far = sum(parts[: r + 1])
            weight = (parts[0] / math.sqrt(d) + (so_far - parts[0]) * cap) / so_far
            lost += d * ndtr((weight - threshold) / (sigma * math.sqrt(sum(parts) / so_far)))
        passed.append(lost)
    assert 0.5 * mechanism._rounds.lost < max(passed) <= mechanism._rounds.lost


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_rounds_and_looks_cost_what_all_rounds_would(rounds):
    mechanism = AdaptiveTopK(k=5, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    of_rounds = float(mechanism.design.schedule.spent(rounds)) / mechanism.sigma**2
    looks = mechanism._measurements(mechanism._left(rounds))
    for bound, sd in zip(looks.bounds, looks.sds, strict=True):
        whole = of_rounds + 2 * bound / sd**2
        assert whole == pytest.approx(1 / mechanism.sigma**2, rel=1e-9)
        assert whole <= (1 + 1e-12) / mechanism.sigma**2
    mu = math.sqrt(2 * mechanism._in_gaussians)
    assert GaussianStage(mu).spread.variance == pytest.approx(1 / mechanism.sigma**2)


# --- noisy counts of what it names


@dataclass(frozen=True, kw_only=True)
class OfBoundedSets(NoisyCounts):
    """Takes the bound on what is discovered for one on what is counted."""

    _changed = property(lambda self: min(self.k, self.max_items_per_user))


def excess_of_counts(kind):
    """By how much the counts of two items, which users hold both, are above their cost."""

    def selection(epsilon, delta):
        given = {"k": 2, "epsilon": epsilon, "delta": delta, "max_items_per_user": 1}
        return coarse(wrong.Picks, **given)

    given = {"k": 2, "epsilon": 2.0, "delta": 0.02, "count_share": 0.5, "max_items_per_user": 1}
    counted = kind.of(selection, **given)

    def told(draws, n):
        named = counted.select(contributions([{0, 1}] * n, 2), draws)
        return tuple(named.positions.tolist()), tuple(named.scores)

    edges = [8.5, 9.5, 10.5, 11.5, 12.5]
    laws = [law(partial(told, n=n), edges) for n in (10, 11)]
    return max(
        hockey_stick(*pair, epsilon) - counted.cost.delta(epsilon)
        for pair in (laws, laws[::-1])
        for epsilon in (0.0, 0.5, 1.0, 1.5, 2.0, 2.5)
    )


def test_a_user_changes_all_k_counts_whatever_the_bound_of_the_rounds():
    assert excess_of_counts(NoisyCounts) < 1e-9
    assert excess_of_counts(OfBoundedSets) > 0.01


def test_noisy_counts_are_of_whole_sets():
    data = [set(range(20))] * 500
    kind = partial(AdaptiveTopK, k=20, max_items_per_user=5)
    given = {"k": 20, "epsilon": 3.0, "delta": 1e-6, "count_share": 0.3, "max_items_per_user": 5}
    counted = NoisyCounts.of(lambda epsilon, delta: kind(epsilon=epsilon, delta=delta), **given)
    assert counted._changed == 20
    assert counted.wants.bound is None
    assert 0.99 * 1e-6 < counted.cost.delta(3.0) <= 1e-6
    told = counted.select(contributions(data, 20), ExactDraws(SeededBits(2)))
    assert len(told.positions) == 20
    assert np.abs(told.scores - 500).max() < 6 * told.noise_sd


# --- the whole, as it is


def test_names_the_best_by_either_way():
    ahead = [{0}] * 900 + [{1}] * 700 + [{2}] * 500
    level = [{i % 30} for i in range(30 * 70)]
    for data, k, n_items, scored in ((ahead, 2, 3, False), (level, 30, 30, True)):
        mechanism = AdaptiveTopK(k=k, epsilon=3.0, delta=1e-6, max_items_per_user=10)
        evidence = contributions(data, n_items)
        told = mechanism.select(evidence, ExactDraws(SeededBits(3)))
        assert (told.scores is not None) == scored
        assert told.ordered
        if scored:
            assert set(told.positions.tolist()) == set(range(30))
            assert np.abs(told.scores - 70).max() < 6 * told.noise_sd
        else:
            assert told.positions.tolist() == [0, 1]


@pytest.mark.parametrize("n", [0, 1, 2])
def test_of_few_users_hardly_anything_is_named(n):
    mechanism = AdaptiveTopK(k=5, epsilon=1.0, delta=1e-9, max_items_per_user=10)
    told = mechanism.select(contributions([{0, 1}] * n, 2), ExactDraws(SeededBits(n)))
    assert told.positions.tolist() == []
    assert told.scores is None


def test_explaining_names_both_ways():
    text = " ".join(AdaptiveTopK(k=5, epsilon=1.0, delta=1e-6, max_items_per_user=9).explain())
    for part in (
        "101st, or the 10,001st",
        "picked by their counts",
        "4 rounds",
        "standard deviation",
    ):
        assert part in text


@pytest.mark.parametrize("k", [1, 20])
def test_explaining_tells_of_counts_only_where_these_are_published(k):
    mechanism = AdaptiveTopK(k=k, epsilon=1.0, delta=1e-6, max_items_per_user=9)
    given = {"k": k, "epsilon": 2.0, "delta": 2e-6}
    counted = NoisyCounts(selection=mechanism, count_share=0.3, **given)
    assert not [text for text in mechanism.explain() if "published" in text]
    assert len([text for text in counted.explain() if "published" in text]) == 1
