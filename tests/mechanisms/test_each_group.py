"""A selection in each group of a histogram: what it charges, refuses and tells."""

from functools import partial

import numpy as np
import pytest

from helpers.exhaustive import exhaustive
from helpers.oracles import EVERY, oracle_of
from helpers.refusals import refusal
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import GroupedCounts, PrivateCounts, PublicCounts
from shortlist.mechanisms import (
    Accounting,
    ClippedCountEach,
    JointOrPeel,
    LimitedDomain,
    OneShotLaplace,
    Peeling,
)
from shortlist.mechanisms.mechanism import Adjacency
from shortlist.mechanisms.wrappers import ChosenCap, EachGroup, NoisyClippedCounts
from shortlist.privacy import ZCDP, Composed, Gaussian, Pure
from shortlist.privacy.accountant import (
    AfterChoice,
    BoundedRange,
    Composition,
    GaussianStage,
    ThresholdDelta,
)
from shortlist.privacy.composed import repeated


def around(kind, *, groups, epsilon=1.0, delta=1e-6, **options):
    def build(epsilon, delta):
        given = {"epsilon": epsilon, "delta": delta, **options}
        return kind(**{name: given[name] for name in given if name in kind.fields()})

    return EachGroup.of(build, epsilon=epsilon, delta=delta, max_groups_per_user=groups)


def counted(counts, groups, *, kind=PublicCounts, most=2, most_items=None):
    return GroupedCounts.of_rows(
        np.array(counts),
        np.array(groups),
        kind,
        max_items_per_user=most_items,
        max_groups_per_user=most,
    )


@pytest.mark.parametrize("groups", [2, *exhaustive(1, 5)])
@pytest.mark.parametrize(
    "kind",
    [
        partial(LimitedDomain, k=20),
        partial(LimitedDomain, k=1, max_items_per_user=3),
        partial(Peeling, k=10),
        partial(JointOrPeel, k=20),
        partial(LimitedDomain, k=20, accounting=Accounting.ZCDP),
    ],
)
def test_the_budget_is_kept_and_mostly_used(kind, groups):
    mechanism = around(kind.func, groups=groups, **kind.keywords)
    spent = mechanism.cost.delta(1.0)
    assert spent <= 1e-6
    if kind.keywords["k"] >= 10 and groups <= 5:
        assert mechanism.cost.epsilon(1e-6) > 0.85
        assert mechanism.selection.epsilon > 0.999 / groups


def test_many_groups_cost_less_than_by_adding_up():
    mechanism = around(LimitedDomain, groups=10, k=20)
    assert mechanism.selection.epsilon > 2.5 / 10
    assert mechanism.selection.delta in (5e-8, 1e-7)


def test_what_may_be_lost_adds_up():
    mechanism = around(LimitedDomain, groups=3, k=20, second_try=None)
    each = mechanism.selection.cost.composition.own_items
    lost = mechanism.cost.composition.own_items
    assert isinstance(lost, ThresholdDelta)
    assert 3 * each.delta <= lost.delta < 3.001 * each.delta
    assert mechanism.cost.rho == pytest.approx(3 * mechanism.selection.cost.rho)


@pytest.mark.parametrize("groups", [1, 3])
def test_a_user_who_may_be_changed_is_in_other_groups_then(groups):
    changed = around(OneShotLaplace, groups=groups, delta=0.0, k=2, neighbours=Adjacency.GENERAL)
    assert changed.times == 2 * groups
    assert changed.selection.epsilon == pytest.approx(1 / (2 * groups))
    added = around(OneShotLaplace, groups=groups, delta=0.0, k=2)
    assert added.times == groups


def noises(kind, k):
    """The sizes of the noise of a mechanism's scores, on small data sets, by a few seeds."""
    oracle = oracle_of(kind)
    mechanism = oracle.build(kind, k=k)
    draws = ExactDraws(SeededBits(1))
    answers = [
        mechanism.select(oracle.small.evidence(mechanism, data, oracle.small.n_items, draws), draws)
        for data in oracle.data * 5
    ]
    return {(each.noise_sd, each.cap) for each in answers if each.scores is not None}


@pytest.mark.parametrize("kind", EVERY)
def test_noise_is_of_one_size_where_a_mechanism_says_so(kind):
    mechanism = oracle_of(kind).build(kind, k=1)
    if mechanism.score_unit is not None and not mechanism.noise_varies:
        assert len(noises(kind, 1)) == 1


@pytest.mark.parametrize("kind", [NoisyClippedCounts, ClippedCountEach])
def test_noise_that_follows_from_a_choice_is_of_several_sizes(kind):
    assert len(noises(kind, 1)) > 1


@pytest.mark.parametrize("kind", [NoisyClippedCounts, ClippedCountEach, ChosenCap])
def test_noise_that_follows_from_a_choice_is_not_told_once_for_all_groups(kind):
    chosen = oracle_of(kind).build(kind, k=1)
    assert chosen.noise_varies
    given = {"epsilon": 2.0, "delta": 0.2, "max_groups_per_user": 1}
    refusal(lambda: EachGroup(selection=chosen, **given), "one size is told for all", "without by")
    again = EachGroup(selection=Peeling(k=1, epsilon=2.0, delta=0.2), **given)
    assert not again.noise_varies


def test_costs_that_are_known_in_no_stages_are_multiplied():
    assert repeated(Pure(0.5), 3, epsilon=1.0) == Pure(0.5) * 3
    assert repeated(ZCDP(0.1, 1e-7), 3, epsilon=1.0) == ZCDP(0.1, 1e-7) * 3
    crowded = JointOrPeel(k=50, epsilon=0.2, delta=1e-7).cost
    assert isinstance(repeated(crowded, 4, epsilon=1.0), Composed)
    assert repeated(crowded, 5, epsilon=1.0) == crowded * 5  # too many branches
    assert repeated(crowded, 1, epsilon=1.0) is crowded


@pytest.mark.parametrize("release", [(GaussianStage(0.2),), (BoundedRange(0.1, times=2),)])
def test_a_choice_is_not_forgotten_where_it_is_made_twice(release):
    """What a cost says beside its stages is no less for two of them than for one."""
    stages = AfterChoice(release, choice=1.0)
    once = Composed(stages, ZCDP(stages.rho), epsilon=1.0)
    for times in (2, 3):
        assert repeated(once, times, epsilon=1.0) == once * times
        assert repeated(once, times, epsilon=1.0).delta(1.0) > once.delta(1.0) > 0


def test_costs_of_a_kind_that_is_not_known_are_multiplied():
    class Worse(Composition):
        """Stages, and something else that they do not say."""

        def delta(self, epsilon, *, fineness=1.0):
            return 10 * super().delta(epsilon, fineness=fineness)

    class Dearer(Gaussian):
        """Noise, and something else."""

    stages = Worse((GaussianStage(0.2),))
    for cost in (Composed(stages, ZCDP(stages.rho), epsilon=1.0), Dearer(0.02)):
        assert repeated(cost, 2, epsilon=1.0) == cost * 2


def test_each_group_is_answered_from_its_own_counts():
    mechanism = around(Peeling, groups=2, epsilon=20.0, delta=0.0, k=1)
    evidence = counted([5, 900, 800, 1, 2, 3, 700], [0, 0, 1, 1, 1, 1, 1])
    told = mechanism.select(evidence, ExactDraws(SeededBits(1)))
    assert told.positions.tolist() == [1, 2]
    assert told.scores is None


@pytest.mark.parametrize("kind", [PrivateCounts, PublicCounts])
def test_nothing_in_nothing_out(kind):
    mechanism = around(LimitedDomain if kind is PrivateCounts else Peeling, groups=2, k=2)
    told = mechanism.select(counted([], [], kind=kind), ExactDraws(SeededBits(1)))
    assert told.positions.tolist() == []


def test_a_private_group_of_few_is_not_told_of():
    mechanism = around(LimitedDomain, groups=2, k=2)
    draws = ExactDraws(SeededBits(3))
    evidence = counted([900, 1, 1], [0, 1, 2], kind=PrivateCounts)
    assert all(mechanism.select(evidence, draws).positions.tolist() == [0] for _ in range(50))


def test_a_looser_promise_is_refused():
    mechanism = around(Peeling, groups=1, k=1)
    error = refusal(lambda: mechanism.select(counted([1], [0], most=2), ExactDraws(SeededBits(1))))
    assert "max_groups_per_user" in error


@pytest.mark.parametrize("k", [1, 2])
def test_a_mechanism_that_spends_its_delta_on_a_bar_leaves_some_to_composition(k):
    mechanism = around(LimitedDomain, groups=20, k=k)
    assert mechanism.selection.epsilon > 1.5 / 20
    assert mechanism.cost.delta(1.0) <= 1e-6


@pytest.mark.parametrize("kind", [PrivateCounts, PublicCounts])
@pytest.mark.parametrize("promised", [None, 1, 3])
def test_each_group_is_told_the_promise_about_all_of_them(kind, promised):
    evidence = counted([5, 900, 1], [0, 0, 1], kind=kind, most_items=promised)
    each = [(start, type(own), own.max_items_per_user) for start, own in evidence.each()]
    assert each == [(0, kind, promised), (2, kind, promised)]


@pytest.mark.parametrize("promised", [None, 4])
def test_a_looser_promise_about_items_is_refused_in_each_group(promised):
    mechanism = around(LimitedDomain, groups=2, k=1, max_items_per_user=3)

    def select(promised):
        evidence = counted([900, 1], [0, 1], kind=PrivateCounts, most_items=promised)
        return mechanism.select(evidence, ExactDraws(SeededBits(1)))

    assert "max_items_per_user=3" in refusal(lambda: select(promised))
    assert select(3).positions.tolist() == [0]


def test_which_way_a_group_went_is_released_of_none():
    """Of the first group it would be what is released now; nobody has proved it of all."""
    mechanism = around(JointOrPeel, groups=1, k=10)
    evidence = counted([9] * 40, [0] * 20 + [1] * 20, most=1)
    (_, first), *_ = evidence.each()
    draws = ExactDraws(SeededBits(1))
    assert mechanism.selection.select(first, draws).branch is not None
    assert mechanism.select(evidence, draws).branch is None
