"""The choice between one unit and rounds: which way, at which price, and mistakes."""

from dataclasses import dataclass, field

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.audited import broken
from helpers.choices_of_units import (
    ONE,
    USERS,
    ItemsVote,
    TwoVotes,
    largest_range,
    law_of,
    ways,
)
from helpers.hitting import contributions
from helpers.losses import worst_of_choice
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import AdaptiveGaussian, GreedyOrRounds, PolicyGreedy
from shortlist.mechanisms.greedy_or_rounds import GreedyOrRoundsDesign
from shortlist.privacy import Approximate


def made(kind=GreedyOrRounds, **given):
    return kind(**{"epsilon": 1.0, "delta": 1e-6} | given)


@pytest.mark.parametrize(
    ("sizes", "way"),
    [
        ([(1, 30_000)], 0),
        ([(1, 26_000), (2, 3_000), (3, 1_000)], 0),
        ([(1, 20_000), (20, 30_000)], 1),
        ([(20, 30_000)], 1),
        ([(1, 30)], 1),
        ([(1, 27_000), (200, 3_000)], 1),  # a few users hold most of all
    ],
)
def test_one_unit_is_for_tables_whose_users_hold_few_items(sizes, way):
    assert ways(made(), sizes)[way] >= 36


def test_nobody_leaves_it_to_rounds():
    assert ways(made(), [(1, 0)])[1] >= 34


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("bound", [None, 100])
def test_one_unit_pays_for_the_choice_and_rounds_have_all(epsilon, bound):
    mechanism = made(epsilon=epsilon, max_items_per_user=bound)
    assert mechanism.cost == Approximate(epsilon, 1e-6)
    greedy, rounds = mechanism._greedy, mechanism._other
    assert (rounds.epsilon, rounds.delta) == (epsilon, 1e-6)
    assert greedy.epsilon + mechanism.choice_epsilon <= epsilon
    assert 0.99 * epsilon < greedy.epsilon
    assert 0.6e-6 < greedy.delta < 1e-6
    assert worst_of_choice(mechanism, greedy.delta) <= 1e-6
    assert worst_of_choice(mechanism, 1.2 * greedy.delta) > 1e-6


def test_explaining_tells_of_both_ways():
    mechanism = made()
    text = " ".join(mechanism.explain())
    assert f"at least {mechanism.units_needed} units are named" in text
    assert "3, 10, 30, 100, 300 and 1,000" in text
    assert "3, 10" not in " ".join(made(max_items_per_user=100).explain())


def test_a_table_of_one_item_users_is_found_as_by_policy_greedy():
    rng = np.random.default_rng(5)
    rows = pl.DataFrame({"user": range(60_000), "item": rng.zipf(1.5, 60_000) % 10_000})
    source = sl.pairs(rows, user="user", item="item", max_items_per_user=100)
    found = {
        kind: source.domain(epsilon=1, delta=1e-6, mechanism=kind, random=SeededBits(1))
        for kind in (AdaptiveGaussian, PolicyGreedy, None)
    }
    named = {kind: len(release) for kind, release in found.items()}
    assert type(found[None].mechanism) is GreedyOrRounds
    assert named[None] > 0.95 * named[PolicyGreedy]
    assert named[None] > 1.1 * named[AdaptiveGaussian]


@pytest.mark.parametrize(("sizes", "way"), [([1], 0), ([20], 1)])
def test_either_way_lists_items_with_weights_those_of_most_users_first(sizes, way):
    users = 20_000
    held = contributions([range(*sizes)] * users + [[20], [21]] * 400, 22)
    told = made().select(held, ExactDraws(SeededBits(3)))
    assert ("rounds" in told.branch) == way
    weights = dict(zip(told.positions.tolist(), told.scores.tolist(), strict=True))
    assert weights[0] > weights[20] > 0
    assert told.noise_sd > 0


def test_without_scores_of_units_rounds_are_run_at_once():
    for epsilon in (1e-4, 50.0):
        assert made(epsilon=epsilon)._greedy.score_unit is None
        assert set(ways(made(epsilon=epsilon), [(1, 30_000)])) == {1}
    assert set(ways(made(epsilon=20.0), [(1, 30_000)])) == {0}


# --- the choice against its definition, and what one user can change of it


def lost(mechanism, users):
    return mechanism._lost(contributions(users, 5).users_of_size())


SMALL = {"epsilon": 3.0, "delta": 0.01, "max_items_per_user": 2}
LOUD = GreedyOrRoundsDesign(choice_share=0.02, most=0.25)


@pytest.mark.parametrize("n", range(len(USERS) + 1))
def test_the_odds_are_those_of_the_definition(n):
    mechanism = made(**SMALL, design=LOUD)
    lean = 0.9 * mechanism.threshold / mechanism.units_needed
    roots = [min(len(user), 2) ** 0.5 for user in USERS[:n] if user]
    votes = np.clip([(lean - root) / 0.25 for root in roots], -1, 1)
    against = [-votes[votes < 0].sum(), votes[votes > 0].sum()]
    odds = np.array([0.03, 1.0]) * np.exp(-0.06 * np.array(against))
    assert law_of(mechanism, USERS[:n]) == pytest.approx(odds / sum(odds), abs=1e-5)


@pytest.mark.parametrize("user", USERS)
def test_one_user_more_moves_each_loss_by_at_most_one(user):
    mechanism = made(**SMALL)
    moved = lost(mechanism, [*USERS, user]) - lost(mechanism, USERS)
    assert moved.dtype == np.int64
    assert ((moved >= 0) & (moved <= ONE)).all()
    assert user or not moved.any()


@pytest.mark.parametrize("bound", [None, 2, 1000])
def test_users_of_any_number_of_items_have_one_vote_at_most(bound):
    mechanism, sizes = made(max_items_per_user=bound), np.arange(1, 1200)
    alone = [mechanism._lost(np.bincount([size], minlength=1200)) for size in sizes]
    assert ((np.array(alone) >= 0) & (np.array(alone) <= ONE)).all()
    assert not np.array(alone).min(axis=1).any()  # against one of both ways alone


@pytest.mark.parametrize("user", USERS)
def test_the_choice_costs_no_more_than_its_range(user):
    mechanism = made(**SMALL, design=LOUD)
    ratios = np.log(law_of(mechanism, USERS) / law_of(mechanism, [*USERS, user]))
    assert np.ptp(ratios) <= mechanism.choice_epsilon * (1 + 1e-9)
    assert np.abs(ratios).max() <= mechanism.choice_epsilon


def test_a_billion_users_do_not_overflow():
    found = made()._lost(np.array([0, 2**29, 0, 2**29], np.int64))
    assert (found >= 0).all()
    assert found.max() < 2**51


# --- mistakes


@dataclass(frozen=True, kw_only=True)
class Loud(GreedyOrRounds):
    """The right one, whose choice has more of epsilon, on a coarse grid."""

    design: GreedyOrRoundsDesign = field(
        default=GreedyOrRoundsDesign(choice_share=0.02, factor=1.0, most=1.0).coarse,
        repr=False,
    )


class Twice(TwoVotes, Loud):
    """Its users have two votes each."""


class Items(ItemsVote, Loud):
    """Its items vote."""


@pytest.mark.parametrize("kind", [Twice, Items])
def test_the_range_of_the_choice_is_kept_by_the_right_one_alone(kind):
    right, wrong = (
        made(one, epsilon=1.0, delta=0.01, max_items_per_user=9) for one in (Loud, kind)
    )

    assert largest_range(right) <= 1.0 + 1e-9
    assert largest_range(wrong) > 1.5


def test_the_audit_holds_for_the_right_one():
    given = {"epsilon": 0.3, "delta": 0.01, "max_items_per_user": 2, "rounds": 2}
    assert not broken(audit_exactly(Loud(**given), families=[[(1, 0, 0), (0, 1, 0)]]))
