"""Exact draws: floats within their stated error, the slow path's same outcome, the right laws."""

import itertools
import math
import os
from collections import Counter

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st

from helpers.exactness import Script, agreeing, ints
from shortlist.audit.exact._orders import order_law
from shortlist.audit.exact.enumerator import in_floats
from shortlist.bits import SeededBits, SystemBits
from shortlist.draws import UNIT, ExactDraws
from shortlist.draws._uniform import Uniform, is_positive, settle
from shortlist.draws.noise import Normal
from shortlist.draws.reals import ExponentialWeights, NormalCDF

fixed = settings(derandomize=True, deadline=None, max_examples=150)
ONE = 2**32  # 1.0 in units
TOP = 2**64 - 1


def between(low, high):
    exponents = st.floats(math.log10(low), math.log10(high))
    return exponents.map(lambda x: min(max(10.0**x, low), high))


def signed(high):
    """Integers spread evenly over the orders of magnitude."""
    sizes = st.integers(0, high.bit_length() - 1).flatmap(lambda b: st.integers(0, 2**b))
    return st.builds(lambda size, sign: sign * size, sizes, st.sampled_from([-1, 1]))


# --- reals: floats within their stated error of the ball


def within_stated_error(reals):
    values, errors = reals.approximate()
    with ctx.workprec(300):
        for i, (value, error) in enumerate(zip(values.tolist(), errors.tolist(), strict=True)):
            assert math.isfinite(value)
            assert abs(reals.ball(i) - arb(value)) <= arb(error)
    return values, errors


@fixed
@given(gaps=st.lists(signed(2**61), min_size=1, max_size=8), sd=between(1e-3, 1e6))
@example(gaps=[2**61, -(2**61), 0, 1, -1], sd=1e-3)
@example(gaps=[2**61, -(2**61), 0, 1, -1], sd=1e6)
@example(gaps=[z * ONE for z in (-39, -38, -37, -8, 8, 37, 38, 39)], sd=1.0)
def test_normal_cdf_is_within_its_stated_error(gaps, sd):
    within_stated_error(NormalCDF(ints(*gaps), sd))


@pytest.mark.parametrize("sd", [1e-3, 1.0, 7.3, 1e6])
def test_normal_cdf_is_within_its_error_over_the_whole_range(sd):
    z = np.linspace(-40, 40, 801)
    reals = NormalCDF((z * sd / UNIT).astype(np.int64), sd)
    values, errors = within_stated_error(reals)
    near = values > 1e-198  # beyond -32 the error is a constant
    assert (errors[near] <= 1e-11 * values[near]).all()  # and the error stated is small


@fixed
@given(
    gaps=st.lists(st.integers(0, 2**62 - 1) | signed(10**5).map(abs), min_size=1, max_size=8),
    exponent=between(1e-12, 10),
    top=st.sampled_from([0, 5, 2**62 - 1]),
    many=st.integers(1, 2**28),
    at_most=st.sampled_from([2.0**32, math.inf]),
)
def test_exponential_weights_are_within_their_stated_error(gaps, exponent, top, many, at_most):
    counts = np.unique([top, *[max(top - gap, 0) for gap in gaps]])[::-1]
    multiplicities = np.full(len(counts), many)
    within_stated_error(ExponentialWeights(counts, multiplicities, exponent, at_most))


def test_exponential_weights_are_within_their_error_down_to_where_floats_end():
    gaps = np.unique([*np.linspace(0, 760, 400).astype(int), 1000, 10**5])
    reals = ExponentialWeights(gaps.max() - gaps, np.full(len(gaps), 3), 1.0, math.inf)
    values, errors = within_stated_error(reals)
    assert (errors[gaps < 600] <= 1e-12 * values[gaps < 600]).all()
    assert values[0] == 3


@fixed
@given(gap=signed(2**61), sd=between(1e-3, 1e6), count=st.integers(0, 2**62 - 1))
def test_balls_enclose_the_number_at_every_precision(gap, sd, count):
    with ctx.workprec(700):
        z = arb(gap) / 2**32 / arb(sd)
        chance = (-z / arb(2).sqrt()).erfc() / 2
        weight = 7 * (-arb(1e-3) * count).exp()
    for bits in (64, 192):
        with ctx.workprec(bits):
            assert NormalCDF(ints(gap), sd).ball(0).overlaps(chance)
            weights = ExponentialWeights(ints(count, 0), ints(1, 7), 1e-3)
            assert weights.ball(1).overlaps(weight)


# --- noise: the float interval against the quantile function itself

WORDS = [0, 1, 2, 2**20, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2**20, TOP - 1, TOP]


def noise_at(uniform, sd, weight, bound, above):
    """The noise whose uniform is this exact fraction: conditioned and weighted."""
    cap, sign, root = arb(1), 1, arb(2).sqrt()
    if bound is not None:
        sign = -1 if above else 1
        cap = (-sign * arb(bound) / 2**32 / arb(sd) / root).erfc() / 2
    value = -root * (2 * arb(uniform) * cap).erfcinv()
    return sign * value * arb(sd) * arb(weight)


def in_interval(word, sd, weight, bound, above):
    bounds, sides = (None, None) if bound is None else (ints(bound), np.array([above]))
    noise = Normal(sd, weight, bounds, sides)
    low, high = (float(end[0]) for end in noise.interval(np.array([word], np.uint64)))
    assert low <= high
    for place in (1, 2**31, 2**32 - 1):  # nearly the ends, and the middle, of what the word leaves
        with ctx.workprec(400):
            uniform = fmpq(word * 2**32 + place, 2**96)
            value = noise_at(uniform, sd, weight, bound, above)
            assert low <= value <= high
            point = arb(uniform)
            assert noise.ball(0, point).overlaps(value)
    with ctx.workprec(192):
        ball = noise.ball(0, Uniform(Script(), word).ball())
    if ball.is_finite():
        assert ball.overlaps(value)
        assert low <= ball.mid() <= high
    return low, high


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("sd", [1e-3, 1.0, 1e6])
@pytest.mark.parametrize("z", [None, -30.0, -5.0, -1e-9, 0.0, 0.7, 30.0])
@pytest.mark.parametrize("above", [True, False])
def test_noise_of_extreme_words_is_in_its_interval(word, sd, z, above):
    bound = None if z is None else round(z * sd * ONE)
    in_interval(word, sd, 0.25, bound, above)


@fixed
@given(
    word=st.integers(0, TOP),
    sd=between(1e-3, 1e6),
    weight=st.floats(2**-20, 1),
    z=st.none() | st.floats(-36, 36),
    above=st.booleans(),
)
def test_noise_is_in_its_interval_which_is_narrow(word, sd, weight, z, above):
    bound = None if z is None else round(z * sd * ONE)
    low, high = in_interval(word, sd, weight, bound, above)
    if 2**40 < word < 2**64 - 2**40 and (z is None or abs(z) < 30):
        assert high - low <= 1e-6 * sd * weight


@pytest.mark.parametrize(("z", "above"), [(200.0, True), (-200.0, False)])
def test_noise_far_beyond_the_floats_is_in_its_interval(z, above):
    for word in WORDS[1:-1]:
        in_interval(word, 1.0, 1.0, round(z * ONE), above)


@pytest.mark.parametrize(("z", "above"), [(-1e6, True), (1e6, False)])
def test_a_bound_that_says_nothing_leaves_the_noise_as_it_is(z, above):
    for word in WORDS[1:-1]:
        low, high = in_interval(word, 1.0, 1.0, round(z * ONE), above)
        with ctx.workprec(400):
            free = noise_at(fmpq(2 * word + 1, 2**65), 1.0, 1.0, None, True)
            assert low <= (-free if above else free) <= high


@fixed
@given(word=st.integers(0, TOP), z=st.floats(-8, 8), above=st.booleans())
def test_noise_is_on_its_side_of_the_bound(word, z, above):
    noise = Normal(1.0, 1.0, ints(round(z * ONE)), np.array([above]))
    low, high = noise.interval(np.array([word], np.uint64))
    bound, end = round(z * ONE) / ONE, low if above else high

    def beyond(x):
        return math.erfc((x if above else -x) / math.sqrt(2))

    assert beyond(end.item()) <= beyond(bound) * (1 + 2.0**-36)


# --- Draws: forced down the slow path, the same outcome from the same bits

BOUNDS = [1, 2, 3, 1000, 2**31, 2**62, 3 * 2**61, 2**63 - 1]
SCORES = st.lists(st.integers(0, 3).map(lambda c: c * ONE // 2), min_size=0, max_size=6)


@fixed
@given(seed=st.integers(0, 2**32), z=st.lists(st.floats(-6, 6), max_size=6))
def test_slow_coins_fall_as_fast_ones(seed, z):
    chances = NormalCDF((np.array(z) * ONE).astype(np.int64), 1.3)
    agreeing(seed, lambda draws: draws.coin(chances).tolist())


@fixed
@given(seed=st.integers(0, 2**32), counts=st.sets(st.integers(0, 40), min_size=1, max_size=8))
def test_slow_choices_are_the_fast_ones(seed, counts):
    counts = ints(*sorted(counts, reverse=True))
    weights = ExponentialWeights(counts, np.arange(len(counts)) + 1, 0.1)
    agreeing(seed, lambda draws: draws.choice(weights))


@fixed
@given(seed=st.integers(0, 2**32), bounds=st.lists(st.sampled_from(BOUNDS), max_size=6))
def test_integers_do_not_depend_on_the_margin(seed, bounds):
    values = agreeing(seed, lambda draws: draws.integer(ints(*bounds)).tolist())
    assert all(0 <= value < bound for value, bound in zip(values, bounds, strict=True))


@settings(fixed, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    scores=SCORES,
    k=st.none() | st.integers(1, 4),
    floor=st.none() | st.integers(-1, 3),
    kind=st.sampled_from(["one", "truncated", "two"]),
    data=st.data(),
)
def test_slow_orders_are_the_fast_ones(seed, scores, k, floor, kind, data):
    scores = ints(*scores)
    noises = [Normal(0.8)]
    if kind != "one":
        sides = data.draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
        truncated = Normal(0.8, 0.25, ONE - scores, np.array(sides, bool))
        noises = [truncated] if kind == "truncated" else [truncated, Normal(0.5, 0.75)]
    at_least = None if floor is None else np.full(len(scores), floor * ONE)

    def draw(draws):
        ordered = draws.order(scores, noises, digits=2, at_least=at_least, k=k)
        return ordered.positions.tolist(), ordered.values.tolist()

    positions, values = agreeing(seed, draw)
    assert values == sorted(values, reverse=True)
    assert len(set(positions)) == len(positions) <= (len(scores) if k is None else k)
    assert floor is None or all(value >= floor - 0.005 for value in values)


# --- where the first 64 bits do not decide, the later bits do


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize(("later", "heads"), [((0, 1), False), ((0, 0, TOP), False)])
def test_a_coin_at_exactly_its_chance_goes_by_later_bits(margin, later, heads):
    bits = Script(2**63, *later)
    coin = ExactDraws(bits, margin).coin(NormalCDF(ints(0), 1.0))
    assert coin.tolist() == [heads]
    assert bits.read == 1 + len(later)


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("z", [0.3, -2.0, 3.0])
def test_a_coin_falls_by_the_bits_beyond_its_first_word(margin, z):
    with ctx.workprec(400):
        chance = (-arb(round(z * ONE)) / ONE / arb(2).sqrt()).erfc() / 2
        digits = int((chance * arb(2) ** 192).floor().unique_fmpz())
    words = [digits >> 128, digits >> 64 & TOP, digits & TOP]
    for last, heads in (words[2] - 1, True), (words[2] + 1, False):
        bits = Script(*words[:2], last)
        coin = ExactDraws(bits, margin).coin(NormalCDF(ints(round(z * ONE)), 1.0))
        assert coin.tolist() == [heads]
        assert bits.read == 3


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_a_coin_with_a_chance_below_the_first_word_can_fall_heads(margin):
    gaps = NormalCDF(ints(-10 * ONE), 1.0)  # a chance of 7.6e-24, below 2^-64
    for second, heads in ((0, True), (2**64 // 10**4, True), (2**60, False)):
        bits = Script(0, second)
        assert ExactDraws(bits, margin).coin(gaps).tolist() == [heads]
        assert bits.read == 2


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("index", [0, 1, 2])
def test_a_choice_on_a_boundary_goes_by_later_bits(margin, index):
    # Three equal groups of one, then a fourth: boundaries at 1/4, 1/2, 3/4 exactly.
    weights = ExponentialWeights(ints(5), ints(1), 1.0)
    weights = _Equal(weights, 4)
    boundary = (index + 1) << 62
    for words, chosen in (
        ((boundary - 1, TOP), index),
        ((boundary, 1), index + 1),
        ((boundary, 0, 1), index + 1),
    ):
        bits = Script(*words)
        assert ExactDraws(bits, margin).choice(weights) == chosen


class _Equal:
    """The same real number n times: boundaries that no float can decide."""

    def __init__(self, one, n):
        self._one, self._n = one, n

    def __len__(self):
        return self._n

    def approximate(self):
        return tuple(np.repeat(x, self._n) for x in self._one.approximate())

    def ball(self, _):
        return self._one.ball(0)


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_a_choice_inside_a_boundary_s_word_goes_by_later_bits(margin):
    weights = ExponentialWeights(ints(1, 0), ints(1, 1), 1.0)
    with ctx.workprec(400):
        digits = int((arb(2) ** 128 / (1 + arb(-1).exp())).floor().unique_fmpz())
    for last, chosen in ((digits & TOP) - 1, 0), ((digits & TOP) + 1, 1):
        bits = Script(digits >> 64, last)
        assert ExactDraws(bits, margin).choice(weights) == chosen
        assert bits.read == 2


class _Off:
    """Rational numbers whose floats are off by all that their stated error allows."""

    def __init__(self, truths, offsets, *, stated=True):
        self._truths, self._offsets, self._stated = truths, np.array(offsets), stated

    def __len__(self):
        return len(self._truths)

    def approximate(self):
        values = np.array([float(truth) for truth in self._truths]) + self._offsets
        return values, np.abs(self._offsets) * self._stated

    def ball(self, i):
        return arb(self._truths[i])


OFF = 2.0**-30  # far above any rounding error


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_coin_whose_chance_is_off_by_its_error_falls_by_the_truth(margin, sign):
    # The uniform lies between the chance 1/2 and its float.
    word = 2**63 + sign * 2**33
    truth = [sign < 0]

    def coin(draws, *, stated):
        return draws.coin(_Off([fmpq(1, 2)], [sign * OFF], stated=stated)).tolist()

    bits = Script(word)
    assert coin(ExactDraws(bits, margin), stated=True) == truth
    assert bits.read == 1
    assert coin(ExactDraws(Script(word)), stated=False) != truth


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_choice_whose_weights_are_off_by_their_errors_goes_by_the_truth(margin, sign):
    # Eight weights of 1. The floats of the first four are off to one side, the others' to the
    # other: their sum is right, but the boundary in the middle is off by four errors. The point
    # lies between it and the true one, three errors away: only their sum says that it is near.
    offsets = np.repeat([sign * OFF, -sign * OFF], 4)
    word = 2**63 + sign * 2**31
    truth = 4 if sign > 0 else 3

    def choice(draws, *, stated):
        return draws.choice(_Off([fmpq(1)] * 8, offsets, stated=stated))

    bits = Script(word)
    assert choice(ExactDraws(bits, margin), stated=True) == truth
    assert bits.read == 1
    assert choice(ExactDraws(Script(word)), stated=False) == 7 - truth


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("word", [2**63, 12345, TOP - 99, 2**62 + 1])
def test_equal_scores_and_equal_words_are_ordered_by_later_bits(margin, word):
    def order(*later):
        bits = Script(word, word, *later)
        ordered = ExactDraws(bits, margin).order(ints(ONE, ONE), [Normal(1.0)], digits=2)
        assert ordered.values[0] == ordered.values[1]
        assert bits.read == 2 + len(later)
        return ordered.positions.tolist()

    small_first, large_first = order(2**20, 2**40), order(2**40, 2**20)
    assert sorted(small_first) == [0, 1]
    assert small_first == large_first[::-1]
    assert order(7, 7, 2**20, 2**40) == small_first
    assert order(7, 7, 2**40, 2**20) == large_first


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("score", [0, ONE, 123 * ONE])
def test_a_floor_that_the_first_word_does_not_decide(margin, score):
    # The noise of uniform 1/2 is 0, and the floor is the score itself.
    for words, reached in (
        ((2**63, 1), True),
        ((2**63 - 1, TOP - 1), False),
        ((2**63, 0, 1), True),
    ):
        bits = Script(*words)
        ordered = ExactDraws(bits, margin).order(
            ints(score), [Normal(1.0)], digits=2, at_least=ints(score)
        )
        assert ordered.positions.tolist() == ([0] if reached else [])


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize(("digits", "score", "cells"), [(0, 0.5, (0, 1)), (-1, 35.0, (30, 40))])
def test_a_value_on_a_rounding_boundary_goes_by_later_bits(margin, digits, score, cells):
    for words, cell in (((2**63 - 1, 5), cells[0]), ((2**63, 5), cells[1])):
        bits = Script(*words)
        ordered = ExactDraws(bits, margin).order(
            ints(int(score * ONE)), [Normal(1.0)], digits=digits
        )
        assert ordered.values.tolist() == [cell]


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("word", [0, TOP])
def test_a_first_word_at_the_end_gives_a_finite_value(margin, word):
    noises = [Normal(1.0)], [Normal(1.0, 1.0, ints(ONE), np.array([word == TOP]))]
    for noise in noises:
        bits = Script(word, word & 2**40)
        ordered = ExactDraws(bits, margin).order(ints(0), noise, digits=3)
        assert np.isfinite(ordered.values).all()


def test_settle_fetches_from_all_until_decided():
    bits = Script(TOP, TOP, 0, 2)
    uniforms = [Uniform(bits, 7), Uniform(bits, 7)]
    larger = settle(uniforms, lambda: is_positive(uniforms[0].ball() - uniforms[1].ball()))
    assert larger is False
    assert [uniform.bits for uniform in uniforms] == [192, 192]


@fixed
@given(words=st.lists(st.integers(0, TOP), min_size=1, max_size=4))
def test_a_uniform_narrows_to_the_words_it_fetched(words):
    uniform = Uniform(Script(*words[1:]), words[0])
    number = 0
    with ctx.workprec(600):
        for place, word in enumerate(words, 1):
            number = number << 64 | word
            ends = fmpq(number, 2 ** (64 * place)), fmpq(number + 1, 2 ** (64 * place))
            ball = uniform.ball()
            assert all(ball.contains(end) for end in ends)
            assert 2 * ball.rad() <= arb(ends[1] - ends[0]) * (1 + arb(2) ** -20)
            uniform.fetch()


# --- the laws of what is drawn, in standard errors; and a law 30 % off is told apart


def deviation(seen, n, law):
    """The largest distance of a frequency from its probability, in standard errors."""
    assert seen.keys() <= {o for o, p in law.items() if p > 0}
    return max(
        abs(seen.get(o, 0) - n * p) / math.sqrt(max(n * p * (1 - p), 1)) for o, p in law.items()
    )


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
    orders = (draws.order(scores, noises, digits=2, **options) for _ in range(n))
    return Counter(tuple(ordered.positions.tolist()) for ordered in orders)


TRUNCATED = (ints(ONE // 2, 0, -ONE), np.array([True, False, True]))


def scaled(noise, factor):
    return Normal(noise.sd * factor, noise.weight, noise.bounds, noise.above)


@pytest.mark.parametrize(
    "noises",
    [
        [Normal(1.5)],
        [Normal(1.5, 0.5, *TRUNCATED)],
        [Normal(1.5, 0.25, *TRUNCATED), Normal(1.1, 0.75)],
    ],
)
@pytest.mark.parametrize("options", [{}, {"k": 1}, {"at_least": ints(ONE, ONE, 0), "k": 2}])
def test_frequency_of_orders(noises, options):
    scores, n = ints(ONE, ONE * 3 // 2, ONE // 4), 4000
    seen = order_counts(n, scores, noises, **options)
    assert deviation(seen, n, in_floats(order_law(scores, noises, **options))) < 4.5


def test_frequency_of_orders_tells_noise_that_is_30_percent_off():
    scores, n = ints(ONE, ONE * 3 // 2, -ONE // 2), 4000
    for noises in ([Normal(1.0)], [Normal(1.0, 0.25, *TRUNCATED), Normal(1.0, 0.75)]):
        seen = order_counts(n, scores, noises)
        for factor in (0.7, 1.3):
            wrong = in_floats(order_law(scores, [scaled(noise, factor) for noise in noises]))
            assert deviation(seen, n, wrong) > 4.5


def test_values_have_their_noise_s_law():
    n, scores = 20_000, 3 * ONE
    for noises, sd in (([Normal(2.0)], 2.0), ([Normal(2.0, 0.25), Normal(1.0, 0.75)], 0.901)):
        ordered = ExactDraws(SeededBits(6)).order(np.full(n, scores), noises, digits=4)
        values = (ordered.values - 3) / sd
        for z in (-1.5, -0.5, 0.0, 1.0):
            p = normal_cdf(z)
            error = math.sqrt(p * (1 - p) / n)
            assert abs((values <= z).mean() - p) < 4.5 * error
        p = normal_cdf(1.0)
        assert abs((values * 1.3 <= 1.0).mean() - p) > 4.5 * math.sqrt(p * (1 - p) / n)


# --- order: rounding, k, floors, the smallest inputs


@pytest.mark.parametrize("digits", [-2, 0, 2, 6])
@pytest.mark.parametrize("sd", [0.01, 3.0, 1e4])
def test_values_are_the_exact_ones_rounded(digits, sd):
    n = 40
    scores = (np.arange(n) * 1237 - 20_000) * (ONE // 64)
    bits = SeededBits(8)
    words = SeededBits(8).words(n)
    ordered = ExactDraws(bits).order(scores, [Normal(sd)], digits=digits)
    with ctx.workprec(300):
        exact = [
            arb(int(scores[i])) / 2**32 + noise_at(fmpq(2 * int(w) + 1, 2**65), sd, 1, None, True)
            for i, w in enumerate(words)
        ]
        best_first = sorted(range(n), key=lambda i: float(exact[i]), reverse=True)
        cells = [
            (exact[i] * arb(10) ** digits + 0.5).floor() / arb(10) ** digits for i in best_first
        ]
    assert ordered.positions.tolist() == best_first
    assert np.allclose(ordered.values, [float(cell) for cell in cells], rtol=1e-15, atol=0)


@fixed
@given(seed=st.integers(0, 2**32), k=st.integers(1, 12), n=st.integers(1, 10))
def test_the_best_k_are_the_first_of_all(seed, k, n):
    scores = np.arange(n) % 3 * ONE
    every = ExactDraws(SeededBits(seed)).order(scores, [Normal(1.0)], digits=1)
    best = ExactDraws(SeededBits(seed)).order(scores, [Normal(1.0)], digits=1, k=k)
    assert best.positions.tolist() == every.positions[:k].tolist()
    assert best.values.tolist() == every.values[:k].tolist()


@fixed
@given(seed=st.integers(0, 2**32), floors=st.lists(st.integers(-2, 4), min_size=1, max_size=8))
def test_floors_keep_exactly_the_values_that_reach_them(seed, floors):
    scores, floors = np.full(len(floors), ONE), ints(*floors)
    every = ExactDraws(SeededBits(seed)).order(scores, [Normal(1.0)], digits=6)
    kept = ExactDraws(SeededBits(seed)).order(
        scores, [Normal(1.0)], digits=6, at_least=floors * ONE
    )
    reaching = [
        int(i) for i, value in zip(every.positions, every.values, strict=True) if value >= floors[i]
    ]
    assert kept.positions.tolist() == reaching


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("k", [None, 1, 5])
def test_order_of_nothing_and_of_one(margin, k):
    draws = ExactDraws(SeededBits(9), margin)
    nothing = draws.order(ints(), [Normal(1.0)], digits=2, at_least=ints(), k=k)
    assert nothing.positions.tolist() == nothing.values.tolist() == []
    one = draws.order(ints(ONE), [Normal(1.0)], digits=2, k=k)
    assert one.positions.tolist() == [0]
    none = draws.order(ints(ONE), [Normal(1.0)], digits=2, at_least=ints(99 * ONE), k=k)
    assert none.positions.tolist() == []


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_draws_of_nothing(margin):
    draws = ExactDraws(SeededBits(9), margin)
    assert draws.coin(NormalCDF(ints(), 1.0)).tolist() == []
    assert draws.integer(ints()).tolist() == []


def test_order_decides_scores_beyond_the_precision_of_floats():
    # Scores near 2^61 units a unit apart, with noise far below a unit.
    scores = 2**61 + ints(0, 3, 1, 2)
    ordered = ExactDraws(SeededBits(10)).order(scores, [Normal(1e-12)], digits=0)
    assert ordered.positions.tolist() == [1, 3, 2, 0]


# --- bits


def test_seeded_bits_repeat_and_say_that_they_are_not_private():
    assert SeededBits(3).words(5).tolist() == SeededBits(3).words(5).tolist()
    assert SeededBits(3).words(5).tolist() != SeededBits(4).words(5).tolist()
    one = SeededBits(3)
    parts = list(itertools.chain(one.words(2).tolist(), one.words(3).tolist()))
    assert parts == SeededBits(3).words(5).tolist()
    assert SeededBits(3).private is False
    assert SystemBits().private is True
    assert ExactDraws().bits.private is True


@pytest.mark.parametrize("bits", [SystemBits(), SeededBits(1)])
def test_words_are_64_bits_each(bits):
    words = bits.words(4000)
    assert words.dtype == np.uint64
    assert words.shape == (4000,)
    assert len(np.unique(words)) == 4000
    ones = [int((words >> np.uint64(b) & np.uint64(1)).sum()) for b in range(64)]
    assert all(abs(count - 2000) < 6.5 * math.sqrt(1000) for count in ones)
    assert bits.words(0).shape == (0,)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_shares_no_bits_with_its_parent():
    bits = SystemBits()
    bits.words(3)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, bits.words(8).tobytes())
        os._exit(0)
    os.close(writer)
    mine = bits.words(8)
    with os.fdopen(reader, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), np.uint64)
    os.waitpid(child, 0)
    assert len(theirs) == 8
    assert not set(mine.tolist()) & set(theirs.tolist())
