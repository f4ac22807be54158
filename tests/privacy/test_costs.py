"""Costs as values: how they add up, and what is refused."""

import contextlib
import math
import pickle
from fractions import Fraction
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.costs import BAD, COSTS, EVERY_KIND, between, fixed
from shortlist import privacy
from shortlist.errors import InputError
from shortlist.privacy import (
    ZCDP,
    Approximate,
    Cost,
    Gaussian,
    Pure,
    Ways,
    accountant,
    round_down,
    round_up,
)

EPSILONS = 0.0, 0.3, 1.0, 4.0
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


NAMES = vars(privacy) | vars(accountant)


@pytest.mark.parametrize("name", EVERY_KIND)
def test_costs_are_values(name):
    cost = EVERY_KIND[name]
    again = eval(repr(cost), NAMES)  # noqa: S307 - our own repr
    copy = pickle.loads(pickle.dumps(cost))  # noqa: S301 - our own bytes
    for same in (again, copy):
        assert same == cost
        assert hash(same) == hash(cost)
        assert type(same) is type(cost)
        assert repr(same) == repr(cost)
        assert same.parameters() == cost.parameters()
        assert [same.delta(e) for e in EPSILONS] == [cost.delta(e) for e in EPSILONS]
    first = next(iter(cost.parameters()))
    cost.parameters()[first] = 0.0
    assert again == cost
    for attribute in (first, "rho"):
        with pytest.raises(AttributeError):
            setattr(cost, attribute, 0.0)
    others = [other for key, other in EVERY_KIND.items() if key != name]
    assert all(cost != other for other in (*others, cost * 3))
    assert type(cost) is Ways or cost != Ways(*cost.ways)


@fixed
@given(cost=COSTS | APPROXIMATE)
def test_plain_costs_are_their_parameters(cost):
    assert type(cost)(**cost.parameters()) == cost


def test_costs_of_different_kinds_differ():
    assert ZCDP(0.1) != Gaussian(0.1)
    assert len({ZCDP(0.1), Gaussian(0.1), ZCDP(0.1)}) == 2


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


@pytest.mark.parametrize("cost", EVERY_KIND.values(), ids=EVERY_KIND)
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


def test_a_pure_cost_whose_rho_leaves_the_floats_is_refused():
    for build in (Pure, Pure.bounded_range):
        with pytest.raises(InputError, match="rho=inf: must be a finite number"):
            build(1e160)


def test_cost_is_abstract():
    with pytest.raises(TypeError):
        Cost()
