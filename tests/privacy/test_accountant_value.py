"""The accountant against slow twins, exact laws and closed forms; and where numbers are extreme."""

import itertools
import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

from helpers import accountant_twins as twins
from shortlist.errors import InputError
from shortlist.privacy._delta_curves import gaussian_delta, zcdp_delta
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    GaussianStage,
    PureStage,
    ThresholdDelta,
)

SMALL = [
    ((BoundedRange(0.25, 4),), 0.5),
    ((BoundedRange(0.25, 3),), 0.6),
    ((BoundedRange(0.125, 4),), 0.0),
    ((BoundedRange(1.0, 2),), 1.2),
    ((BoundedRange(3.0, 2),), 1.0),
    ((PureStage(0.25, 2), BoundedRange(0.5, 2)), 0.7),
    ((BoundedRange(0.5, 2), PureStage(0.25, 1)), 0.9),
    (
        (
            BoundedRange(0.25),
            EitherStage((BoundedRange(0.5),), (BoundedRange(0.25, 2), PureStage(0.25))),
        ),
        0.4,
    ),
    (
        (EitherStage((PureStage(0.5),), (BoundedRange(0.5, 2),)), BoundedRange(0.25)),
        0.6,
    ),
]


@pytest.mark.parametrize(("stages", "epsilon"), SMALL)
def test_the_truth_lies_between_both_bounds_and_they_are_close(stages, epsilon):
    composition = Composition(stages)
    upper, lower = composition.delta(epsilon), composition.least_delta(epsilon)
    fine = twins.value(stages, epsilon, 120)  # of fewer choices than there are: below the truth
    assert fine <= upper
    assert lower <= upper <= lower * 1.001
    assert fine <= upper <= fine * 1.003


@pytest.mark.parametrize(("stages", "epsilon"), SMALL)
@pytest.mark.parametrize("fineness", [0.002, 0.01, 0.05])
def test_coarse_grids_are_sound_as_well(stages, epsilon, fineness):
    composition = Composition(stages)
    fine = twins.value(stages, epsilon, 24)
    assert composition.delta(epsilon, fineness=fineness) >= fine
    assert composition.least_delta(epsilon, fineness=fineness) <= composition.delta(epsilon)


@pytest.mark.parametrize("delta", [1e-5, 1e-8])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("k", [1, 5, 20, 200])
def test_both_bounds_are_within_a_thousandth(k, epsilon, delta):
    low, high = epsilon / k, 3 * epsilon / math.sqrt(k)
    for _ in range(20):  # a range for which delta is about that
        middle = math.sqrt(low * high)
        within = Composition((BoundedRange(middle, k),)).delta(epsilon, fineness=0.1) <= delta
        low, high = (middle, high) if within else (low, middle)
    composition = Composition((BoundedRange(high, k),))
    upper, lower = composition.delta(epsilon), composition.least_delta(epsilon)
    assert upper == pytest.approx(delta, rel=0.2)
    assert lower <= upper <= lower * 1.001


def randomised_response(epsilon, times, at):
    """Its exact delta: the loss is that of a binomial number of true answers."""
    chance = 1 / (1 + math.exp(-epsilon))
    return sum(
        math.comb(times, true)
        * chance**true
        * (1 - chance) ** (times - true)
        * max(0.0, -math.expm1(at - (2 * true - times) * epsilon))
        for true in range(times + 1)
    )


@pytest.mark.parametrize(("epsilon", "times", "at"), [(0.1, 10, 0.5), (0.1, 100, 3), (2.0, 3, 4.5)])
def test_pure_stages_are_randomised_response(epsilon, times, at):
    delta = Composition((PureStage(epsilon, times),)).delta(at)
    truth = randomised_response(epsilon, times, at)
    assert truth * (1 - 1e-12) <= delta <= truth * 1.001


@pytest.mark.parametrize("k", [1, 2, 3])
def test_exponential_mechanisms_are_covered(k):
    """Concrete ones, on counts that one user raises by 0 or 1, picked one after another."""
    local, random = 0.4, np.random.default_rng(k)
    composition = Composition((BoundedRange(local, k),))
    for _ in range(20):
        counts = random.integers(0, 8, 4)
        more = counts + random.integers(0, 2, 4)
        left, right = (
            {
                order: math.prod(
                    math.exp(local * c[order[i]])
                    / sum(math.exp(local * c[j]) for j in range(4) if j not in order[:i])
                    for i in range(k)
                )
                for order in itertools.permutations(range(4), k)
            }
            for c in (counts, more)
        )
        for epsilon in (0.1, 0.3, 0.5):
            delta = composition.delta(epsilon) * (1 + 1e-12) + 1e-15
            assert twins.hockey_stick(left, right, epsilon) <= delta
            assert twins.hockey_stick(right, left, epsilon) <= delta


def test_one_stage_of_bounded_range_has_a_closed_form():
    for local, epsilon in ((1.0, 0.5), (0.1, 0.09999), (5.0, 0.0)):
        best = np.exp((local + epsilon) / 2)  # e^t at the best t
        chance = (np.exp(local) - best) / np.expm1(local)
        truth = chance * (1 - np.exp(epsilon) / best)
        delta = Composition((BoundedRange(local),)).delta(epsilon)
        assert truth * (1 - 1e-9) <= delta <= truth * (1 + 1e-6)


@pytest.mark.parametrize("mu", [1e-6, 0.03, 0.2, 1.0, 6.0])
def test_gaussians_alone_have_their_curve(mu):
    for epsilon in (0.0, mu * 3):
        parts = GaussianStage(0.6 * mu), GaussianStage(0.8 * mu)
        delta = Composition(parts).delta(epsilon)
        truth = float(twins.curve(epsilon, mu).mid())
        loose = 1e-6 + 1e-11 / mu  # where both terms of the curve nearly cancel
        assert truth <= delta <= truth * (1 + loose)
        assert delta == pytest.approx(gaussian_delta(mu**2 / 2, epsilon), rel=loose)


@pytest.mark.parametrize("mu", [0.03, 0.2, 1.0])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_gaussian_on_the_grid_keeps_the_curve(mu, share):
    """A branch whose first way is the worse one everywhere, behind a Gaussian: the same curve."""
    first, second = mu * math.sqrt(share), mu * math.sqrt(1 - share)
    branch = EitherStage((GaussianStage(second),), (GaussianStage(second / 2),))
    composition = Composition((GaussianStage(first), branch))
    for epsilon in (mu / 2, mu * 4):
        truth = float(twins.curve(epsilon, mu).mid())
        upper, lower = composition.delta(epsilon), composition.least_delta(epsilon)
        assert lower <= truth <= upper <= lower * 1.001


def test_a_gaussian_after_a_range_is_a_mixture():
    """With the Gaussian last, t is chosen once: a dense scan over it, by the closed curve."""
    local, mu, epsilon = 0.3, 0.2, 0.8
    truth = max(
        chance * float(twins.curve(epsilon - t, mu).mid())
        + (1 - chance) * float(twins.curve(epsilon - t + local, mu).mid())
        for t in np.linspace(0, local, 400)
        for chance in [math.expm1(t - local) / math.expm1(-local)]
    )
    composition = Composition((BoundedRange(local), GaussianStage(mu)))
    assert truth <= composition.delta(epsilon) <= truth * 1.001
    assert composition.least_delta(epsilon) <= truth * (1 + 1e-9)


def test_picks_of_many_ranges_do_not_pay_for_each_others_grid():
    """Behind a Gaussian, the worst of several ways whose ranges are no multiples of each other."""
    worst, noise = (BoundedRange(0.0884, 20),), GaussianStage(0.13)
    ways = worst
    for local in (0.0713, 0.0547, 0.0391):
        ways = (EitherStage(ways, (BoundedRange(local, 20),)),)
    alone, whole = Composition((noise, *worst)), Composition((noise, *ways))
    assert alone.least_delta(1.0) <= whole.delta(1.0) <= alone.least_delta(1.0) * 1.001
    for other, times in ((0.0371, 30), (0.0271, 50)):  # whose grid is finer, and taken for all
        stages = PureStage(other, times), BoundedRange(0.0884, 20)
        upper, lower = (bound(1.5) for bound in both_bounds(stages))
        assert lower <= upper <= lower * 1.01


def both_bounds(stages):
    composition = Composition(stages)
    return composition.delta, composition.least_delta


def test_a_branch_costs_at_least_either_way():
    first, second = (BoundedRange(0.9),), (BoundedRange(0.1, 20),)
    both = Composition((PureStage(0.1), EitherStage(first, second)))
    for epsilon in (0.5, 0.9, 1.2):
        alone = [
            Composition((PureStage(0.1), *way)).least_delta(epsilon) for way in (first, second)
        ]
        assert both.delta(epsilon) >= max(alone)


def test_a_way_that_is_pure_within_epsilon_adds_nothing():
    picks = (BoundedRange(0.09, 20),)
    both = Composition((PureStage(0.05), EitherStage((BoundedRange(0.95),), picks)))
    alone = Composition((PureStage(0.05), *picks))
    assert both.delta(1.0) == pytest.approx(alone.delta(1.0), rel=1e-9)
    assert both.delta(0.99) > alone.delta(0.99) * 1.001


def test_delta_falls_with_epsilon_and_grows_with_everything_else():
    def bounds(*stages, epsilon=0.8):
        composition = Composition(stages)
        return composition.least_delta(epsilon), composition.delta(epsilon)

    chains = [
        [bounds(BoundedRange(0.1, 20), epsilon=e) for e in (1.2, 1.0, 0.8, 0.5, 0.1, 0.0)],
        [bounds(BoundedRange(0.1, k)) for k in (9, 10, 20, 50, 200)],
        [bounds(BoundedRange(local, 20)) for local in (0.05, 0.07, 0.1, 0.3)],
        [bounds(GaussianStage(mu), BoundedRange(0.1, 20)) for mu in (0.01, 0.1, 0.2, 1.0)],
        [bounds(*[BoundedRange(0.1, 20), PureStage(0.1)][:n]) for n in (1, 2)],
    ]
    for chain in chains:
        for (_, below), (above, _) in itertools.pairwise(chain):
            assert below < above


def test_pure_guarantees_have_no_delta():
    assert Composition((BoundedRange(0.1, 10),)).delta(1.0) > 0  # 0.1 is a float above 1/10
    assert Composition((BoundedRange(0.125, 8),)).delta(1.0) == 0
    assert Composition((BoundedRange(0.125, 8),), ThresholdDelta(1e-6)).delta(1.0) == pytest.approx(
        1e-6
    )
    assert Composition((GaussianStage(0.1),)).delta(40.0) > 0
    assert Composition(()).delta(0.0) == 0


def test_mass_that_is_lost_adds_up():
    picks = (BoundedRange(0.1, 20),)
    delta = Composition(picks).delta(0.8)
    assert Composition(picks, ThresholdDelta(1e-3)).delta(0.8) == pytest.approx(
        1e-3 + delta, rel=1e-12
    )


EXTREME = [
    ((BoundedRange(1e-9, 20),), 1e-8),
    ((BoundedRange(50.0, 3),), 100.0),
    ((BoundedRange(10.0, 20),), 100.0),
    ((BoundedRange(60.0, 2),), 100.0),
    ((BoundedRange(300.0),), 299.0),
    ((BoundedRange(0.01, 2000),), 1.0),
    ((BoundedRange(0.01, 6000),), 1.0),
    ((BoundedRange(0.05, 200),), 3.0),
    ((BoundedRange(0.05, 20),), 0.95),
    ((BoundedRange(0.05, 20),), 0.999),
    ((BoundedRange(1.0, 100),), 0.0),
    ((GaussianStage(1e-9), BoundedRange(0.1, 20)), 1.0),
    ((GaussianStage(10.0), BoundedRange(0.1, 20)), 1.0),
    ((GaussianStage(1000.0), BoundedRange(0.1, 20)), 1.0),
    ((GaussianStage(1e-3), BoundedRange(1e-9, 20)), 0.01),
    ((GaussianStage(1.0), BoundedRange(1e-6, 500)), 5.0),
    ((BoundedRange(0.1, 20), GaussianStage(1e-9)), 1.0),
    ((GaussianStage(1e-8),), 1e-7),
    ((GaussianStage(1e6),), 1.0),
    ((GaussianStage(0.01),), 1.0),
    ((GaussianStage(1e-3), BoundedRange(1e-9, 20)), 100.0),
    ((GaussianStage(0.1), BoundedRange(0.05, 20)), 1e6),
    ((PureStage(100.0),), 99.0),
    ((PureStage(1e-6, 100),), 3e-5),
    ((BoundedRange(0.1, 3), PureStage(0.05, 2), BoundedRange(0.01, 30)), 0.4),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("stages", "epsilon"), EXTREME)
def test_extreme_parameters_give_a_sound_number(stages, epsilon):
    composition = Composition(stages)
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        upper, lower = composition.delta(epsilon), composition.least_delta(epsilon)
    assert 0 <= lower <= upper <= 1
    assert 0 < upper <= zcdp_delta(composition.rho, epsilon) * (1 + 1e-12)


def test_tiny_deltas_stay_accurate():
    composition = Composition((BoundedRange(0.05, 200),))
    upper, lower = composition.delta(3.1), composition.least_delta(3.1)
    assert upper < 1e-18
    assert upper <= lower * 1.01


@pytest.mark.parametrize("epsilon", [-1.0, math.nan, math.inf])
def test_an_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(InputError, match="must be at least 0"):
        Composition((BoundedRange(0.1),)).delta(epsilon)


def test_beyond_a_few_thousand_picks_zcdp_is_used():
    assert Composition((BoundedRange(0.01, 5000),)).is_feasible
    many = Composition((BoundedRange(0.01, 5001),))
    assert not many.is_feasible
    assert many.rho >= 5001 * Fraction(0.01) ** 2 / 8
    assert many.delta(1.0) == pytest.approx(zcdp_delta(many.rho, 1.0), rel=1e-12)
