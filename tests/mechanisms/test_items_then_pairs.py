"""Items first, then pairs of those found: what is picked, what is refused, what would break it."""

from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import shortlist as sl
from helpers.audited import broken
from helpers.budgets import created
from helpers.exhaustive import exhaustive
from helpers.hitting import contributions
from helpers.oracles import ORACLES
from helpers.refusals import refusal
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import universe_of
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PairsOfItems
from shortlist.mechanisms import Accounting, ItemsThenPairs, Selection, items_then_pairs
from shortlist.mechanisms.peeling import peel

ORACLE = ORACLES[ItemsThenPairs]
PRICE = {"epsilon": 5.0, "delta": 1e-3}
ASKED = {**PRICE, "mechanism": ItemsThenPairs}


# --- what would break it


def picked(mechanism, evidence, codes, draws, *, k=None, held_alone=False):
    """Picks among all pairs of some items, or among those pairs that anybody holds."""
    counts = evidence.held_together(codes)
    places = np.flatnonzero(counts) if held_alone else np.arange(len(counts))
    picks = peel(counts[places], k or mechanism.k, mechanism.local_epsilon, draws)
    return Selection(evidence.pairs_of(codes, places[picks]))


def found(mechanism, evidence, draws):
    return mechanism.search.found(evidence.sets.bounded(mechanism.most_items, draws), draws).items


@dataclass(frozen=True, kw_only=True)
class WithoutUnheldPairs(ItemsThenPairs):
    """Pairs that nobody holds do not compete: one that a user alone holds appears with the user."""

    def select(self, evidence, draws):
        return picked(self, evidence, found(self, evidence, draws), draws, held_alone=True)


@dataclass(frozen=True, kw_only=True)
class OfHeldItems(ItemsThenPairs):
    """All pairs compete that anybody holds, of items found or not."""

    def select(self, evidence, draws):
        found(self, evidence, draws)
        held = np.flatnonzero(evidence.sets.counts)
        return picked(self, evidence, held, draws, held_alone=True)


@dataclass(frozen=True, kw_only=True)
class OnePickMore(ItemsThenPairs):
    """One pick that is not paid for."""

    def select(self, evidence, draws):
        return picked(self, evidence, found(self, evidence, draws), draws, k=self.k + 1)


WRONG = [WithoutUnheldPairs, OfHeldItems, OnePickMore]


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("delta", [0.02, *exhaustive(0.2)])
def test_the_exact_law_catches(kind, delta):
    wrong = replace(ORACLE.build(kind, k=1), delta=delta)
    assert ORACLE.breaks(wrong, wrong.cost, by=0.005)


@pytest.mark.parametrize("kind", [WithoutUnheldPairs, *exhaustive(OfHeldItems, OnePickMore)])
def test_the_audit_catches(kind):
    """Of many users of one item each, and one more who holds a pair."""
    given = {"k": 1, "epsilon": 2.0, "delta": 0.02, "most_items": 2}
    n_items = 3 if kind is OnePickMore else 2
    family = [tuple(25 * (held in (1, 2, 4)) for held in range(1, 2**n_items))]
    assert "curve" in broken(audit_exactly(kind(**given), families=[family]))
    assert not broken(audit_exactly(ItemsThenPairs(**given), families=[family]))


def test_the_law_comes_near_the_claim():
    """So that small tables would show a loss that is a third too large."""
    right = ORACLE.build(ItemsThenPairs, k=1)
    less = SimpleNamespace(delta=lambda epsilon: 0.75 * right.cost.delta(epsilon))
    assert ORACLE.breaks(right, less, by=0.0)


# --- what is selected


def selected(data, n_items, seed=1, **given):
    mechanism = ItemsThenPairs(**{"k": 3, **PRICE, **given})
    evidence = PairsOfItems(contributions(data, n_items))
    positions = mechanism.select(evidence, ExactDraws(SeededBits(seed))).positions
    return list(zip(*(codes.tolist() for codes in evidence.items_of(positions)), strict=True))


MANY = [{1, 3}] * 900 + [{1, 4}] * 600 + [{3, 4}] * 300 + [{0}] * 2


def test_the_pairs_of_most_users_are_named_best_first():
    assert selected(MANY, 5) == [(1, 3), (1, 4), (3, 4)]
    assert selected(MANY, 5, k=2) == [(1, 3), (1, 4)]


def test_pairs_that_nobody_holds_are_named_where_no_others_are_left():
    alone = [{1, 3}] * 900 + [{4}] * 900
    assert selected(alone, 5)[0] == (1, 3)
    assert set(selected(alone, 5)) == {(1, 3), (1, 4), (3, 4)}


@pytest.mark.parametrize("data", [[], [{0, 1}] * 2, [{1}] * 900 + [{0, 2}]])
def test_of_fewer_than_two_items_found_no_pair_is_named(data):
    assert selected(data, 3) == []


def test_all_items_of_a_user_count_in_pairs():
    """Of whom the rounds look at one item alone."""
    assert len(selected([{0, 1, 2}] * 3000, 3, most_items=1)) == 3


def test_rounds_look_at_no_more_items_of_a_user_than_are_paid_for(monkeypatch):
    looked_at = []

    def found(_, evidence, _draws):
        looked_at.extend(evidence.sizes.tolist())
        raise StopIteration

    monkeypatch.setattr(items_then_pairs.Search, "found", found)
    with pytest.raises(StopIteration):
        selected([{0, 1, 2}, {1}, {0, 1}], 3, most_items=2)
    assert looked_at == [2, 1, 2]


def test_of_too_many_items_those_of_the_largest_noisy_weights_are_paired(monkeypatch):
    monkeypatch.setattr(items_then_pairs, "_MOST_PAIRED", 2)
    assert selected(MANY + [{1}] * 900, 5) == [(1, 3)]


@pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
@pytest.mark.parametrize("k", [1, 20, 300])
def test_it_is_within_the_guarantee_and_nearly_all_is_spent(k, accounting):
    mechanism = ItemsThenPairs(k=k, epsilon=1.0, delta=1e-6, accounting=accounting)
    spent = mechanism.cost.delta(1.0)
    assert spent <= 1e-6
    assert accounting is Accounting.ZCDP or spent > 0.99e-6
    assert mechanism.local_epsilon <= 2 * np.sqrt(2 * 0.85 * mechanism.rho / k)


def test_the_audit_knows_which_positions_are_pairs_of_which_items():
    universe = universe_of(ItemsThenPairs(k=1, **PRICE))
    evidence = universe.evidence_of((0, 1, 0, 0, 0, 2, 0))  # one of {1}, two of {1, 2}
    assert universe.held((0, 1, 0, 0, 0, 2, 0)) == [4, 5, 7, 8]
    assert evidence.pairs_of(np.arange(2), np.arange(1)).tolist() == [1]
    assert evidence.held_together(np.arange(2)).tolist() == [2]


# --- how it is asked


def plays(data=MANY, names="ebdac"):
    rows = [(user, names[item]) for user, held in enumerate(data) for item in sorted(held)]
    return pl.DataFrame(rows, ["user", "title"], orient="row")


def source(**given):
    return sl.pairs(plays(), user="user", item="title", **given)


def test_a_release_tells_the_items_of_each_pair_in_their_order():
    best = source().top_k(2, of=2, **ASKED)
    assert best.to_polars().select("title_1", "title_2").rows() == [("a", "b"), ("b", "c")]


def test_the_source_s_bound_is_of_the_items_that_count_in_the_rounds():
    def most(mechanism=ItemsThenPairs, **given):
        plan = source(**given).together(2).plan(sl.TopK(3), **PRICE, mechanism=mechanism)
        return plan.mechanism.most_items

    assert most() == 100
    assert most(max_items_per_user=7) == 7
    assert most(partial(ItemsThenPairs, most_items=9)) == 9


def test_it_is_no_default():
    assert type(source().together(2).plan(sl.TopK(3), **PRICE).mechanism) is not ItemsThenPairs


def test_what_it_does_is_said():
    told = " ".join(source().together(2).plan(sl.TopK(3), **ASKED).explain().split())
    assert "All pairs of the items found compete, also those that nobody holds." in told
    assert "Up to 3 pairs are picked one after another" in told
    assert "at most 100 items of a user count" in told


@pytest.mark.parametrize("mechanisms", [None, ItemsThenPairs])
def test_what_lists_of_pairs_miss_is_not_measured(mechanisms):
    asked = source().together(2)
    compare = partial(sl.metrics.compare, asked, sl.TopK(2), **PRICE, mechanisms=mechanisms)
    refusal(compare, "of=2: what is missing from lists of pairs", "about single items")


REFUSED = [
    ({"of": 3}, "it names pairs of items; omit mechanism, or ask for pairs, by of=2."),
    ({}, "it names pairs of items; omit mechanism, or ask for pairs, by of=2."),
    (
        {"of": 2, "noisy_counts": True},
        "it names pairs without counts; omit mechanism, or omit noisy_counts, ",
    ),
    (
        {"of": 2, "count_share": 0.2},
        "it names pairs without counts; omit mechanism, or omit noisy_counts, ",
    ),
    (
        {"of": 2, "min_users": 9},
        "it names pairs without counts; omit mechanism, or omit noisy_counts, ",
    ),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_it_refuses_before_anything_is_charged(given, message, tmp_path):
    budget = created(tmp_path / "total.budget", epsilon=9.0, delta=0.01)
    asked = source(budget=budget)
    before = budget.standing().spent
    refusal(lambda: asked.top_k(2, **ASKED, **given), message)
    assert budget.standing().spent == before
