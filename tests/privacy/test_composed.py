"""The cost of one mechanism: its own curve where it is alone, and no better than that is."""

import pytest

from shortlist.mechanisms import Accounting, Peeling, WeightedGaussian
from shortlist.privacy import Composed, Pure
from shortlist.privacy.accountant import BoundedRange, Composition

LOCAL = 0.1067


def composed(k, epsilon=1.0):
    by_rho = Pure.bounded_range(LOCAL) * k
    return Composed(Composition((BoundedRange(LOCAL, k),)), by_rho, epsilon=epsilon)


@pytest.mark.parametrize("k", [1, 5, 20, 100])
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.5, 1.0, 2.0, 20.0])
def test_alone_it_is_the_better_of_its_stages_and_zcdp(k, epsilon):
    cost = composed(k)
    stages, by_rho = cost.composition.delta(epsilon), cost.ways[0].delta(epsilon)
    assert cost.delta(epsilon) <= min(stages, by_rho)
    assert cost.delta(epsilon) >= cost.composition.least_delta(epsilon) * (1 - 1e-12)


def test_picks_counted_one_too_few_are_seen():
    # Too few to see for the audit, whose universes show one pick and a few: the cost tells.
    for k in (5, 20, 200):
        honest = Peeling(k=k, epsilon=1.0, delta=1e-6)
        fewer = Peeling(k=k - 1, epsilon=1.0, delta=1e-6).local_epsilon
        assert Composition((BoundedRange(fewer, k),)).least_delta(1.0) > 1e-6
        assert Composition((BoundedRange(honest.local_epsilon, k),)).delta(1.0) <= 1e-6


def test_the_lower_bound_shows_how_far_a_cost_is_from_the_truth():
    for k in (2, 20, 200):
        cost = Peeling(k=k, epsilon=1.0, delta=1e-6).cost
        assert cost.composition.least_delta(1.0) >= 0.998 * cost.delta(1.0)


def test_the_epsilon_of_a_delta_is_that_of_the_curve():
    cost = WeightedGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=10).cost
    assert 0.999 < cost.epsilon(1e-6) <= 1.0 + 1e-9
    assert cost.epsilon(1e-4) < 0.9
    assert cost.delta(cost.epsilon(1e-4)) <= 1e-4


def test_calibrated_for_sums_two_releases_cost_less_than_two_calibrated_alone():
    given = {"k": 20, "epsilon": 1.0, "delta": 1e-6}
    exact, many = (Peeling(**given, accounting=a).cost for a in (Accounting.EXACT, Accounting.ZCDP))
    assert exact.delta(1.0) <= 1e-6
    assert (many * 10).epsilon(1e-6) < (exact * 10).epsilon(1e-6)


def test_the_epsilon_it_is_calibrated_to_is_the_one_that_sums_count():
    cost = composed(20)
    assert cost.calibrated_to == 1.0
    assert cost.ways[1].parameters()["epsilon"] == 1.0
    assert cost.ways[1].delta(1.0) == cost.delta(1.0)
    assert composed(20, epsilon=0.5) != cost
