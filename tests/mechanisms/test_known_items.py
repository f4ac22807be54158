"""Items that everybody knows: their law in rounds, and what it takes that they cost nothing."""

import itertools
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from helpers.losses import hockey_stick, neighbours
from helpers.oracles import ORACLES, on_coarse_grid
from helpers.oracles_of_rounds import rounds_oracle
from helpers.small import of_users
from shortlist.algorithms.search_in_rounds import Search
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import contributions
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import (
    AdaptiveGaussian,
    AdaptiveHittingSet,
    AdaptiveTopK,
    ChosenBound,
    GreedyOrRounds,
    PolicyGreedy,
)

KNOWN = frozenset({0})
UNHELD = [({1},), ({1}, {1}, {1})]


def knowing(held, known=KNOWN):
    return held.with_public(np.array(sorted(known)))


def of_known(mechanism, data, n_items, draws):
    return knowing(of_users(mechanism, data, n_items, draws))


def of_known_if_held(mechanism, data, n_items, draws):
    """The mistake: what nobody holds does not take part."""
    held = of_users(mechanism, data, n_items, draws)
    return held.with_public(np.array([x for x in sorted(KNOWN) if held.counts[x]], np.int64))


ORACLE = ORACLES[AdaptiveGaussian]
ORACLE = replace(
    ORACLE,
    law=partial(rounds_oracle, known=KNOWN),
    small=replace(ORACLE.small, evidence=of_known),
    data=[*ORACLE.data, *UNHELD],
)


@pytest.mark.parametrize("rounds", [2, pytest.param(3, marks=pytest.mark.exhaustive)])
def test_the_law_is_that_of_the_definition(rounds):
    mechanism = on_coarse_grid(AdaptiveGaussian, k=None, rounds=rounds)
    assert ORACLE.distance(mechanism, mechanism) < ORACLE.within
    assert ORACLES[AdaptiveGaussian].distance(mechanism, mechanism) < ORACLE.within


# --- privacy


def loss(mechanism, evidence=of_known, *, users):
    """The largest delta at the claimed epsilon, between all small neighbours, both ways."""
    oracle = replace(ORACLE, edges=(), in_order=False)
    oracle = replace(oracle, small=replace(oracle.small, evidence=evidence))
    lost = 0.0
    for pair in neighbours(range(2), users):
        laws = [oracle.output(mechanism, data) for data in pair]
        lost = max(lost, *(hockey_stick(p, q, mechanism.epsilon) for p, q in (laws, laws[::-1])))
    return lost


def coarse(kind, **given):
    given = {"epsilon": 1.0, "delta": 0.001, "max_items_per_user": 2} | given
    return kind(**given).audit_hints().coarse


MECHANISMS = [
    coarse(AdaptiveGaussian, rounds=2),
    coarse(ChosenBound, rounds=2),
    coarse(GreedyOrRounds, rounds=2),
    coarse(AdaptiveTopK, k=1),
    coarse(AdaptiveHittingSet, k=1),
    PolicyGreedy(epsilon=1.0, delta=0.001),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_small_neighbours_are_within_the_guarantee(mechanism):
    assert loss(mechanism, users=1) <= mechanism.delta + 1e-9


@pytest.mark.exhaustive
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_so_are_larger_ones(mechanism):
    assert loss(mechanism, users=2) <= mechanism.delta + 1e-9


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda m: type(m).__name__)
def test_a_list_that_follows_from_who_is_there_is_caught(mechanism):
    assert loss(mechanism, of_known_if_held, users=1) > mechanism.delta


def test_lower_thresholds_of_all_items_are_caught(monkeypatch):
    right = Search.begin

    def begins(self, held, of_known):
        progress = right(self, held, of_known)
        progress.is_known = np.ones(len(progress.sums), np.bool_)
        return progress

    monkeypatch.setattr(Search, "begin", begins)
    assert loss(MECHANISMS[0], of_users, users=1) > MECHANISMS[0].delta


# --- what comes out


def many(n_users=3000, n_items=40):
    """Users of one to three items, the first of which most hold; the last fourth nobody does."""
    rng = np.random.default_rng(3)
    held = (rng.random((n_users, 3)) ** 2 * n_items * 0.75).astype(np.uint32)
    users = np.repeat(np.arange(n_users, dtype=np.uint32), 3)
    return Contributions.of_rows(users, held.ravel(), n_users=n_users, n_items=n_items)


def test_an_item_that_nobody_holds_is_named_with_at_most_one_percent():
    mechanism = AdaptiveGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=3)
    held = knowing(many(300, 4000), range(4000))
    runs = 5
    named = [mechanism.select(held, ExactDraws(SeededBits(i))).positions for i in range(runs)]
    rate = np.mean([np.count_nonzero(p >= 3000) for p in named]) / 1000
    assert 0.005 < rate < 0.01 + 4 * (0.01 / (1000 * runs)) ** 0.5


def test_a_top_k_is_never_short_of_known_items():
    held = knowing(many(), range(40))
    for k, kind in itertools.product((5, 40), (AdaptiveTopK, AdaptiveHittingSet)):
        mechanism = kind(k=k, epsilon=0.3, delta=1e-9, max_items_per_user=3)
        assert len(mechanism.select(held, ExactDraws(SeededBits(k))).positions) == k
        alone = mechanism.select(many(), ExactDraws(SeededBits(k))).positions
        assert len(alone) < 40


@pytest.mark.parametrize("kind", [AdaptiveTopK, AdaptiveHittingSet])
def test_where_known_items_are_found_anyway_the_answer_is_the_same(kind):
    """Found with less, they would be ranked by fewer rounds."""
    mechanism = kind(k=5, epsilon=1.0, delta=1e-6, max_items_per_user=3)
    for seed in range(20):
        answers = [
            mechanism.select(held, ExactDraws(SeededBits(seed)))
            for held in (many(), knowing(many(), range(30)))
        ]
        assert answers[0].positions.tolist() == answers[1].positions.tolist()


@pytest.mark.parametrize("kind", [AdaptiveGaussian, AdaptiveTopK, AdaptiveHittingSet])
def test_new_numbers_change_nothing(kind, monkeypatch):
    """Where items are many, those that nobody holds get no number, unless they are known."""
    given = {"k": 10} if "k" in kind.fields() else {}
    mechanism = kind(epsilon=0.5, delta=1e-6, max_items_per_user=3, **given)
    known = [0, 3, 5, 31, 39]
    found = []
    for many_from, few in ((2**17, 8), (0, 10**9)):
        monkeypatch.setattr(contributions, "_MANY", many_from)
        monkeypatch.setattr(contributions, "_FEW", few)
        held = knowing(many(400), known)
        fewer, codes = held.renumbered()
        assert (codes is None) == (many_from > 0)
        if codes is not None:
            assert codes[fewer.public].tolist() == sorted(known, key=list(codes).index)
            assert fewer.n_items == len(codes) < 40
        chosen = (mechanism.select(held, ExactDraws(SeededBits(i))).positions for i in range(100))
        found.append(np.bincount(np.concatenate(list(chosen)), minlength=40))
    sd = np.sqrt(np.sum(found, axis=0) + 1)
    assert (np.abs(found[0] - found[1]) < 5 * sd).all()


def test_a_known_item_needs_fewer_users():
    search = AdaptiveGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100).search
    for known, private in zip(search.of_known.thresholds, search.thresholds, strict=True):
        assert 0 < known < private
    assert search.of_known.thresholds[-1] == pytest.approx(2.36 * search.sigma, rel=0.01)
    large = AdaptiveGaussian(epsilon=9.0, delta=0.5, max_items_per_user=1).search
    for known, private in zip(large.of_known.thresholds, large.thresholds, strict=True):
        assert known <= private


def test_noisy_units_of_a_known_item_are_of_those_that_users_gave():
    mechanism = PolicyGreedy(epsilon=1.0, delta=1e-6)
    held = of_known(mechanism, ({0},) * 500 + ({1},) * 500, 2, ExactDraws(SeededBits(0)))
    told = [mechanism.select(held, ExactDraws(SeededBits(seed))).scores for seed in range(60)]
    assert mechanism.head_start > 5
    assert np.abs(np.mean(told, axis=0) - 500).max() < 1
