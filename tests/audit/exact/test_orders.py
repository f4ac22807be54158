"""The order of two noisy values has its closed form."""

import numpy as np
import pytest
from flint import arb, ctx

from shortlist.audit.exact._order_laws import order_law
from shortlist.draws import Order
from shortlist.draws.noise import Exponential, Laplace, Normal


@pytest.mark.parametrize("noise", [Laplace(0.7), Exponential(0.7), Normal(0.7)])
def test_the_order_of_two_has_its_closed_form(noise):
    gap = 1.5
    with ctx.workprec(200):
        unit = 2.0**-1
        found = order_law(Order(np.array([3, 0]), [noise], unit=unit))
        x = arb(gap) / arb(0.7)
        match noise:
            case Laplace():
                behind = (-x).exp() * (2 + x) / 4
            case Exponential():
                behind = (-x).exp() / 2
            case Normal():
                behind = (x / 2).erfc() / 2
        assert found[1, 0].overlaps(behind)
        assert abs(found[1, 0] - behind) < 1e-19
        assert sum(found.values(), arb(0)).overlaps(arb(1))
