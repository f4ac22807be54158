"""The laws of what is drawn, in standard errors; a law 30 % off is told apart."""

import math
from collections import Counter

import numpy as np
import pytest

from helpers.drawn import ONE
from helpers.exactness import Script, ints
from helpers.exhaustive import exhaustive
from shortlist.audit.exact._order_laws import order_law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Normal
from shortlist.draws.reals import ExponentialWeights, NormalCDF


def deviation(seen, n, law):
    """The largest distance of a frequency from its probability, in standard errors."""
    assert seen.keys() <= {o for o, p in law.items() if p > 0}
    return max(
        abs(seen.get(o, 0) - n * p) / math.sqrt(max(n * p * (1 - p), 1)) for o, p in law.items()
    )


def in_floats(law):
    return {outcome: float(p) for outcome, p in law.items()}


def normal_cdf(z):
    return math.erfc(-z / math.sqrt(2)) / 2


@pytest.mark.parametrize("z", [-1.5, -0.4, 0.8])
def test_frequency_of_coins(z):
    n = 40_000
    tosses = ExactDraws(SeededBits(1)).coin(NormalCDF(np.full(n, round(2 * z * ONE)), 2.0))
    seen = Counter(tosses.tolist())
    laws = [{True: normal_cdf(z / s), False: normal_cdf(-z / s)} for s in (1, 1.3)]
    assert deviation(seen, n, laws[0]) < 4.5
    assert deviation(seen, n, laws[1]) > 4.5


def test_frequency_of_choices():
    counts, many, n = ints(4, 3, 1, 0), ints(2, 1, 3, 5), 8000
    draws = ExactDraws(SeededBits(2))
    weights = ExponentialWeights(counts, many, 0.7)
    seen = Counter(draws.choice(weights) for _ in range(n))

    def law(epsilon):
        odds = many * np.exp(epsilon * counts)
        return dict(enumerate((odds / odds.sum()).tolist()))

    assert deviation(seen, n, law(0.7)) < 4.5
    assert deviation(seen, n, law(0.7 * 1.3)) > 4.5


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 10])
def test_frequency_of_integers(bound):
    n = 40_000
    seen = Counter(ExactDraws(SeededBits(3)).integer(np.full(n, bound)).tolist())
    assert deviation(seen, n, dict.fromkeys(range(bound), 1 / bound)) < 4.5
    wider = max(bound + 1, round(bound * 1.3))
    assert deviation(seen, n, dict.fromkeys(range(wider), 1 / wider)) > 4.5


@pytest.mark.parametrize("bound", [3 * 2**61, 5 * 2**60, 11 * 2**59])
def test_integers_that_reject_often_are_uniform(bound):
    n, fractions = 40_000, 8

    def histogram(values):
        return Counter(int(value) * fractions // bound for value in values.tolist())

    law = dict.fromkeys(range(fractions), 1 / fractions)
    drawn = ExactDraws(SeededBits(4)).integer(np.full(n, bound))
    assert deviation(histogram(drawn), n, law) < 4.5
    without_rejection = SeededBits(4).words(n) % np.uint64(bound)
    assert deviation(histogram(without_rejection), n, law) > 4.5


@pytest.mark.parametrize("bound", [3, 3 * 2**61, 2**63 - 1])
def test_integers_reject_exactly_the_words_that_favour_small_results(bound):
    last = 2**64 // bound * bound - 1  # the last word that counts
    bits = Script(last, last + 1, 1)
    assert ExactDraws(bits).integer(ints(bound, bound)).tolist() == [bound - 1, 1]
    assert bits.read == 3


def order_counts(n, scores, noises, **options):
    draws = ExactDraws(SeededBits(5))
    orders = (draws.order(Order(scores, noises, digits=2, **options)) for _ in range(n))
    return Counter(tuple(ordered.positions.tolist()) for ordered in orders)


TRUNCATED = (ints(ONE // 2, 0, -ONE), np.array([True, False, True]))


def scaled(noise, factor):
    return Normal(noise.sd * factor, noise.weight, noise.bounds, noise.above)


NOISES = [
    [Normal(1.5)],
    [Normal(1.5, 0.5, *TRUNCATED)],
    [Normal(1.5, 0.25, *TRUNCATED), Normal(1.1, 0.75)],
]
OPTIONS = [{}, {"k": 1}, {"at_least": ints(ONE, ONE, 0), "k": 2}]


@pytest.mark.parametrize(
    ("noises", "options"),
    [
        *zip(NOISES, OPTIONS, strict=True),
        *exhaustive(
            *((n, o) for i, n in enumerate(NOISES) for j, o in enumerate(OPTIONS) if i != j)
        ),
    ],
)
def test_frequency_of_orders(noises, options):
    scores, n = ints(ONE, ONE * 3 // 2, ONE // 4), 4000
    seen = order_counts(n, scores, noises, **options)
    assert deviation(seen, n, in_floats(order_law(Order(scores, noises, **options)))) < 4.5


def test_frequency_of_orders_tells_noise_that_is_30_percent_off():
    scores, n = ints(ONE, ONE * 3 // 2, -ONE // 2), 4000
    for noises in ([Normal(1.0)], [Normal(1.0, 0.25, *TRUNCATED), Normal(1.0, 0.75)]):
        seen = order_counts(n, scores, noises)
        for factor in (0.7, 1.3):
            wrong = in_floats(order_law(Order(scores, [scaled(noise, factor) for noise in noises])))
            assert deviation(seen, n, wrong) > 4.5


def test_values_have_their_noise_s_law():
    n, scores = 20_000, 3 * ONE
    for noises, sd in (([Normal(2.0)], 2.0), ([Normal(2.0, 0.25), Normal(1.0, 0.75)], 0.901)):
        ordered = ExactDraws(SeededBits(6)).order(Order(np.full(n, scores), noises, digits=4))
        values = (ordered.values - 3) / sd
        for z in (-1.5, -0.5, 0.0, 1.0):
            p = normal_cdf(z)
            error = math.sqrt(p * (1 - p) / n)
            assert abs((values <= z).mean() - p) < 4.5 * error
        p = normal_cdf(1.0)
        assert abs((values * 1.3 <= 1.0).mean() - p) > 4.5 * math.sqrt(p * (1 - p) / n)
