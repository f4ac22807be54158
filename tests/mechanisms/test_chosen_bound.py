"""The bound that is chosen: which one, at which price, and mistakes that are caught."""

import json
import math
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.audited import broken
from helpers.hitting import contributions
from shortlist.algorithms.rounding_grids import coarse_grid
from shortlist.audit.exact.enumerator import law
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import Accounting, AdaptiveGaussian, ChosenBound
from shortlist.mechanisms.chosen_bound import BoundChoice, ChosenBoundDesign
from shortlist.mechanisms.wrappers import NoisyClippedCounts
from shortlist.privacy import Gaussian

ONE = 2**20


def made(kind=ChosenBound, **given):
    return kind(**{"epsilon": 1.0, "delta": 1e-6} | given)


def chosen(mechanism, users, size=0, runs=40):
    """How often each bound, of so many users who hold so many items each, or of each size."""
    of_size = users if size == 0 else users * (np.arange(size + 1) == size)
    held = SimpleNamespace(users_of_size=lambda: of_size)
    places = (mechanism._choice.pick(held, ExactDraws(SeededBits(i))) for i in range(runs))
    return Counter(mechanism.bounds[place] for place in places)


@pytest.mark.parametrize(
    ("most", "bounds"),
    [
        (1000, (3, 10, 30, 100, 300, 1000)),
        (300, (3, 10, 30, 100, 300)),
        (50, (3, 10, 30, 50)),
        (5000, (3, 10, 30, 100, 300, 1000, 5000)),
        (3, (3,)),
        (1, (1,)),
    ],
)
def test_bounds_are_the_listed_ones_up_to_the_largest(most, bounds):
    mechanism = made(max_items_per_user=most)
    assert mechanism.bounds == bounds
    assert mechanism.cost.delta(1.0) <= 1e-6


@pytest.mark.parametrize(("size", "bound"), [(1, 3), (25, 30), (90, 100), (250, 300), (700, 1000)])
def test_many_users_get_the_bound_that_holds_their_sets(size, bound):
    assert chosen(made(), 50_000, size) == {bound: 40}


@pytest.mark.parametrize("size", [1, 1000])
def test_few_users_get_about_the_usual_bound(size):
    for few in (chosen(made(epsilon=0.1), 20, size, 200), chosen(made(), 0, size, 200)):
        assert few.most_common(1)[0][0] == 100
        assert few[30] + few[100] + few[300] > 120


@pytest.mark.parametrize(("heavy", "bound"), [(0, 3), (200, 3), (1000, 300), (3000, 300)])
def test_users_of_many_items_count_for_more_than_those_of_one(heavy, bound):
    sizes = np.zeros(201, np.int64)
    sizes[[1, 200]] = 29_000, heavy
    assert chosen(made(), sizes)[bound] > 30


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
def test_it_costs_a_few_thousandths_beside_a_bound_that_is_given(epsilon, accounting):
    given = {"epsilon": epsilon, "delta": 1e-5, "accounting": accounting}
    mechanism = made(**given)
    for bound, search in zip(mechanism.bounds, mechanism._searches, strict=True):
        fixed = AdaptiveGaussian(max_items_per_user=bound, **given)
        assert 1 < mechanism.sigma / fixed.sigma < 1.005
        assert 1 < search.threshold / fixed.threshold < 1.014


def test_in_zcdp_the_choice_has_its_share():
    mechanism = made(accounting=Accounting.ZCDP)
    assert isinstance(mechanism.cost, Gaussian)
    assert mechanism.cost.rho >= mechanism.choice_epsilon**2 / 8 + 1 / (2 * mechanism.sigma**2)
    assert 0.999e-6 <= mechanism.cost.delta(1.0) <= 1e-6


def test_explaining_names_the_bounds_and_what_it_takes_at_the_ends():
    mechanism = made()
    text = " ".join(mechanism.explain())
    assert "3, 10, 30, 100, 300 and 1,000" in text
    first, *_, last = mechanism._searches
    assert f"{first.threshold:.4g} at 3" in text
    assert all(f"{threshold:.4g}" in text for threshold in last.thresholds)
    assert "from 2 alone" in " ".join(made(max_items_per_user=2).explain())


def test_large_sets_are_found_as_at_the_bound_that_holds_them():
    rng = np.random.default_rng(3)
    likes = rng.gumbel(size=(1000, 1500)) - np.log(np.arange(1, 1501))
    items = np.argsort(-likes, axis=1)[:, :250].ravel()
    rows = pl.DataFrame({"user": np.repeat(np.arange(1000), 250), "item": items})
    named = {}
    for bound in (100, 1000):
        source = sl.pairs(rows, user="user", item="item", max_items_per_user=bound)
        kind = ChosenBound if bound == 1000 else AdaptiveGaussian
        named[bound] = len(
            source.domain(epsilon=1.0, delta=1e-5, mechanism=kind, random=SeededBits(1))
        )
    assert named[1000] > 1.02 * named[100]


def test_its_release_tells_what_there_was_to_choose_from():
    rows = pl.DataFrame({"user": range(500), "item": ["Emma", "Ulysses"] * 250})
    source = sl.pairs(rows, user="user", item="item", max_items_per_user=30)
    release = source.domain(epsilon=1.0, delta=1e-6, mechanism=ChosenBound)
    told = json.loads(json.dumps(release.to_dict()))["mechanism"]["parameters"]
    assert told["bounds"] == [3, 10, 30]
    assert sorted(release) == ["Emma", "Ulysses"]


def test_it_is_the_default_for_counts_where_nobody_says_a_bound():
    rows = pl.DataFrame({"user": range(500), "item": ["Emma", "Ulysses"] * 250})
    source = sl.pairs(rows, user="user", item="item")
    plan = source.plan(sl.Domain(0.3), epsilon=1.0, delta=1e-6)
    selection = plan.mechanism.selection
    assert type(selection) is ChosenBound
    assert selection.bounds[-1] == 1000
    assert 0.99e-6 < plan.guarantee.cost.delta(1.0) <= 1e-6
    assert sorted(plan.run()) == ["Emma", "Ulysses"]
    other = sl.pairs(rows, user="user", item="item", max_items_per_user=100)
    assert "ChosenBound" not in str(other.plan(sl.Domain(0.3), epsilon=1.0, delta=1e-6))


def test_counts_beside_it_have_hardly_more_noise():
    def counted(kind, **given):
        build = partial(kind, **given)
        return NoisyClippedCounts.of(
            lambda epsilon, delta: build(epsilon=epsilon, delta=delta),
            epsilon=1.0,
            delta=1e-6,
            count_share=0.3,
        )

    chosen, given = counted(ChosenBound), counted(AdaptiveGaussian, max_items_per_user=1000)
    assert 1 < chosen.least_count_sd / given.least_count_sd < 1.03


# --- the choice against its definition, and what one user can change of it

BOUNDS, THRESHOLDS, FACTORS = (1, 2, 4), (9.0, 10.0, 12.0), (0.25, 1.0, 0.5)
USERS = [{0}, {1}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}]
EPSILON, WHOLE = 0.7, 3


def chooses(epsilon=EPSILON, factors=FACTORS):
    return BoundChoice(BOUNDS, THRESHOLDS, factors, epsilon, WHOLE)


def losses(sizes):
    """By the definition: of each bound."""
    costs = [2 * (1 - THRESHOLDS[0] / threshold) for threshold in THRESHOLDS]
    return [
        sum(min(size / WHOLE, 1) * (1 if size > bound else cost) for size in sizes)
        for bound, cost in zip(BOUNDS, costs, strict=True)
    ]


def law_of(choice, users):
    held = contributions(users, 5)
    found = law(lambda draws: choice.pick(held, draws))
    return np.array([found.get(place, 0.0) for place in range(len(BOUNDS))], float)


@pytest.mark.parametrize("n", range(len(USERS) + 1))
def test_the_odds_are_those_of_the_definition(n):
    lost = losses([len(user) for user in USERS[:n]])
    odds = np.array(FACTORS) * np.exp(-EPSILON * np.array(lost))
    assert law_of(chooses(), USERS[:n]) == pytest.approx(odds / sum(odds), abs=1e-5)


@pytest.mark.parametrize("user", USERS)
def test_one_user_more_moves_each_loss_by_at_most_one(user):
    choice = chooses()
    before, after = (
        choice._lost(contributions(users, 5).users_of_size()) for users in (USERS, [*USERS, user])
    )
    moved = after - before
    assert moved.dtype == np.int64
    assert ((moved >= 0) & (moved <= ONE)).all()
    assert moved == pytest.approx(np.array(losses([len(user)])) * ONE, abs=2 * WHOLE)


@pytest.mark.parametrize("user", USERS)
def test_its_privacy_loss_has_no_more_than_its_range(user):
    ratios = np.log(law_of(chooses(), USERS) / law_of(chooses(), [*USERS, user]))
    assert np.ptp(ratios) <= EPSILON * (1 + 1e-9)
    if len(user) == 3:  # beyond some bounds, and within another: most of it
        assert np.ptp(ratios) >= 0.45 * EPSILON


def test_who_holds_nothing_changes_nothing():
    choice = chooses()
    some, more = (np.array([nobody, 4, 3, 1]) for nobody in (0, 1000))
    assert (choice._lost(some) == choice._lost(more)).all()


def test_nobody_leaves_it_to_the_factors():
    assert law_of(chooses(), []) == pytest.approx(np.array(FACTORS) / sum(FACTORS))


@pytest.mark.parametrize(("size", "bound"), [(1, 1), (2, 2), (4, 4), (5, 1)])
def test_many_users_get_the_bound_that_loses_them_least(size, bound):
    held = contributions([set(range(size))] * 400, 5)
    picked = [
        BOUNDS[chooses(factors=(1.0,) * 3).pick(held, ExactDraws(SeededBits(seed)))]
        for seed in range(20)
    ]
    if size <= BOUNDS[-1]:
        assert set(picked) == {bound}
    else:  # beyond all of them: none is better
        assert set(picked) == set(BOUNDS)


def test_a_billion_users_do_not_overflow():
    sizes = np.array([0, 2**29, 0, 2**29, 0, 0, 0], np.int64)
    lost = chooses()._lost(sizes)
    assert lost[0] == 2**29 * 3 * (ONE // 3)
    assert math.log2(lost.max()) < 51


# --- mistakes


LOUD = ChosenBoundDesign(grid=coarse_grid, bounds=(1, 3), choice_share=0.9, whole=2)


@dataclass(frozen=True, kw_only=True)
class Loud(ChosenBound):
    """The right one, whose choice has most of the budget, on a coarse grid."""

    design: ChosenBoundDesign = field(default=LOUD, repr=False)


@dataclass(frozen=True, kw_only=True)
class ForFree(Loud):
    """The rounds are calibrated, and charged, as if there were no choice."""

    choice_epsilon = 1.0
    _release = AdaptiveGaussian._release
    cost = AdaptiveGaussian.cost


class Twice(BoundChoice):
    """One user moves losses by 2."""

    def _lost(self, users_of_size):
        return 2 * super()._lost(users_of_size)


class Items(BoundChoice):
    """What is lost is items, of which one user may lose any number."""

    def _lost(self, users_of_size):
        sizes = np.arange(len(users_of_size))
        beyond = [users_of_size @ np.maximum(sizes - bound, 0) for bound in self.bounds]
        return ONE * np.array(beyond, np.int64)


class TwiceLoud(Loud):
    @property
    def _choice(self):
        return Twice(**vars(super()._choice))


class ItemsLoud(Loud):
    @property
    def _choice(self):
        return Items(**vars(super()._choice))


@pytest.mark.parametrize(
    ("kind", "family"),
    [
        (ForFree, [(2, 0, 0)]),
        (TwiceLoud, [(2, 0, 0)]),
        (ItemsLoud, [(0,) * 7]),
    ],
)
def test_the_audit_catches(kind, family):
    given = {"epsilon": 0.3, "delta": 0.001, "max_items_per_user": 3, "rounds": 2}
    findings = audit_exactly(kind(**given), families=[family])
    assert broken(findings) & {"delta", "curve"}
    assert not broken(audit_exactly(Loud(**given), families=[family]))
