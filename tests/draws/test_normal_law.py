"""Φ and its inverse, beside balls, for few values and for many."""

import numpy as np
import pytest
from flint import arb, ctx

from shortlist.draws import normal_law
from shortlist.draws.normal_law import normal_chances, normal_quantiles

N = 400
RNG = np.random.default_rng(5)
CHANCES = np.concatenate([2.0 ** -(RNG.random(N) * 1000), 0.5 - 2.0 ** -(1 + RNG.random(N) * 50)])
VALUES = np.concatenate([RNG.normal(size=N), RNG.uniform(-32, 8, N), [0.0]])


@pytest.fixture(params=[True, False], ids=["few", "many"])
def _as_few_or_many(request, monkeypatch):
    monkeypatch.setattr(normal_law, "_FEW", len(VALUES) if request.param else 0)
    with ctx.workprec(200):
        yield


@pytest.mark.usefixtures("_as_few_or_many")
def test_quantiles_are_within_their_error():
    for chance, found in zip(CHANCES.tolist(), normal_quantiles(CHANCES).tolist(), strict=True):
        exact = -arb(2).sqrt() * (2 * arb(chance)).erfcinv()
        assert abs(arb(found) - exact) < 2.0**-49 * (1 + abs(exact))


@pytest.mark.usefixtures("_as_few_or_many")
def test_chances_are_within_their_error():
    for value, found in zip(VALUES.tolist(), normal_chances(VALUES).tolist(), strict=True):
        exact = (-arb(value) / arb(2).sqrt()).erfc() / 2
        moved = (abs(arb(value)) * (abs(arb(value)) + 1) + 1) * 2.0**-49
        assert abs(arb(found) - exact) < moved * exact


@pytest.mark.usefixtures("_as_few_or_many")
def test_the_ends_are_infinite():
    assert normal_quantiles(np.array([0.0, 0.5, 1.0])).tolist() == [-np.inf, 0.0, np.inf]
    assert normal_chances(np.array([-np.inf, 0.0, np.inf])).tolist() == [0.0, 0.5, 1.0]
