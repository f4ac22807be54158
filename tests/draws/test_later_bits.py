"""Where the first bits do not decide, the later ones do; and slow is as fast."""

import math

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.drawn import ONE, TOP, fixed
from helpers.exactness import OnesFirst, Script, agreeing, ints
from shortlist.bits import SeededBits
from shortlist.draws import Draws, ExactDraws, Order
from shortlist.draws.noise import Normal
from shortlist.draws.reals import ExponentialWeights, NormalCDF
from shortlist.draws.uniform import Uniform, is_positive, settle

BOUNDS = [1, 2, 3, 1000, 2**31, 2**62, 3 * 2**61, 2**63 - 1]


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


def quick_choice(weights, word):
    """What a uniform chooses that begins with this word; None where that is left open."""
    chosen, left = ints(-1), weights.multiplicities.astype(np.float64)
    n = weights.quick_choices(np.array([word], np.uint64), left, chosen)
    assert np.sum(weights.multiplicities - left) == pytest.approx(n)
    return int(chosen[0]) if n else None


@fixed
@given(
    seed=st.integers(0, 2**32),
    counts=st.sets(st.integers(0, 40), min_size=1, max_size=8),
    k=st.integers(0, 30),
    epsilon=st.sampled_from([0.1, 3.0]),
)
def test_choices_in_turn_are_slow_and_fast_those_of_one_after_another(seed, counts, k, epsilon):
    counts = ints(*sorted(counts, reverse=True))
    weights = ExponentialWeights(counts, np.arange(len(counts)) % 3 + 1, epsilon)
    in_turn = agreeing(seed, lambda draws: draws.choices_in_turn(weights, k).tolist())
    one_by_one = ExactDraws(SeededBits(seed))
    assert in_turn == Draws.choices_in_turn(one_by_one, weights, k).tolist()


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_what_one_choice_in_turn_leaves_open_goes_by_later_bits_and_the_next_go_on(margin):
    weights = ExponentialWeights(ints(1, 0), ints(2, 2), 1.0)
    with ctx.workprec(400):  # of two items and one, since the first choice is of the other class
        digits = int((arb(2) ** 128 * 2 / (2 + arb(-1).exp())).floor().unique_fmpz())
    for last, chosen in ((digits & TOP) - 1, 0), ((digits & TOP) + 1, 1):
        bits = Script(TOP - 1, digits >> 64, 0, last)
        assert ExactDraws(bits, margin).choices_in_turn(weights, 3).tolist() == [1, chosen, 0]
        assert bits.read == 4


def test_choices_in_turn_that_land_far_below_are_of_what_is_left_there():
    weights, found = ExponentialWeights(ints(100, 9, 8), ints(2, 1, 1), 1.0), set()
    for seed in range(40):
        fast, slow = (ExactDraws(OnesFirst(6, seed), margin) for margin in (0.0, math.inf))
        chosen = fast.choices_in_turn(weights, 4).tolist()
        assert chosen == slow.choices_in_turn(weights, 4).tolist()
        found.add(tuple(chosen))
    assert found == {(1, 0, 0, 2), (2, 0, 0, 1)}


@settings(fixed, max_examples=40)
@given(
    gaps=st.lists(st.integers(0, 400), max_size=8),
    many=st.lists(st.integers(0, 5), min_size=9, max_size=9),
    epsilon=st.sampled_from([0.004, 0.1, 1.0, 30.0]),
    shift=st.sampled_from([0, 2**61]),
    as_given=st.sampled_from([np.copy, np.sqrt]),  # of items, or with public odds of their own
)
def test_quick_choices_are_those_of_balls_and_are_left_open_at_ends_alone(
    gaps, many, epsilon, shift, as_given
):
    counts = ints(*-np.unique([0, *gaps])) + 400 + shift
    sizes = np.array(many[: len(counts)])
    sizes[0] += 1  # beside the best of which any are left, what lies far below is nothing
    sizes = as_given(sizes)
    weights = ExponentialWeights(counts, sizes, epsilon)
    every = ExponentialWeights(counts, sizes, epsilon, math.inf)
    with ctx.workprec(300):
        balls = [every.ball(i) for i in range(len(counts))]
        ends = [sum(balls[: i + 1], arb(0)) / sum(balls, arb(0)) for i in range(len(counts))]
        points = [int((end.mid() * 2**64).floor().unique_fmpz()) for end in ends]
        near = [point for point in points if point < 2**64 - 1]
        for word in [0, TOP, *range(0, TOP, TOP // 20), *near]:
            middle = (arb(word) + 0.5) / 2**64
            quick = quick_choice(weights, word)
            if quick is not None:
                assert all(end < middle for end in ends[:quick])
                assert middle < ends[quick]
                assert sizes[quick]
            else:
                assert min(float(abs(end - middle)) for end in [arb(0), *ends]) < 1e-12
        assert all(quick_choice(weights, word) is None for word in near)


@pytest.mark.parametrize(
    ("sizes", "epsilon", "at_most"),
    [(ints(1, 1), 1e-5, 2.0**32), (ints(1, 1), 1.0, math.inf)],
)
def test_no_choice_is_quick_where_decays_are_many_or_without_end(sizes, epsilon, at_most):
    weights = ExponentialWeights(ints(1, 0), sizes, epsilon, at_most)
    assert quick_choice(weights, 2**62) is None
    assert ExactDraws(Script(2**62)).choice(weights) == 0


@fixed
@given(seed=st.integers(0, 2**32), bounds=st.lists(st.sampled_from(BOUNDS), max_size=6))
def test_integers_do_not_depend_on_the_margin(seed, bounds):
    values = agreeing(seed, lambda draws: draws.integer(ints(*bounds)).tolist())
    assert all(0 <= value < bound for value, bound in zip(values, bounds, strict=True))


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
            Order(ints(score), [Normal(1.0)], digits=2, at_least=ints(score))
        )
        assert ordered.positions.tolist() == ([0] if reached else [])


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize(("digits", "score", "cells"), [(0, 0.5, (0, 1)), (-1, 35.0, (30, 40))])
def test_a_value_on_a_rounding_boundary_goes_by_later_bits(margin, digits, score, cells):
    for words, cell in (((2**63 - 1, 5), cells[0]), ((2**63, 5), cells[1])):
        bits = Script(*words)
        ordered = ExactDraws(bits, margin).order(
            Order(ints(int(score * ONE)), [Normal(1.0)], digits=digits)
        )
        assert ordered.values.tolist() == [cell]


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("word", [0, TOP])
def test_a_first_word_at_the_end_gives_a_finite_value(margin, word):
    noises = [Normal(1.0)], [Normal(1.0, 1.0, ints(ONE), np.array([word == TOP]))]
    for noise in noises:
        bits = Script(word, word & 2**40)
        ordered = ExactDraws(bits, margin).order(Order(ints(0), noise, digits=3))
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
