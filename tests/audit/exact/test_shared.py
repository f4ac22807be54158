"""The law of values that share a draw, in balls, beside numerical integrals over that draw."""

import itertools
import math

import numpy as np
import pytest
from flint import arb, ctx
from scipy.integrate import quad

from helpers.exactness import ints
from shortlist.audit.exact._order_laws import order_and_cell_law
from shortlist.audit.exact.enumerator import law, law_in_balls
from shortlist.audit.samples._sampled_together import sample
from shortlist.audit.stand_ins import Unknown
from shortlist.bits import SeededBits
from shortlist.draws import Order
from shortlist.draws.noise import Laplace, Normal, Radius, UniformNoise

S, V = 1.1, 1.3
EDGES = (-0.5, 1.5)
SCORES = [(0,), (3,), (0, 0), (1, 0), (0, 2, 0)]


def normal_cdf(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def averaged(of_s, s):
    """The mean of a function of S."""

    def weighted(x):
        return of_s(x) * math.exp(-x * x / (2 * s * s)) / (s * math.sqrt(2 * math.pi))

    return quad(weighted, -12 * s, 12 * s, epsabs=1e-13, epsrel=1e-12, limit=300)[0]


def chance_of_cells(scores, cells, s, v):
    """Of each value in its cell."""
    ends = (-math.inf, *EDGES, math.inf)

    def given(x):
        return math.prod(
            normal_cdf((ends[cell + 1] - score - x) / v) - normal_cdf((ends[cell] - score - x) / v)
            for score, cell in zip(scores, cells, strict=True)
        )

    return averaged(given, s)


def found(scores, s=S, v=V, **how):
    asked = Order(ints(*scores), [Normal(v)], unit=1.0, shared=Normal(s), **how)
    return order_and_cell_law(asked, EDGES)


def by_item(law_of_orders):
    """The law of the cells, item by item."""
    told = {}
    with ctx.workprec(200):
        for (positions, cells), p in law_of_orders.items():
            key = tuple(cell for _, cell in sorted(zip(positions, cells, strict=True)))
            told[key] = told.get(key, arb(0)) + p
    return told


@pytest.mark.parametrize("scores", SCORES)
def test_cells_have_the_law_of_an_integral_over_what_they_share(scores):
    told = by_item(found(scores))
    assert all(told[cells].rad() < 1e-19 for cells in told)
    with ctx.workprec(200):
        total = sum(told.values(), arb(0))
        assert total.contains(1)
        assert total.rad() < 1e-18
    wrong = 0.0
    for cells in itertools.product(range(3), repeat=len(scores)):
        right = chance_of_cells(scores, cells, S, V)
        assert abs(float(told[cells]) - right) < 1e-11
        wrong = max(
            wrong,
            min(
                abs(float(told[cells]) - chance_of_cells(scores, cells, *off))
                for off in ((1.3 * S, V), (S, 1.3 * V))
            ),
        )
    assert wrong > 1e-3


@pytest.mark.parametrize(("s", "v"), [(0.05, 1.0), (4.0, 1.0), (1.0, 0.3)])
def test_parts_of_very_different_size(s, v):
    told = by_item(found((1, 0), s, v))
    for cells, p in told.items():
        assert abs(float(p) - chance_of_cells((1, 0), cells, s, v)) < 1e-11
    assert sum(told.values(), arb(0)).contains(1)


def test_one_value_has_the_law_of_the_sum_of_both_parts():
    with ctx.workprec(200):
        shared = found((0,))
        alone = order_and_cell_law(Order(ints(0), [Normal(V), Normal(S)], unit=1.0), EDGES)
        assert shared.keys() == alone.keys()
        assert all(shared[outcome].overlaps(alone[outcome]) for outcome in alone)


def test_the_order_inside_of_a_cell():
    told = found((0, 0))
    for (positions, cells), p in told.items():
        assert p.overlaps(told[positions[::-1], cells])
    # Of scores 1 and 0: the order's law is that without what is shared.
    told = found((1, 0))
    ahead = sum((p for (positions, _), p in told.items() if positions == (0, 1)), arb(0))
    assert abs(float(ahead) - normal_cdf(1 / (V * math.sqrt(2)))) < 1e-15


def test_laws_are_symmetric():
    # About the middle of both edges, 1/2, with scores 1 and 0.
    told = by_item(found((1, 0)))
    for (one, other), p in told.items():
        assert p.overlaps(told[2 - other, 2 - one])


@pytest.mark.parametrize("k", [None, 1])
def test_bounds_are_reached_together(k):
    scores, bounds = (1, 0), ints(1, 2)
    told = order_and_cell_law(
        Order(ints(*scores), [Normal(V)], at_least=bounds, k=k, unit=1.0, shared=Normal(S))
    )

    def nobody(x):
        return normal_cdf(-x / V) * normal_cdf((2 - x) / V)

    assert sum(told.values(), arb(0)).contains(1)
    assert abs(float(told[(), ()]) - averaged(nobody, S)) < 1e-12


def test_without_values_and_bounds_only_own_noise_counts():
    def order(draws, **how):
        return tuple(draws.order(Order(ints(1, 0), [Normal(V)], unit=1.0, **how)).positions)

    assert law(lambda draws: order(draws, shared=Laplace(1.0))) == law(order)


@pytest.mark.parametrize(
    ("noise", "how"),
    [
        (Laplace(1.0), {"shared": Normal(1.0)}),
        (Normal(1.0), {"shared": Laplace(1.0)}),
        (Normal(1.0, 1.0, ints(0), np.array([True])), {"shared": Normal(1.0)}),
        (UniformNoise(), {"shared": Normal(1.0), "radius": Radius(3, 1.0)}),
    ],
)
def test_where_no_law_is_known_it_says_so(noise, how):
    def run(draws):
        return tuple(draws.order(Order(ints(1), [noise], unit=1.0, digits=0, **how)).values)

    with pytest.raises(Unknown, match="exact audit cannot tell"):
        law_in_balls(run, EDGES)


def test_frequency_of_samples_that_share_runs():
    n, s = 20_000, Normal(S)

    def cells(draws):
        told = draws.order(Order(ints(1, 0), [Normal(V)], unit=1.0, digits=0, shared=s))
        values = np.asarray(getattr(told.values, "bare", told.values)).reshape(2, -1)
        passed = (values[..., None] > EDGES).sum(axis=-1).T
        return [(tuple(told.positions.tolist()), tuple(row)) for row in passed.tolist()]

    seen = sample(cells, n, SeededBits(7))

    def deviation(expected):
        return max(
            abs(seen[o] - n * float(p)) / math.sqrt(max(n * float(p) * (1 - float(p)), 1))
            for o, p in expected.items()
        )

    assert deviation(found((1, 0))) < 4.5
    assert deviation(found((1, 0), 1.3 * S)) > 4.5
    assert deviation(found((1, 0), S, 1.3 * V)) > 4.5
    anew = order_and_cell_law(Order(ints(1, 0), [Normal(V), Normal(S)], unit=1.0), EDGES)
    assert deviation(anew) > 4.5
