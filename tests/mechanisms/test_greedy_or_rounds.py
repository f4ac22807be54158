"""The choice between one unit and rounds: which way, at which price, and mistakes."""

from collections import Counter
from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.audited import broken
from helpers.hitting import contributions
from shortlist.audit.exact.enumerator import law
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import ChosenBound, GreedyOrRounds, PolicyGreedy
from shortlist.mechanisms.greedy_or_rounds import GreedyOrRoundsDesign
from shortlist.privacy import Approximate

ONE = 2**20
USERS = [{0}, {1}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}, set()]


def made(kind=GreedyOrRounds, **given):
    return kind(**{"epsilon": 1.0, "delta": 1e-6} | given)


def ways(mechanism, sizes, runs=40):
    """How often each way, of so many users who hold so many items."""
    held = SimpleNamespace(users_of_size=lambda: np.bincount(np.repeat(*zip(*sizes, strict=True))))
    return Counter(mechanism._way(held, ExactDraws(SeededBits(i))) for i in range(runs))


@pytest.mark.parametrize(
    ("sizes", "way"),
    [
        ([(1, 30_000)], 0),
        ([(1, 26_000), (2, 3_000), (3, 1_000)], 0),
        ([(1, 14_000), (2, 4_000), (20, 12_000)], 1),
        ([(20, 30_000)], 1),
        ([(1, 30)], 1),
    ],
)
def test_one_unit_is_for_many_users_of_one_item(sizes, way):
    assert ways(made(), sizes)[way] >= 36


def test_nobody_leaves_it_to_rounds():
    assert ways(made(), [(1, 0)])[1] >= 34


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0, 20.0])
def test_each_way_has_all_of_delta_and_what_is_left_of_epsilon(epsilon):
    mechanism = made(epsilon=epsilon)
    assert mechanism.cost == Approximate(epsilon, 1e-6)
    for way in (mechanism._greedy, mechanism._rounds):
        assert way.delta == 1e-6
        assert way.epsilon + mechanism.choice_epsilon <= epsilon
        assert way.epsilon > 0.99 * epsilon
        assert way.cost.delta(way.epsilon) <= 1e-6


def test_explaining_tells_of_both_ways():
    mechanism = made()
    text = " ".join(mechanism.explain())
    assert f"at least {mechanism.units_needed} are named" in text
    assert "3, 10, 30, 100, 300 and 1,000" in text
    assert "score" not in text


def test_a_table_of_one_item_users_is_found_as_by_policy_greedy():
    rng = np.random.default_rng(5)
    rows = pl.DataFrame({"user": range(60_000), "item": rng.zipf(1.5, 60_000) % 10_000})
    source = sl.pairs(rows, user="user", item="item", max_items_per_user=100)
    named = {
        kind: len(source.domain(epsilon=1, delta=1e-6, mechanism=kind, random=SeededBits(1)))
        for kind in (ChosenBound, PolicyGreedy, GreedyOrRounds)
    }
    assert named[GreedyOrRounds] > 0.94 * named[PolicyGreedy]
    assert named[GreedyOrRounds] > 1.1 * named[ChosenBound]


@pytest.mark.parametrize("users", [1, 500])
def test_no_release_has_scores(users):
    rows = pl.DataFrame({"user": range(users), "item": ["Ulysses", "Emma"] * (users // 2) or ["A"]})
    release = sl.pairs(rows, user="user", item="item").domain(
        epsilon=1.0, delta=1e-6, mechanism=GreedyOrRounds
    )
    assert release.scores is None
    assert list(release) == (["Emma", "Ulysses"] if users > 1 else [])


# --- the choice against its definition, and what one user can change of it


def lost(mechanism, users):
    return mechanism._lost(contributions(users, 5).users_of_size())


def law_of(mechanism, users):
    held = contributions(users, 5)
    found = law(lambda draws: mechanism._way(held, draws))
    return np.array([found.get(way, 0.0) for way in range(2)], float)


SMALL = {"epsilon": 3.0, "delta": 0.01, "max_items_per_user": 2}
LOUD = GreedyOrRoundsDesign(choice_share=0.5)


@pytest.mark.parametrize("n", range(len(USERS) + 1))
def test_the_odds_are_those_of_the_definition(n):
    mechanism = made(**SMALL, design=LOUD)
    sizes = [len(user) for user in USERS[:n] if user]
    theta = 0.6 * (1 - mechanism._greedy.threshold / mechanism._rounds.threshold)
    first = sum(1 - 1 / size for size in sizes)
    second = sum(1 if size > 2 else theta for size in sizes)
    odds = np.array([0.05, 1.0]) * np.exp(-1.5 * np.array([first, second]))
    assert law_of(mechanism, USERS[:n]) == pytest.approx(odds / sum(odds), abs=1e-5)


@pytest.mark.parametrize("user", USERS)
def test_one_user_more_moves_each_loss_by_at_most_one(user):
    mechanism = made(**SMALL)
    moved = lost(mechanism, [*USERS, user]) - lost(mechanism, USERS)
    assert moved.dtype == np.int64
    assert ((moved >= 0) & (moved <= ONE)).all()
    assert user or not moved.any()


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
    """The right one, whose choice has most of epsilon, on a coarse grid."""

    design: GreedyOrRoundsDesign = field(
        default=replace(
            GreedyOrRoundsDesign(choice_share=0.9, factor=1.0), cost_of_threshold=0.0
        ).coarse,
        repr=False,
    )


class ForFree(Loud):
    """Both ways have all of epsilon."""

    @property
    def _left(self):
        return self.epsilon


class Twice(Loud):
    """One user moves losses by 2."""

    def _lost(self, users_of_size):
        return 2 * super()._lost(users_of_size)


class Items(Loud):
    """What is lost is items, of which one user may lose any number."""

    def _lost(self, users_of_size):
        sizes = np.arange(len(users_of_size))
        lost = [users_of_size @ np.maximum(sizes - bound, 0) for bound in (1, 9)]
        return 4 * ONE * np.array(lost, np.int64)


@pytest.mark.parametrize("kind", [ForFree, Twice, Items])
def test_the_range_of_the_choice_is_kept_by_the_right_one_alone(kind):
    right, wrong = (
        made(one, epsilon=1.0, delta=0.01, max_items_per_user=9) for one in (Loud, kind)
    )

    def spent(mechanism):
        pairs = [(users, [*users, user]) for users in ([], [{0}], [{0, 1}]) for user in USERS]
        worst = max(np.ptp(np.log(law_of(mechanism, a) / law_of(mechanism, b))) for a, b in pairs)
        return worst + mechanism._greedy.epsilon

    assert spent(right) <= 1.0 + 1e-9
    assert spent(wrong) > 1.0


def test_the_audit_holds_for_the_right_one():
    given = {"epsilon": 0.3, "delta": 0.01, "max_items_per_user": 2, "rounds": 2}
    assert not broken(audit_exactly(Loud(**given), families=[[(1, 0, 0), (0, 1, 0)]]))
