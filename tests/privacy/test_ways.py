"""Costs that know two ways to add: sums, products, maxima."""

import itertools
import math

import pytest

from helpers.costs import COMPOSED, EVERY_KIND, TWO_WAYS
from shortlist import privacy
from shortlist.privacy import Approximate, Pure, Sum, Ways

EPSILONS = [0.0, 0.3, 1.0, 1.5, 2.0, 4.0]
each = pytest.mark.parametrize("name", TWO_WAYS)
pairs = pytest.mark.parametrize(("name", "other"), list(itertools.product(TWO_WAYS, EVERY_KIND)))


def basic(cost, other, epsilon):
    """By epsilons and deltas, at the epsilon that a lone cost was calibrated to."""
    left = epsilon - 1.0
    return cost.delta(1.0) + other.delta(left) if left >= 0 else 1.0


def known_alone(cost):
    """The cost without its own curve."""
    return Ways(*cost.ways)


@pairs
def test_a_sum_is_that_of_both_ways_in_any_order(name, other):
    cost, more = TWO_WAYS[name], EVERY_KIND[other]
    total, turned = cost + more, more + cost
    assert type(total) is type(turned) is Ways
    by_rho, by_epsilon = (Sum.of(a, b) for a, b in zip(cost.ways, more.ways, strict=True))
    for epsilon in EPSILONS:
        ways = by_rho.delta(epsilon), by_epsilon.delta(epsilon)
        assert total.delta(epsilon) == turned.delta(epsilon) == min(ways)
    assert total.rho == by_rho.rho >= cost.rho
    assert total.lost == by_rho.lost


@pairs
def test_a_sum_never_uses_a_curve_that_holds_alone(name, other):
    cost, more = TWO_WAYS[name], EVERY_KIND[other]
    for epsilon in EPSILONS:
        assert (cost + more).delta(epsilon) == (known_alone(cost) + known_alone(more)).delta(
            epsilon
        )


@pairs
def test_a_sum_is_no_better_than_what_is_sound(name, other):
    # In zCDP, by the epsilon it is calibrated to, or by that of one part and the rest in zCDP:
    # whatever a sum says has to be one of these.
    cost, more = TWO_WAYS[name], EVERY_KIND[other]
    total = cost + more
    known = [
        cost.as_zcdp + more.as_zcdp,
        *(a + b for a, b in zip(cost.ways, more.ways, strict=True)),
    ]
    for epsilon in EPSILONS:
        assert total.delta(epsilon) >= min(way.delta(epsilon) for way in known)
        assert total.delta(epsilon) >= cost.delta(epsilon) - 1e-15  # more is never less


@each
def test_a_sum_is_no_worse_than_basic_composition_with_itself(name):
    cost = TWO_WAYS[name]
    assert (cost + cost).delta(2.0) <= 2 * cost.delta(1.0) * (1 + 1e-12)
    assert (cost + Pure(0.5)).delta(1.5) <= cost.delta(1.0) * (1 + 1e-12)
    assert (cost + Approximate(0.5, 1e-7)).delta(1.5) <= (cost.delta(1.0) + 1e-7) * (1 + 1e-12)


@pytest.mark.parametrize("name", COMPOSED)
def test_lone_curves_do_not_add_up(name):
    # At an epsilon it was not calibrated to, a lone cost knows more than its sums may.
    cost, at = COMPOSED[name], 0.8
    alone, in_sums = cost.delta(at), known_alone(cost).delta(at)
    assert alone < in_sums
    assert (cost + Pure(0.0)).delta(at) >= in_sums
    assert (Pure(0.0) + cost).delta(at) >= in_sums


@each
@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_a_product_is_a_repeated_sum(name, n):
    cost = TWO_WAYS[name]
    product = cost * n
    assert (n * cost).delta(3.0) == product.delta(3.0)
    assert type(product) is Ways
    total = sum([cost] * n, start=Ways(*(way * 0 for way in cost.ways)))
    for epsilon in EPSILONS:
        assert math.isclose(product.delta(epsilon), total.delta(epsilon), rel_tol=1e-9)


@each
def test_it_adds_to_nothing_as_it_is(name):
    cost = TWO_WAYS[name]
    assert 0 + cost is cost
    assert sum([cost]) is cost
    assert sum([cost, cost]) == cost + cost


@pairs
def test_a_maximum_covers_both(name, other):
    cost, more = TWO_WAYS[name], EVERY_KIND[other]
    larger = privacy.max(cost, more)
    assert larger == privacy.max(more, cost)
    for epsilon in EPSILONS:
        for one in (cost, more):
            by_rho, by_epsilon = one.ways
            assert larger.ways[0].rho >= by_rho.rho
            assert larger.ways[0].delta(epsilon) >= by_rho.delta(epsilon) * (1 - 1e-12)
            assert larger.ways[1].delta(epsilon) >= by_epsilon.delta(epsilon) * (1 - 1e-12)
