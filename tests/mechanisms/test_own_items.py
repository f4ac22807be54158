"""Top-k per group of items that are the groups' own: what is found, how it is ranked, its price."""

from collections import Counter

import numpy as np
import pytest

from helpers.oracles_of_counts import distance
from helpers.oracles_of_groups import N_GROUPS, in_groups
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import Accounting, AdaptiveGaussian, PerGroup
from shortlist.mechanisms._own_items import KindChoice, _best_of_each, _values
from shortlist.parameters import GroupItems

OWN = {"group_items": GroupItems.OWN}
UNKNOWN = {"group_items": GroupItems.UNKNOWN}
ONE, OTHER, BOTH = map(frozenset, ({0}, {1}, {0, 1}))


def built(**given):
    numbers = {"k": 2, "epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 10}
    return PerGroup(**{**numbers, **OWN, **given})


@pytest.mark.parametrize("kind", [OWN, UNKNOWN])
@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (8.0, 0.01)])
def test_the_budget_is_kept_and_used(epsilon, delta, accounting, kind):
    mechanism = built(epsilon=epsilon, delta=delta, accounting=accounting, **kind)
    assert 0.9 * delta < mechanism.cost.delta(epsilon) <= delta


def test_the_choice_is_paid_for_beside_what_follows_it():
    mechanism = built(**UNKNOWN)
    assert mechanism.cost.epsilon(1e-6) > 1.0 - mechanism.kind_epsilon / 2
    worse = max(way.cost.delta(way.epsilon) for way in mechanism._either.ways)
    assert mechanism.cost.delta(1.0) >= worse
    in_zcdp = built(**UNKNOWN, accounting=Accounting.ZCDP)
    of_ways = max(way.cost.rho for way in in_zcdp._either.ways)
    assert in_zcdp.cost.rho >= of_ways + 0.999 * in_zcdp.kind_epsilon**2 / 8


@pytest.mark.parametrize("kind", [OWN, UNKNOWN])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 1e-6), (8.0, 0.01)])
def test_in_zcdp_it_costs_what_noise_does_and_not_what_a_guarantee_does(epsilon, delta, kind):
    mechanism = built(epsilon=epsilon, delta=delta, accounting=Accounting.ZCDP, **kind)
    assert mechanism.cost.rho < epsilon**2 / 12


def test_the_domain_has_nearly_all_of_the_budget():
    mechanism = built(max_items_per_user=100)
    domain = AdaptiveGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    assert domain.threshold < mechanism.item_threshold < 1.04 * domain.threshold


def test_what_has_no_effect_is_not_told():
    told = built().parameters()
    assert told["group_items"] == "own"
    assert not {"max_groups_per_user", "threshold_share", "group_threshold"} & told.keys()
    assert built(threshold_share=0.7, max_groups_per_user=3).cost.delta(1.0) == built().cost.delta(
        1.0
    )


def test_it_says_what_is_done_and_no_more():
    said = " ".join(built().explain())
    assert "a user counts in any number of groups" in said
    assert "noisy weight of the first round" not in said


@pytest.mark.parametrize(
    "data",
    [
        (ONE,) * 3,
        pytest.param((BOTH,) * 3, marks=pytest.mark.exhaustive),
        pytest.param((ONE,) * 4 + (OTHER,) * 3 + (BOTH,), marks=pytest.mark.exhaustive),
    ],
)
def test_pairs_are_found_as_rounds_find_items(data):
    mechanism = built(epsilon=2.0, delta=0.2, max_items_per_user=2).audit_hints().coarse
    evidence, domain = in_groups(mechanism, data, N_GROUPS), mechanism._own.domain

    def named(draws):
        return frozenset(mechanism.select(evidence, draws).positions.tolist())

    def found(draws):
        pairs = evidence.pairs()
        held = pairs.sets.bounded(2, draws)
        found = domain.search.found_early(None, held, draws).items
        return frozenset(pairs.positions(found).tolist())

    one, other = law(named), law(found)
    assert distance(one, other) < 1e-9
    assert max(one.values()) < 0.97


def test_each_group_has_its_best_and_the_group_of_the_best_leads():
    rng = np.random.default_rng(3)
    for _ in range(50):
        n, k = int(rng.integers(1, 40)), int(rng.integers(1, 5))
        values, groups = rng.permutation(n).astype(float), rng.integers(0, 6, n)
        places = _best_of_each(values, groups, k)
        best = sorted(range(n), key=lambda place: -values[place])
        order = list(dict.fromkeys(groups[best].tolist()))
        expected = [
            place for group in order for place in [p for p in best if groups[p] == group][:k]
        ]
        assert places.tolist() == expected
    assert _best_of_each(np.empty(0), np.empty(0, np.int64), 3).tolist() == []


def test_a_value_lies_between_the_count_and_what_the_weight_lets_expect():
    counts, weights = np.array([100.0, 60.0, 20.0]), np.array([9.0, 7.0, 2.0])
    expected = weights * (counts @ weights) / (weights @ weights)
    exact, noisy = _values(counts, 1e-6, weights, 1.0), _values(counts, 1e9, weights, 1.0)
    assert exact == pytest.approx(counts)
    assert noisy == pytest.approx(expected)
    between = _values(counts, 5.0, weights, 1.0)
    assert np.all((between - counts) * (between - expected) <= 0)


def test_the_best_of_each_group_are_named_whatever_other_groups_hold():
    """Also where an item is in several groups, and what is said of them is untrue."""
    held = [frozenset({0, 3}), frozenset({1, 2}), frozenset({0, 5}), frozenset({1, 4})]
    users = [held[place % 4] for place in range(6000)] + [frozenset({0, 1})] * 500
    mechanism = built(k=1)
    evidence = in_groups(mechanism, users, 6)
    told = mechanism.select(evidence, ExactDraws(SeededBits(1)))
    assert sorted(told.positions.tolist()) == [0, evidence.n_items]
    assert told.scores == pytest.approx([3500, 3500], abs=6 * told.noise_sd)


@pytest.mark.parametrize("kind", [OWN, UNKNOWN])
def test_nobody_gives_nothing(kind):
    told = built(**kind).select(in_groups(None, [], 4), ExactDraws(SeededBits(1)))
    assert told.positions.tolist() == []
    assert Counter(told.scores.tolist()) == Counter()


# --- where nobody knows whose items are


def losses_of(users, most):
    """What each way loses, in units of 2^-20, of users' sets of pairs: by the proof note."""
    weights = Counter()
    for user in users:
        weights.update(dict.fromkeys(user, 2**20 // max(len(user), 1)))
    items = {pair // N_GROUPS for pair in weights}
    own = sum(
        sum(parts) - max(parts)
        for item in items
        for parts in [[w for pair, w in weights.items() if pair // N_GROUPS == item]]
    )
    in_groups_each = [len({pair % N_GROUPS for pair in user}) for user in users if user]
    shared = sum(2**20 * (2 * n - min(n, most)) // (4 * n) for n in in_groups_each)
    return own, shared


SETS = [frozenset(x for x in range(4) if n >> x & 1) for n in range(1, 16)]
TABLES = [
    (),
    (ONE,),
    (ONE, OTHER),
    (BOTH,) * 2,
    (ONE, ONE, OTHER),
    (frozenset({0, 2}), frozenset({1, 2})),
    (frozenset(range(4)), frozenset({0, 3}), OTHER),
]


@pytest.mark.parametrize("most", [1, 2])
def test_the_law_of_the_choice_and_what_a_user_changes(most):
    choice = KindChoice(0.3, most)

    def odds_of(users):
        evidence = in_groups(None, users, 4)
        found = law(lambda draws: choice.says_own(evidence, draws))
        own, shared = losses_of(users, most)
        odds = np.log(found[True] / found[False])
        assert odds == pytest.approx(0.4 * (shared - own) / 2**20, abs=1e-9)
        return odds

    moved = [odds_of((*users, more)) - odds_of(users) for users in TABLES for more in SETS]
    assert max(map(abs, moved)) <= 0.3 + 1e-9
    assert min(moved) == pytest.approx(-0.3, abs=1e-6)


def test_where_nobody_knows_the_better_way_is_found():
    own = [frozenset({user % 3 * 2, user % 2 * 2 + 1 + 6}) for user in range(4000)]
    shared = [frozenset({user % 2, 2 + user % 2}) for user in range(4000)]
    mechanism = built(**UNKNOWN)
    for users, said in ((own, "own"), (shared, "shared")):
        told = mechanism.select(in_groups(mechanism, users, 10), ExactDraws(SeededBits(1)))
        assert said in told.branch
        assert len(told.positions) == 4


def test_a_choice_of_whose_items_are_says_what_follows():
    told = built(**UNKNOWN).parameters()
    assert told["kind_epsilon"] == 0.005
    assert not {"rho", "group_threshold", "item_threshold"} & told.keys()
    said = built(epsilon=0.1, **UNKNOWN).explain()
    assert said[0].startswith("First, 0.002 of epsilon decides privately")
    assert {"If so, pairs of a group and an item are looked for."} <= set(said)
