"""Costs that know two ways to add: sums, products, maxima, and values."""

import itertools
import math
import pickle

import pytest

from shortlist import privacy
from shortlist.privacy import ZCDP, Approximate, Composed, Gaussian, Pure, Sum, Ways
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    GaussianStage,
    ItemsByThreshold,
    Threshold,
    ThresholdDelta,
)

PICKS = BoundedRange(0.1067, times=20)
WEIGHTS = GaussianStage(0.2, on_weights=True)
COMPOSED = {
    "picks": Composed(Composition((PICKS,)), Pure.bounded_range(0.1067) * 20, epsilon=1.0),
    "weights": Composed(
        Composition((WEIGHTS,), ItemsByThreshold((Threshold(5.0, 30.0),), 10)),
        Gaussian(0.02 * (1 + 1e-12), 1e-6),
        epsilon=1.0,
    ),
    "lost": Composed(
        Composition((PICKS,), ThresholdDelta(1e-7)),
        ZCDP((Pure.bounded_range(0.1067) * 20).rho, 1e-7),
        epsilon=1.0,
    ),
}
WAYS = Ways(ZCDP(0.024, delta=1e-6), Approximate(1.0, 1e-6))
TWO = {**COMPOSED, "ways": WAYS}
OTHERS = {
    "zcdp": ZCDP(0.01, delta=1e-8),
    "gaussian": Gaussian(0.02),
    "pure": Pure(0.3),
    "range": Pure.bounded_range(0.2) * 3,
    "either": privacy.max(Pure(0.5), Pure.bounded_range(0.25) * 4),
    "approximate": Approximate(0.5, 1e-7),
    "sum": Pure(0.2) + Gaussian(0.01),
    **TWO,
}
EPSILONS = [0.0, 0.3, 1.0, 1.5, 2.0, 4.0]
each = pytest.mark.parametrize("name", TWO)
pairs = pytest.mark.parametrize(("name", "other"), list(itertools.product(TWO, OTHERS)))


def basic(cost, other, epsilon):
    """By epsilons and deltas, at the epsilon that a lone cost was calibrated to."""
    left = epsilon - 1.0
    return cost.delta(1.0) + other.delta(left) if left >= 0 else 1.0


def known_alone(cost):
    """The cost without its own curve."""
    return Ways(*cost.ways)


@pairs
def test_a_sum_is_that_of_both_ways_in_any_order(name, other):
    cost, more = TWO[name], OTHERS[other]
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
    cost, more = TWO[name], OTHERS[other]
    for epsilon in EPSILONS:
        assert (cost + more).delta(epsilon) == (known_alone(cost) + known_alone(more)).delta(
            epsilon
        )


@pairs
def test_a_sum_is_no_better_than_what_is_sound(name, other):
    # In zCDP, by the epsilon it is calibrated to, or by that of one part and the rest in zCDP:
    # whatever a sum says has to be one of these.
    cost, more = TWO[name], OTHERS[other]
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
    cost = TWO[name]
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
    cost = TWO[name]
    product = cost * n
    assert (n * cost).delta(3.0) == product.delta(3.0)
    assert type(product) is Ways
    total = sum([cost] * n, start=Ways(*(way * 0 for way in cost.ways)))
    for epsilon in EPSILONS:
        assert math.isclose(product.delta(epsilon), total.delta(epsilon), rel_tol=1e-9)


@each
def test_it_adds_to_nothing_as_it_is(name):
    cost = TWO[name]
    assert 0 + cost is cost
    assert sum([cost]) is cost
    assert sum([cost, cost]) == cost + cost


@pairs
def test_a_maximum_covers_both(name, other):
    cost, more = TWO[name], OTHERS[other]
    larger = privacy.max(cost, more)
    assert larger == privacy.max(more, cost)
    for epsilon in EPSILONS:
        for one in (cost, more):
            by_rho, by_epsilon = one.ways
            assert larger.ways[0].rho >= by_rho.rho
            assert larger.ways[0].delta(epsilon) >= by_rho.delta(epsilon) * (1 - 1e-12)
            assert larger.ways[1].delta(epsilon) >= by_epsilon.delta(epsilon) * (1 - 1e-12)


@each
def test_it_is_a_value(name):
    cost = TWO[name]
    copy = pickle.loads(pickle.dumps(cost))  # noqa: S301 - our own
    assert copy == cost
    assert hash(copy) == hash(cost)
    assert type(copy) is type(cost)
    assert repr(copy) == repr(cost)
    assert copy.parameters() == cost.parameters()
    assert [copy.delta(e) for e in EPSILONS] == [cost.delta(e) for e in EPSILONS]
    with pytest.raises(AttributeError):
        cost.epsilon_of = 1.0
    assert all(cost != other for key, other in OTHERS.items() if key != name)
    if isinstance(cost, Composed):
        assert cost != known_alone(cost)


@pairs
def test_no_sum_is_worse_than_either_way(name, other):
    total = TWO[name] + OTHERS[other]
    for epsilon in EPSILONS:
        assert total.delta(epsilon) <= min(way.delta(epsilon) for way in total.ways)
