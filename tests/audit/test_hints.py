"""What the audit should know of a mechanism is declared by it, and guessed from no name."""

import ast
import math
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import shortlist.audit
from shortlist.audit.audited_parameters import settings_of
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.audit.universes import universe_of
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Normal
from shortlist.evidence import WeightedHistogram
from shortlist.mechanisms import (
    AddedNoise,
    AuditHints,
    DiscoverThenRank,
    GreedyOrAdaptive,
    GreedyOrRounds,
    LimitedDomain,
    Mechanism,
    Peeling,
    PolicyGaussian,
    PolicyGreedy,
    Selection,
    ThresholdTopK,
    WeightedGaussian,
    WinCount,
)
from shortlist.mechanisms.registry import every_mechanism
from shortlist.mechanisms.weighted_gaussian import to_units
from shortlist.mechanisms.wrappers import NoisyClippedCounts, NoisyCounts
from shortlist.parameters import DeltaAboveZero, Epsilon
from shortlist.privacy import Gaussian
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma, threshold

EVERY = [
    built
    for kind in (*every_mechanism(), NoisyCounts, NoisyClippedCounts)
    for built in settings_of(kind, quick=True)
]


@dataclass(frozen=True, kw_only=True)
class Own(Mechanism):
    """Weights in noise above a threshold, by somebody who tells the audit nothing."""

    epsilon: Epsilon
    delta: DeltaAboveZero
    loud: ClassVar[float] = 1.0

    evidence: ClassVar[type] = WeightedHistogram
    score_unit: ClassVar[str | None] = "noisy weight"

    @property
    def _rho(self):
        return gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=self.delta / 2)

    @property
    def cost(self):
        return Gaussian(self._rho, self.delta / 2)

    def explain(self):
        return []

    def select(self, evidence, draws):
        sigma = gaussian_sigma(self._rho)
        least = threshold(sigma=sigma, delta=self.delta / 2, max_items_per_user=3)
        held = np.flatnonzero(evidence.weights)
        floors = np.full(len(held), to_units(least))
        noise = [Normal(sigma * self.loud)]
        named = draws.order(Order(evidence.weights[held], noise, digits=1, at_least=floors))
        return Selection(held[named.positions], named.values, noise_sd=sigma)


class Quieter(Own):
    """With 30 % less noise."""

    loud = 0.7


def verdicts(findings):
    return {finding.verdict.value for finding in findings}


def test_a_mechanism_that_tells_nothing_is_audited_as_well():
    assert Own(epsilon=2.0, delta=0.02).audit_hints() == AuditHints()
    found = audit_exactly(Own(epsilon=2.0, delta=0.02), quick=True)
    assert verdicts(found) == {"holds"}
    wrong = audit_exactly(Quieter(epsilon=2.0, delta=0.02), quick=True)
    assert "broken" in verdicts(wrong)


def test_parameters_of_common_names_tell_for_themselves():
    hints = WinCount(k=3, epsilon=1.0, max_comparisons_per_user=2).audit_hints()
    assert (hints.most_items, hints.user_bound) == (3, 2)
    hints = WeightedGaussian(epsilon=1.0, delta=0.1, max_items_per_user=4).audit_hints()
    assert (hints.most_items, hints.user_bound) == (None, 4)


def test_thresholds_are_those_at_which_items_are_named():
    limited = LimitedDomain(k=2, epsilon=1.0, delta=0.02, max_items_per_user=1)
    assert limited.audit_hints().thresholds == (limited.lead,)
    both = DiscoverThenRank(k=2, epsilon=1.0, delta=0.02, max_items_per_user=1)
    assert both.audit_hints().thresholds == (both.mean_threshold, both.first_threshold)
    entries = {entry for family in universe_of(both).families() for (entry, *_) in family}
    counts = {count for _, count in entries}
    assert {round(at) for at in both.audit_hints().thresholds} <= counts


def test_a_wrapper_tells_what_it_wraps():
    selection = LimitedDomain(k=2, epsilon=1.0, delta=0.02)
    mechanism = NoisyCounts(
        selection=selection, k=2, epsilon=2.0, delta=0.1, count_share=0.5, max_items_per_user=3
    )
    hints = mechanism.audit_hints()
    assert hints.inner is selection
    assert hints.thresholds == selection.audit_hints().thresholds
    assert (hints.user_bound, hints.score_sd) == (3, mechanism.count_sd)


def test_users_are_shuffled_by_policies_alone():
    shuffling = {type(m) for m in EVERY if m.audit_hints().shuffles_users}
    assert shuffling == {GreedyOrAdaptive, GreedyOrRounds, PolicyGaussian, PolicyGreedy}


def test_the_coarse_one_runs_the_same_code():
    class Own(ThresholdTopK):
        """With a selection of its own."""

        def select(self, evidence, draws):
            return super().select(evidence, draws)

    mechanism = Own(k=1, epsilon=1.0, noise=AddedNoise.LAPLACE)
    coarse = mechanism.audit_hints().coarse
    assert isinstance(coarse, Own)
    assert coarse.parameters() == mechanism.parameters()
    assert coarse.audit_hints().coarse is None
    assert universe_of(mechanism).enumerable().leading_bits < mechanism.leading_bits
    assert all(
        m.audit_hints().coarse is None
        for m in EVERY
        if not hasattr(m, "leading_bits") and not hasattr(m, "design")
    )


@pytest.mark.parametrize("mechanism", EVERY, ids=lambda m: type(m).__name__)
def test_the_noise_that_is_told_is_that_of_the_scores(mechanism):
    universe, told = universe_of(mechanism), mechanism.audit_hints().score_sd
    if told is None:
        return
    (data,) = next(family for family in universe.large() if len(family) == 1)
    draws = ExactDraws(SeededBits(1))
    selection = universe.enumerable().select(universe.evidence_of(data), draws)
    assert math.isclose(selection.noise_sd, told, rel_tol=1e-12)


def test_scores_without_a_told_noise_are_those_of_data_or_none():
    untold = {type(m).__name__ for m in EVERY if m.score_unit and not m.audit_hints().score_sd}
    told_by_data = {"AdaptiveTopK", "NoisyClippedCounts", "OneShotLaplace", "PerGroup"}
    told_by_data |= {"ClippedCountEach", "SpectralRanking"}
    told_by_data |= {"GreedyOrRounds", "PolicyGreedy"}  # whole numbers, in no normal noise
    assert untold <= told_by_data
    assert Peeling(k=1, epsilon=1.0).audit_hints().score_sd is None


def test_the_audit_asks_no_mechanism_for_an_attribute_by_name():
    root = Path(shortlist.audit.__file__).parent
    for path in root.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                asked = [ast.unparse(x) for x in node.args[:1]]
                named = node.func.id in {"getattr", "hasattr"}
                assert not named or asked[0] in {"known", "evidence", "self._through"}, (
                    path.name,
                    asked,
                )
