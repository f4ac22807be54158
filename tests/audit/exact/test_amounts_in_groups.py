"""Sums of amounts in two groups: one user, in one and in both, is as private as is claimed."""

from dataclasses import replace
from functools import cached_property, partial
from itertools import permutations

import pytest

from helpers.audited import broken
from helpers.losses import hockey_stick
from helpers.wrong_counted_groups import ChargedOnce
from shortlist.algorithms.rounding_grids import WHOLE_WEIGHT
from shortlist.audit.exact.enumerator import law
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import Look, of_counts, of_user_sets, universe_of
from shortlist.audit.universes.small_universe import N_GROUPS
from shortlist.evidence import GroupedAmounts, PublicCounts, UserSets
from shortlist.mechanisms import (
    AdaptiveGaussianPeeling,
    JointOrPeel,
    OneShotLaplace,
    Peeling,
)
from shortlist.mechanisms.mechanism import with_coarse_design
from shortlist.mechanisms.wrappers import ChosenCap, EachGroup, NoisyCounts


def adaptive(epsilon, delta):
    asked = {"epsilon": epsilon, "delta": delta, "max_items_per_user": 2}
    return with_coarse_design(AdaptiveGaussianPeeling(k=1, rounds=2, **asked))


class PeelingOfSets(Peeling):
    """Picks of what users hold in a group, found or not: all that is lost is lost in these."""

    evidence = UserSets
    discovers = None
    reads_unit = True

    def select(self, evidence, draws):
        return super().select(PublicCounts(evidence.counts, unit=evidence.unit), draws)


def with_counts(epsilon, delta):
    picks = lambda epsilon, delta: Peeling(k=1, epsilon=epsilon, delta=delta)
    return NoisyCounts.of(picks, k=1, epsilon=epsilon, delta=delta, count_share=0.5)


OF_LISTS = {
    "Peeling": partial(Peeling, k=1),
    "JointOrPeel": partial(JointOrPeel, k=2, choice_share=0.3, threshold=1),
    "OneShotLaplace": partial(OneShotLaplace, k=1, max_items_per_user=None),
    "NoisyCounts": with_counts,
}
# How many users hold each set of pairs: of one item, in the first group, the other, and both.
FEW = [[(0, 0, 0), (1, 1, 0), (1, 1, 1), (9, 9, 1)]]
# Of two items: who holds one of them, in one group, and who holds the first in both groups.
TWO = [
    [tuple((n if held in (1, 2, 4, 8) else m) * (held in (1, 2, 3, 4, 8)) for held in range(1, 16))]
    for n, m in ((1, 0), (1, 1))
]


def built(selects, *, groups, kind=EachGroup, delta=0.0):
    return kind.of(
        lambda epsilon, delta: selects(epsilon=epsilon, delta=delta),
        epsilon=1.5,
        delta=delta,
        max_groups_per_user=groups,
    )


def found(mechanism, families=None):
    return broken(audit_exactly(mechanism, quick=True, at=Look.AMOUNTS, families=families))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("name", OF_LISTS)
def test_sums_of_a_list_in_groups_are_private(name, groups):
    assert found(built(OF_LISTS[name], groups=groups)) == set()


@pytest.mark.parametrize("groups", [1, 2])
def test_sums_that_are_found_in_groups_are_private(groups):
    mechanism = built(adaptive, groups=groups, delta=0.2)
    assert found(mechanism, FEW) == set()
    assert found(built(partial(PeelingOfSets, k=1), groups=groups), TWO) == set()


def at_a_cap(selects, *, groups, kind=ChosenCap, delta=0.0):
    """One user above a cap counts in whole, and noise weighs about as much as a user."""
    return kind.of(
        lambda epsilon, delta: EachGroup.of(
            lambda epsilon, delta: selects(k=1, epsilon=epsilon, delta=delta),
            epsilon=epsilon,
            delta=delta,
            max_groups_per_user=groups,
        ),
        epsilon=2.0,
        delta=delta,
        count_share=0.5,
        k=1,
        caps=(1.0, 2.0),
        lists=2,
        whole=1,
        noise_weight=0.1,
    )


WITH_CAPS = [(Peeling, 2), (PeelingOfSets, 1), (PeelingOfSets, 2)]


@pytest.mark.parametrize(("selects", "groups"), WITH_CAPS)
def test_a_cap_that_is_chosen_for_all_groups_is_private(selects, groups):
    assert broken(audit_exactly(at_a_cap(selects, groups=groups), quick=True)) == set()


class Unpaid(ChosenCap):
    """Planted: the choice is made, and the selection has all of the budget."""

    @cached_property
    def _best(self):
        return 2 * self.epsilon, self.selection.cost


class EachGroupWhole(ChosenCap):
    """Planted: a user above a cap counts in whole in each group, not once for all of them."""

    def _lost(self, evidence):
        return evidence.above(N_GROUPS) * WHOLE_WEIGHT + self._lost_in_noise


@pytest.mark.parametrize(("selects", "groups"), WITH_CAPS)
def test_a_choice_that_nobody_pays_for_is_seen_in_groups(selects, groups):
    unpaid = at_a_cap(selects, groups=groups, kind=Unpaid)
    assert broken(audit_exactly(unpaid, quick=True))


def test_who_is_above_a_cap_in_each_of_two_groups_and_counts_twice_is_seen():
    mechanism = at_a_cap(Peeling, groups=2)

    def loss(kind):
        """The most that a user with a sum in each group changes of the choice."""
        around = at_a_cap(Peeling, groups=2, kind=kind)
        universe = universe_of(around, quick=True)
        laws = [
            law(lambda draws, data=data: around.select(universe.evidence_of(data), draws).cap)
            for data in ((0, 0, 0), (0, 0, 1))
        ]
        return max(hockey_stick(p, q, around.choice_epsilon) for p, q in permutations(laws))

    assert mechanism.cost.delta(2.0) <= 1e-12
    assert loss(ChosenCap) <= 1e-12
    assert loss(EachGroupWhole) > 0.01


@pytest.mark.parametrize("name", sorted(OF_LISTS.keys() - {"JointOrPeel"}))
def test_amounts_of_a_user_in_two_groups_counted_twice_are_seen(name):
    """Planted: a user has sums in two groups, at the price of one."""
    assert found(built(OF_LISTS[name], groups=2, kind=ChargedOnce))


def test_amounts_of_a_user_whose_groups_nobody_bounds_are_seen(monkeypatch):
    """Planted: one group is paid for, and what a user spent in both counts."""
    monkeypatch.setattr(GroupedAmounts, "bounded", lambda self, *_: self)
    assert found(built(partial(PeelingOfSets, k=1), groups=1), TWO)


@pytest.mark.parametrize("kind", [of_counts.OfGroupedAmounts, of_user_sets.OfGroupedSetsOfAmounts])
def test_a_unit_that_is_lost_in_groups_is_seen(kind, monkeypatch):
    """Planted: sums in groups are taken for counts."""
    right = kind.evidence_of
    monkeypatch.setattr(
        kind, "evidence_of", lambda self, data: replace(right(self, data), unit=1.0)
    )
    monkeypatch.setattr(kind, "step", 8)
    if kind is of_counts.OfGroupedAmounts:
        assert found(built(OF_LISTS["Peeling"], groups=1))
    else:
        assert found(built(partial(PeelingOfSets, k=1), groups=1), TWO)
