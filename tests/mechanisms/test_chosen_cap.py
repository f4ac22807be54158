"""A cap chosen privately: by who is above it, at a price, and the same people hold items at all."""

import math
from functools import cached_property, partial

import numpy as np
import pytest
from scipy.stats import binom

from helpers.audited import broken
from helpers.losses import hockey_stick
from shortlist.audit.exact.enumerator import law
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.evidence import AmountsAtCaps, PublicCounts, UserAmounts
from shortlist.mechanisms import AdaptiveGaussianPeeling, JointOrPeel, LimitedDomain, Peeling
from shortlist.mechanisms.wrappers import ChosenCap
from shortlist.privacy.accountant import BoundedRange, Composition
from shortlist.privacy.accountant.fitting import largest_after
from shortlist.privacy.composed import composition_of

MOST = 2**20
CAPS = (30.0, 100.0, 600.0)
SELECTS = {
    "AdaptiveGaussianPeeling": partial(AdaptiveGaussianPeeling, max_items_per_user=100),
    "JointOrPeel": JointOrPeel,
    "LimitedDomain": partial(LimitedDomain, max_items_per_user=10),
    "Peeling": Peeling,
}


def made(selects, *, epsilon=1.0, delta=1e-6, k=10, kind=ChosenCap, **more):
    given = {"count_share": 0.03, "k": k, "caps": CAPS, **more}
    return kind.of(
        lambda epsilon, delta: selects(k=k, epsilon=epsilon, delta=delta),
        epsilon=epsilon,
        delta=delta,
        **given,
    )


@pytest.mark.parametrize("name", SELECTS)
def test_all_that_is_paid_for_is_within_the_price(name):
    mechanism = made(SELECTS[name])
    assert mechanism.cost.delta(1.0) <= 1e-6
    assert mechanism.choice_epsilon >= 0.03
    parameters = mechanism.parameters()
    assert parameters["caps"] == list(CAPS)
    assert "count_share" not in parameters  # by which scores would be told


def test_the_choice_is_a_stage_before_those_of_the_selection():
    mechanism = made(SELECTS["AdaptiveGaussianPeeling"])
    stages = composition_of(mechanism.cost)
    selects = composition_of(mechanism.selection.cost)
    assert stages.stages == (BoundedRange(mechanism.choice_epsilon, times=1), *selects.stages)
    assert stages.own_items == selects.own_items


def lost_by_turns(choice, picks, epsilon):
    """The delta of a choice of two caps, at which an item of the user is picked by other chances.

    The user lowers the odds of the smaller cap. What others spent above it counts for less there:
    so the items of the user have a chance of 0.53 in each pick, and at the larger cap one of 0.71.
    """
    first, chances = 0.46, (0.53, 0.71)
    with_user = first / (first + (1 - first) * math.exp(choice))
    outcomes = np.arange(picks.times + 1)
    law, other = [], []
    for caps, chance in zip(((first, with_user), (1 - first, 1 - with_user)), chances, strict=True):
        raised = chance / (chance + (1 - chance) * math.exp(-picks.epsilon))
        law.append(caps[0] * binom.pmf(outcomes, picks.times, chance))
        other.append(caps[1] * binom.pmf(outcomes, picks.times, raised))
    law, other = np.concatenate(law), np.concatenate(other)
    return max(
        np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((law, other), (other, law))
    )


def test_the_picks_may_depend_on_the_cap_that_was_chosen():
    """Planted: a worst case in which the choice comes last, and reads what was picked."""
    mechanism = made(Peeling, k=3, delta=0.01)
    right = composition_of(mechanism.cost)
    choice, picks = right.stages
    assert lost_by_turns(choice.epsilon, picks, 1.0) <= right.delta(1.0) <= 0.01
    reads_picks = partial(BoundedRange, times=1)
    last = largest_after(Composition((picks,)), reads_picks, epsilon=1.0, delta=0.01)
    assert Composition((picks, reads_picks(last))).delta(1.0) <= 0.01
    assert lost_by_turns(last, picks, 1.0) > 1.03 * 0.01


def spent(*sums):
    """One user's sums, each of an item of its own."""
    rows = np.arange(len(sums))
    return UserAmounts.of_rows(
        np.zeros(len(sums), int), rows, np.array(sums), n_items=len(sums), most=MOST
    )


def test_who_holds_what_is_the_same_at_all_caps():
    held = spent(1, 2, 500, MOST // 3, MOST, 7 * MOST)
    for part in (1.0, 1 / 3, 1e-4):
        few = held.capped(part)
        assert few.sets.items.tolist() == held.sets.items.tolist()
        expected = [min(int(a / part), MOST) for a in held.amounts.tolist()]
        assert few.amounts.tolist() == few.sets.counts.tolist() == expected
        assert few.amounts.min() >= 1


def test_of_one_user_no_more_sums_count_than_are_said():
    held = spent(*[MOST] * 50, *[MOST // 4] * 50)
    assert held.above((0.1, 0.5, 1.0), 200).tolist() == [100, 50, 0]
    assert held.above((0.1, 0.5, 1.0), 30).tolist() == [30, 30, 0]
    assert spent().above((0.1, 1.0), 30).tolist() == [0, 0]


def test_one_user_more_adds_from_nothing_to_one_to_each_loss():
    mechanism = made(Peeling)
    noise = mechanism._lost_in_noise
    for sums in ([MOST] * 100, [MOST] * 3, [5], []):
        evidence = AmountsAtCaps(partial(spent(*sums).above, mechanism.wants.caps), None)
        added = mechanism._lost(evidence) - noise
        assert added.min() >= 0
        assert added.max() <= MOST
    assert noise[0] == 0
    assert np.all(np.diff(noise) > 0)


@pytest.mark.parametrize("least", [30.0, 100.0, 600.0])
def test_the_cap_that_few_are_above_loses_least(least):
    mechanism = made(Peeling)
    users = np.arange(50_000)
    amounts = np.full(len(users), int(least / CAPS[-1] * MOST))
    held = UserAmounts.of_rows(users, users % 3, amounts, n_items=3, most=MOST)
    evidence = AmountsAtCaps(partial(held.above, mechanism.wants.caps), None)
    assert CAPS[np.argmin(mechanism._lost(evidence))] == least


# --- planted mistakes


def found(kind):
    """What the audit finds of one, where a user above a cap counts in whole."""
    mechanism = made(
        Peeling, epsilon=2.0, delta=0.0, k=1, caps=(1.0, 2.0), count_share=0.5, whole=1, kind=kind
    )
    return broken(audit_exactly(mechanism, quick=True))


class Unpaid(ChosenCap):
    """Planted: the choice is made, and the selection has all of the budget."""

    @cached_property
    def _best(self):
        return 2 * self.epsilon, self.selection.cost


class EachSumWhole(ChosenCap):
    """Planted: each sum of a user above a cap counts in whole, and not at most one."""

    def _lost(self, evidence):
        return evidence.above(1000) * MOST + self._lost_in_noise


def test_the_choice_is_private():
    assert found(ChosenCap) == set()


def test_a_choice_that_nobody_pays_for_is_seen():
    assert found(Unpaid)


def loss_of(kind):
    """The most that one user, who has two sums above the first cap, changes of all delta."""
    mechanism = made(
        Peeling, epsilon=2.0, delta=0.0, k=1, caps=(1.0, 2.0), count_share=0.5, whole=1, kind=kind
    )
    parts = mechanism.wants.caps

    def of(users):
        rows = [(user, item, 2) for user in range(users) for item in range(4)]
        columns = np.array(rows, np.int64).reshape(-1, 3).T.copy()
        held = UserAmounts.of_rows(*columns, n_items=4, most=2)
        evidence = AmountsAtCaps(
            partial(held.above, parts),
            lambda place: PublicCounts(held.capped(parts[place]).sets.counts, unit=1 / 2),
        )
        return law(lambda draws: mechanism.select(evidence, draws).cap)

    laws = [of(users) for users in range(4)]
    pairs = [(p, q) for i, p in enumerate(laws) for q in (laws[i - 1 : i] + laws[i + 1 : i + 2])]
    return max(hockey_stick(p, q, mechanism.choice_epsilon) for p, q in pairs)


def test_sums_of_a_user_that_all_count_are_seen():
    assert loss_of(ChosenCap) <= 1e-12
    assert loss_of(EachSumWhole) > 0.01


def test_rows_of_a_user_are_added_up_before_they_are_held_against_a_cap():
    rows = np.zeros(100, int)
    held = UserAmounts.of_rows(rows, rows, np.full(100, MOST // 200), n_items=1, most=MOST)
    assert held.above((0.1, 0.4, 1.0), 30).tolist() == [1, 1, 0]
    doubled = np.full(2, MOST)
    twice = UserAmounts.of_rows(rows[:2], rows[:2], doubled, n_items=1, most=MOST)
    assert twice.capped(0.5).sets.counts.tolist() == [MOST]
