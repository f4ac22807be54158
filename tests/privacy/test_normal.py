"""Tails and quantiles of the normal distribution lie on their side of the true ones, closely."""

import numpy as np
import pytest
from flint import arb

from shortlist.privacy import _delta_curves
from shortlist.privacy._delta_curves import tail_above, tail_below, upper_quantiles

PLACES = np.linspace(-9, 36, 400)
CHANCES = 10.0 ** -np.linspace(0.01, 300, 300)


def tail(z):
    return float((arb(float(z)) / arb(2).sqrt()).erfc().mid()) / 2


def quantile(chance):
    return float((arb(2).sqrt() * (2 * arb(float(chance))).erfcinv()).mid())


def test_tails_are_bounded_on_either_side():
    exact = np.array([tail(z) for z in PLACES])
    above, below = tail_above(PLACES), tail_below(PLACES)
    assert np.all(above >= exact)
    assert np.all(below <= exact)
    assert np.all(above - below <= exact * 5e-12)


@pytest.mark.parametrize("off", [-9e-13, 9e-13])
def test_a_library_that_is_off_by_as_much_as_the_note_allows_is_bounded_too(off, monkeypatch):
    exact, of_library = np.array([tail(z) for z in PLACES]), _delta_curves._tail
    monkeypatch.setattr(_delta_curves, "_tail", lambda z: of_library(z) * (1 + off))
    assert np.all(tail_above(PLACES) >= exact)
    assert np.all(tail_below(PLACES) <= exact)


@pytest.mark.parametrize("bound", [tail_above, tail_below])
def test_tails_of_one_number_are_those_of_many(bound):
    assert [float(bound(z)) for z in PLACES] == pytest.approx(bound(PLACES).tolist(), rel=1e-15)
    assert bound(PLACES.reshape(4, -1)).ravel().tolist() == bound(PLACES).tolist()


def test_quantiles_are_above_the_true_ones():
    exact = np.array([quantile(chance) for chance in CHANCES])
    found = upper_quantiles(CHANCES)
    assert np.all(found >= exact)
    assert np.max(found - exact) < 1e-10
    assert upper_quantiles([0.0]) == np.inf
