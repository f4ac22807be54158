"""Thinning by the mean of two noisy weights: chances of strips, and whole tables."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.drawn import ONE, fixed
from helpers.exactness import within_stated_error
from helpers.light import keeping_back
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.evidence import WeightedHistogram
from shortlist.mechanisms import DiscoverThenRank
from shortlist.mechanisms._two_gaussians import Strips, _AnyStrip, _EachStrip


def mechanism(**given):
    asked = {"k": 20, "epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 100}
    return DiscoverThenRank(**asked | given)


def strips(**given):
    return mechanism(**given).gaussians._strips


@settings(fixed, max_examples=30)
@given(
    weight=st.integers(1, 60 * ONE),
    epsilon=st.sampled_from([0.1, 1.0, 5.0]),
    share=st.sampled_from([0.05, 0.3, 0.9]),
)
def test_chances_are_within_their_stated_error(weight, epsilon, share):
    known = strips(epsilon=epsilon, discovery_share=share)
    within_stated_error(_EachStrip(known, weight))
    values, errors = within_stated_error(_AnyStrip(known, np.array([weight])))
    assert errors[0] < 1e-3 * values[0] + 1e-100


def test_chances_rise_with_the_weight_and_hardly_exceed_those_of_being_named():
    two = mechanism().gaussians
    known = two._strips
    weights = np.arange(0, 20 * ONE, ONE // 4) + 1
    chances = _AnyStrip(known, weights).approximate()[0]
    assert (np.diff(chances) > 0).all()
    named = np.array([0.5 * math.erfc(z / math.sqrt(2)) for z in gaps(two, weights)])
    small = weights < 10 * ONE
    assert (chances[small] > named[small] * 0.5).all()  # those the first named are left out
    assert (chances[small] < named[small] * 2.5).all()


def gaps(two, weights):
    """From the weights to the mean's threshold, in standard deviations."""
    return (two.mean_threshold - weights / ONE) / two.mean_sigma


def test_the_strips_hold_whatever_the_mean_names():
    known = strips()
    rng = np.random.default_rng(1)
    first = known.first_threshold - rng.exponential(20 * ONE, 10_000)
    strip = (known.highs[:, None] > first).sum(axis=0) - 1
    share = known.share
    second = (known.mean_threshold - share * first) / (1 - share)
    assert (strip >= 0).all()
    assert (second > known.least[strip] - 2).all()  # the floats here are off by a unit or so


# --- tables


def table(n, weight, heavy):
    weights = np.append(np.full(n, round(weight * ONE)), np.array(heavy) * ONE)
    return WeightedHistogram(weights, weights // ONE + 1, 100)


def named_and_score(asked, evidence, below, runs=150):
    """How many light items are named in all runs, and the mean of their scores."""
    found, scores, fetched, draws = 0, [], 0, ExactDraws(SeededBits(5))
    for _ in range(runs):
        shown = evidence if below is None else keeping_back(evidence, below)
        selection = asked.select(shown, draws)
        is_light = selection.positions < len(evidence.weights) - 2
        found += is_light.sum()
        scores += selection.scores[is_light].tolist()
        fetched += 0 if below is None else sum(shown.below_threshold.asked)
    return found, float(np.mean(scores)), fetched / runs


@pytest.mark.parametrize("weight", [8.0, 9.4])
def test_a_table_is_answered_alike_whatever_is_shown(weight):
    asked = replace(mechanism(), k=300)
    evidence, below = table(3000, weight, [60, 80]), asked.wants.show_from
    assert weight * ONE < below
    shown, kept = (named_and_score(asked, evidence, x) for x in (None, below))
    assert shown[0] > 10
    assert abs(shown[0] - kept[0]) < 4 * math.sqrt(shown[0] + kept[0])
    assert abs(shown[1] - kept[1]) < 4 * asked.mean_sigma / math.sqrt(min(shown[0], kept[0]))
    assert kept[2] < 0.01 * 3000  # fetched by the first and the second test together


def test_strips_beyond_64_bits_ask_for_all_items():
    assert mechanism().gaussians.show_from is not None
    known = Strips(1e6, 1e6, 1 - 2.0**-20, round(8e6 * ONE), round(7e6 * ONE))
    assert not known.are_small
    assert strips().are_small
