"""The laws of top-k under Laplace, exponential and cubic noise, from their definitions.

Not by the code of the audit: the densities of the first two are integrated in closed form, in
floats, and uniform ones by counting the ways in which the items fall into cells between the ends of
their intervals.
"""

import itertools
import math
from functools import cache

import numpy as np

POWERS, RATES = 7, 15  # of x^p exp(q x), p < 7 and |q| <= 7: enough for 5 items
ZERO = RATES // 2


def exponential_law(scores, scale, k):
    """Probability of each k positions, best first, in exponential noise."""
    return {o: p for (o, _), p in laplace_law(scores, scale, k, sides=1).items()}


def laplace_law(scores, scale, k, edges=(), sides=2):
    """Probability of each (k positions, best first, with the number of edges below each value)."""
    scores = np.array(scores) / scale
    breaks = np.unique([*scores, *(np.array(edges) / scale)])
    n = len(scores)
    density = [_density(c, breaks, sides) for c in scores]
    ahead = [_distribution(c, breaks, sides) for c in scores]
    cell_of = np.searchsorted(np.array(edges) / scale, [breaks[0] - 1, *breaks], side="right")
    law, known = {}, {}

    def extend(picked, cells, function):
        # `function` of x: the chance that those picked so far come in that order, below x.
        if len(picked) == min(k, n):
            law[picked, cells] = _at_infinity(function)
            return
        for i in set(top) - set(picked):
            for cell in range(cells[0] if cells else 0, len(edges) + 1):
                told = (i, *picked), (cell, *cells)
                key = of_rest, tuple(scores[list(told[0])]), told[1]  # equal scores are alike
                if key not in known:
                    inside = density[i] * (cell_of == cell)[:, None, None]
                    known[key] = _integral(_times(inside, function), breaks)
                extend(*told, known[key])

    for top in itertools.combinations(range(n), min(k, n)):
        rest = set(range(n)) - set(top)
        of_rest = tuple(sorted(scores[list(rest)]))
        function = _one(breaks)
        for i in rest:
            function = _times(ahead[i], function)
        extend((), (), function)
    return law


# A function of x is a table [piece, p, q] of the coefficients of y^p exp(q y), y the distance to
# the piece's start: a break, but for the first piece the first break, which ends it.


def _one(breaks):
    table = np.zeros((len(breaks) + 1, POWERS, RATES))
    table[:, 0, ZERO] = 1
    return table


def _density(c, breaks, sides):
    """exp(-|x - c|) / 2, or exp(c - x) from c on."""
    table = _one(breaks) * 0
    for piece, start in enumerate([breaks[0], *breaks]):
        right = piece > 0 and start >= c
        height = math.exp(-abs(start - c)) / sides if right or sides == 2 else 0.0
        table[piece, 0, ZERO + (-1 if right else 1)] = height
    return table


def _distribution(c, breaks, sides):
    """The integral of the density: as exp(x - c) / 2, and 1 - exp(c - x) / 2 from c on."""
    table = _density(c, breaks, sides)
    right = np.array([False, *(breaks >= c)])
    table[right] *= -1
    table[right, 0, ZERO] += 1
    return table


def _times(simple, table):
    """The product with a function that has no powers of y and the rates -1, 0, 1 only."""
    result = simple[:, :1, ZERO, None] * table
    result[..., 1:] += simple[:, :1, ZERO + 1, None] * table[..., :-1]
    result[..., :-1] += simple[:, :1, ZERO - 1, None] * table[..., 1:]
    return result


@cache
def _antiderivatives():
    """[p, q, r]: the coefficient of y^r exp(q y) in an integral of y^p exp(q y)."""
    table = np.zeros((POWERS, RATES, POWERS))
    for p, index in itertools.product(range(POWERS - 1), range(RATES)):
        if (q := index - ZERO) == 0:
            table[p, index, p + 1] = 1 / (p + 1)
        else:
            for r in range(p + 1):
                sign = (-1) ** (p - r)
                size = math.factorial(p) / math.factorial(r)
                table[p, index, r] = sign * size / float(q) ** (p - r + 1)
    return table


def _integral(table, breaks):
    """From minus infinity to x."""
    result = np.einsum("spq,pqr->srq", table, _antiderivatives())
    whole = np.array([0.0, *np.diff(breaks)])
    powers = whole[:, None] ** np.arange(POWERS)
    rates = np.exp(np.outer(whole, np.arange(RATES) - ZERO))
    reached = result[0, 0].sum()  # at the first break; nothing at minus infinity
    for piece in range(1, len(result)):
        result[piece, 0, ZERO] += reached - result[piece, 0].sum()
        if piece < len(breaks):
            reached = powers[piece] @ result[piece] @ rates[piece]
    return result


def _at_infinity(table):
    return table[-1, 0, ZERO]


def cube_law(scores, scale, k):
    """Probability of each k positions, best first."""
    scores = np.array(scores, float)
    n = len(scores)
    radii, shares = _radii(n, scale)
    law, known = {}, {}  # items of equal score are alike
    for order in itertools.permutations(range(n)):
        top, in_order = order[: min(k, n)], scores[list(order)]
        if (key := tuple(in_order)) not in known:
            known[key] = float(shares @ _in_this_order(in_order, radii))
        law[top] = law.get(top, 0.0) + known[key]
    return law


def _radii(n, scale):
    """Nodes and weights of the integral over the radius, a sum of n + 1 exponentials.

    Scores are integers, so the law given the radius is smooth between multiples of 1/2.
    """
    nodes, weights = np.polynomial.legendre.leggauss(7)
    ends = np.arange(0, 2 * (50 * scale + 5)) / 2
    radii = (ends[:-1, None] + (nodes + 1) / 4).ravel()
    density = radii**n * np.exp(-radii / scale) / (math.factorial(n) * scale ** (n + 1))
    return radii, density * np.tile(weights / 4, len(ends) - 1)


def _in_this_order(scores, radii):
    """P(value 0 > value 1 > …), each uniform on its interval, for each radius.

    Between neighbouring ends of intervals each value is uniform; of m values in one such cell, each
    order has the chance 1/m!.
    """
    ends = [np.subtract.outer(scores, radii), np.add.outer(scores, radii)]
    ends = np.sort(np.concatenate(ends), axis=0)
    n = len(scores)
    chance = [1.0, *[0.0] * n]  # of the first j, in the cells so far
    for low, high in zip(ends[-2::-1], ends[:0:-1], strict=True):
        inside = (low + high) / 2
        share = (np.abs(inside - scores[:, None]) < radii) * (high - low) / (2 * radii)
        for j in range(n, 0, -1):
            product = 1.0
            for m in range(1, j + 1):
                product = product * share[j - m] / m
                chance[j] = chance[j] + chance[j - m] * product
    return chance[n]
