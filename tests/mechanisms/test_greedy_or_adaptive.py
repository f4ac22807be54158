"""The choice between one unit and adaptive top-k: which way, at which price, and mistakes."""

from dataclasses import dataclass, field, replace

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
from helpers.losses import hockey_stick, worst_of_choice
from helpers.oracles import ORACLES
from helpers.oracles_of_top_k import chance_of_one_item
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import AdaptiveTopK, GreedyOrAdaptive, Selection
from shortlist.mechanisms.greedy_or_adaptive import GreedyOrAdaptiveDesign
from shortlist.privacy import Approximate


def made(kind=GreedyOrAdaptive, **given):
    usual = {"k": 2, "epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 100}
    return kind(**usual | given)


@pytest.mark.parametrize(
    ("sizes", "bound", "way"),
    [
        ([(1, 5_000)], 100, 0),
        ([(1, 500_000), (2, 500)], 100, 0),
        ([(1, 50_000), (100, 500)], 100, 1),  # a few users hold most of all
        ([(1, 40_000), (2, 10_000)], 100, 1),
        ([(20, 3_000)], 100, 1),
        ([(1, 30)], 100, 1),
        ([(1, 30)], 1, 0),  # as the bound says in public
        ([(1, 3_000), (2, 50)], 1, 0),
        ([(20, 3_000)], 1, 1),
    ],
)
def test_one_unit_is_for_tables_of_one_item_a_user(sizes, bound, way):
    assert ways(made(max_items_per_user=bound), sizes)[way] >= 34


@pytest.mark.parametrize("epsilon", [1e-3, 1.0, 5.0])
@pytest.mark.parametrize("bound", [1, 5])
def test_one_unit_pays_for_the_choice_and_the_other_way_has_all(epsilon, bound):
    mechanism = made(epsilon=epsilon, max_items_per_user=bound)
    assert mechanism.cost == Approximate(epsilon, 1e-6)
    greedy, other = mechanism._greedy, mechanism._other
    assert (other.epsilon, other.delta) == (epsilon, 1e-6)
    assert greedy.epsilon + mechanism.choice_epsilon <= epsilon
    assert 0.97 * epsilon < greedy.epsilon
    assert 0.3e-6 < greedy.delta < 1e-6
    assert worst_of_choice(mechanism, greedy.delta) <= 1e-6
    assert worst_of_choice(mechanism, 1e-6) > 1e-6


def test_one_unit_is_there_at_small_deltas_too():
    mechanism = made(delta=1e-9, max_items_per_user=5)
    assert ways(mechanism, [(1, 60_000)])[0] >= 36
    assert worst_of_choice(mechanism, mechanism._greedy.delta) <= 1e-9


def test_without_scores_of_units_the_other_way_is_taken_at_once():
    mechanism = made(epsilon=1e-4)
    assert mechanism._greedy.score_unit is None
    assert set(ways(mechanism, [(1, 30_000)])) == {1}
    assert mechanism.explain() == mechanism._other.explain()


def test_explaining_tells_of_both_ways():
    mechanism = made()
    text = " ".join(mechanism.explain())
    assert f"at least {mechanism.units_needed} units are found" in text
    assert "In the second way, first, a noisy test" in text


def test_a_table_of_one_item_users_misses_less():
    rng = np.random.default_rng(5)
    rows = pl.DataFrame({"user": range(60_000), "item": rng.zipf(1.3, 60_000) % 10_000})
    held = dict(rows.group_by("item").len().iter_rows())
    best = sum(sorted(held.values())[-200:])

    def missed(kind, bound):
        source = sl.pairs(rows, user="user", item="item", max_items_per_user=bound)
        given = {"epsilon": 1, "delta": 1e-6, "mechanism": kind, "random": SeededBits(1)}
        release = source.top_k(200, **given)
        return release, best - sum(held[item] for item in release.items)

    (release, by_default), (_, before) = missed(None, 100), missed(AdaptiveTopK, 100)
    assert type(release.mechanism) is GreedyOrAdaptive
    assert by_default < 0.5 * before
    assert missed(None, 1)[1] < 0.5 * before


@pytest.mark.parametrize("way", ["one item of a user", "all items of a user"])
def test_either_way_lists_the_best_first(way):
    sizes = (1,) if way.startswith("one") else (20,)
    held = contributions([range(*sizes)] * 30_000 + [[20]] * 300 + [[21]] * 150, 22)
    told = made(k=3).select(held, ExactDraws(SeededBits(3)))
    assert told.branch == way
    assert told.positions.tolist()[0] < 20
    if way.startswith("one"):
        assert told.positions.tolist() == [0, 20, 21]
        assert told.scores is None  # the other way has none, so that a release has no column


# --- the choice against its definition, and what one user can change of it


SMALL = {"epsilon": 3.0, "delta": 0.01, "max_items_per_user": 2}
LOUD = GreedyOrAdaptiveDesign(for_units=0.8, most=2.0, borne=0.2)


@pytest.mark.parametrize("n", range(len(USERS) + 1))
@pytest.mark.parametrize("bound", [1, 2])
def test_the_odds_are_those_of_the_definition(n, bound):
    mechanism = made(**SMALL | {"max_items_per_user": bound}, design=LOUD)
    first = chance_of_one_item(mechanism, USERS[:n])
    assert law_of(mechanism, USERS[:n])[0] == pytest.approx(first, abs=1e-5)


@pytest.mark.parametrize("bound", [1, 2, 1000])
@pytest.mark.parametrize("others", [[0], [0, 5_000], [0, 60_000], [0, 3_000, 4, 0, 1], [0, 0, 900]])
def test_one_user_more_moves_the_difference_by_one_at_most(bound, others):
    mechanism = made(max_items_per_user=bound)

    def ahead(users):
        against, for_units = mechanism._lost(users)
        return for_units - against

    users = np.pad(np.array(others, np.int64), (0, 1200 - len(others)))
    for size in (*range(6), 1199):
        more = users + (np.arange(1200) == size)
        assert abs(ahead(more) - ahead(users)) <= (0 if size == 0 else ONE)
        assert mechanism._lost(more).dtype == np.int64


def test_users_of_one_item_say_no_more_than_a_cap():
    mechanism = made()
    lost = mechanism._lost(np.array([0, 2**29, 0, 2**10], np.int64))
    assert lost.tolist() == [0, int(mechanism.design.cap / mechanism.choice_epsilon * ONE)]


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
class Loud(GreedyOrAdaptive):
    """The right one, whose choice has more of epsilon, on a coarse grid."""

    design: GreedyOrAdaptiveDesign = field(
        default=replace(GreedyOrAdaptiveDesign().coarse, factor=1.0, most=1.0),
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


@dataclass(frozen=True, kw_only=True)
class Units(Loud):
    """The right one, in the first way."""

    def _way(self, held, draws):  # noqa: ARG002 - the interface
        return 0


class ByTrueUnits(Units):
    """What the coins name is ranked by what it has, without noise."""

    def select(self, evidence, draws):
        named = self._greedy.select(evidence, draws).positions
        best = np.argsort(-evidence.counts[named], kind="stable")[: self.k]
        return Selection(named[best], branch="one item of a user")


class OfTheWhole(Units):
    """One unit has all of epsilon and more of delta than the choice left."""

    @property
    def _greedy(self):
        return replace(super()._greedy, epsilon=1.3 * self.epsilon, delta=1.3 * self.delta)


OF_ONE = [({0},) * n for n in range(4)] + [({0}, {1})]


FAMILIES = [[(1, 1, 0)]]


def excess(mechanism):
    """By how much delta is more than was asked for, of users of one item each."""
    oracle = ORACLES[GreedyOrAdaptive]

    def over(one, other):
        p, q = (oracle.output(mechanism, data) for data in (one, other))
        return hockey_stick(p, q, mechanism.epsilon) - mechanism.delta

    pairs = [(data, (*data, user)) for data in OF_ONE for user in ({0}, {1})]
    return max(max(over(a, b), over(b, a)) for a, b in pairs)


@pytest.mark.parametrize("kind", [ByTrueUnits, OfTheWhole])
def test_units_are_private_in_the_right_one_alone(kind):
    given = {"epsilon": 0.1, "delta": 0.2}
    assert excess(made(Units, **given)) <= 1e-9
    assert excess(made(kind, **given)) > 0.005


def test_the_audit_holds_for_the_right_one_alone():
    given = {"epsilon": 0.1, "delta": 0.2, "max_items_per_user": 2}
    assert not broken(audit_exactly(Units(k=2, **given), families=FAMILIES))
    for kind in (ByTrueUnits, OfTheWhole):
        assert broken(audit_exactly(kind(k=2, **given), families=FAMILIES))
