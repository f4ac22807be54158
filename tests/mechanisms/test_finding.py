"""The chance that an item is found: against the code that runs, and against the normal law."""

import math
from statistics import NormalDist

import numpy as np
import pytest

from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws
from shortlist.mechanisms import (
    AdaptiveGaussian,
    AdaptiveGaussianPeeling,
    AdaptiveHittingSet,
    AdaptiveTopK,
    ChosenBound,
    DiscoverThenRank,
    GreedyOrAdaptive,
    GreedyOrRounds,
    ItemsThenPairs,
    LimitedDomain,
    Peeling,
    PolicyGaussian,
    PolicyGreedy,
    UserPeeling,
    WeightedGaussian,
    WeightedGaussianPeeling,
)
from shortlist.mechanisms.finding import ByPlay, ByThreshold, invented
from shortlist.mechanisms.mechanism import Mechanism
from shortlist.mechanisms.registry import every_mechanism

PRIVACY = {"epsilon": 1.0, "delta": 1e-6}
BOUNDED = {**PRIVACY, "max_items_per_user": 100}
FINDING = [
    WeightedGaussian(**BOUNDED),
    WeightedGaussianPeeling(k=5, **BOUNDED),
    DiscoverThenRank(k=5, **BOUNDED),
    UserPeeling(k=5, **BOUNDED),
    AdaptiveGaussian(**BOUNDED),
    AdaptiveGaussianPeeling(k=5, **BOUNDED),
    ChosenBound(**BOUNDED),
    GreedyOrRounds(**BOUNDED),
    GreedyOrAdaptive(k=5, **BOUNDED),
    AdaptiveTopK(k=5, **BOUNDED),
    AdaptiveHittingSet(k=5, **BOUNDED),
    PolicyGaussian(**BOUNDED),
    PolicyGreedy(**PRIVACY),
]


def draws(seed=7):
    return ExactDraws(SeededBits(seed))


def chance(mechanism, users, held=1, seed=7):
    return mechanism.finding.chances(users, held, draws(seed))


def near(chances, others, samples):
    """Within four standard errors of the difference between two shares of so many samples."""
    spread = np.sqrt((chances * (1 - chances) + others * (1 - others) + 1 / samples) / samples)
    return np.all(np.abs(chances - others) <= 4 * spread)


@pytest.mark.parametrize("held", [1, 4, 100])
def test_one_look_is_the_normal_law_and_the_code_follows_it(held):
    mechanism = WeightedGaussian(**BOUNDED)
    users = [round(c * mechanism.threshold * math.sqrt(held)) for c in (0.6, 0.9, 1.0, 1.3)]

    def find(table, drawn):
        shown = table.bounded(100, drawn).shown_as(mechanism.wants)
        return mechanism.select(shown, drawn).positions

    exact = chance(mechanism, users, held)
    law = NormalDist(mechanism.threshold, mechanism.sigma)
    assert exact == pytest.approx([law.cdf(n / math.sqrt(held)) for n in users])
    played = ByPlay(find, around=mechanism.threshold, most=100).chances(users, held, draws())
    assert near(exact, played, 1000)
    wrong = ByThreshold(mechanism.sigma * 1.3, mechanism.threshold, 100)
    assert not near(wrong.chances(users, held, None), played, 1000)


@pytest.mark.parametrize("mechanism", FINDING, ids=lambda one: type(one).__name__)
def test_few_users_are_never_enough_and_many_are(mechanism):
    half = mechanism.finding.around
    low, high = chance(mechanism, [1, round(1.9 * half)])
    assert low < 0.01
    assert high > 0.9


def test_who_holds_more_items_adds_less_to_each():
    for mechanism in FINDING:
        users = [round(1.9 * mechanism.finding.around)]
        one, ten = (chance(mechanism, users, held)[0] for held in (1, 10))
        assert ten < one - 0.3


@pytest.mark.parametrize("held", [1, 10])
def test_rounds_find_no_less_than_the_first_of_them_alone(held):
    mechanism = AdaptiveGaussian(**BOUNDED)
    first = NormalDist(mechanism.thresholds[0], mechanism.search.first_sd)
    users = [round(c * mechanism.thresholds[0] * math.sqrt(held)) for c in (0.4, 0.7, 1.0)]
    alone = np.array([first.cdf(n / math.sqrt(held)) for n in users])
    found = chance(mechanism, users, held)
    assert np.all(found >= alone - 4 * np.sqrt(0.25 / 1000))
    last = NormalDist(mechanism.threshold, mechanism.sigma).cdf(mechanism.threshold)
    assert chance(mechanism, [round(mechanism.threshold)])[0] >= last - 4 * math.sqrt(0.25 / 1000)


def test_what_is_played_is_the_same_each_time():
    mechanism = AdaptiveTopK(k=5, **BOUNDED)
    users = [20, 25, 30]
    assert chance(mechanism, users).tolist() == chance(mechanism, users).tolist()
    assert chance(mechanism, users).tolist() != chance(mechanism, users, seed=8).tolist()


def test_a_table_that_is_too_large_is_not_played():
    assert chance(AdaptiveGaussian(**BOUNDED), [10**7]) is None
    assert chance(AdaptiveGaussian(**BOUNDED), [10**5], held=100) is None


def test_the_invented_table_is_what_it_says():
    table = invented([2, 5], held=3, groups=4)
    assert table.counts.tolist() == [2] * 12 + [5] * 12
    assert set(table.sizes.tolist()) == {3}
    assert len(table.sizes) == 4 * (2 + 5)


@pytest.mark.parametrize(
    "mechanism",
    [
        ItemsThenPairs(k=5, **PRIVACY),
        LimitedDomain(k=5, max_items_per_user=100, **PRIVACY),
        Peeling(k=5, epsilon=1.0),
        UserPeeling(k=5, **PRIVACY),
    ],
    ids=lambda one: type(one).__name__,
)
def test_what_hangs_on_other_items_has_no_chances(mechanism):
    assert mechanism.finding is None


def test_every_mechanism_was_thought_of():
    tested = {type(mechanism) for mechanism in FINDING}
    finding = {kind for kind in every_mechanism() if kind.finding is not Mechanism.finding}
    assert finding == tested | {ItemsThenPairs}  # whose rounds find items, and no pairs
