"""Picks as normal noise: no epsilon at which they cost more, and too little noise is seen."""

import math

import numpy as np
import pytest

from shortlist.privacy._delta_curves import gaussian_delta, zcdp_delta
from shortlist.privacy.accountant import BoundedRange, Composition
from shortlist.privacy.accountant import picks_as_noise as module
from shortlist.privacy.accountant.picks_as_noise import normal_noise_above, picks_below

EPSILONS = [0.0, 1e-3, *np.linspace(0.05, 9, 14)]  # in standard deviations
KINDS = pytest.mark.parametrize(
    ("times", "mu"), [(1, 0.3), (2, 0.3), (3, 2.0), (7, 0.05), (20, 0.3), (20, 1.0), (60, 0.3)]
)


def excess(local_epsilon, times, mu, bound):
    """How much more picks cost than noise, at most over all epsilons, relatively."""
    picks = Composition((BoundedRange(local_epsilon, times),))
    costs = ((bound(picks, z * mu), gaussian_delta(mu**2 / 2, z * mu)) for z in EPSILONS)
    return max(picked / noise for picked, noise in costs) - 1


@KINDS
def test_picks_cost_no_more_than_noise_at_any_epsilon(times, mu):
    local_epsilon = picks_below(mu, times)
    assert excess(local_epsilon, times, mu, Composition.delta) <= 1e-3  # of its own rounding
    assert excess(local_epsilon, times, mu, Composition.least_delta) <= 0


@KINDS
def test_as_much_zcdp_is_too_little_noise(times, mu):
    local_epsilon = 2 * mu / math.sqrt(times)
    assert excess(local_epsilon, times, mu, Composition.least_delta) > 0.005


def test_one_pick_needs_the_noise_that_theory_says():
    # Two laws, e^-t apart, of total variation tanh(epsilon / 4); that of noise is 2Φ(mu/2) - 1.
    for epsilon in (0.1, 1.0):
        needed = normal_noise_above(BoundedRange(epsilon))
        variation = math.tanh(epsilon / 4)
        assert variation <= math.erf(needed / math.sqrt(8)) <= 1.01 * variation


def test_where_no_grid_reaches_picks_are_taken_as_pure():
    for mu, times in ((0.1, 10**6), (1e3, 1)):
        local_epsilon, share = picks_below(mu, times), mu / math.sqrt(times)
        assert 0 < local_epsilon < 2 * share
        response = math.tanh(local_epsilon / 2)
        assert response <= math.erf(share / math.sqrt(8)) <= 1


@pytest.mark.parametrize(("times", "local_epsilon"), [(2000, 0.01), (4000, 1e-5), (900, 0.1)])
def test_noise_for_what_is_far_in_the_tail_is_by_zcdp(monkeypatch, times, local_epsilon):
    """From where values are not compared any more, the conversion of zCDP is below the noise."""
    picks = BoundedRange(local_epsilon, times)
    least = math.sqrt(times) * local_epsilon / 2
    far = module._far(picks, least)
    rho = least**2 / 2
    for z in np.linspace(far, 36, 9):
        noise = gaussian_delta(1.01**2 * rho, rho + z * least)
        assert 0 < zcdp_delta(rho, rho + z * least) <= noise
    monkeypatch.setattr(module, "_LEAST", 1.0)
    assert module._far(picks, least) == math.inf  # as much zCDP never covers it
