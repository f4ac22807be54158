"""Binomial numbers: floats within their error, exact laws, the ends that have no number."""

import math
from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq

from helpers.exactness import within_stated_error
from shortlist.algorithms import thinning as binomial
from shortlist.algorithms.thinning import BinomialWeights
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws

CASES = [
    (1, 1, 2, 0, None),
    (5, 1, 3, 0, None),
    (400, 1, 3, 0, None),
    (1000, 1, 2**62, 0, None),
    (1000, 2**62 - 1, 2**62, 0, None),
    (10**8, 3 * 10**10, 2**62, 0, None),
    (10**8, 2**38, 2**62, 0, None),
    (2**62, 1000, 2**62, 0, None),
    (10**6, 1, 1000, 0, 700),
    (10**6, 1, 1000, 1500, None),
    (30, 1, 2, 3, 5),
]


@pytest.mark.parametrize("case", CASES)
def test_floats_are_within_their_error(case):
    values, errors = within_stated_error(BinomialWeights(*case))
    assert values.max() >= 1
    assert errors.max() < 1e-9
    assert errors[-2:].max() < 1e-15  # what has no number of its own hardly weighs anything


@pytest.mark.parametrize("case", CASES)
def test_the_total_is_known(case):
    # The weight at the mode is 1, so the total is the chance of all over that of the mode.
    n, part, whole, first, last = case
    weights = BinomialWeights(*case)
    mode, last = weights._mode, n if last is None else last
    with ctx.workprec(300):
        p = arb(fmpq(part, whole))

        def chance(j):
            ways = arb(n + 1).lgamma() - arb(j + 1).lgamma() - arb(n - j + 1).lgamma()
            return (ways + j * p.log() + (n - j) * (1 - p).log()).exp()

        near = range(max(first, mode - 2000), min(last, mode + 2000) + 1)
        everything = arb(1) if (first, last) == (0, n) else sum(map(chance, near), arb(0))
        total = sum((weights.ball(i) for i in range(len(weights))), arb(0))
        assert abs(total * chance(mode) - everything) < arb(2) ** -150
        assert total.rad() < arb(2) ** -150 * total.mid()


def exact(n, part, whole):
    p = Fraction(part, whole)
    return {j: float(math.comb(n, j) * p**j * (1 - p) ** (n - j)) for j in range(n + 1)}


def agrees(found, oracle):
    assert found.keys() <= oracle.keys()
    assert max(abs(found.get(j, 0) - p) for j, p in oracle.items()) < 1e-14


@pytest.mark.parametrize("n", [1, 2, 3, 7, 40])
@pytest.mark.parametrize(("part", "whole"), [(1, 2), (1, 3), (3, 4), (1, 2**62)])
def test_the_law_is_binomial(n, part, whole):
    agrees(law(BinomialWeights(n, part, whole).draw), exact(n, part, whole))


@pytest.mark.parametrize("n", [7, 40])
@pytest.mark.parametrize(("part", "whole"), [(1, 2), (1, 9), (8, 9)])
def test_the_law_is_binomial_where_the_ends_are_drawn(monkeypatch, n, part, whole):
    monkeypatch.setattr(binomial, "_NEGLIGIBLE", 0.01)
    assert len(BinomialWeights(n, part, whole)) <= 9
    agrees(law(BinomialWeights(n, part, whole).draw), exact(n, part, whole))
    for case in [(n, part, whole), (n, part, whole, 3, None), (n, part, whole, 0, 5)]:
        within_stated_error(BinomialWeights(*case))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("n", "part", "whole"), [(9, 1, 3), (500, 1, 7), (10**9, 10, 2**30)])
def test_the_slow_way_draws_the_same(seed, n, part, whole):
    drawn = [
        BinomialWeights(n, part, whole).draw(ExactDraws(SeededBits(seed), margin))
        for margin in (0.0, math.inf)
    ]
    assert drawn[0] == drawn[1]
