"""Output laws where an engine keeps light items to itself: as if it showed them all."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from helpers.exhaustive import exhaustive
from helpers.hitting import contributions
from helpers.laws import agree, build, histogram, positions_law
from helpers.light import keeping_back, sets_keeping_back
from shortlist.algorithms import thinning
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import UNIT, ExactDraws
from shortlist.draws.noise import OPEN
from shortlist.evidence import Wants
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import (
    DiscoverThenRank,
    UserPeeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
    _two_gaussians,
)
from shortlist.mechanisms._two_gaussians import Strips
from shortlist.mechanisms.weighted_gaussian import show_from, to_units
from shortlist.mechanisms.wrappers import NoisyClippedCounts, NoisyCounts
from shortlist.privacy.accountant import Threshold

WEIGHTS, COUNTS = [0.7, 0.0, 3.1, 1.9], [2, 1, 4, 3]
OF_WEIGHTS = [WeightedGaussian, WeightedGaussianPeeling, DiscoverThenRank]


@pytest.fixture(autouse=True)
def _few_strips(monkeypatch):
    monkeypatch.setattr(_two_gaussians, "_STRIPS", 1)
    monkeypatch.setattr(_two_gaussians, "_STRIPS_IN_A_DEVIATION", 1)


def units(weight):
    return round(weight / UNIT)


def cells_law(mechanism, evidence, edges):
    def run(draws):
        selection = mechanism.select(evidence, draws)
        scores = () if selection.scores is None else tuple(selection.scores)
        return (*selection.positions.tolist(), scores, selection.noise_sd)

    return law(run, edges)


@pytest.mark.parametrize("k", [1, *exhaustive(2)])
@pytest.mark.parametrize(
    ("mechanism", "below"),
    [
        *itertools.product(OF_WEIGHTS, [1.0, 2.0]),
        *itertools.product([WeightedGaussian, WeightedGaussianPeeling], [4.0]),
    ],  # three items in strips would take a minute
)
def test_the_law_is_that_of_all_items_shown(mechanism, k, below):
    mechanism, evidence = build(mechanism, k=k), histogram(WEIGHTS, COUNTS)
    kept = keeping_back(evidence, units(below))
    assert 0 < kept.below_threshold.n == sum(0 < w < below for w in WEIGHTS)
    agree(positions_law(mechanism, kept), positions_law(mechanism, evidence), 1e-9)
    assert max(kept.below_threshold.asked) == kept.below_threshold.n


@pytest.mark.parametrize("mechanism", [WeightedGaussian, DiscoverThenRank])
def test_scores_have_the_law_of_all_items_shown(mechanism):
    mechanism, evidence = build(mechanism, k=2), histogram([1.4, 2.9], [2, 3])
    edges = [mechanism.audit_hints().thresholds[0] + x for x in (-0.5, 0.6, 2.0)]
    kept = keeping_back(evidence, units(2))
    agree(cells_law(mechanism, kept, edges), cells_law(mechanism, evidence, edges), 1e-8)


def sets_law(mechanism, data, kind):
    sets = kind(**vars(contributions(data, 3)))
    return law(lambda draws: tuple(mechanism.select(sets, draws).positions.tolist()))


@pytest.mark.parametrize("below", [0.8, 1.5, 9.0])
@pytest.mark.parametrize("k", [1, 3])
def test_a_hitting_set_has_the_law_of_all_items_shown(k, below):
    mechanism = UserPeeling(k=k, epsilon=2.0, delta=0.2, max_items_per_user=2)
    data = [frozenset(s) for s in ({0}, {0, 1}, {0, 1, 2}, {0, 2})]
    asked = []
    kept = sets_law(mechanism, data, sets_keeping_back(units(below), asked))
    agree(kept, sets_law(mechanism, data, Contributions), 1e-9)
    assert set(asked) == {show_from(mechanism.sigma, mechanism.threshold)}


# --- mistakes, through each mechanism


def with_replacement(n, size, draws):
    return np.unique(draws.integer(np.full(size, n)))


MISTAKES = {
    "accepted by the whole chance": ("Quotient", lambda numbers, _: numbers),
    "with replacement": ("sample", with_replacement),
    "too small a chance of all": ("_at_least_all", lambda *_: Fraction(1, 20)),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.parametrize("mechanism", OF_WEIGHTS)
def test_mistakes_are_caught(monkeypatch, mechanism, mistake):
    mechanism, evidence = build(mechanism, k=1), histogram([1.9, 1.5], [2, 2])
    oracle = positions_law(mechanism, evidence)
    monkeypatch.setattr(thinning, *MISTAKES[mistake])
    found = positions_law(mechanism, keeping_back(evidence, units(2)))
    assert max(abs(found.get(o, 0) - p) for o, p in oracle.items()) > 1e-3


class HighStrips(Strips):
    """What a strip's lower end leaves to the second noisy weight: too much is asked of it."""

    @property
    def _left_to_second(self):
        whole = super()._left_to_second
        return [*whole[1:], whole[-1] + units(1)]


class WideStrips(Strips):
    """The first noise is known to be below its threshold, and no more."""

    def draw(self, light, named, draws):
        seen = super().draw(light, named, draws)
        if seen is None:
            return None
        below = self.first_threshold - seen.items.weights
        return seen._replace(low=np.full(len(below), -OPEN), high=below)


class FreeStrips(Strips):
    """The second noise is taken anew, as if it were not known to be large."""

    def draw(self, light, named, draws):
        seen = super().draw(light, named, draws)
        return seen and seen._replace(second=np.full(len(seen.low), -OPEN))


class KeptStrips(Strips):
    """Items that the first named are seen once more."""

    def draw(self, light, _, draws):
        return super().draw(light, None, draws)


@pytest.mark.parametrize("kind", [Strips, HighStrips, WideStrips, FreeStrips, KeptStrips])
def test_mistakes_with_strips_are_caught(monkeypatch, kind):
    monkeypatch.setattr(_two_gaussians, "Strips", kind)
    mechanism, evidence = build(DiscoverThenRank, k=2), histogram([1.9, 1.5], [2, 2])
    oracle = positions_law(mechanism, evidence)
    try:
        found = positions_law(mechanism, keeping_back(evidence, units(2)))
    except ArithmeticError:
        found = {}
    off = max(abs(found.get(o, 0) - oracle.get(o, 0)) for o in oracle.keys() | found.keys())
    assert off < 1e-9 if kind is Strips else off > 1e-3


# --- what is asked of an engine


@pytest.mark.parametrize("mechanism", OF_WEIGHTS)
def test_what_weighs_much_less_than_the_threshold_need_not_be_shown(mechanism):
    real = mechanism(
        **{
            name: value
            for name, value in {
                "k": 20, "epsilon": 1.0, "delta": 1e-6, "max_items_per_user": 100,
            }.items()
            if name in mechanism.fields()
        }
    )  # fmt: skip
    if mechanism is DiscoverThenRank:
        tests = real.gaussians.thresholds
    else:
        tests = [Threshold(real.sigma, real.threshold)]
    least = min(to_units(test.least - 3.5 * test.sigma) for test in tests)
    assert real.wants == Wants(real.evidence, 100, least)


def test_where_all_may_be_named_all_are_shown():
    assert build(WeightedGaussian, k=None).wants.show_from is None


def test_noisy_counts_of_what_was_named_need_all_items_shown():
    selection = WeightedGaussianPeeling(k=2, epsilon=0.9, delta=5e-7, max_items_per_user=9)
    assert selection.wants.show_from is not None
    whole = NoisyCounts(selection=selection, k=2, epsilon=1.0, delta=1e-6, count_share=0.1)
    assert whole.wants == Wants(selection.evidence, 9)


def clipped(epsilon, delta):
    selection = WeightedGaussian(epsilon=0.9 * epsilon, delta=0.9 * delta, max_items_per_user=2)
    return NoisyClippedCounts(selection=selection, epsilon=epsilon, delta=delta, count_share=0.1)


def test_clipped_counts_come_with_light_items_too():
    data = [frozenset({0, 2})] * 3 + [frozenset({1})]
    asked, named = [], []
    sets = sets_keeping_back(units(9), asked)(**vars(contributions(data, 3)))
    for seed in range(40):
        selection = clipped(2.0, 0.2).select(sets, ExactDraws(SeededBits(seed)))
        named += selection.positions.tolist()
        assert len(selection.scores) == len(selection.positions)
    assert named.count(0) > named.count(1) > 0 < named.count(2)
    real = clipped(1.0, 1e-6)
    real.select(sets, ExactDraws(SeededBits(1)))
    assert set(asked) == {None, real.selection.wants.show_from}
    assert real.selection.wants.show_from > 0
