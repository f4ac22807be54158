"""Adaptive Gaussian: its law in more rounds, and mistakes that are caught."""

import math
from dataclasses import replace

import numpy as np
import pytest

from helpers.audited import broken
from helpers.oracles import ORACLES, on_coarse_grid
from helpers.small import of_users
from helpers.wrong_rounds import (
    Afresh,
    FloorOnTop,
    Loop,
    OneRound,
    Peeking,
    in_wrong_rounds,
)
from shortlist.audit.exact.neighbouring_pairs import audit_exactly
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import AdaptiveGaussian

ORACLE = ORACLES[AdaptiveGaussian]


def test_three_rounds_have_the_law_of_their_definition():
    mechanism = on_coarse_grid(AdaptiveGaussian, k=None, rounds=3)
    assert ORACLE.distance(mechanism, mechanism) < ORACLE.within


def test_the_loop_that_is_made_wrong_is_right_before():
    mechanism = in_wrong_rounds(Loop)
    assert ORACLE.distance(mechanism, mechanism) < ORACLE.within


@pytest.mark.parametrize("kind", [FloorOnTop, OneRound, Afresh, Peeking])
def test_a_mistake_has_another_law(kind):
    mechanism = in_wrong_rounds(kind)
    several = kind in (FloorOnTop, Peeking)
    oracle = replace(ORACLE, data=[({0, 1},)] if several else [({0},), ({0}, {0})])
    assert oracle.differs(mechanism, mechanism, by=0.01)


@pytest.mark.parametrize(
    ("kind", "given", "family"),
    [
        (FloorOnTop, {"epsilon": 4.0, "delta": 0.001, "max_items_per_user": 3}, [(0, 0, 1)]),
        (OneRound, {"epsilon": 4.0, "delta": 0.001}, [(2,)]),
        (Peeking, {"epsilon": 0.3, "delta": 0.02}, [(12, 0, 0)]),
    ],
)
def test_the_audit_catches(kind, given, family):
    assert "delta" in broken(audit_exactly(in_wrong_rounds(kind, **given), families=[family]))
    right = audit_exactly(in_wrong_rounds(Loop, **given), families=[family])
    assert not broken(right)


def test_scores_are_the_first_round_s_noisy_weights():
    mechanism = AdaptiveGaussian(epsilon=1.0, delta=1e-5, max_items_per_user=2)
    data = [{0, 1}] * 300 + [{0}] * 100
    evidence = of_users(mechanism, data, 2, None)
    told = [mechanism.select(evidence, ExactDraws(SeededBits(seed))) for seed in range(200)]
    scores = np.array([selection.scores for selection in told])
    assert all(selection.positions.tolist() == [0, 1] for selection in told)
    sd = told[0].noise_sd
    assert sd == pytest.approx(mechanism.sigma * math.sqrt(39 / 4))
    true = np.array([300 / math.sqrt(2) + 100, 300 / math.sqrt(2)])
    assert np.abs(scores.mean(axis=0) - true).max() < 5 * sd / math.sqrt(200)
    assert scores.std(axis=0) == pytest.approx([sd, sd], rel=0.25)
    shifted = np.abs(scores.mean(axis=0) - 1.3 * true).min()
    assert shifted > 5 * sd / math.sqrt(200)


def test_explaining_names_every_threshold():
    mechanism = AdaptiveGaussian(epsilon=1.0, delta=1e-5, max_items_per_user=100)
    text = " ".join(mechanism.explain())
    assert f"first round, in noise of standard deviation {mechanism.search.first_sd:.3g}" in text
    assert all(f"{threshold:.4g}" in text for threshold in mechanism.thresholds)
    assert "6 rounds" in text
