"""Mechanisms of counts on sums of amounts: the law is that of counts, scaled, and is private."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from helpers.laws import EPSILON
from helpers.oracles_of_counts import distance, peeling_oracle
from shortlist.audit import Verdict
from shortlist.audit.exact.enumerator import law
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import Look, of_counts, of_user_sets
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import PrivateCounts, PublicCounts
from shortlist.mechanisms import (
    AdaptiveGaussianPeeling,
    Gamma,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    LimitedDomain,
    OneShotExponential,
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
)
from shortlist.mechanisms.registry import every_mechanism
from shortlist.mechanisms.wrappers import NoisyCounts
from shortlist.privacy import Approximate
from shortlist.privacy.accountant import BoundedRange
from shortlist.privacy.composed import composition_of

C = 4
KINDS = {
    Joint: Joint,
    JointPermuteAndFlip: JointPermuteAndFlip,
    JointOrPeel: partial(JointOrPeel, choice_share=0.3, threshold=1),
    Peeling: Peeling,
    PermuteAndFlip: PermuteAndFlip,
    OneShotExponential: OneShotExponential,
    OneShotLaplace: partial(OneShotLaplace, delta=0.0, max_items_per_user=None),
    LimitedDomain: partial(LimitedDomain, second_try=1),
}
COUNTS = [(3,), (2, 1), (4, 4, 1), (3, 0, 2)]


def made(kind, *, k=2, epsilon=EPSILON, delta=0.2):
    """With these, or what its partial gives."""
    own = getattr(KINDS[kind], "keywords", {})
    given = {"k": k, "epsilon": epsilon, "delta": delta, "max_items_per_user": 2} | own
    return kind(**{name: given[name] for name in given if name in kind.fields()})


def law_of(mechanism, sums, most):
    counts = np.array(sums, np.int64)
    evidence = PublicCounts(counts, unit=1 / most)
    if mechanism.evidence is PrivateCounts:
        evidence = PrivateCounts(counts, 2, 1 / most)
    return law(lambda draws: tuple(mechanism.select(evidence, draws).positions.tolist()))


@pytest.mark.parametrize("kind", KINDS)
def test_whole_caps_have_the_law_of_users(kind):
    for k in (1, 2):
        mechanism = made(kind, k=k)
        for counts in COUNTS:
            scaled = law_of(mechanism, [C * count for count in counts], C)
            assert distance(scaled, law_of(mechanism, counts, 1)) < 1e-9


def test_parts_of_caps_have_the_law_of_parts_of_users():
    mechanism = made(Peeling)
    found = law_of(mechanism, (7, 4, 2), C)
    assert distance(found, peeling_oracle((7, 4, 2), 2, mechanism.local_epsilon / C)) < 1e-9


def with_counts(selects, **given):
    """Noisy counts beside a selection."""
    return NoisyCounts.of(
        lambda epsilon, delta: selects(k=1, epsilon=epsilon, delta=delta),
        **{"k": 1, "epsilon": EPSILON, "delta": 0.2, "count_share": 0.5} | given,
    )


AUDITED = {
    **{kind.__name__: partial(made, kind, k=1) for kind in KINDS},
    "Gamma": partial(Gamma, k=1, epsilon=EPSILON),
    "AdaptiveGaussianPeeling": partial(
        AdaptiveGaussianPeeling, k=1, epsilon=EPSILON, delta=0.2, max_items_per_user=2, rounds=2
    ),
    "NoisyCounts": partial(with_counts, Peeling),
}


# Both items are found, nearly always: what is left to lose is in the picks.
FOUND = {"AdaptiveGaussianPeeling": [[(20, 20, 0)]]}
UNIVERSES = of_counts.OfAmounts, of_counts.OfPrivateAmounts, of_user_sets.OfSetsOfAmounts


def broken(mechanism, families=None):
    found = audit_exactly(mechanism, quick=True, at=Look.AMOUNTS, families=families)
    assert found
    return {each.claim for each in found if each.verdict is not Verdict.HOLDS}


def test_all_that_read_units_are_looked_at():
    takes = {kind.__name__ for kind in every_mechanism() if kind.reads_unit}
    assert takes | {"NoisyCounts"} == AUDITED.keys()


@pytest.mark.parametrize("name", AUDITED)
def test_one_user_of_amounts_is_as_private(name):
    assert broken(AUDITED[name]()) == set()
    assert name not in FOUND or broken(AUDITED[name](), FOUND[name]) == set()


@pytest.mark.parametrize("name", AUDITED)
def test_counts_that_one_user_raises_by_more_are_found(name, monkeypatch):
    """Planted: a mechanism that takes a user to raise a count by 1, where it is by more."""
    for kind in UNIVERSES:
        monkeypatch.setattr(kind, "step", 2 * C)
        right = kind.evidence_of
        wrong = lambda self, data, right=right: replace(right(self, data), unit=1.0)
        monkeypatch.setattr(kind, "evidence_of", wrong)
    assert broken(AUDITED[name](), FOUND.get(name))


def test_a_bar_for_users_is_found_where_amounts_are_summed_up(monkeypatch):
    """Planted: picks are scaled, and the bar lies one step above the next count."""
    right = LimitedDomain.select

    def low(self, evidence, draws):
        made = right.__globals__["LimitedPicks"]
        picks = lambda *given: made(*given[:-1])
        with monkeypatch.context() as patch:
            patch.setitem(right.__globals__, "LimitedPicks", picks)
            return right(self, evidence, draws)

    monkeypatch.setattr(LimitedDomain, "select", low)
    assert any("delta" in claim for claim in broken(made(LimitedDomain, k=1)))


@pytest.mark.parametrize("delta", [0.0, 0.2])
def test_noise_of_amounts_is_that_of_counts_in_caps(delta):
    mechanism = with_counts(Peeling, delta=delta, k=3)
    draws, most = ExactDraws(SeededBits(1)), 2**20
    evidence = PublicCounts(np.full(3, 50 * most), unit=1 / most)
    told = [mechanism.select(evidence, draws) for _ in range(300)]
    drawn = np.concatenate([one.scores for one in told]) - 50
    assert np.std(drawn) == pytest.approx(mechanism._best.sd, rel=0.2)
    assert {one.noise_sd for one in told} == {mechanism._best.sd}


def test_each_pick_among_what_rounds_found_is_paid_for():
    mechanism = AdaptiveGaussianPeeling(k=5, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    paid = composition_of(mechanism.cost)
    assert paid.stages[-1] == BoundedRange(mechanism.local_epsilon, mechanism.k)


def test_picks_may_have_what_the_guarantee_of_rounds_leaves():
    """Where a grid is coarse and zCDP needs much: with a delta that is far too small."""
    mechanism = AdaptiveGaussianPeeling(
        k=20, epsilon=1.0, delta=1e-30, max_items_per_user=10, discovery_share=0.05
    )
    assert isinstance(mechanism.cost, Approximate)
    assert mechanism.cost.delta(1.0) <= 1e-30
