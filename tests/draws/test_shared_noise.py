"""Noise of which one draw is added to every value: S is one number, whoever asks for it."""

import math

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.drawn import ONE, TOP, fixed, noise_at
from helpers.exactness import Script, agreeing, ints
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Laplace, Normal, Radius, UniformNoise

SHARED = {"normal": Normal(0.7), "laplace": Laplace(0.9)}


@settings(fixed, max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    scores=st.lists(st.integers(0, 3).map(lambda c: c * ONE // 2), max_size=6),
    k=st.none() | st.integers(1, 4),
    floor=st.none() | st.integers(-1, 3),
    digits=st.none() | st.sampled_from([-1, 0, 2]),
    kind=st.sampled_from(["normal", "laplace", "stretched"]),
)
def test_slow_values_with_a_shared_part_are_the_fast_ones(seed, scores, k, floor, digits, kind):
    scores = ints(*scores)
    at_least = None if floor is None else np.full(len(scores), floor * ONE)
    how = {"digits": digits, "at_least": at_least, "k": k}
    noises = [Normal(0.8)]
    if kind == "stretched":
        noises, how["radius"] = [UniformNoise()], Radius(4, 0.3)
    how["shared"] = SHARED.get(kind, SHARED["normal"])

    def draw(draws):
        ordered = draws.order(Order(scores, noises, **how))
        return ordered.positions.tolist(), ordered.values.tolist()

    _, values = agreeing(seed, draw)
    assert values == sorted(values, reverse=True)


@fixed
@given(seed=st.integers(0, 2**32), k=st.none() | st.integers(1, 12), n=st.integers(1, 10))
def test_a_shared_part_changes_no_order_and_is_drawn_only_for_values(seed, k, n):
    scores, noises = np.arange(n) % 3 * ONE, [Normal(1.0)]
    alone = ExactDraws(SeededBits(seed)).order(Order(scores, noises, k=k))
    valued = ExactDraws(SeededBits(seed)).order(
        Order(scores, noises, digits=1, k=k, shared=SHARED["normal"])
    )
    assert valued.positions.tolist() == alone.positions.tolist()
    words = SeededBits(seed).words(n).tolist()
    for digits, read in ((None, n), (1, n + 1)):
        bits = Script(*words)
        ExactDraws(bits).order(Order(scores, noises, digits=digits, k=k, shared=SHARED["normal"]))
        assert bits.read == read


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("digits", [-2, 0, 6])
@pytest.mark.parametrize("sd", [0.01, 300.0])
def test_values_are_the_exact_sums_rounded(margin, digits, sd):
    n = 30
    scores = (np.arange(n) * 1237 - 20_000) * (ONE // 64)
    words = SeededBits(8).words(n + 1)
    ordered = ExactDraws(SeededBits(8), margin).order(
        Order(scores, [Normal(sd)], digits=digits, shared=Normal(2 * sd))
    )

    def noise(word, its_sd):
        return noise_at(fmpq(2 * int(word) + 1, 2**65), its_sd, 1, None, True)

    with ctx.workprec(300):
        moved = noise(words[n], 2 * sd)
        exact = [arb(int(scores[i])) / 2**32 + noise(words[i], sd) + moved for i in range(n)]
        cells = [float((x * arb(10) ** digits + 0.5).floor() / arb(10) ** digits) for x in exact]
    assert np.allclose(ordered.by_position(), cells, rtol=1e-15, atol=0)


@fixed
@given(seed=st.integers(0, 2**32), floors=st.lists(st.integers(-2, 4), min_size=1, max_size=8))
def test_floors_keep_exactly_the_values_that_reach_them(seed, floors):
    scores, floors = np.full(len(floors), ONE), ints(*floors)
    how = {"digits": 6, "shared": Normal(2.0)}
    every = ExactDraws(SeededBits(seed)).order(Order(scores, [Normal(0.5)], **how))
    kept = ExactDraws(SeededBits(seed)).order(
        Order(scores, [Normal(0.5)], at_least=floors * ONE, **how)
    )
    reaching = [
        int(i) for i, value in zip(every.positions, every.values, strict=True) if value >= floors[i]
    ]
    assert kept.positions.tolist() == reaching
    assert kept.values.tolist() == [
        value for i, value in zip(every.positions, every.values, strict=True) if i in reaching
    ]


# --- where the first bits do not decide


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize(("own", "cell"), [(9, 1.0), (2, 0.0)])
def test_later_bits_of_both_parts_decide_on_a_boundary(margin, own, cell):
    # Near 1/2 the noise is proportional to U - 1/2: here own · 2^-128 and -5 · 2^-128.
    bits = Script(2**63, 2**63 - 1, own, TOP - 4)
    told = ExactDraws(bits, margin).order(
        Order(ints(ONE // 2), [Normal(1.0)], digits=0, shared=Normal(1.0))
    )
    assert told.values.tolist() == [cell]
    assert bits.read == 4


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_the_bits_that_one_value_took_are_those_of_the_next(margin):
    # Both values lie at a boundary. What the first learns of S, about -5 · 2^-128, stays true, so
    # the second is compared with it as well: on the other side if S were drawn anew.
    for second, cell in ((9, 1.0), (3, 0.0)):
        bits = Script(2**63, 2**63, 2**63 - 1, 9, TOP - 4, second, 1)
        told = ExactDraws(bits, margin).order(
            Order(ints(10 * ONE + ONE // 2, ONE // 2), [Normal(1.0)], digits=0, shared=Normal(1.0))
        )
        assert told.values.tolist() == [11.0, cell]
        assert bits.read == 7


@pytest.mark.parametrize("margin", [0.0, math.inf])
@pytest.mark.parametrize("word", [0, TOP])
def test_a_first_word_at_the_end_leaves_s_open_until_more_is_known(margin, word):
    for noise in SHARED.values():
        bits = Script(2**62, word, 2**40)
        told = ExactDraws(bits, margin).order(Order(ints(0), [Normal(1.0)], digits=3, shared=noise))
        assert np.isfinite(told.values).all()


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_counts_beyond_the_precision_of_floats(margin):
    counts = ints(2**62 - 1, 2**53 + 1, 7, 0)
    told = ExactDraws(SeededBits(3), margin).order(
        Order(counts, [Normal(2.0)], unit=1.0, digits=0, shared=Normal(5.0))
    )
    noise = ExactDraws(SeededBits(3), margin).order(
        Order(ints(0, 0, 0, 0), [Normal(2.0)], unit=1.0, digits=0, shared=Normal(5.0))
    )
    sums = [int(c) + int(x) for c, x in zip(counts, noise.by_position(), strict=True)]
    assert told.by_position().tolist() == [float(x) for x in sums]


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_nothing_and_one(margin):
    draws = ExactDraws(SeededBits(9), margin)
    for digits in (None, 2):
        none = draws.order(Order(ints(), [Normal(1.0)], digits=digits, shared=Normal(1.0)))
        assert none.positions.tolist() == none.values.tolist() == []
    one = draws.order(Order(ints(ONE), [Normal(1.0)], digits=2, shared=Normal(1.0)))
    assert one.positions.tolist() == [0]


# --- the law


N, S, V = 4000, 1.0, 0.8


@pytest.fixture(scope="module")
def drawn():
    """Many times two values without a score."""
    draws = ExactDraws(SeededBits(5))
    return np.array(
        [
            draws.order(
                Order(ints(0, 0), [Normal(V)], unit=1.0, digits=9, shared=Normal(S))
            ).by_position()
            for _ in range(N)
        ]
    )


def off(seen, variance):
    """How far the mean square is from a variance, in standard errors of a normal law."""
    return abs(np.mean(seen**2) / variance - 1) * math.sqrt(len(seen) / 2)


def variances(s, v):
    """Of a value, of a sum of two, and of a difference."""
    return s * s + v * v, 4 * s * s + 2 * v * v, 2 * v * v


def test_values_have_the_variances_of_a_shared_part_and_one_of_their_own(drawn):
    first, second = drawn.T
    seen = first, first + second, first - second
    for values, right in zip(seen, variances(S, V), strict=True):
        assert off(values, right) < 4.5
    wrong = variances(1.3 * S, V), variances(S, 1.3 * V)
    assert all(off(seen[i], wrong[0][i]) > 4.5 for i in (0, 1))
    assert all(off(seen[i], wrong[1][i]) > 4.5 for i in (0, 1, 2))
    assert abs(np.mean(first * second) - S * S) < 4.5 * (S * S + V * V) * math.sqrt(2 / N)


def test_what_is_shared_is_one_draw_and_no_part_of_a_difference(drawn):
    first, second = drawn.T
    anew = 2 * (S * S + V * V)  # the variance of a difference, if each value had an S of its own
    assert off(first - second, anew) > 4.5
    # The difference says nothing of the mean, which has all of S.
    product = (first - second) * (first + second)
    assert abs(np.mean(product)) < 4.5 * np.std(product) / math.sqrt(N)
    # Each call has its own S.
    sums = drawn.sum(axis=1)
    assert abs(np.mean(sums[1:] * sums[:-1])) < 4.5 * np.var(sums) / math.sqrt(N)
