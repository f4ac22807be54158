"""Where one of the private items is known: claims hold, and mistakes about it are found."""

from dataclasses import replace

import numpy as np
import pytest

import shortlist as sl
from shortlist.algorithms.search_in_rounds import Search
from shortlist.audit import Verdict
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import Look
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.mechanisms import AdaptiveGaussian, PerGroup, PolicyGreedy
from shortlist.mechanisms.registry import every_mechanism

ROUNDS = AdaptiveGaussian(epsilon=1.0, delta=0.001, max_items_per_user=2, rounds=2)
GREEDY = PolicyGreedy(epsilon=1.0, delta=0.001)
GROUPS = PerGroup(k=1, epsilon=1.0, delta=1e-6, max_items_per_user=2).audit_hints().coarse


def broken(mechanism, *, at=Look.KNOWN_ITEMS, **given):
    findings = audit_exactly(mechanism, quick=True, at=at, **given)
    return {each.claim for each in findings if each.verdict is Verdict.BROKEN}


@pytest.mark.parametrize("mechanism", [ROUNDS, GREEDY, GROUPS], ids=["rounds", "policy", "groups"])
def test_claims_hold(mechanism):
    assert broken(mechanism) == set()


def test_the_audit_of_a_mechanism_looks_at_known_items():
    claims = {finding.claim for finding in sl.audit.run("policy-greedy", quick=True).findings}
    assert "delta with known items" in claims
    assert {kind.__name__ for kind in every_mechanism() if kind.takes_known_items} == {
        "AdaptiveGaussian",
        "AdaptiveHittingSet",
        "AdaptiveTopK",
        "ChosenBound",
        "GreedyOrAdaptive",
        "GreedyOrRounds",
        "PerGroup",
        "PolicyGreedy",
    }


@pytest.mark.parametrize("mechanism", [ROUNDS, GREEDY], ids=["rounds", "policy"])
def test_a_known_item_that_takes_part_only_if_it_is_held_is_found(mechanism, monkeypatch):
    right = Contributions.with_public

    def if_held(self, codes):
        return right(self, codes[self.counts[codes] > 0])

    monkeypatch.setattr(Contributions, "with_public", if_held)
    assert "delta with known items" in broken(mechanism)
    assert broken(mechanism, at=Look.USUAL) == set()


def test_in_groups_it_is_found_likewise(monkeypatch):
    right = GroupedSets.with_public

    def if_held(self, codes):
        return right(self, codes[self.items().counts[codes] > 0])

    monkeypatch.setattr(GroupedSets, "with_public", if_held)
    assert "curve with known items" in broken(GROUPS, families=[[(0,), (1,)]])


def test_lower_thresholds_of_all_items_are_found(monkeypatch):
    right = Search.begin

    def begins(self, held, of_known):
        progress = right(self, held, of_known)
        if len(held.public):
            progress.is_known = np.ones(len(progress.sums), np.bool_)
        return progress

    monkeypatch.setattr(Search, "begin", begins)
    assert "delta with known items" in broken(ROUNDS)


def test_units_that_nobody_gave_to_all_items_are_found(monkeypatch):
    right = PolicyGreedy.select

    def generous(self, evidence, draws):
        known = np.arange(evidence.n_items) if len(evidence.public) else evidence.public
        return right(self, replace(evidence, public=known), draws)

    monkeypatch.setattr(PolicyGreedy, "select", generous)
    assert "delta with known items" in broken(GREEDY)
