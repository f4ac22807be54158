"""The law of `Draws.order` on a few items, by Gauss-Legendre quadrature on panels."""

import itertools

import numpy as np
from scipy.special import log_ndtr

from shortlist.reals import UNIT

NODES = 16
PANELS = 240
REACH = 12  # standard deviations on either side


def order_law(scores, noises, at_least=None, k=None):
    """Probability of each tuple of positions that `order` can return, for at most about 5 items."""
    law = order_and_cell_law(scores, noises, at_least, k)
    return {positions: p for (positions, _), p in law.items()}


def order_and_cell_law(scores, noises, at_least=None, k=None, edges=()):
    """The same of positions with, for each, the number of `edges` that its value has passed."""
    n = len(scores)
    if n == 0:
        return {((), ()): 1.0}
    k = n if k is None else min(k, n)
    scores = np.asarray(scores) * UNIT
    floors = np.full(n, -np.inf) if at_least is None else np.asarray(at_least) * UNIT
    line = _Line(scores, noises, [*floors, *edges])
    passed = np.searchsorted(edges, line.x, side="right")
    density = [line.density(scores[i], noises, i) for i in range(n)]
    above = [d * (line.x >= floors[i]) for i, d in enumerate(density)]
    below = [line.cumulative(d * (line.x < floors[i])) for i, d in enumerate(density)]
    not_ahead = [line.cumulative(a) + b[-1] for a, b in zip(above, below, strict=True)]
    law = {}
    for size in range(k + 1):
        for chosen in itertools.permutations(range(n), size):
            rest = [j for j in range(n) if j not in chosen]
            falling = itertools.combinations_with_replacement(range(len(edges), -1, -1), size)
            for cells in falling:
                inside = [
                    above[i] * (passed == cell) for i, cell in zip(chosen, cells, strict=True)
                ]
                p = _probability(line, inside, rest, below, not_ahead, size == k)
                law[chosen, cells] = p
    return {outcome: p for outcome, p in law.items() if p > 0}


def _probability(line, chosen, rest, below, not_ahead, full):
    """Of: the chosen in this order, the rest below their floors, or just behind if it is full."""
    outside = 1.0 if full else np.prod([below[j][-1] for j in rest])
    inside = np.ones(len(line.x) + 1)
    if full:
        inside = np.prod([inside, *(not_ahead[j] for j in rest)], axis=0)
    for density in reversed(chosen):
        inside = line.cumulative(density * inside[:-1])
    return float(inside[-1] * outside)


class _Line:
    """Nodes on an interval that holds all the mass, with panels that break where densities do."""

    def __init__(self, scores, noises, floors):
        spread = REACH * np.sqrt(sum((noise.weight * noise.sd) ** 2 for noise in noises))
        breaks = [scores.min() - spread, scores.max() + spread]
        inside = [f for f in floors if breaks[0] < f < breaks[1]]
        if len(noises) == 1 and noises[0].bounds is not None:
            ends = scores + noises[0].weight * noises[0].bounds * UNIT
            breaks = [min(breaks[0], ends.min() - spread), max(breaks[1], ends.max() + spread)]
            inside += ends.tolist()
        edges = np.unique([*np.linspace(*breaks, PANELS + 1), *inside])
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        self._half = np.diff(edges)[:, None] / 2
        self._shape = len(edges) - 1, NODES
        self.x = (edges[:-1, None] + self._half * (nodes + 1)).ravel()
        # Integrals from a panel's start to its nodes, of polynomials known at the nodes; the last
        # row of each panel's block would be its whole integral.
        powers = np.polynomial.legendre.legvander(nodes, NODES - 1)
        primitives = [np.polynomial.legendre.legint(row, lbnd=-1) for row in np.eye(NODES)]
        at_nodes = np.array([np.polynomial.legendre.legval(nodes, p) for p in primitives]).T
        self._to_node = at_nodes @ np.linalg.inv(powers)
        self._weights = weights

    def cumulative(self, f):
        """Integrals of f from the left end to each node, and, as one more entry, of all of f."""
        panels = f[: len(self.x)].reshape(self._shape)
        whole = np.cumsum(panels @ self._weights * self._half[:, 0])
        before = np.concatenate([[0], whole[:-1]])
        return np.append(
            (before[:, None] + panels @ self._to_node.T * self._half).ravel(), whole[-1]
        )

    def density(self, score, noises, i):
        """Of score plus noise i, at the nodes.

        One normal, perhaps cut at a bound; or such a one plus a free one: given the sum, the first
        is normal again, so the sum's density is normal times the chance of the known side.
        """
        first, free = noises[0], noises[1:]
        variance = sum((noise.weight * noise.sd) ** 2 for noise in noises)
        z = (self.x - score) / np.sqrt(variance)
        log_density = -z * z / 2 - np.log(2 * np.pi * variance) / 2
        if first.bounds is None:
            return np.exp(log_density)
        bound, sign = first.bounds[i] * UNIT, 1 if first.above[i] else -1
        log_density -= log_ndtr(-sign * bound / first.sd)
        if not free:
            kept = sign * (self.x - score - first.weight * bound) >= 0
            return np.where(kept, np.exp(log_density), 0.0)
        slope = first.weight * first.sd**2 / variance
        left = first.sd * np.sqrt(sum((noise.weight * noise.sd) ** 2 for noise in free) / variance)
        return np.exp(log_density + log_ndtr(sign * (slope * (self.x - score) - bound) / left))
