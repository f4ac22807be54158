"""What a private choice and whatever was chosen cost together, against slow twins."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from shortlist.errors import InputError
from shortlist.mechanisms import AdaptiveGaussian
from shortlist.privacy import Gaussian
from shortlist.privacy.accountant import (
    AfterChoice,
    BoundedRange,
    Composition,
    GaussianStage,
    ItemsByThreshold,
    ItemsInRounds,
    Threshold,
    ThresholdDelta,
)
from shortlist.privacy.accountant.after_choice import after_choice, fitted_after_choice
from shortlist.privacy.accountant.fitting import largest_after
from shortlist.privacy.composed import Composed
from shortlist.privacy.stored import cost_from, stored

SCHEDULE = AdaptiveGaussian(epsilon=1.0, delta=1e-5, max_items_per_user=10).search.schedule
MU, KEPT, BOUND = 0.3, 0.3, 5


def curve(epsilon, mu):
    if mu == 0:
        return max(0.0, 1 - math.exp(epsilon))
    return ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu)


def worst(epsilon, lost):
    """Of all users, by the formula of the rounds."""
    shares = {n / d for d in range(1, BOUND + 1) for n in range(1, d)}
    some = [nu * lost + curve(epsilon, MU * math.sqrt(1 - KEPT * nu)) for nu in shares]
    return max(*some, curve(epsilon, MU), lost + curve(epsilon, 0))


def by_definition(epsilon, choice, lost, worst_of=worst):
    """The largest mean over the laws of two losses, on a fine grid of these."""

    def mean(t):
        p = (math.exp(choice) - math.exp(t)) / math.expm1(choice)
        here, there = worst_of(epsilon - t, lost), worst_of(epsilon - t + choice, lost)
        return p * here + (1 - p) * there

    return max(map(mean, np.linspace(0, choice, 401)))


@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.5, 1.0])
@pytest.mark.parametrize("choice", [1e-3, 0.05, 0.4])
@pytest.mark.parametrize("lost", [1e-6, 1e-3, 0.1])
def test_the_worst_of_two_losses_and_hardly_more(epsilon, choice, lost):
    own_items = ItemsInRounds(lost, KEPT, BOUND)
    after = AfterChoice((GaussianStage(MU, on_weights=True),), own_items, choice)
    true = by_definition(epsilon, choice, lost)
    assert true * (1 - 1e-9) <= after.delta(epsilon) <= true * (1.03 + choice)


def test_one_user_throughout_would_cost_less():
    """As a stage of bounded range, for users who alone hold items at every bound or at none."""
    own_items, stage = ItemsInRounds(1e-3, KEPT, BOUND), GaussianStage(MU, on_weights=True)
    after = AfterChoice((stage,), own_items, 0.2)
    whole = Composition((BoundedRange(0.2), stage), own_items)
    assert 0.5e-3 < curve(0.8, MU) < 1.5e-3  # about what is lost
    assert after.delta(0.8) > 1.1 * whole.delta(0.8)


@pytest.mark.parametrize("own_items", [None, ThresholdDelta(1e-4)])
def test_without_items_of_one_user_it_is_a_stage_of_bounded_range(own_items):
    after = AfterChoice((GaussianStage(MU),), own_items, 0.1)
    whole = Composition((BoundedRange(0.1), GaussianStage(MU)), own_items)
    assert whole.delta(0.8) * (1 - 1e-3) <= after.delta(0.8) <= whole.delta(0.8) * 1.05


@pytest.mark.parametrize(
    "stages",
    [
        (GaussianStage(MU, on_weights=True), BoundedRange(0.2)),
        (BoundedRange(0.2), GaussianStage(MU), GaussianStage(0.1, on_weights=True)),
    ],
)
@pytest.mark.parametrize("epsilon", [0.0, 0.02, 1.0])
def test_what_takes_a_grid_is_looked_at_once(stages, epsilon):
    own_items = ItemsInRounds(1e-3, KEPT, BOUND)
    after, chosen = AfterChoice(stages, own_items, 0.05), Composition(stages, own_items)
    assert after.delta(epsilon) >= chosen.delta(epsilon)
    if epsilon >= 0.05:
        assert after.delta(epsilon) == pytest.approx(chosen.delta(epsilon - 0.05), rel=1e-6)
    else:  # in both directions, so that an epsilon below 0 follows from one above
        x = 0.05 - epsilon
        reflected = 1 - math.exp(-x) * (1 - chosen.delta(x))
        assert after.delta(epsilon) == pytest.approx(reflected, rel=1e-6)


def test_naming_own_items_by_coin_is_looked_at_once():
    own_items = ItemsByThreshold((Threshold(3.0, 15.0),), BOUND)
    stage = GaussianStage(MU, on_weights=True)
    after = AfterChoice((stage,), own_items, 0.05)
    assert after.delta(1.0) == pytest.approx(Composition((stage,), own_items).delta(0.95), rel=1e-6)


def test_no_choice_costs_nothing():
    own_items = ItemsInRounds(1e-3, KEPT, BOUND)
    after = AfterChoice((GaussianStage(MU, on_weights=True),), own_items, 0.0)
    assert after.delta(0.5) == pytest.approx(after.chosen.delta(0.5), rel=1e-4)
    assert after.rho == pytest.approx(after.chosen.rho)


def test_it_is_at_least_what_was_chosen():
    after = AfterChoice((GaussianStage(MU),), None, 0.1)
    assert after.least_delta(0.5) <= after.chosen.delta(0.5) <= after.delta(0.5)
    assert after.rho >= 0.1**2 / 8 + MU**2 / 2


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-5), (1.0, 1e-6), (3.0, 1e-9), (1.0, 0.2)])
def test_noise_and_loss_use_up_delta(epsilon, delta):
    choice = epsilon / 60
    release = fitted_after_choice(SCHEDULE, epsilon=epsilon, delta=delta, bound=300, choice=choice)
    spent = after_choice(release, SCHEDULE, 300, choice).delta(epsilon)
    assert 0.995 * delta <= spent <= delta


@pytest.mark.parametrize("bound", [1, 3, 10, 100])
def test_a_smaller_bound_costs_no_more(bound):
    release = fitted_after_choice(SCHEDULE, epsilon=1.0, delta=1e-6, bound=100, choice=0.01)
    largest, smaller = (after_choice(release, SCHEDULE, most, 0.01) for most in (100, bound))
    assert smaller.delta(1.0) <= largest.delta(1.0) * (1 + 1e-12)


def test_stages_that_follow_are_fitted_within_what_is_left():
    release = fitted_after_choice(SCHEDULE, epsilon=0.7, delta=0.7e-6, bound=100, choice=0.01)
    before = after_choice(release, SCHEDULE, 100, 0.01)
    mu = largest_after(before, GaussianStage, epsilon=1.0, delta=1e-6)
    after = replace(before, stages=(*before.stages, GaussianStage(mu)))
    assert after.choice == 0.01
    assert mu > 0.1
    assert 0.9e-6 <= after.delta(1.0) <= 1e-6


def test_it_is_stored_and_read_again():
    after = after_choice(
        fitted_after_choice(SCHEDULE, epsilon=1.0, delta=1e-6, bound=100, choice=0.01),
        SCHEDULE,
        100,
        0.01,
    )
    cost = Composed(after, Gaussian(after.rho, after.lost), epsilon=1.0)
    again = cost_from(**stored(cost))
    assert again == cost
    assert again.delta(1.0) == cost.delta(1.0)


@pytest.mark.parametrize("choice", [-0.1, 1.5, math.nan])
def test_the_range_of_a_choice_is_small(choice):
    with pytest.raises(InputError):
        AfterChoice((GaussianStage(MU),), None, choice)
