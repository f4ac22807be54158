"""The second try of a limited domain: its law, its privacy, its stages, and mistakes in them."""

import itertools
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest

import shortlist as sl
from helpers.exhaustive import exhaustive
from helpers.losses import hockey_stick
from helpers.oracles_of_counts import limited_domain
from shortlist.audit.exact.enumerator import law
from shortlist.evidence import PrivateCounts
from shortlist.mechanisms import LimitedDomain
from shortlist.privacy.accountant import EitherStage
from shortlist.privacy.accountant.stages import rho_of

ASKED = {"epsilon": 1.0, "delta": 1e-6}
LOUD = {"epsilon": 1.0, "delta": 0.2}


def law_of(mechanism, counts):
    shown = PrivateCounts(np.array(counts, np.int64), mechanism.max_items_per_user)
    return law(lambda draws: tuple(mechanism.select(shown, draws).positions.tolist()))


def neighbours(n_items, most, largest):
    """All histograms, each with every set of at most so many items that one user may bring."""
    for counts in itertools.product(range(largest + 1), repeat=n_items):
        for added in itertools.product([0, 1], repeat=n_items):
            if 0 < sum(added) <= (most or n_items):
                yield counts, tuple(c + a for c, a in zip(counts, added, strict=True))


def worst(mechanism, n_items, largest):
    """The largest delta of all neighbours, both ways, over the mechanism's own."""
    known = cache(partial(law_of, mechanism))
    pairs = neighbours(n_items, mechanism.max_items_per_user, largest)
    both = [(known(few), known(many)) for few, many in pairs]
    deltas = [hockey_stick(*ways, mechanism.epsilon) for p, q in both for ways in ((p, q), (q, p))]
    return max(deltas) / mechanism.delta


TRIES = [
    {"k": 2, "second_try": 1, "max_items_per_user": 2},
    {"k": 3, "second_try": 1, "k_bar": 3, "threshold_share": 0.9},
    {"k": 3, "second_try": 1, "k_bar": 3, "max_items_per_user": 1},
    {"k": 6, "k_bar": 6},
    {"k": 7, "max_items_per_user": 2, "threshold_share": 0.9},
]


@pytest.mark.parametrize("given", TRIES)
def test_the_law_is_that_of_the_definition(given):
    mechanism = LimitedDomain(**given, **LOUD)
    assert mechanism._tries_again
    for counts in [(0, 0), (3, 2), (4, 4, 2), (2, 1, 1, 0), (5, 3, 3, 1), (2, 2, 2, 2)]:
        found = law_of(mechanism, counts)
        expected = limited_domain(mechanism, counts, mechanism.k)
        assert all(abs(found[o] - p) < 1e-12 for o, p in expected.items() if p)
        assert abs(sum(found.values()) - 1) < 1e-12
    other = LimitedDomain(**given | {"second_try": None}, **LOUD)
    wrong = law_of(other, (9, 7, 3, 1))
    found = law_of(mechanism, (9, 7, 3, 1))
    assert sum(abs(wrong.get(o, 0) - p) for o, p in found.items()) > 0.005


@pytest.mark.parametrize("given", TRIES)
@pytest.mark.parametrize(("n_items", "largest"), [(2, 3), *exhaustive((3, 3), (4, 2))])
def test_it_is_private(given, n_items, largest):
    assert worst(LimitedDomain(**given, **LOUD), n_items, largest) <= 1 + 1e-9


# --- planted


class LossPaidOnce(LimitedDomain):
    """Each try loses all that both may."""

    def _nobody_for(self, share):  # noqa: ARG002 - that is the mistake
        return super()._nobody_for(Fraction(1))


class OneMore(LimitedDomain):
    """A second try of one pick too many."""

    def _second_after(self, unit, found):
        second = super()._second_after(unit, found)
        return second and replace(second, k=second.k + 1)


class NotFewer(LimitedDomain):
    """A second try of as many picks as were left, though each costs more."""

    def _second_after(self, unit, found):
        second = super()._second_after(unit, found)
        return second and replace(second, k=self.k - found - 1)


def test_a_loss_that_is_paid_once_is_not_private():
    given = {"k": 2, "second_try": 1, "max_items_per_user": 1, "threshold_share": 0.9}
    assert worst(LimitedDomain(**given, **LOUD), 2, 2) <= 1
    assert worst(LossPaidOnce(**given, **LOUD), 2, 2) > 1.3


def stays_within(mechanism, composed):
    """Whether what is drawn, wherever "nobody" comes, is a way through the stages, in their order.

    Each stage is taken as long as its picks last: of a branch, the second way where it has ended.
    """
    return all(
        covers(composed, [mechanism.local_epsilon] * (found + 1), second_picks(mechanism, found))
        for found in range(mechanism.k)
    )


def second_picks(mechanism, found):
    second = mechanism._second_after(1.0, found)
    return [second.local_epsilon] * second.k if second else []


def covers(stages, first, second):
    """Whether some way has as many picks of each range, the first try's before the second's."""
    if not stages:
        return not first and not second
    stage, *rest = stages
    if isinstance(stage, EitherStage):
        return any(covers((*way, *rest), first, second) for way in (stage.first, stage.second))
    own = first or second
    if own and own[0] > stage.epsilon:
        return False
    if first and len(first) > stage.times:
        return covers(rest, first[stage.times :], second)
    if first:
        return covers(rest, [], second)
    return len(second) <= stage.times and covers(rest, [], []) if second else True


@pytest.mark.parametrize("k", [6, 7, 8, 12, 20, 100, 101])
@pytest.mark.parametrize("second_try", [1, 2, 3])
def test_every_way_is_one_through_the_stages_and_costs_no_more_zcdp(k, second_try):
    right, *wrong = (
        kind(k=k, second_try=second_try, **ASKED) for kind in (LimitedDomain, OneMore, NotFewer)
    )
    stages = right._stages(right.local_epsilon)
    assert right._is_pure or rho_of(stages) == k * Fraction(right.local_epsilon) ** 2 / 8
    assert stays_within(right, stages)
    for one in wrong:
        same = second_try == 1 and isinstance(one, NotFewer)
        assert same or not one._tries_again or not stays_within(one, stages)


def test_picks_as_before_where_nothing_is_gained():
    pure = {"k": 6, "epsilon": 0.5, "delta": 1e-30}
    for given in ({"k": 5}, {"k": 20, "second_try": None}, pure):
        mechanism = LimitedDomain(**ASKED | given)
        assert not mechanism._tries_again
        assert mechanism._nobody * mechanism.threshold_delta == pytest.approx(1000)
        assert not any("second try" in line for line in mechanism.explain())


def test_what_is_said_of_it():
    mechanism = LimitedDomain(k=100, epsilon=0.3, delta=1e-6)
    assert "up to 16 picks" in mechanism.explain()[-1]
    assert mechanism._second_lead < 0.6 * mechanism.lead
    plain = LimitedDomain(k=100, epsilon=0.3, delta=1e-6, second_try=None)
    assert plain.lead < mechanism.lead < 1.03 * plain.lead
    assert 0.995 * plain.local_epsilon < mechanism.local_epsilon <= plain.local_epsilon


def test_in_several_groups_of_a_user_there_is_none():
    for groups, tries in ((1, 2), (2, None)):
        table = {"item": ["a", "b"], "group": ["x", "y"], "count": [900, 800]}
        source = sl.counts(
            table, item="item", count="count", by="group", max_groups_per_user=groups
        )
        plan = source.plan(sl.TopK(20), **ASKED)
        assert plan.mechanism.selection.second_try == tries
