"""Orders: rounding, k, floors, the smallest inputs."""

import math

import numpy as np
import pytest
from flint import arb, ctx, fmpq
from hypothesis import given
from hypothesis import strategies as st

from helpers.drawn import ONE, fixed, noise_at
from helpers.exactness import ints
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws, Order
from shortlist.draws.noise import Normal
from shortlist.draws.reals import NormalCDF


@pytest.mark.parametrize("digits", [-2, 0, 2, 6])
@pytest.mark.parametrize("sd", [0.01, 3.0, 1e4])
def test_values_are_the_exact_ones_rounded(digits, sd):
    n = 40
    scores = (np.arange(n) * 1237 - 20_000) * (ONE // 64)
    bits = SeededBits(8)
    words = SeededBits(8).words(n)
    ordered = ExactDraws(bits).order(Order(scores, [Normal(sd)], digits=digits))
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
    every = ExactDraws(SeededBits(seed)).order(Order(scores, [Normal(1.0)], digits=1))
    best = ExactDraws(SeededBits(seed)).order(Order(scores, [Normal(1.0)], digits=1, k=k))
    assert best.positions.tolist() == every.positions[:k].tolist()
    assert best.values.tolist() == every.values[:k].tolist()


@fixed
@given(seed=st.integers(0, 2**32), floors=st.lists(st.integers(-2, 4), min_size=1, max_size=8))
def test_floors_keep_exactly_the_values_that_reach_them(seed, floors):
    scores, floors = np.full(len(floors), ONE), ints(*floors)
    every = ExactDraws(SeededBits(seed)).order(Order(scores, [Normal(1.0)], digits=6))
    kept = ExactDraws(SeededBits(seed)).order(
        Order(scores, [Normal(1.0)], digits=6, at_least=floors * ONE)
    )
    reaching = [
        int(i) for i, value in zip(every.positions, every.values, strict=True) if value >= floors[i]
    ]
    assert kept.positions.tolist() == reaching


@pytest.mark.parametrize("margin", [0.0, math.inf])
def test_draws_of_nothing(margin):
    draws = ExactDraws(SeededBits(9), margin)
    assert draws.coin(NormalCDF(ints(), 1.0)).tolist() == []
    assert draws.integer(ints()).tolist() == []


def test_order_decides_scores_beyond_the_precision_of_floats():
    # Scores near 2^61 units a unit apart, with noise far below a unit.
    scores = 2**61 + ints(0, 3, 1, 2)
    ordered = ExactDraws(SeededBits(10)).order(Order(scores, [Normal(1e-12)], digits=0))
    assert ordered.positions.tolist() == [1, 3, 2, 0]
