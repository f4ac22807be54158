"""Orders of noisy scores: the slow path's same outcome, later bits; noise in a cube."""

import math

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import gamma

from helpers.drawn import EXTREME, ONE, TOP, fixed, in_interval, words_anywhere
from helpers.exactness import Script, agreeing, ints
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order, noisy_values
from shortlist.draws.noise import Laplace, Normal, Radius, UniformNoise
from shortlist.draws.uniform import UniformProduct


def laplace_at(uniform, scale):
    """The quantile function, written out."""
    if uniform <= fmpq(1, 2):
        return arb(scale) * (2 * arb(uniform)).log()
    return -arb(scale) * (2 * arb(1 - uniform)).log()


def uniform_at(uniform):
    return 2 * arb(uniform) - 1


@fixed
@given(word=words_anywhere, scale=st.floats(1e-6, 1e12))
@example(word=TOP, scale=1.0)
@example(word=TOP - 1, scale=1.0)
@example(word=0, scale=1.0)
def test_a_quick_upper_bound_is_above_the_noise_and_not_far(word, scale):
    noise = Laplace(scale)
    words = np.array([word], np.uint64)
    bound = float(noise.quick_upper_bound(words)[0])
    (low,), (high,) = noise.interval(words)
    with ctx.workprec(300):
        worst = laplace_at(fmpq(word + 1, 2**64), scale) if word < TOP else arb("+inf")
        assert bound >= worst.mid()
    assert bound == math.inf or word < 2**63 or bound <= high + 0.07 * scale or TOP - word < 2**20
    assert bound > low


@pytest.mark.parametrize("word", EXTREME)
def test_uniform_noise_is_in_its_interval_which_is_narrow(word):
    low, high = in_interval(UniformNoise(), uniform_at, word)
    assert high - low <= 2.0**-48


@fixed
@given(word=words_anywhere)
def test_uniform_noise_is_in_its_interval(word):
    in_interval(UniformNoise(), uniform_at, word)


@fixed
@given(
    words=st.lists(words_anywhere, min_size=1, max_size=40),
    scale=st.floats(1e-6, 1e12),
    place=st.sampled_from([1, 2**31, 2**32 - 1]),
)
@example(words=[0], scale=1.0, place=1)
@example(words=[TOP] * 31, scale=1.0, place=1)
@example(words=[1] * 31, scale=1.0, place=2**32 - 1)
@example(words=[0, TOP, TOP], scale=1.0, place=2**32 - 1)
def test_a_radius_is_in_its_interval(words, scale, place):
    radius = Radius(len(words), scale)
    low, high = radius.interval(np.array(words, np.uint64))
    assert 0 <= low <= high
    assert math.isinf(high) == (min(words) == 0)
    with ctx.workprec(400):
        uniforms = [fmpq(word * 2**32 + place, 2**96) for word in words]
        value = -arb(scale) * sum((arb(u).log() for u in uniforms), arb(0))
        assert low <= value <= high
        ball = radius.ball(UniformProduct(Script(), np.array(words, np.uint64)).ball())
        assert not ball.is_finite() or ball.overlaps(value)


def test_the_radius_of_many_uniforms_is_narrow():
    words = SeededBits(1).words(200_001)
    radius = Radius(len(words), 0.5)
    low, high = radius.interval(words)
    ball = radius.ball(UniformProduct(Script(), words).ball())
    assert low <= float(ball.mid()) <= high
    assert high - low <= 1e-11 * low


@fixed
@given(words=st.lists(words_anywhere, min_size=1, max_size=3), fetched=st.integers(0, 3))
def test_a_product_narrows_to_the_words_it_fetched(words, fetched):
    later = SeededBits(2).words(len(words) * fetched).tolist()
    product = UniformProduct(Script(*later), np.array(words, np.uint64))
    for _ in range(fetched):
        product.fetch()
    assert product.bits == 64 * (fetched + 1)
    with ctx.workprec(1000):
        ends = [arb(1), arb(1)]
        for i, first in enumerate(words):
            number = first
            for word in later[i :: len(words)]:
                number = number << 64 | word
            ends = [end * arb(number + j) for j, end in enumerate(ends)]
        ends = [end / arb(2) ** (product.bits * len(words)) for end in ends]
        assert all(product.ball().overlaps(end) for end in ends)
        width = ends[1] - ends[0]
        assert 2 * product.ball().rad() <= 4 * width


# --- order: forced down the slow path, the same outcome from the same bits


def truncated(n):
    """Known to be above or below a whole number, in turns."""
    return Normal(0.8, 0.25, np.arange(n) % 4 * ONE, np.arange(n) % 3 > 0)


KINDS = {
    "laplace": lambda _: {"noises": [Laplace(1.7)]},
    "two": lambda _: {"noises": [Laplace(0.4), Laplace(1.3)]},
    "cube": lambda n: {"noises": [UniformNoise()], "radius": Radius(n + 1, 0.8)},
    "normal": lambda _: {"noises": [Normal(0.8)]},
    "truncated": lambda n: {"noises": [truncated(n)]},
    "truncated and another": lambda n: {"noises": [truncated(n), Normal(0.5, 0.75)]},
}


@settings(fixed, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    scores=st.lists(st.integers(0, 3) | st.integers(2**61, 2**61 + 2), max_size=7),
    k=st.none() | st.integers(1, 5),
    kind=st.sampled_from(sorted(KINDS)),
    digits=st.sampled_from([None, -1, 0, 2]),
    floor=st.none() | st.integers(-1, 3),
)
def test_slow_orders_are_the_fast_ones(seed, scores, k, kind, digits, floor):
    scores = ints(*scores)
    at_least = None if floor is None else np.full(len(scores), floor)

    def draw(draws):
        ordered = draws.order(
            Order(
                scores, unit=1.0, digits=digits, at_least=at_least, k=k, **KINDS[kind](len(scores))
            )
        )
        return ordered.positions.tolist(), ordered.values.tolist()

    positions, values = agreeing(seed, draw)
    assert values == sorted(values, reverse=True)
    assert len(set(positions)) == len(positions) <= (len(scores) if k is None else k)
    assert len(values) == (0 if digits is None else len(positions))


@settings(fixed, max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    n=st.integers(20, 120),
    k=st.integers(1, 4),
    spread=st.sampled_from([1, 3, 40, 2**55]),
    scale=st.sampled_from([0.05, 2.0, 300.0]),
)
def test_a_quick_look_leaves_out_nobody(seed, n, k, spread, scale):
    scores = np.random.default_rng(seed).integers(0, spread, n)

    def draw(draws):
        ordered = draws.order(Order(scores, [Laplace(scale)], unit=1.0, digits=0, k=k))
        return ordered.positions.tolist(), ordered.values.tolist()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noisy_values, "_WORTH_A_LOOK", 4)
        patch.setattr(noisy_values, "_BLOCK", 7)
        agreeing(seed, draw)


def test_a_quick_look_leaves_out_nearly_all():
    n, k, noise = 200_000, 100, Laplace(50.0)
    for scores in (np.arange(n), np.zeros(n, np.int64), 10**7 // (1 + np.arange(n))):
        words = SeededBits(3).words(n)
        kept = noisy_values.contenders(scores, [noise], [words], k, 1.0)
        assert k <= len(kept) < 20_000
        low, _ = noise.interval(words)
        best = np.argsort(-(scores + low))[:k]
        assert set(best.tolist()) <= set(kept.tolist())


# --- where the first 64 bits do not decide, the later bits do


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("word", [2**63, 2**63 - 1, 12345, TOP - 99, 2**62 + 1, 0, TOP])
@pytest.mark.parametrize("score", [0, 5, 2**62 - 1])
@pytest.mark.parametrize("kind", [Laplace, Normal])
def test_equal_scores_and_equal_words_are_ordered_by_later_bits(kind, margin, word, score):
    def order(*later):
        bits = Script(word, word, *later)
        ordered = ExactDraws(bits, margin).order(Order(ints(score, score), [kind(1.0)], unit=1.0))
        assert bits.read == 2 + len(later)
        return ordered.positions.tolist()

    small_first, large_first = order(2**20, 2**40), order(2**40, 2**20)
    assert sorted(small_first) == [0, 1]
    assert small_first == large_first[::-1]
    assert order(7, 7, 2**20, 2**40) == small_first
    assert order(7, 7, 2**40, 2**20) == large_first


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_items_in_a_cube_with_equal_words_are_ordered_by_later_bits(margin):
    first = [2**50, 2**50, 5, 2**40, 77]  # of the items, then of the radius
    orders = []
    for later in ((1, 9), (9, 1)):
        bits = Script(*first, *later)
        ordered = ExactDraws(bits, margin).order(
            Order(ints(4, 4), [UniformNoise()], radius=Radius(3, 1.0), unit=1.0)
        )
        orders.append(ordered.positions.tolist())
        assert bits.read == 5 + 2 + 3  # one more word each
    assert sorted(orders) == [[0, 1], [1, 0]]


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_a_radius_that_its_first_words_leave_open_is_refined_for_a_comparison(margin):
    # Item 0 is ahead by 1, and item 1 has the larger noise by r / 2: it is ahead where r > 2. That
    # is r = -ln U, so at U = exp(-2), of which these are the first two words.
    with ctx.workprec(400):
        digits = int((arb(2) ** 128 * arb(-2).exp()).floor().unique_fmpz())
    for step, order in ((-1000, [1, 0]), (1000, [0, 1])):
        bits = Script(2**62, 2**63, digits >> 64, 0, 0, (digits & TOP) + step)
        ordered = ExactDraws(bits, margin).order(
            Order(ints(1, 0), [UniformNoise()], radius=Radius(1, 1.0), unit=1.0)
        )
        assert ordered.positions.tolist() == order
        assert bits.read == 6


def test_a_radius_that_may_be_infinite_leaves_all_open_until_more_is_known():
    for margin in (0.0, math.inf):
        bits = Script(2**62, 2**63, 0, 7)  # the radius's first word is 0
        ordered = ExactDraws(bits, margin).order(
            Order(ints(1, 0), [UniformNoise()], radius=Radius(1, 1.0), unit=1.0)
        )
        assert ordered.positions.tolist() == [1, 0]


# --- order: huge scores, rounding, the smallest inputs


@pytest.mark.parametrize("base", [0, 10**9 + 7, 2**61 + 12345, 2**62 - 100])
def test_huge_counts_are_ordered_and_told_to_the_last_digit(base):
    scores = base + ints(0, 37, 3, 61, 8)
    far = SeededBits(4)
    ordered = ExactDraws(far).order(Order(scores, [Laplace(2.0)], digits=0, unit=1.0))
    near = ExactDraws(SeededBits(4)).order(Order(scores - base, [Laplace(2.0)], digits=0, unit=1.0))
    assert ordered.positions.tolist() == near.positions.tolist()
    expected = [float(base + int(value)) for value in near.values]
    assert ordered.values.tolist() == expected


@pytest.mark.parametrize("digits", [-3, -1, 0])
def test_far_apart_counts_are_told_to_the_last_digit(digits):
    # The smaller scores keep the digits that a float of the larger ones has no place for.
    scores = ints(2**62 - 1, 41, 17, 2**50 + 3, 5)
    ordered = ExactDraws(SeededBits(5)).order(
        Order(scores, [Laplace(0.5)], digits=digits, unit=1.0)
    )
    words = SeededBits(5).words(5)
    grid = 10**-digits
    for i, value in zip(ordered.positions.tolist(), ordered.values.tolist(), strict=True):
        with ctx.workprec(300):
            noise = laplace_at(fmpq(2 * int(words[i]) + 1, 2**65), 0.5)
            cell = ((arb(int(scores[i])) + noise) / grid + 0.5).floor().unique_fmpz()
        assert value == float(int(cell) * grid)


def test_huge_counts_need_no_balls(monkeypatch):
    def give_up(*_):
        raise AssertionError("undecided")

    monkeypatch.setattr(noisy_values, "settle", give_up)
    scores = np.random.default_rng(6).integers(2**61, 2**62, 2000)
    ordered = ExactDraws(SeededBits(6)).order(Order(scores, [Laplace(3.0)], digits=0, unit=1.0))
    assert np.abs(ordered.values - scores[ordered.positions]).max() <= 150 + 1024


@pytest.mark.parametrize("seed", range(5))
def test_ties_that_are_far_below_the_best_are_untangled_quickly(seed):
    scores = np.repeat(ints(2**62 - 1, 3), 3000)
    ordered = ExactDraws(SeededBits(seed)).order(Order(scores, [Laplace(1e-3)], unit=1.0))
    assert set(ordered.positions[:3000].tolist()) == set(range(3000))
    low, _ = Laplace(1e-3).interval(SeededBits(seed).words(6000))
    assert ordered.positions[:3000].tolist() == np.argsort(-low[:3000]).tolist()
    assert (ordered.positions[3000:] - 3000).tolist() == np.argsort(-low[3000:]).tolist()


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.parametrize("k", [None, 1, 5])
def test_order_of_nothing_and_of_one(margin, kind, k):
    draws = ExactDraws(SeededBits(9), margin)
    nothing = draws.order(Order(ints(), unit=1.0, digits=0, k=k, **KINDS[kind](0)))
    assert nothing.positions.tolist() == nothing.values.tolist() == []
    one = draws.order(Order(ints(3), unit=1.0, digits=0, k=k, **KINDS[kind](1)))
    assert one.positions.tolist() == [0]
    far = {"at_least": ints(10**6), "unit": 1.0, "k": k}
    assert draws.order(Order(ints(3), **far, **KINDS[kind](1))).positions.tolist() == []


@pytest.mark.parametrize("factor", [1.0, 1.3])
def test_values_have_their_noise_s_law(factor):
    n, scale = 40_000, 2.0
    ordered = ExactDraws(SeededBits(6)).order(
        Order(np.full(n, 3), [Laplace(scale)], digits=4, unit=1.0)
    )
    noise = (ordered.values - 3) * factor / scale
    worst = 0.0
    for z in (-3.0, -1.0, -0.2, 0.0, 0.7, 2.0):
        p = math.exp(-abs(z)) / 2
        p = p if z < 0 else 1 - p
        worst = max(worst, abs((noise <= z).mean() - p) / math.sqrt(p * (1 - p) / n))
    assert worst < 4 if factor == 1 else worst > 8


@pytest.mark.parametrize("scale", [0.01, 0.3, 1.0, 9.0])
def test_the_standard_deviation_of_rounded_noise(scale):
    n = np.arange(1, 2000)
    chance = np.exp(-n / scale) * math.sinh(1 / (2 * scale))  # of n, and of -n
    assert Laplace(scale).rounded_sd ** 2 == pytest.approx(2 * (n**2 * chance).sum(), rel=1e-9)
    assert Laplace(1e-9).rounded_sd > 0


@pytest.mark.parametrize("factor", [1.0, 1.3])
def test_a_radius_has_its_law(factor):
    shape, n = 4, 8000
    bits = SeededBits(7)
    radii = np.array([Radius(shape, 0.5).interval(bits.words(shape))[0] for _ in range(n)])
    worst = 0.0
    for z in (0.8, 1.5, 2.0, 3.0):
        p = gamma.cdf(z, shape, scale=0.5)
        worst = max(worst, abs((radii * factor <= z).mean() - p) / math.sqrt(p * (1 - p) / n))
    assert worst < 4 if factor == 1 else worst > 8
