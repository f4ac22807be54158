"""Costs: conversions are upper bounds of the truth and near it, and the laws of composition."""

import contextlib
import itertools
import math
import pickle
from fractions import Fraction
from functools import reduce
from operator import add

import pytest
from flint import arb, ctx
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from shortlist import privacy
from shortlist.errors import InputError
from shortlist.privacy import (
    ZCDP,
    Approximate,
    Cost,
    Either,
    Gaussian,
    Pure,
    bisect,
    round_down,
    round_up,
)
from shortlist.privacy.calibration import peeling_epsilon, peeling_epsilon_lemma_b1

fixed = settings(derandomize=True, deadline=None, max_examples=150)


def between(low, high):
    """Floats spread evenly over the orders of magnitude, with all their bits."""
    exponents = st.floats(math.log10(low), math.log10(high))
    return exponents.map(lambda x: min(max(10.0**x, low), high))


def ball(f, bits=200):
    with ctx.workprec(bits):
        return f()


def true_zcdp_delta(rho, epsilon):
    """exp of the minimum over x = alpha - 1 > 0, a convex function, at the root of its slope."""
    rho, epsilon, low, high = arb(rho), arb(epsilon), arb(-200), arb(200)
    for _ in range(150):
        middle = ((low + high) / 2).mid()
        x = arb(2) ** middle
        down = (2 * x + 1) * rho - epsilon - (1 / x).log1p() < 0
        low, high = (middle, high) if down else (low, middle)
    x = arb(2) ** high
    return (x * ((1 + x) * rho - epsilon) - x * (1 / x).log1p() - x.log1p()).exp()


def true_gaussian_delta(rho, epsilon):
    mu = (2 * arb(rho)).sqrt()
    tail = [(arb(z) / arb(2).sqrt()).erfc() / 2 for z in (epsilon / mu - mu / 2,)]
    tail.append(((epsilon / mu + mu / 2) / arb(2).sqrt()).erfc() / 2)
    return tail[0] - arb(epsilon).exp() * tail[1]


RHO, EPSILON = between(1e-12, 1e4), between(1e-12, 500) | st.just(0.0)
# Pairs whose delta is in reach: epsilon is rho + s sqrt(2 rho), s standard deviations.
REACHABLE = st.tuples(RHO, st.floats(-5, 37)).map(
    lambda p: (p[0], min(max(p[0] + p[1] * math.sqrt(2 * p[0]), 0.0), 500.0))
)


@fixed
@given(pair=REACHABLE | st.tuples(RHO, EPSILON))
@example(pair=(1e-12, 500.0))
@example(pair=(1e4, 0.0))
@example(pair=(1e-12, 0.0))
@example(pair=(499.0, 500.0))
def test_zcdp_delta_is_just_above_the_minimum_over_alpha(pair):
    value, truth = ZCDP(pair[0]).delta(pair[1]), ball(lambda: true_zcdp_delta(*pair))
    assert value == 1 or value >= truth
    assert value <= 1
    if truth > 1e-300:
        assert value <= truth * (1 + arb(1e-9))


@fixed
@given(pair=REACHABLE | st.tuples(RHO, EPSILON))
@example(pair=(1e-12, 500.0))
@example(pair=(1e4, 0.0))
@example(pair=(499.0, 500.0))
def test_gaussian_delta_is_just_above_its_curve(pair):
    value, truth = Gaussian(pair[0]).delta(pair[1]), ball(lambda: true_gaussian_delta(*pair), 600)
    assert value == 1 or value >= truth
    if truth > 1e-280:
        near = arb(1e-6) * truth + arb(1e-10) * (truth + arb(min(1, pair[0] ** 0.5)))
        assert value <= truth + near


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 20.0])
@pytest.mark.parametrize("share", [1e-3, 0.03, 0.3, 0.9])
def test_zcdp_delta_grows_with_rho_from_float_to_float(epsilon, share):
    rho = epsilon * share
    floats = list(
        itertools.accumulate(range(300), lambda x, _: math.nextafter(x, 1e9), initial=rho)
    )
    deltas = [ZCDP(x).delta(epsilon) for x in floats]
    assert deltas == sorted(deltas)


@fixed
@given(pair=REACHABLE)
def test_the_gaussian_curve_is_within_the_zcdp_bound(pair):
    looser = ZCDP(pair[0]).delta(pair[1])
    assert Gaussian(pair[0]).delta(pair[1]) <= looser * (1 + 1e-9) + 1e-299


@pytest.mark.parametrize(("rho", "epsilon"), [(1e-12, 1.0), (1e-4, 1.0), (0.02, 20.0)])
def test_no_float_that_runs_out_makes_zcdp_pure(rho, epsilon):
    assert ZCDP(rho).delta(epsilon) > 0
    assert ZCDP(rho).epsilon(0.0) == math.inf
    assert Gaussian(rho).delta(epsilon) > 0
    assert Gaussian(rho).epsilon(0.0) == math.inf


@fixed
@given(pure=between(1e-6, 100), epsilon=EPSILON)
def test_pure_delta_is_that_of_randomised_response_or_better(pure, epsilon):
    value = Pure(pure).delta(epsilon)
    if epsilon >= pure:
        assert value == 0
        return

    def worst():
        p = arb(pure).exp()
        return (p - arb(epsilon).exp()) / (p + 1)

    response = ball(worst, 400)
    by_rho = ball(lambda: true_zcdp_delta(Pure(pure).rho, epsilon))
    assert value >= min(response, by_rho)
    assert value <= response * (1 + arb(1e-9))
    assert value <= by_rho * (1 + arb(1e-9)) or value <= 1e-300


def test_check_values_of_local_epsilons():
    ks = (20, 50, 100, 200)
    tight = [round(peeling_epsilon(k, epsilon=1.0, delta=1e-6), 4) for k in ks]
    paper = [round(peeling_epsilon_lemma_b1(k, epsilon=1.0, delta=1e-6), 4) for k in ks]
    assert tight == [0.0987, 0.0624, 0.0441, 0.0312]
    assert paper == [0.0836, 0.0529, 0.0374, 0.0264]
    assert round(peeling_epsilon_lemma_b1(10, epsilon=1.1, delta=0.1), 5) == 0.29264


COSTS = st.one_of(
    st.builds(ZCDP, between(1e-9, 100), st.sampled_from([0.0, 1e-300, 1e-7, 0.1])),
    st.builds(Gaussian, between(1e-9, 100), st.sampled_from([0.0, 1e-7])),
    st.builds(Pure, between(1e-9, 100)),
    st.builds(Pure.bounded_range, between(1e-9, 100)),
)
APPROXIMATE = st.builds(Approximate, between(1e-9, 100), st.sampled_from([0.0, 1e-300, 0.1]))


@fixed
@given(cost=COSTS | APPROXIMATE, times=st.integers(1, 40))
def test_cost_times_n_is_the_sum_of_n_costs(cost, times):
    product, total = cost * times, reduce(add, [cost] * times)
    assert type(product) is type(total) is type(cost)
    assert product == times * cost
    for name, one in cost.parameters().items():
        exact = Fraction(one) * times
        above = product.parameters()[name], total.parameters()[name]
        assert all(Fraction(value) >= exact for value in above)
        assert above[0] <= float(exact) * (1 + 2**-51)
        assert above[1] <= float(exact) * (1 + times * 2**-51)


@fixed
@given(first=COSTS, second=COSTS)
def test_addition_is_commutative_and_never_below_the_exact_sum(first, second):
    total = first + second
    assert total == second + first
    for name in total.parameters():
        parts = [Fraction(cost.parameters().get(name, 0)) for cost in (first, second)]
        assert Fraction(total.parameters()[name]) >= sum(parts)


@fixed
@given(first=COSTS, second=COSTS, third=COSTS)
def test_addition_is_associative_up_to_the_last_bits(first, second, third):
    one = ((first + second) + third).parameters()
    other = (first + (second + third)).parameters()
    assert one.keys() <= other.keys() or one.keys() >= other.keys()
    for name in one.keys() & other.keys():
        assert math.isclose(one[name], other[name], rel_tol=1e-14)


@fixed
@given(first=COSTS, second=COSTS, epsilon=between(1e-3, 50))
def test_max_is_an_upper_bound_of_both(first, second, epsilon):
    larger = privacy.max(first, second)
    assert larger == privacy.max(second, first)
    for cost in (first, second):
        # a cost converted to zCDP may forget what made it tighter, so it only grows
        assert larger.delta(epsilon) >= cost.delta(epsilon) * (1 - 1e-12) - 1e-299
        assert larger.rho >= cost.rho


@fixed
@given(cost=COSTS | APPROXIMATE)
def test_max_is_idempotent(cost):
    assert privacy.max(cost, cost) == cost


def test_max_of_different_kinds():
    assert privacy.max(Pure(1.0), ZCDP(0.2, 1e-6)) == ZCDP(0.5, 1e-6)
    assert privacy.max(Approximate(1.0, 0.1), Approximate(0.5, 0.2)) == Approximate(1.0, 0.2)
    assert privacy.max(Approximate(1.0, 0.1), ZCDP(0.2, 1e-6)) == ZCDP(0.5, 0.1)
    assert privacy.max(Pure(1.0) + ZCDP(0.25), Pure(1.0)) == ZCDP(0.75)


@fixed
@given(epsilon=between(1e-6, 100), n=st.integers(1, 1000))
def test_rho_of_pure_costs(epsilon, n):
    exact = Fraction(epsilon) ** 2
    for cost, rho in (Pure(epsilon), exact / 2), (Pure.bounded_range(epsilon), exact / 8):
        assert 0 <= Fraction((cost * n).rho) - n * rho <= n * rho / 2**50
        assert (cost * n).parameters()["epsilon"] >= epsilon * n * (1 - 2**-53)


def test_gaussian_noise_joins_what_is_known_in_zcdp_alone():
    assert Gaussian(0.25) + Gaussian(0.5, 1e-6) == Gaussian(0.75, 1e-6)
    assert Gaussian(0.25) + ZCDP(0.5) == ZCDP(0.5) + Gaussian(0.25) == ZCDP(0.75)


@pytest.mark.parametrize("other", [0.1, None, "ZCDP"])
def test_what_is_no_cost_does_not_add(other):
    for cost in (Approximate(0.5, 0.1), Pure(0.5), ZCDP(0.1), Pure(0.5) + ZCDP(0.1)):
        with pytest.raises(TypeError):
            cost + other
        with pytest.raises(TypeError):
            other + cost


@fixed
@given(cost=COSTS | APPROXIMATE)
def test_costs_are_values(cost):
    names = list(cost.parameters())
    again = type(cost)(**cost.parameters())
    assert again == cost
    assert hash(again) == hash(cost)
    assert eval(repr(cost), {type(cost).__name__: type(cost)}) == cost  # noqa: S307 - our own repr
    copy = pickle.loads(pickle.dumps(cost))  # noqa: S301 - our own bytes
    assert copy == cost
    assert type(copy) is type(cost)
    with pytest.raises(AttributeError):
        setattr(cost, names[0], 0.0)
    cost.parameters()[names[0]] = 0.0
    assert again == cost
    assert cost != cost * 3


def test_costs_of_different_kinds_differ():
    assert ZCDP(0.1) != Gaussian(0.1)
    assert len({ZCDP(0.1), Gaussian(0.1), ZCDP(0.1)}) == 2


@fixed
@given(cost=COSTS, delta=between(1e-290, 0.9))
def test_epsilon_and_delta_are_safe_inverses(cost, delta):
    epsilon = cost.epsilon(delta)
    if epsilon == math.inf:
        assert cost.delta(2.0**90) > delta
        return
    assert cost.delta(epsilon) <= delta
    if epsilon > 0:
        assert cost.delta(epsilon * (1 - 1e-6)) > delta


@fixed
@given(cost=COSTS, epsilon=between(1e-3, 50))
def test_delta_then_epsilon_does_not_grow(cost, epsilon):
    delta = cost.delta(epsilon)
    assume(1e-290 < delta < 1)
    assert cost.epsilon(delta) <= epsilon * (1 + 1e-9)
    assert cost.delta(epsilon * 1.01) <= delta


def test_epsilon_of_what_cannot_be_reached_is_infinite():
    assert ZCDP(0.1, 1e-6).epsilon(1e-7) == math.inf
    assert Approximate(1.0, 1e-6).epsilon(1e-7) == math.inf
    assert Approximate(1.0, 1e-6).epsilon(1e-6) == 1.0
    assert Pure(0.5).epsilon(0.0) == 0.5
    assert ZCDP(0.0).epsilon(0.0) == 0.0


BAD = [math.nan, math.inf, -math.inf, -1.0, -5e-324]


@pytest.mark.parametrize("bad", BAD)
def test_bad_parameters_of_costs_are_refused(bad):
    for build in (
        lambda: ZCDP(bad),
        lambda: ZCDP(0.1, bad),
        lambda: Gaussian(bad),
        lambda: Pure(bad),
        lambda: Pure(0.1, bad),
        lambda: Approximate(bad, 0.1),
        lambda: Approximate(0.1, bad),
    ):
        with pytest.raises(InputError, match=f"={bad!r}: must be a finite number"):
            build()


@pytest.mark.parametrize("cost", [ZCDP(0.1), Gaussian(0.1), Pure(0.1), Approximate(0.1, 0.1)])
def test_bad_arguments_of_conversions_are_refused(cost):
    for bad in (math.nan, -1.0, -math.inf):
        with pytest.raises(InputError, match="epsilon="):
            cost.delta(bad)
    for bad in (*BAD, 1.0, 1.5):
        with pytest.raises(InputError, match="delta="):
            cost.epsilon(bad)
    for bad in (-1, 0.5, "2"):
        with pytest.raises(InputError, match="whole number"):
            cost * bad


@pytest.mark.parametrize("epsilon", [1e160, 1e300])
def test_huge_pure_costs_are_no_crash(epsilon):
    with contextlib.suppress(InputError):  # a refusal in our own words is as good
        assert Pure(epsilon).epsilon(0.0) >= epsilon


@pytest.mark.parametrize("cost", [Approximate(1e308, 0.1, 0.0), Pure(1e308, 0.0), ZCDP(1e308)])
def test_sums_beyond_the_floats_are_refused_in_our_own_words(cost):
    with pytest.raises(InputError):
        cost + cost


@fixed
@given(numerator=st.integers(0, 2**200), denominator=st.integers(1, 2**200))
def test_round_up_is_the_next_float(numerator, denominator):
    value = Fraction(numerator, denominator)
    rounded = round_up(value)
    assert Fraction(rounded) >= value
    assert rounded == 0 or Fraction(math.nextafter(rounded, -1)) < value


@fixed
@given(numerator=st.integers(0, 2**200), denominator=st.integers(1, 2**200))
def test_round_down_is_the_float_before(numerator, denominator):
    value = Fraction(numerator, denominator)
    rounded = round_down(value)
    assert Fraction(rounded) <= value
    assert Fraction(math.nextafter(rounded, math.inf)) > value
    assert round_down(-value) == -round_up(value)


def test_rounding_beyond_the_floats():
    huge, largest = Fraction(10) ** 400, 1.7976931348623157e308
    assert (round_up(huge), round_down(huge)) == (math.inf, largest)
    assert (round_up(-huge), round_down(-huge)) == (-largest, -math.inf)
    assert (round_up(1 / huge), round_down(1 / huge)) == (5e-324, 0.0)


# --- one of several pure costs

PURE = st.one_of(
    st.builds(Pure, between(1e-9, 100)),
    st.builds(Pure.bounded_range, between(1e-9, 100)),
    st.builds(lambda e, n: Pure.bounded_range(e) * n, between(1e-9, 1), st.integers(1, 100)),
)
EITHER = st.lists(PURE, min_size=1, max_size=6).map(lambda costs: reduce(privacy.max, costs))


def alternatives(cost):
    return cost._alternatives if isinstance(cost, Either) else (cost,)


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


def response(epsilon, least=None):
    """Two outcomes, (P, Q) of each: of log ratios `least` and `least` + epsilon, or ±epsilon."""
    high, low = (epsilon, -epsilon) if least is None else (epsilon + least, least)
    q = -math.expm1(low) / (math.exp(high) - math.exp(low))
    return [(q * math.exp(high), q), ((1 - q) * math.exp(low), 1 - q)]


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
    one, other = TWO._alternatives
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


def test_either_is_a_value():
    names = {"Either": Either, "Pure": Pure}
    assert eval(repr(TWO), names) == TWO  # noqa: S307 - our own repr
    copy = pickle.loads(pickle.dumps(TWO))  # noqa: S301 - our own bytes
    assert copy == TWO
    assert copy.delta(1.0) == TWO.delta(1.0)
    assert hash(copy) == hash(TWO)
    assert TWO != TWO * 2
    with pytest.raises(AttributeError):
        TWO.rho = 0.0
    numbers = [number for cost in TWO._alternatives for number in cost.parameters().values()]
    assert list(TWO.parameters().values()) == numbers


def test_bad_arguments_of_either_are_refused():
    for bad in (math.nan, -1.0, math.inf):
        with pytest.raises(InputError, match="epsilon="):
            TWO.delta(bad)
    for bad in (*BAD, 1.0):
        with pytest.raises(InputError, match="delta="):
            TWO.epsilon(bad)
    for bad in (-1, 0.5, "2"):
        with pytest.raises(InputError, match="whole number"):
            TWO * bad


def test_a_pure_cost_whose_rho_leaves_the_floats_is_refused():
    for build in (Pure, Pure.bounded_range):
        with pytest.raises(InputError, match="rho=inf: must be a finite number"):
            build(1e160)


@fixed
@given(edge=st.floats(0.001, 0.999))
def test_bisect_returns_the_last_good_float(edge):
    assert bisect(lambda x: x >= edge, bad=0.0, good=1.0) == edge
    assert bisect(lambda x: x <= edge, bad=1.0, good=0.0) == edge


@fixed
@given(edge=st.floats(0.001, 0.999), near=st.floats(-0.1, 1.1) | st.just(0.0) | st.just(1.0))
def test_a_guess_does_not_move_the_answer_of_bisect(edge, near):
    for guess in (near, edge, math.nextafter(edge, 1), edge * (1 + 1e-12), edge * (1 - 1e-12)):
        seen = {0.0: False}

        def holds(x, seen=seen):
            seen[x] = x >= edge
            return seen[x]

        assert bisect(holds, bad=0.0, good=1.0, near=guess) == edge
        assert seen.get(edge, edge == 1.0)
        assert seen[math.nextafter(edge, 0)] is False
        assert bisect(lambda x: x <= edge, bad=1.0, good=0.0, near=guess) == edge
    assert len(seen) < 25


@pytest.mark.parametrize("rho", [5e-324, 1e-300, 1e-6, 1.0, 1e3, 1e300])
@pytest.mark.parametrize("epsilon", [0.0, 5e-324, 1e-6, 1.0, 1e200])
def test_the_conversion_of_any_numbers_is_a_probability(rho, epsilon):
    delta = ZCDP(rho).delta(epsilon)
    assert 0 < delta <= 1
    if rho < epsilon / 1e6:
        assert delta < 1e-99
    if rho > 2 * epsilon + 50:
        assert delta > 0.99


def test_cost_is_abstract():
    with pytest.raises(TypeError):
        Cost()
