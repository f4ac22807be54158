"""Mechanisms with one mistake each: the exact instrument of the audit names every one."""

import itertools

import numpy as np
import pytest
from flint import arb

from helpers import wrong_mechanisms as wrong
from helpers import wrong_policies as policies
from helpers import wrong_races as races
from helpers.audited import broken
from helpers.refusals import refusal
from shortlist.audit import Verdict
from shortlist.audit.audited_parameters import settings_of
from shortlist.audit.exact.enumerator import Enumerator
from shortlist.audit.exact.neighbouring_pairs import audit_exactly, pairs_of
from shortlist.audit.samples.sampler import audit_by_samples
from shortlist.audit.universes import universe_of
from shortlist.bits import SeededBits
from shortlist.mechanisms import (
    Accounting,
    AddedNoise,
    Adjacency,
    Gamma,
    Peeling,
    PolicyGaussian,
    SpectralRanking,
    ThresholdTopK,
    UserPeeling,
    WeightedGaussian,
    WinCount,
)

CAUGHT = [
    (wrong.FlipOfBoundedRange(k=1, epsilon=2.0), "rho"),
    (wrong.OneRound(k=2, epsilon=1.0), "epsilon"),
    (wrong.BothWays(k=1, epsilon=1.0), "epsilon"),
    (wrong.Retold(k=1, epsilon=2.0), "epsilon"),
    (wrong.Quiet(k=1, epsilon=2.0, max_items_per_user=1), "epsilon"),
    (wrong.Quieter(k=1, epsilon=2.0), "epsilon"),
    (wrong.Understated(k=1, epsilon=2.0), "pure epsilon"),
    (wrong.SilentIfOdd(epsilon=2.0, delta=0.02, max_items_per_user=1), "delta"),
    (wrong.FlagTells(epsilon=2.0, delta=0.02, max_items_per_user=1), "delta"),
    (wrong.QuietlyTold(k=3, epsilon=1.0, max_items_per_user=1), "epsilon"),
    (wrong.FinelyTold(k=1, epsilon=1.0, max_items_per_user=1), "epsilon"),
    (wrong.ThresholdForOne(epsilon=0.7, delta=0.02, max_items_per_user=3), "delta"),
    (wrong.RowOrder(k=1, epsilon=2.0, delta=0.2, k_bar=1), "effect of item order"),
    (wrong.FullDeltaTwice(k=2, epsilon=2.0, delta=0.02, max_items_per_user=2), "delta"),
    (wrong.Repeating(k=2, epsilon=1.0), "repeated items"),
    (wrong.Seeded(k=1, epsilon=1.0), "epsilon"),
    (wrong.CountsAsHeld(epsilon=2.0, delta=0.02, max_items_per_user=2), "delta"),
    (wrong.OneRoundOfUsers(k=2, epsilon=1.0), "epsilon"),
    (wrong.StopsWhenReached(k=2, epsilon=1.0), "epsilon"),
    (wrong.PolicyForOne(epsilon=0.7, delta=0.02, max_items_per_user=3), "delta"),
    (policies.SteepCoin(epsilon=1.3, delta=0.02), "delta"),
    (policies.EagerCoin(epsilon=1.3, delta=0.02), "delta"),
    (wrong.OneComparison(k=1, epsilon=2.0, max_comparisons_per_user=2), "epsilon"),
    (SpectralRanking(k=2, epsilon=2.0, contraction=0.0), "epsilon"),  # a promise that is broken
]


SLOW = wrong.QuietlyTold, wrong.FullDeltaTwice, wrong.Repeating


@pytest.mark.parametrize(
    ("mechanism", "claim"),
    [
        pytest.param(
            *one,
            id=type(one[0]).__name__,
            marks=[pytest.mark.exhaustive] if isinstance(one[0], SLOW) else [],
        )
        for one in CAUGHT
    ],
)
def test_the_exact_instrument_catches(mechanism, claim):
    assert claim in broken(audit_exactly(mechanism, quick=True))


@pytest.mark.parametrize(
    "is_large",
    [
        lambda value: value > 4.5,
        lambda value: value == 4,
        lambda value: value == -value,
        lambda value: str(value).startswith("4"),
        lambda value: {value: True}.get(4.0),
        lambda value: value**2,
        np.round,
        lambda value: 1 - value,
    ],
)
def test_code_that_decides_by_what_it_tells_is_not_for_the_exact_instrument(is_large):
    kind = type("Decides", (wrong.Decides,), {"is_large": staticmethod(is_large)})
    mechanism = kind(k=1, epsilon=1.0, max_items_per_user=1)
    found = audit_exactly(mechanism, quick=True)
    undecided = [f for f in found if f.verdict is Verdict.UNDECIDED]
    assert "epsilon" in {f.claim for f in undecided}
    assert all("a value that it tells" in f.reason for f in undecided)
    assert not broken(found)


class ByWeight(WeightedGaussian):
    """A set told in the order of the true weights, which says nothing: it is a set."""

    def select(self, evidence, draws):
        told = super().select(evidence, draws)
        rank = np.argsort(-evidence.weights[told.positions], kind="stable")
        return told._replace(positions=told.positions[rank], scores=told.scores[rank])


def test_the_order_of_a_set_with_scores_says_nothing():
    mechanism = ByWeight(epsilon=2.0, delta=0.02, max_items_per_user=2)
    assert not broken(audit_exactly(mechanism, quick=True))
    (finding,) = audit_by_samples(mechanism, bits=SeededBits(3), samples=4000)
    assert finding.verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("leader", range(4))
def test_a_leader_who_changes_is_seen_in_any_order_of_items(leader):
    mechanism = wrong.SoleLeader(k=1, epsilon=1.0)
    data = tuple(int(i == leader) for i in range(4))
    assert "epsilon" in broken(audit_exactly(mechanism, families=[[data]]))


def test_pairs_of_one_order_stand_for_all():
    # All neighbours of the counts 0 .. 2 of three items, as sets up to an exchange of items.
    universe = universe_of(Gamma(k=1, epsilon=1.0, neighbours=Adjacency.GENERAL))
    box = list(itertools.product(range(3), repeat=3))

    def alike(pair):
        orders = itertools.permutations(range(3))
        exchanged = [tuple(tuple(data[i] for i in order) for data in pair) for order in orders]
        return min(min(both, both[::-1]) for both in exchanged)

    every = {alike((a, b)) for a in box for b in box if 0 < max(np.abs(np.subtract(a, b))) <= 1}
    rising = [data for data in box if list(data) == sorted(data, reverse=True)]
    found = {alike(pair) for pair in pairs_of(universe, rising)}
    assert every == {pair for pair in found if max(map(max, pair)) < 3}


@pytest.mark.parametrize(
    "kind", [WeightedGaussian, UserPeeling, WinCount], ids=lambda kind: kind.__name__
)
def test_neighbours_that_no_universe_knows_are_refused(kind):
    general = type("General", (kind,), {"adjacency": Adjacency.GENERAL.value})
    mechanism = next(settings_of(general, quick=True))
    refusal(lambda: audit_exactly(mechanism), "General", Adjacency.GENERAL.value)


# --- mistakes that show on few data sets: there the wrong one is caught, and the right one holds

DESCENT = {
    "epsilon": 8.0,
    "delta": 0.01,
    "max_items_per_user": 2,
    "threshold_share": 0.1,
    "accounting": Accounting.ZCDP,  # a large share for the noise, for the policy to show
    "alpha": 1,
}
GREEDY = {"epsilon": 0.5, "delta": 0.75, "alpha": 1, "accounting": Accounting.PUBLISHED}
RACE = {"k": 1, "epsilon": 1.0, "noise": AddedNoise.EXPONENTIAL, "leading_bits": 2}


def users(n_items, *sets):
    """How many hold each set, as the universe counts them."""
    masks = [sum(1 << item for item in held) for held in sets]
    return tuple(masks.count(mask) for mask in range(1, 2**n_items))


NAMED = [
    (wrong.FewBits(k=1, epsilon=2.0), Peeling(k=1, epsilon=2.0), "epsilon", (5, 0)),
    (
        policies.FillThenSpread(**DESCENT),
        PolicyGaussian(**DESCENT),
        "curve",
        users(2, {1}, {0, 1}, {0, 1}),
    ),
    (
        policies.FractionalInTurn(**GREEDY),
        policies.GreedyInTurn(**GREEDY),
        "delta",
        users(4, {0, 1, 3}, {0, 2, 3}, {0, 2, 3}),
    ),
    (races.StaleTopK(**RACE), ThresholdTopK(**RACE), "epsilon", (2, 1, 0)),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("mechanism", "right", "claim", "data"), NAMED, ids=[type(row[0]).__name__ for row in NAMED]
)
def test_it_catches_on_a_data_set_that_is_named(mechanism, right, claim, data):
    assert claim in broken(audit_exactly(mechanism, families=[[data]]))
    found = audit_exactly(right, families=[[data]])
    assert claim in {finding.claim for finding in found if finding.verdict is Verdict.HOLDS}


def test_only_what_is_named_is_looked_at():
    findings = audit_exactly(Peeling(k=1, epsilon=1.0), families=[[(3, 1)], [(2,)]])
    told = {"(3, 1)", "(4, 1)", "(3, 2)", "(4, 2)", "(2)", "(3)"}
    for finding in findings:
        if finding.claim == "cost as delta":
            assert finding.pair == ("all tables", "their neighbours")
        else:
            assert finding.pairs == 3 + 1
            assert set(finding.pair) <= told


def test_of_a_whole_number_no_branch_is_listed():
    draws = Enumerator()
    for last in range(3):
        assert draws.integer(np.array([2**62, 3])).tolist() == [0, last]
        assert draws.probability.overlaps(arb(1) / (3 * 2**62))
        draws = draws.next()
    assert draws.integer(np.array([2**62, 3])).tolist() == [1, 0]


# --- what a user may change


def test_general_neighbours_are_looked_at():
    half = Gamma(k=1, epsilon=2.0)
    two_sided = type("TwoSided", (Gamma,), {"adjacency": "add, remove or change one user"})
    assert not broken(audit_exactly(half, quick=True))
    assert "epsilon" in broken(audit_exactly(two_sided(k=1, epsilon=2.0), quick=True))
