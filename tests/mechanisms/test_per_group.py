"""Top-k per group: its law elsewhere, what it spends, and what it names."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy.special import ndtr

from helpers import wrong_groups as wrong
from helpers.oracles import ORACLES
from helpers.oracles_of_groups import groups_oracle, in_groups
from helpers.refusals import refusal
from shortlist.algorithms.clipped_counts import ClippedCounts
from shortlist.algorithms.grouped_measurements import GroupedMeasurements
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence.buckets import Buckets
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped_sets import GroupedSets, Pairing
from shortlist.mechanisms import Accounting, PerGroup
from shortlist.privacy.accountant import BoundedRange, GaussianStage, ThresholdDelta

ORACLE = ORACLES[PerGroup]
ONE, OTHER, BOTH = map(frozenset, ({0}, {1}, {0, 1}))


def grouped(rows, n_users, n_groups, n_items):
    """Sets of rows: users, groups and items."""
    users, groups, items = rows.astype(np.uint32)
    pairing = Pairing(n_groups, n_items)
    codes = pairing.pack(groups.copy(), items)
    return GroupedSets.of_buckets(Buckets.of_rows(users, codes, n_users), pairing)


def coarse(**given):
    """On few branches."""
    return ORACLE.build(PerGroup, **{"k": 1} | given)


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"max_groups_per_user": 2}, marks=pytest.mark.exhaustive),
        pytest.param(
            {"max_items_per_user": 1, "accounting": Accounting.ZCDP}, marks=pytest.mark.exhaustive
        ),
        pytest.param(
            {"epsilon": 1.0, "delta": 0.3, "threshold_share": 0.5}, marks=pytest.mark.exhaustive
        ),
    ],
)
def test_the_law_with_other_parameters(given):
    mechanism = coarse(**given)
    oracle = replace(ORACLE, data=[(ONE,) * 6 + (BOTH,), (ONE,) * 3 + (OTHER,) * 4])
    assert oracle.distance(mechanism, mechanism) < ORACLE.within


def test_the_law_with_an_item_that_everybody_knows():
    mechanism, known = coarse(max_items_per_user=1), (0,)
    shown = partial(in_groups, known=known)
    oracle = replace(
        ORACLE,
        law=partial(groups_oracle, known=known),
        small=replace(ORACLE.small, evidence=shown),
        data=[(), (ONE,) * 3, (OTHER,) * 8, (ONE,) * 7 + (BOTH,)],
    )
    assert oracle.distance(mechanism, mechanism) < ORACLE.within


def test_users_in_both_of_two_found_groups_have_their_law():
    mechanism = coarse(max_groups_per_user=2)
    oracle = replace(ORACLE, data=[(BOTH,) * 10])
    assert oracle.distance(mechanism, mechanism) < ORACLE.within


@pytest.mark.parametrize(
    ("k", "epsilon", "delta"), [(1, 0.1, 1e-6), (10, 1.0, 1e-6), (200, 8.0, 0.01)]
)
@pytest.mark.parametrize("groups", [1, 3])
def test_delta_is_used_up_and_not_exceeded(k, epsilon, delta, groups):
    mechanism = PerGroup(
        k=k, epsilon=epsilon, delta=delta, max_items_per_user=100, max_groups_per_user=groups
    )
    spent = mechanism.cost.delta(epsilon)
    assert 0.99 * delta < spent <= delta


def test_the_cost_is_that_of_the_proof_note_whatever_the_number_of_groups():
    costs = []
    for groups in (1, 2, 50):
        mechanism = PerGroup(
            k=5, epsilon=1.0, delta=1e-6, max_items_per_user=20, max_groups_per_user=groups
        )
        gaussian, choices = mechanism.cost.composition.stages
        assert isinstance(gaussian, GaussianStage)
        assert isinstance(choices, BoundedRange)
        assert choices.times == 2
        assert mechanism.cost.composition.own_items == ThresholdDelta(mechanism.threshold_delta)
        spent = gaussian.mu**2 / 2 + 2 * mechanism._choice_epsilon**2 / 8
        assert spent == pytest.approx(mechanism.rho, rel=1e-6)
        costs.append(mechanism.cost)
    assert costs[0] == costs[1] == costs[2]


def test_thresholds_rise_with_what_one_user_may_bring():
    built = partial(PerGroup, k=5, epsilon=1.0, delta=1e-6)
    few, more = (built(max_items_per_user=10, max_groups_per_user=g) for g in (1, 4))
    assert few.group_threshold < more.group_threshold
    assert few.item_threshold == more.item_threshold
    assert few.item_threshold < built(max_items_per_user=100).item_threshold


def named_alone(search, most):
    """The chance that something is named which a user alone holds: the largest, over the sizes."""
    parts, whole = search.schedule.parts, search.schedule.whole
    so_far = np.cumsum(parts)
    noise = search.sigma * np.sqrt(whole / so_far)
    passed = []
    for d in range(1, most + 1):
        cap = search.limits.caps[search.limits.first <= d][-1]
        mean = (parts[0] / math.sqrt(d) + (so_far - parts[0]) * cap) / so_far
        passed.append(d * ndtr((mean - search.limits.thresholds) / noise).sum())
    return max(passed)


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_thresholds_lose_what_is_spent_on_them_however_many_groups_or_items_a_user_has(groups):
    mechanism = PerGroup(
        k=5, epsilon=1.0, delta=1e-6, max_items_per_user=3, max_groups_per_user=groups
    )
    of_groups = named_alone(mechanism._groups.search, groups)
    of_items = named_alone(mechanism._items.search, 3)
    assert 0.999 < of_groups / (0.3 * mechanism.threshold_delta) <= 1
    assert 0.999 < of_items / (0.7 * mechanism.threshold_delta) <= 1
    assert of_groups + of_items <= mechanism.threshold_delta


def looked(counts, popularity, *, k=2, rho=0.5, seen=1.0, seed=0):
    """What looks name of users who hold one item of one group each: counts of groups by items."""
    counts = np.array(counts)
    items = np.repeat(np.arange(counts.size, dtype=np.uint32), counts.ravel())
    users = np.arange(len(items), dtype=np.uint32)
    held = Contributions.of_rows(users, items, n_users=len(users), n_items=counts.size)
    mechanism = PerGroup(k=k, epsilon=1.0, delta=1e-6, max_items_per_user=10)
    looks = GroupedMeasurements(k, mechanism.design.shares, (1, 2), 0.1, 1, seen)
    draws = ExactDraws(SeededBits(seed))
    return looks.best(held, np.array(popularity, float), rho, draws)


def test_the_best_of_each_group_by_its_own_counts():
    ranked = looked([[100, 50, 10], [20, 0, 90]], [120, 50, 100])
    assert list(zip(ranked.groups, ranked.items, strict=True)) == [(0, 0), (0, 1), (1, 2), (1, 0)]
    assert np.abs(ranked.counts - [100, 50, 90, 20]).max() < 6
    assert ranked.sds.max() < 2


def test_where_noise_is_large_popularity_ranks():
    named = [looked([[40, 30, 20]] * 20, [800, 600, 400], rho=1e-3, seed=s).items for s in range(5)]
    share = np.mean([np.isin(items, [0, 1]).mean() for items in named])
    assert share > 0.8  # noise alone would name any of the three


def test_what_is_common_in_one_group_alone_stands_out():
    for seed in range(5):
        ranked = looked([[0, 300, 0], [300, 0, 300]], [300, 310, 300], k=1, rho=0.02, seed=seed)
        assert ranked.items[ranked.groups == 0].tolist() == [1]


def test_of_a_group_that_nobody_is_in_nothing_is_named():
    for seed in range(20):
        ranked = looked([[200, 100], [0, 0]], [200, 100], rho=0.05, seen=3.0, seed=seed)
        assert 1 not in ranked.groups


@pytest.mark.parametrize(
    ("kind", "finds"), [(wrong.OneRound, True), (wrong.ItemsOfAllGroups, False)]
)
def test_items_are_found_by_what_is_held_in_groups_that_count(kind, finds):
    """All hold item 0 in both groups, alone in one, and beside 99 of their own in the other.

    So each user's weight on it is 1 or 0.1, by which group is kept; by both it would be 0.1.
    """
    mechanism = kind(k=1, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    n = int(mechanism.item_threshold / 0.3)
    users, own = np.repeat(np.arange(n), 99), np.arange(99 * n) + 1
    rows = np.concatenate(
        [np.array([np.arange(n), np.full(n, group), np.zeros(n, np.int64)]) for group in (0, 1)]
        + [np.array([users, np.ones(99 * n, np.int64), own])],
        axis=1,
    )
    told = mechanism.select(grouped(rows, n, 2, 99 * n + 1), ExactDraws(SeededBits(1)))
    assert (len(told.positions) > 0) == finds


@pytest.mark.parametrize("public", [False, True])
def test_nothing_in_nothing_out(public):
    sets = in_groups(None, (), 2, public=public)
    mechanism = PerGroup(k=3, epsilon=1.0, delta=1e-6, max_items_per_user=2)
    told = mechanism.select(sets, ExactDraws(SeededBits(1)))
    assert len(told.positions) == len(told.scores) == 0
    assert told.noise_sd > 0


def test_public_groups_have_their_law():
    mechanism = coarse()
    shown = partial(in_groups, public=True)

    def law(mechanism, data):
        return groups_oracle(mechanism, data, public=True, seen=3.0)

    small = replace(ORACLE.small, evidence=shown)
    oracle = replace(ORACLE, law=law, small=small, data=[(ONE,) * 4, (ONE,) * 3 + (OTHER,) * 3])
    assert oracle.distance(mechanism, mechanism) < ORACLE.within


@pytest.mark.parametrize("groups", [1, 2, 3])
def test_the_choice_has_its_range_in_however_many_groups_a_user_is(groups):
    """One user more moves what each bound loses by 0 to 1, and nearly by 1."""
    looks = GroupedMeasurements(1, (Fraction(1),), (1, 2, 256), 0.1, groups, 1.0)
    n_items, open_pairs = 400, np.delete(np.arange(3 * 400), range(800, 1100))
    sizes = np.bincount(open_pairs // n_items)
    assert looks._most(sizes) == sum(sorted(sizes)[-groups:])
    held = open_pairs[open_pairs // n_items < groups].astype(np.uint32)
    lost = []
    for users in (0, 1):
        rows = np.repeat(np.arange(users, dtype=np.uint32), len(held)), np.tile(held, users)
        sets = Contributions.of_rows(*rows, n_users=users, n_items=3 * n_items)
        clipped = ClippedCounts(sets, most=looks._most(sizes))
        lost.append([clipped._lost(bound) for bound in looks.bounds])
    moved = np.diff(lost, axis=0) / 2**20
    assert (moved >= 0).all()
    assert 0.9 < moved.max() <= 1


def test_a_bound_below_one_is_refused():
    refusal(
        lambda: PerGroup(k=1, epsilon=1.0, delta=1e-6, max_items_per_user=1, max_groups_per_user=0),
        "max_groups_per_user=0",
    )
