"""The law of `Draws.order` on a few items, by Gauss-Legendre quadrature on panels.

Panels break where a density does. Where all noise is stretched by a random radius, there is one
line of panels for each of the radii over which is integrated in turn.
"""

import itertools
from functools import cache

import numpy as np
from scipy.special import gammaln, log_ndtr

from shortlist.noise import Exponential, Given, Gumbel, Laplace, Normal, UniformNoise
from shortlist.reals import UNIT

NODES = 16
PANELS = 240
REACH = 12  # standard deviations of normal noise on either side
LAPLACE_REACH = 40  # scales of Laplace noise
REACHES = {Laplace: (-40, 40), Exponential: (0, 40), Gumbel: (-5, 40)}  # scales
QUANTILES = {
    Laplace: lambda u: np.where(u < 1 / 2, np.log(2 * u), -np.log(2 * (1 - u))),
    Exponential: lambda u: -np.log1p(-u),
    Gumbel: lambda u: -np.log(-np.log(u)),
}
DENSITIES = {
    Laplace: lambda z: np.exp(-np.abs(z)) / 2,
    Exponential: lambda z: np.exp(-np.maximum(z, 0)),
    Gumbel: lambda z: np.exp(-np.maximum(z, -6) - np.exp(-np.maximum(z, -6))),
}


def order_law(scores, noises, at_least=None, k=None, **scale):
    """Probability of each tuple of positions that `order` can return, for at most about 5 items."""
    law = order_and_cell_law(scores, noises, at_least, k, **scale)
    return {positions: p for (positions, _), p in law.items()}


def order_and_cell_law(scores, noises, at_least=None, k=None, edges=(), *, unit=UNIT, radius=None):
    """The same of positions with, for each, the number of `edges` that its value has passed."""
    n = len(scores)
    if n == 0:
        return {((), ()): 1.0}
    k = n if k is None else min(k, n)
    scores = np.asarray(scores)
    if at_least is None and not edges:  # then differences decide, which are exact
        scores = scores - min(scores)
    scores = scores * unit
    floors = np.full(n, -np.inf) if at_least is None else np.asarray(at_least) * unit
    line = _line(scores, noises, [*floors, *edges], radius)
    passed = np.searchsorted(edges, line.x, side="right")
    density = [line.density(scores[i], noises, i) for i in range(n)]
    above = [d * (line.x >= floors[i]) for i, d in enumerate(density)]
    below = [line.cumulative(d * (line.x < floors[i])) for i, d in enumerate(density)]
    not_ahead = [line.cumulative(a) + b[..., -1:] for a, b in zip(above, below, strict=True)]
    law, known = {}, {}
    kinds = _kinds(scores, noises, floors)
    for size in range(k + 1) if at_least is not None else [k]:
        for chosen in itertools.permutations(range(n), size):
            rest = [j for j in range(n) if j not in chosen]
            falling = itertools.combinations_with_replacement(range(len(edges), -1, -1), size)
            for cells in falling:
                key = tuple(kinds[i] for i in chosen), cells
                if key not in known:
                    inside = [
                        above[i] * (passed == cell) if edges else above[i]
                        for i, cell in zip(chosen, cells, strict=True)
                    ]
                    known[key] = _probability(line, inside, rest, below, not_ahead, size == k)
                law[chosen, cells] = known[key]
    return {outcome: p for outcome, p in law.items() if p > 0}


def _kinds(scores, noises, floors):
    """A number for each item, the same for items whose values have the same law."""
    told = [
        (
            *(scores[i], floors[i]),
            *((n.bounds[i], n.above[i]) for n in noises if _is_cut(n)),
            *(n.leading[i] for n in noises if isinstance(n, Given)),
        )
        for i in range(len(scores))
    ]
    return [told.index(x) for x in told]


def _is_cut(noise):
    return isinstance(noise, Normal) and noise.bounds is not None


def _probability(line, chosen, rest, below, not_ahead, full):
    """Of: the chosen in this order, the rest below their floors, or just behind if it is full."""
    outside = 1.0 if full else np.prod([below[j][..., -1] for j in rest], axis=0)
    inside = np.ones((*line.x.shape[:-1], line.x.shape[-1] + 1))
    if full:
        inside = np.prod([inside, *(not_ahead[j] for j in rest)], axis=0)
    for density in reversed(chosen):
        inside = line.cumulative(density * inside[..., :-1])
    return float(np.sum(line.shares * inside[..., -1] * outside))


def _line(scores, noises, floors, radius):
    kinds = {type(noise) for noise in noises}
    if radius is not None:
        assert kinds == {UniformNoise}
        return _CubeLine(scores, floors, radius)
    if kinds <= {Given, Gumbel, Exponential}:
        return _CellLine(scores, noises, floors)
    return (
        _LaplaceLine(scores, noises, floors)
        if kinds == {Laplace}
        else _NormalLine(scores, noises, floors)
    )


@cache
def _rule(n_nodes):
    """Nodes and weights on [-1, 1], and the matrix of integrals from the start to each node."""
    nodes, weights = np.polynomial.legendre.leggauss(n_nodes)
    powers = np.polynomial.legendre.legvander(nodes, n_nodes - 1)
    primitives = [np.polynomial.legendre.legint(row, lbnd=-1) for row in np.eye(n_nodes)]
    at_nodes = np.array([np.polynomial.legendre.legval(nodes, p) for p in primitives]).T
    return nodes, weights, at_nodes @ np.linalg.inv(powers)


class _Line:
    """Nodes on an interval that holds all the mass, with panels that break where densities do."""

    shares = 1.0

    def __init__(self, edges, n_nodes):
        nodes, self._weights, self._to_node = _rule(n_nodes)
        self._half = np.diff(edges, axis=-1)[..., None] / 2
        self._shape = (*self._half.shape[:-1], n_nodes)
        x = edges[..., :-1, None] + self._half * (nodes + 1)
        self.x = x.reshape(*x.shape[:-2], -1)

    def cumulative(self, f):
        """Integrals of f from the left end to each node, and, as one more entry, of all of f."""
        panels = f[..., : self.x.shape[-1]].reshape(self._shape)
        whole = np.cumsum(panels @ self._weights * self._half[..., 0], axis=-1)
        inside = panels @ self._to_node.T * self._half
        inside[..., 1:, :] += whole[..., :-1, None]
        return np.concatenate([inside.reshape(self.x.shape), whole[..., -1:]], axis=-1)


class _NormalLine(_Line):
    """One normal noise, perhaps cut at a bound; or such a one plus a free one."""

    def __init__(self, scores, noises, floors):
        spread = REACH * np.sqrt(sum((noise.weight * noise.sd) ** 2 for noise in noises))
        breaks = [scores.min() - spread, scores.max() + spread]
        inside = [f for f in floors if breaks[0] < f < breaks[1]]
        if len(noises) == 1 and noises[0].bounds is not None:
            ends = scores + noises[0].weight * noises[0].bounds * UNIT
            breaks = [min(breaks[0], ends.min() - spread), max(breaks[1], ends.max() + spread)]
            inside += ends.tolist()
        super().__init__(np.unique([*np.linspace(*breaks, PANELS + 1), *inside]), NODES)

    def density(self, score, noises, i):
        """Of score plus noise i, at the nodes.

        Given the sum of a cut normal and a free one, the first is normal again, so the sum's
        density is normal times the chance of the known side.
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


class _LaplaceLine(_Line):
    """One Laplace noise, whose densities have their kinks at the scores; panels of one scale."""

    def __init__(self, scores, noises, floors):
        (noise,) = noises
        low, high = scores.min(), scores.max()
        ends = low - LAPLACE_REACH * noise.scale, high + LAPLACE_REACH * noise.scale
        panels = np.linspace(*ends, int(np.ptp(ends) / noise.scale) + 2)
        inside = [f for f in floors if ends[0] < f < ends[1]]
        super().__init__(np.unique([*panels, *scores, *inside]), NODES)

    def density(self, score, noises, _):
        """Of score plus noise, at the nodes."""
        scale = noises[0].scale
        return np.exp(-np.abs(self.x - score) / scale) / (2 * scale)


class _CellLine(_Line):
    """One noise, perhaps with leading bits that are known; panels of one scale."""

    def __init__(self, scores, noises, floors):
        (noise,) = noises
        cells, n_cells = np.zeros(len(scores), int), 1
        if isinstance(noise, Given):
            noise, cells, n_cells = noise.noise, noise.leading, 2**noise.bits
        self._kind, self._scale, self._n_cells = type(noise), noise.scale, n_cells
        with np.errstate(divide="ignore"):
            ends = [QUANTILES[self._kind](c / n_cells) for c in (cells, cells + 1)]
        self._ends = [scores + self._scale * np.clip(e, *REACHES[self._kind]) for e in ends]
        low, high = self._ends[0].min(), self._ends[1].max()
        panels = np.linspace(low, high, int((high - low) / self._scale) + 2)
        inside = [x for x in [*scores, *floors, *np.ravel(self._ends)] if low < x < high]
        super().__init__(np.unique([*panels, *inside]), NODES)

    def density(self, score, _, i):
        """Of score plus noise i, at the nodes."""
        z = (self.x - score) / self._scale
        known = (self.x >= self._ends[0][i]) & (self.x <= self._ends[1][i])
        return DENSITIES[self._kind](z) / self._scale * self._n_cells * known


class _CubeLine(_Line):
    """Uniform noise times a Gamma radius, for each of the radii with their shares of the integral.

    Between the halves of the scores' gaps, the law given the radius r is a polynomial of 1/r of
    degree n at most, which the Gamma density makes a polynomial of r times an exponential.
    """

    def __init__(self, scores, floors, radius):
        assert all(np.isinf(floors)), "no floors or cells are told with this noise"
        gaps = np.unique(np.abs(np.subtract.outer(scores, scores)) / 2)
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        half = np.diff(gaps)[:, None] / 2
        tail, tail_weights = np.polynomial.laguerre.laggauss(NODES)
        radii = [*(gaps[:-1, None] + half * (nodes + 1)).ravel(), *(gaps[-1] + radius.scale * tail)]
        steps = [*(half * weights).ravel(), *(radius.scale * tail_weights * np.exp(tail))]
        self._radii = np.array(radii)[:, None]
        t = self._radii[:, 0] / radius.scale
        density = np.exp((radius.shape - 1) * np.log(t) - t - gammaln(radius.shape)) / radius.scale
        self.shares = density * steps
        edges = np.sort(np.hstack([scores - self._radii, scores + self._radii]))
        super().__init__(edges, len(scores) // 2 + 4)

    def density(self, score, *_):
        """Of score plus radius times noise, at the nodes."""
        return (np.abs(self.x - score) <= self._radii) / (2 * self._radii)
