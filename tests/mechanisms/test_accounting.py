"""What stages cost together, and that parameters fitted to a guarantee are within it."""

from fractions import Fraction

import pytest

from shortlist.algorithms.policies import FixedPoint
from shortlist.errors import InputError
from shortlist.mechanisms import (
    AdaptiveHittingSet,
    DiscoverThenRank,
    JointOrPeel,
    LimitedDomain,
    Peeling,
    PolicyGaussian,
    UserPeeling,
    WeightedGaussian,
)
from shortlist.mechanisms.mechanism import Accounting
from shortlist.privacy.accountant.fitting import largest_share
from shortlist.privacy.accountant.gaussian_threshold import GaussianThreshold, noisy_weights
from shortlist.privacy.accountant.stages import mu_of

BOTH = pytest.mark.parametrize("accounting", [Accounting.EXACT, Accounting.ZCDP])
DISCOVERING = [AdaptiveHittingSet, DiscoverThenRank, UserPeeling]
NAMING = {"max_items_per_user": 100}


def within(mechanism):
    return 0 < mechanism.cost.delta(mechanism.epsilon) <= mechanism.delta


@BOTH
@pytest.mark.parametrize("kind", [WeightedGaussian, PolicyGaussian])
@pytest.mark.parametrize("bound", [1, 100, 1000])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.1, 1e-5), (1.0, 0.9)])
def test_noisy_weights_cost_no_more_than_was_asked(kind, bound, epsilon, delta, accounting):
    mechanism = kind(epsilon=epsilon, delta=delta, max_items_per_user=bound, accounting=accounting)
    assert within(mechanism)


@BOTH
@pytest.mark.parametrize("kind", DISCOVERING)
@pytest.mark.parametrize("bound", [1, 100])
@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (1.0, 0.9), (0.5, 0.3)])
def test_a_discovery_and_picks_cost_no_more_than_was_asked(kind, bound, epsilon, delta, accounting):
    mechanism = kind(
        k=20, epsilon=epsilon, delta=delta, max_items_per_user=bound, accounting=accounting
    )
    assert within(mechanism)


@pytest.mark.parametrize("kind", [DiscoverThenRank, UserPeeling])
@pytest.mark.parametrize(
    ("k", "share", "epsilon", "delta"),
    [(20, 0.05, 1.0, 1e-6), (20, 0.01, 0.1, 1e-5), (6000, 0.3, 1.0, 1e-6), (1, 0.3, 1e-6, 1e-3)],
)
def test_thresholds_have_a_part_of_delta_where_picks_need_nearly_all(
    kind, k, share, epsilon, delta
):
    mechanism = kind(
        k=k, epsilon=epsilon, delta=delta, max_items_per_user=10, discovery_share=share
    )
    assert within(mechanism)
    assert mechanism.cost.lost >= 0.05 * delta


@pytest.mark.parametrize(("k", "epsilon"), [(1, 100.0), (20, 100.0), (1, 400.0), (6000, 1.0)])
@pytest.mark.parametrize("kind", [Peeling, JointOrPeel, LimitedDomain])
def test_what_no_grid_reaches_is_as_good_as_in_zcdp(kind, k, epsilon):
    exact, by_rho = (
        kind(k=k, epsilon=epsilon, delta=1e-6, accounting=accounting)
        for accounting in (Accounting.EXACT, Accounting.ZCDP)
    )
    assert exact.cost.delta(epsilon) <= 1e-6
    assert exact.local_epsilon >= 0.995 * by_rho.local_epsilon


@pytest.mark.parametrize("drift", [1e-6, 0.01, 0.5])
@pytest.mark.parametrize("shared", [0.01, 0.5, 0.99, 1.0])
def test_a_drift_is_as_large_where_less_is_shared(drift, shared):
    # What the user adds to shared items has norm sqrt(shared); what roundings add has its own.
    stages = noisy_weights(GaussianThreshold(4.0, 25.0), 100, drift=drift, by_policy=True).merged
    assert mu_of(stages, shared) >= (shared**0.5 + drift) / 4
    assert mu_of(stages, 1.0) <= (1 + drift) / 4 * (1 + 1e-12)


def test_a_drift_is_in_what_is_added_to_other_releases():
    mechanism = PolicyGaussian(epsilon=1.0, delta=1e-6, max_items_per_user=100)
    least = Fraction(mechanism.sensitivity) ** 2 / (2 * Fraction(mechanism.sigma) ** 2)
    assert Fraction(mechanism.cost.rho) >= least


def test_weights_that_their_grid_does_not_hold_are_refused():
    class Coarse(PolicyGaussian):
        grid = FixedPoint(57)  # holds what is below 32

    assert Coarse(epsilon=2.0, delta=1e-6, max_items_per_user=10).cutoff < 32
    with pytest.raises(InputError, match="no noise can be calibrated"):
        Coarse(epsilon=1.0, delta=1e-6, max_items_per_user=10)


@pytest.mark.parametrize("slope", [0.05, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("before", [0.0, 0.5, 0.85])
def test_the_largest_share_is_found_and_never_passed(slope, before):
    def spent(part):
        return before * 1e-6 + slope * part

    part = largest_share(spent, delta=1e-6, least=1e-8)
    assert spent(part) <= 1e-6
    assert spent(part) >= 0.99e-6 or part >= 0.99e-6


def test_where_nothing_is_left_the_largest_share_is_nothing():
    assert largest_share(lambda part: 1e-6 + part, delta=1e-6, least=1e-8) == 0
