"""The top k as a set: privacy of all small neighbours, and mistakes that are caught."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from flint import arb, ctx

from helpers.losses import hockey_stick, largest_log_ratio
from helpers.oracles_of_counts import distance, losses, set_or_peel
from shortlist.algorithms import slack
from shortlist.algorithms.competition import Competition
from shortlist.algorithms.grouping import EqualCounts
from shortlist.algorithms.subsets import Subsets
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Accounting, JointOrPeel, SetOrPeel
from shortlist.privacy import Pure

LARGEST = 3
TABLES = list(itertools.product(range(LARGEST + 1), repeat=4))


@cache
def law_of(mechanism, counts):
    def select(draws):
        evidence = PublicCounts(np.array(counts, np.int64))
        return tuple(mechanism.select(evidence, draws).positions.tolist())

    return law(select)


def relabelled(mechanism, counts):
    order = sorted(range(len(counts)), key=lambda i: -counts[i])
    found = law_of(mechanism, tuple(counts[i] for i in order))
    return {tuple(sorted(order[i] for i in outcome)): p for outcome, p in found.items()}


def neighbours():
    for counts in TABLES:
        if list(counts) == sorted(counts, reverse=True):
            for added in itertools.product([0, 1], repeat=len(counts)):
                more = tuple(c + a for c, a in zip(counts, added, strict=True))
                if any(added) and max(more) <= LARGEST:
                    yield counts, more


def worst_loss(mechanism):
    return max(
        max(largest_log_ratio(p, q), largest_log_ratio(q, p))
        for counts, more in neighbours()
        for p, q in [(relabelled(mechanism, counts), relabelled(mechanism, more))]
    )


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
def test_the_loss_of_all_small_neighbours_is_within_epsilon_and_attained(k, accounting):
    mechanism = SetOrPeel(k=k, epsilon=1.3, accounting=accounting)
    assert mechanism.always_whole
    assert 0.7 * 1.3 < worst_loss(mechanism) <= 1.3 + 1e-12
    louder = SetOrPeel(k=k, epsilon=1.3 * 1.5, accounting=accounting)
    assert worst_loss(louder) > 1.3


def test_the_loss_with_a_choice_is_within_epsilon():
    given = {"k": 2, "epsilon": 1.3, "choice_share": 0.3, "threshold": 1}
    assert worst_loss(SetOrPeel(**given)) <= 1.3 + 1e-12


# --- planted mistakes


class TiesTwice(Subsets):
    """What may be first missing is counted behind its ties, and with them once more."""

    def _reaching(self, slack):
        reach = super()._reaching(slack)
        return np.minimum(reach + (reach > self.k), len(self.groups.counts))

    def ball_of_at_most(self, slack):
        return super().ball_of_at_most(slack) + (1 if slack >= self.lead else 0)


class FromTheBest(Competition):
    """Slack in W is counted from the best set on, whose lead one user moves, too."""

    @property
    def weights(self):
        found = super().weights
        return None if found is None else type(found)(found.lists, found.decay, found.least)


def log_w(competition, counts, k, decay):
    near = competition(Subsets(EqualCounts.of(np.array(counts, np.int64)), k), decay, 0.6)
    with ctx.workprec(200):
        weights = near.weights
        total = sum((weights.ball(i) for i in range(len(weights))), arb(0))
        return float(total.log() + arb(weights.shift))


def largest_move(competition):
    return max(
        abs(log_w(competition, counts, k, 0.4) - log_w(competition, more, k, 0.4))
        for counts, more in neighbours()
        for k in (1, 2, 3)
    )


def test_one_user_moves_the_normaliser_by_at_most_half_of_epsilon():
    assert 0.4 - 1e-9 < largest_move(Competition) <= 0.4 + 1e-9
    assert largest_move(FromTheBest) > 0.5


class CountedTwice(SetOrPeel):
    lists = TiesTwice


def test_ties_that_count_twice_have_another_law():
    given = {"k": 2, "epsilon": 1.3, "accounting": Accounting.ZCDP}
    for counts in [(2, 2, 2, 1), (3, 1, 1, 1)]:
        right = set_or_peel(SetOrPeel(**given), counts, 2)
        assert distance(law_of(SetOrPeel(**given), counts), right) < 1e-12
        assert distance(law_of(CountedTwice(**given), counts), right) > 0.005


class OrderTold(SetOrPeel):
    """The items in the order in which they were picked."""

    names_sets = False


def test_an_order_that_is_told_shows():
    counts, given = (3, 2, 1, 0), {"k": 2, "epsilon": 1.3, "threshold": -50.0}
    assert all(list(s) == sorted(s) for s in law_of(SetOrPeel(**given), counts))
    assert any(list(s) != sorted(s) for s in law_of(OrderTold(**given), counts))


# --- parameters


def test_what_is_asked_for_less_is_named_with_all_of_epsilon():
    assert SetOrPeel(k=3, epsilon=0.7, delta=1e-6).cost == Pure(0.7)
    many = SetOrPeel(k=2, epsilon=0.7, accounting=Accounting.ZCDP)
    assert many.cost == Pure.bounded_range(0.7)
    assert SetOrPeel(k=1, epsilon=0.7).cost == JointOrPeel(k=1, epsilon=0.7).cost
    assert "local_epsilon" not in SetOrPeel(k=3, epsilon=0.7).parameters()


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
def test_the_cost_is_that_of_a_choice_between_sequences_and_picks(delta, accounting):
    given = {"k": 20, "epsilon": 0.7, "delta": delta, "choice_share": 0.1, "accounting": accounting}
    assert SetOrPeel(**given).cost == JointOrPeel(**given).cost


@pytest.mark.parametrize("n", [0, 1, 3])
def test_no_more_items_than_asked_for_are_all_named_without_a_draw(n):
    found = SetOrPeel(k=3, epsilon=1.0).select(PublicCounts(np.arange(n)), None)
    assert found.positions.tolist() == list(range(n))
    assert not found.ordered


def test_a_wide_gap_behind_the_last_is_enough_for_the_set_and_not_for_the_sequence():
    counts = np.concatenate([np.full(20, 10**5) + np.arange(20), np.arange(1000)])
    draws = ExactDraws(SeededBits(1))
    for _ in range(20):
        found = SetOrPeel(k=20, epsilon=0.3).select(PublicCounts(counts), draws)
        assert found.positions.tolist() == list(range(20))
        assert found.branch == "as a whole"


@pytest.mark.parametrize("kind", [SetOrPeel, JointOrPeel])
def test_too_many_pieces_are_not_counted(kind, monkeypatch):
    monkeypatch.setattr(slack, "_MOST_PIECES", 1000)
    counts = np.arange(300) * 1000
    for epsilon, branch in ((3.0, "as a whole"), (1e-3, "one by one")):
        mechanism = kind(k=10, epsilon=epsilon)
        found = mechanism.select(PublicCounts(counts), ExactDraws(SeededBits(2)))
        assert found.branch == branch
        near = mechanism.competition(EqualCounts.of(counts))
        assert (near.every.most_pieces(near.decay) > 1000) is (branch == "one by one")


@pytest.mark.parametrize("accounting", SetOrPeel.accountings)
@pytest.mark.parametrize("k", [2, 3])
def test_too_many_pieces_of_a_few_items_are_not_counted_either(k, accounting, monkeypatch):
    """They are named one by one then, at no more than is paid for the whole."""
    monkeypatch.setattr(slack, "_MOST_PIECES", 0)
    mechanism = SetOrPeel(k=k, epsilon=1.0, delta=0.1, accounting=accounting)
    found, more = (_told(mechanism, counts) for counts in ((3, 2, 2, 0), (3, 3, 2, 1)))
    assert largest_log_ratio(found, more) <= 1.0 + 1e-9
    for epsilon in (0.3, 0.6):
        lost = max(hockey_stick(found, more, epsilon), hockey_stick(more, found, epsilon))
        assert lost <= mechanism.cost.delta(epsilon) + 1e-9
    monkeypatch.undo()
    assert found != pytest.approx(_told(mechanism, (3, 2, 2, 0)))


def _told(mechanism, counts):
    evidence = PublicCounts(np.array(counts))
    return law(lambda draws: tuple(mechanism.select(evidence, draws).positions.tolist()))


def test_the_oracle_of_many_sets_is_that_of_all_orders():
    counts = (4, 3, 1, 1)
    assert len(losses(counts, 2)) == 6
    mechanism = SetOrPeel(k=2, epsilon=0.9)
    assert math.isclose(sum(set_or_peel(mechanism, counts, 2).values()), 1.0, rel_tol=1e-12)
