"""The cost of one of several: branches that what was released may choose."""

import math
from fractions import Fraction
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.costs import between, fixed, response
from shortlist import privacy
from shortlist.privacy import ZCDP, Approximate, Either, Gaussian, Pure

PURE = st.one_of(
    st.builds(Pure, between(1e-9, 100)),
    st.builds(Pure.bounded_range, between(1e-9, 100)),
    st.builds(lambda e, n: Pure.bounded_range(e) * n, between(1e-9, 1), st.integers(1, 100)),
)

EITHER = st.lists(PURE, min_size=1, max_size=6).map(lambda costs: reduce(privacy.max, costs))


def alternatives(cost):
    return cost.alternatives if isinstance(cost, Either) else (cost,)


def covered(one, by):
    return any(other.covers(one) for other in alternatives(by))


@fixed
@given(costs=st.lists(PURE, min_size=1, max_size=6), data=st.data())
def test_max_of_pure_costs_keeps_those_that_no_other_covers(costs, data):
    either = reduce(privacy.max, costs)
    kept = alternatives(either)
    assert isinstance(either, Pure) == (len(kept) == 1)
    assert set(kept) <= set(costs)
    assert all(covered(cost, either) for cost in costs)
    assert not any(one.covers(other) for one in kept for other in kept if one is not other)
    assert [cost.pure for cost in kept] == sorted(cost.pure for cost in kept)
    assert reduce(privacy.max, data.draw(st.permutations(costs))) == either
    assert privacy.max(either, either) == either
    assert Either.of(costs) == either


def test_of_costs_with_one_number_in_common_the_larger_is_kept():
    for larger, smaller in (
        (Pure(2.0, 0.5), Pure(1.0, 0.5)),
        (Pure(2.0, 0.5), Pure(2.0, 0.1)),
        (Pure(2.0, 0.5), Pure(2.0, 0.5)),
    ):
        assert privacy.max(larger, smaller) == privacy.max(smaller, larger) == larger


@fixed
@given(either=EITHER, epsilon=between(1e-6, 200))
def test_either_is_within_the_largest_and_no_less_than_each(either, epsilon):
    largest = Pure(
        max(cost.pure for cost in alternatives(either)),
        max(cost.rho for cost in alternatives(either)),
    )
    assert either.delta(epsilon) <= largest.delta(epsilon)
    assert either.rho == largest.rho
    for cost in alternatives(either):
        assert either.delta(epsilon) >= cost.delta(epsilon) * (1 - 1e-9)
    assert either.delta(epsilon) >= either.delta(epsilon * 1.01) * (1 - 1e-9)
    assert either.epsilon(0.0) == largest.pure


@fixed
@given(either=EITHER, delta=between(1e-290, 0.9))
def test_epsilon_and_delta_of_either_are_safe_inverses(either, delta):
    epsilon = either.epsilon(delta)
    assert either.delta(epsilon) <= delta
    if epsilon > 0:
        assert either.delta(epsilon * (1 - 1e-6)) > delta
    assert epsilon <= max(cost.pure for cost in alternatives(either))


def repeated(pairs, n):
    """Of two outcomes drawn n times: (P, Q) by how often the first came."""
    (p, q), (r, s) = pairs
    return [
        (math.comb(n, i) * p**i * r ** (n - i), math.comb(n, i) * q**i * s ** (n - i))
        for i in range(n + 1)
    ]


def true_delta(pairs, epsilon):
    return math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in pairs)


def branched(first, branches):
    """What was released first decides which branch follows."""
    steps = zip(first, branches, strict=True)
    return [(p * r, q * s) for (p, q), branch in steps for r, s in branch]


GRID = [0.0, 0.05, 0.2, 0.5, 0.8, 1.0, 1.1, 1.2, 1.3, 1.5, 2.0, 2.3]


@pytest.mark.parametrize("choice", [0.01, 0.2, 1.0])
@pytest.mark.parametrize("n", [5, 10, 30])
@pytest.mark.parametrize("swapped", [False, True])
def test_either_holds_for_branches_chosen_by_what_was_released(choice, n, swapped):
    # One branch is of bounded range 1, the other n times of 2/n: pure 1 and 2.
    whole, single = Pure.bounded_range(1.0), Pure.bounded_range(2 / n)
    cost = Pure(choice) + privacy.max(whole, single * n)
    assert isinstance(cost, Either)
    for least in (-0.1, -0.5, -0.9):
        branches = [response(1.0, least), repeated(response(2 / n, 2 * least / n), n)]
        first = response(choice)
        pairs = branched(first[::-1] if swapped else first, branches)
        for epsilon in GRID:
            assert true_delta(pairs, epsilon) <= cost.delta(epsilon) + 1e-15


def test_either_is_tighter_than_the_largest_where_one_branch_needs_no_delta():
    cost = Pure(0.01) + privacy.max(Pure.bounded_range(1.0), Pure.bounded_range(0.05) * 40)
    assert cost.delta(1.0) == cost.largest.delta(1.0)
    assert cost.delta(1.01) < 0.1 * cost.largest.delta(1.01)


def test_branches_30_percent_too_sharp_are_seen_to_cost_more():
    n, choice = 30, 0.01
    cost = Pure(choice) + privacy.max(Pure(1.0), Pure.bounded_range(2 / n) * n)

    def excess(factor):
        peeled = repeated(response(factor * 2 / n, -factor / n), n)
        pairs = branched(response(choice), [response(factor), peeled])
        return max(true_delta(pairs, epsilon) - cost.delta(epsilon) for epsilon in GRID)

    assert excess(1.0) < 1e-15
    assert excess(1.3) > 0.05


@fixed
@given(first=EITHER, second=EITHER)
def test_sums_of_either_cover_every_pair_of_alternatives(first, second):
    total = first + second
    assert total == second + first
    for one in alternatives(first):
        for other in alternatives(second):
            pure = Fraction(one.pure) + Fraction(other.pure)
            rho = Fraction(one.rho) + Fraction(other.rho)
            assert any(
                Fraction(cost.pure) >= pure and Fraction(cost.rho) >= rho
                for cost in alternatives(total)
            )
    assert sum([first, second]) == total


TWO = privacy.max(Pure.bounded_range(0.9), Pure.bounded_range(0.1) * 20)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 50, 128, 150])
def test_n_copies_of_either_cover_every_mixture_and_hardly_more(n):
    product = TWO * n
    assert product == n * TWO
    one, other = TWO.alternatives
    mixtures = [(one * i) + (other * (n - i)) for i in range(n + 1)]
    kept = alternatives(product)
    assert len(kept) <= 128
    for i in range(n + 1):
        pure = i * Fraction(one.pure) + (n - i) * Fraction(other.pure)
        rho = i * Fraction(one.rho) + (n - i) * Fraction(other.rho)
        assert any(Fraction(c.pure) >= pure and Fraction(c.rho) >= rho for c in kept)
    for epsilon in (0.5 * n, n, 1.5 * n):
        truth = max(cost.delta(epsilon) for cost in mixtures)
        assert truth * (1 - 1e-9) <= product.delta(epsilon)
    epsilon = 0.99 * product.epsilon(1e-6)
    assert n == 0 or max(cost.delta(epsilon) for cost in mixtures) > 1e-6


@pytest.mark.parametrize("n", [2, 5, 60])
def test_n_copies_of_either_cost_as_much_as_the_sum_of_n(n):
    product, total = TWO * n, reduce(add, [TWO] * n)
    for delta in (0.0, 1e-12, 1e-6, 0.1):
        assert math.isclose(product.epsilon(delta), total.epsilon(delta), rel_tol=1e-3)


def test_either_with_other_kinds_of_cost():
    zcdp, gaussian, approximate = ZCDP(0.25, 1e-6), Gaussian(0.25), Approximate(0.5, 1e-7)
    for other in (zcdp, gaussian, approximate):
        assert TWO + other == other + TWO
        for epsilon in (0.5, 1.5, 3.0):
            assert (TWO + other).delta(epsilon) == (TWO.largest + other).delta(epsilon)
    assert TWO + Pure(0.0) == TWO
    assert privacy.max(TWO, ZCDP(0.01, 1e-6)) == ZCDP(TWO.rho, 1e-6)
    assert privacy.max(TWO, Pure(50.0)) == Pure(50.0)
    assert privacy.max(TWO, approximate) == ZCDP(0.125, 1e-7)


def test_either_is_made_of_the_numbers_of_its_alternatives():
    numbers = [number for cost in TWO.alternatives for number in cost.parameters().values()]
    assert list(TWO.parameters().values()) == numbers
