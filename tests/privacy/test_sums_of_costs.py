"""Sums of costs of different kinds: closed, and sound against exact laws."""

import itertools
import math
from functools import reduce
from operator import add

import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from shortlist import privacy
from shortlist.privacy import ZCDP, Approximate, Cost, Gaussian, Pure

fixed = settings(derandomize=True, deadline=None, max_examples=150)

SMALL = st.floats(1e-3, 3.0)
LOST = st.sampled_from([0.0, 1e-9, 1e-3])
KINDS = (
    st.builds(Pure, SMALL),
    st.builds(Pure.bounded_range, SMALL),
    st.builds(lambda a, b: privacy.max(Pure(a / 2), Pure.bounded_range(a + b)), SMALL, SMALL),
    st.builds(ZCDP, SMALL, LOST),
    st.builds(Gaussian, SMALL, LOST),
    st.builds(Approximate, SMALL, LOST),
)
COSTS = st.one_of(*KINDS)
LISTS = st.lists(COSTS, min_size=2, max_size=5)
EPSILONS = (0.0, 0.3, 1.0, 2.5, 6.0, 20.0)


def total(costs):
    return reduce(add, costs)


@pytest.mark.parametrize(("first", "second"), [*itertools.product(KINDS, KINDS)])
def test_any_two_kinds_add(first, second):
    @settings(derandomize=True, deadline=None, max_examples=10)
    @given(a=first, b=second)
    def check(a, b):
        assert a + b == b + a
        assert (a + b).rho >= max(a.rho, b.rho)
        assert (a + b).lost >= max(a.lost, b.lost)
        assert sum([a, b]) == a + b

    check()


@fixed
@given(costs=LISTS)
def test_the_order_of_a_sum_hardly_matters(costs):
    one, other = total(costs), total(costs[::-1])
    for epsilon in EPSILONS:
        assert math.isclose(one.delta(epsilon), other.delta(epsilon), rel_tol=1e-9, abs_tol=1e-300)


@fixed
@given(costs=LISTS)
def test_a_sum_is_no_worse_than_zcdp_alone_or_basic_composition_with_a_curve(costs):
    one = total(costs)
    for epsilon in EPSILONS:
        assert one.delta(epsilon) <= one.as_zcdp.delta(epsilon) * (1 + 1e-9)
    curves = [cost for cost in costs if isinstance(cost, ZCDP)]
    others = [cost for cost in costs if not isinstance(cost, ZCDP)]
    shift = sum(cost.pure for cost in others)
    for epsilon in EPSILONS if curves else ():
        basic = total(curves).delta(epsilon) + sum(cost.lost for cost in others)
        assert one.delta(epsilon + shift * (1 + 1e-12)) <= min(1.0, basic * (1 + 1e-6) + 1e-300)


def test_a_pure_release_and_a_top_k_cost_as_much_as_both_guarantees():
    top_k = ZCDP(0.0241, 1e-9)
    assert top_k.epsilon(1e-6) <= 1
    assert (Pure(1.0) + top_k).epsilon(1e-6) <= 2
    assert ZCDP(0.5241, 1e-9).epsilon(1e-6) > 5


def test_many_pure_releases_beside_zcdp_add_up_as_zcdp():
    many = Pure(0.01) * 10_000 + ZCDP(0.1)
    assert many.epsilon(1e-6) <= ZCDP(0.6).epsilon(1e-6) * (1 + 1e-9) < 10


@fixed
@given(epsilon=SMALL, lost=LOST, other=st.sampled_from(EPSILONS))
def test_an_approximate_release_is_a_pure_one_that_may_fail(epsilon, lost, other):
    truth, claimed = (
        discrete(response(epsilon, lost), other),
        Approximate(epsilon, lost).delta(other),
    )
    assert not truth > claimed
    assert (
        claimed <= lost + float(truth) + 1e-12
        or claimed <= lost + ZCDP(epsilon**2 / 2).delta(other) + 1e-12
    )


# Exact laws: pairs of laws as lists of (p, q)


def response(epsilon, lost=0.0):
    """The worst pair of all that is (epsilon, lost)-DP (Kairouz, Oh & Viswanath 2015)."""
    larger = (1 - arb(lost)) / (1 + (-arb(epsilon)).exp())
    smaller = 1 - arb(lost) - larger
    return [(arb(lost), arb(0)), (larger, smaller), (smaller, larger), (arb(0), arb(lost))]


def product(pairs, more):
    return [(p * r, q * s) for p, q in pairs for r, s in more]


def gaussian_beside(pairs, rho, epsilon):
    """The hockey-stick divergence of a Gaussian release together with these laws."""
    mu, found = (2 * arb(rho)).sqrt(), arb(0)
    for p, q in pairs:
        if not q > 0:
            found += p
        elif p > 0:
            left = arb(epsilon) - (p / q).log()
            near, far = ((left / mu + s * mu / 2) / arb(2).sqrt() for s in (-1, 1))
            found += p * near.erfc() / 2 - p * left.exp() * far.erfc() / 2
    return found


def discrete(pairs, epsilon):
    return sum(((p - arb(epsilon).exp() * q).max(0) for p, q in pairs), arb(0))


@pytest.mark.parametrize("times", [1, 2, 4])
@pytest.mark.parametrize("lost", [1e-3, 0.1])
@pytest.mark.parametrize(("pure", "approximate"), [(0.2, 0.5), (1.0, 0.1), (0.05, 0.05)])
def test_pure_and_approximate_releases_cost_no_more_than_their_sum(pure, approximate, lost, times):
    cost = Pure(pure) * times + Approximate(approximate, lost)
    pairs = response(approximate, lost)
    for _ in range(times):
        pairs = product(pairs, response(pure)[1:3])
    for epsilon in EPSILONS:
        assert not discrete(pairs, epsilon) > cost.delta(epsilon)
    # It is attained where all epsilons add up, so that less would be seen.
    at = pure * times + approximate
    assert discrete(pairs, at) > lost * (1 - arb(1e-9))
    assert cost.delta(at * (1 + 1e-9)) <= lost * (1 + 1e-9)


@pytest.mark.parametrize("rho", [0.01, 0.3])
@pytest.mark.parametrize("lost", [0.0, 1e-3])
@pytest.mark.parametrize("pure", [0.05, 1.0])
def test_gaussian_noise_beside_others_costs_no_more_than_its_sum(pure, lost, rho):
    for part in (Pure(pure), Approximate(pure, lost)):
        cost = Gaussian(rho) + part
        pairs = response(pure, part.lost)
        seen = [(gaussian_beside(pairs, rho, e), cost.delta(e)) for e in EPSILONS]
        assert not any(truth > claimed for truth, claimed in seen)
        # Noise that is 30 % too small is seen, where the other part has its whole epsilon.
        less = Gaussian(rho / 1.69) + Approximate(pure, part.lost, rho=50.0)
        near = pure + math.sqrt(2 * rho)
        assert any(gaussian_beside(pairs, rho, e) > less.delta(e) for e in (near, 1.5 * near))


def test_a_sum_is_made_of_the_numbers_of_its_parts():
    cost = Pure(0.5) + Gaussian(0.1, 1e-7) + Approximate(0.25, 1e-6)
    assert cost * 2 == cost + cost == 2 * cost
    assert 0 + cost == cost
    assert cost.parameters() == {
        "Pure.epsilon": 0.5,
        "Pure.rho": 0.125,
        "Gaussian.rho": 0.1,
        "Gaussian.delta": 1e-7,
        "Approximate.epsilon": 0.25,
        "Approximate.delta": 1e-6,
        "Approximate.rho": 0.03125,
    }


class Response(Cost):
    """A cost of one's own: randomised response by its own curve."""

    def __init__(self, epsilon):
        super().__init__(epsilon=epsilon)

    @property
    def rho(self):
        return Pure(self.parameters()["epsilon"]).rho

    def delta(self, epsilon):
        return Pure(self.parameters()["epsilon"]).delta(epsilon)


def test_a_cost_of_ones_own_adds_by_its_rho():
    own = Response(3.0)
    for other in (ZCDP(0.01), Gaussian(0.01), Approximate(0.1, 1e-9), Pure(1.0), own):
        for total in (own + other, other + own, privacy.max(own, other) + ZCDP(0.0)):
            assert total.rho >= own.rho
            for epsilon in EPSILONS:
                assert total.delta(epsilon) >= own.delta(epsilon) * (1 - 1e-9)
    assert own + own == ZCDP(9.0)
