"""Normal noise on a grid of losses, rounded so that no value gets too small, or too large."""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist.privacy._delta_curves import Floats, tail_above
from shortlist.privacy.accountant._loss_grid import LossGrid, Profile, Window

_PANELS = 8  # of the quadrature, at least, in a standard deviation
_ORDERS = 3, 4, 6, 10  # of quadratures, the first of which that is good enough is taken
_ERROR = 1e-11  # relative, of the quadrature and its sums; see the proof note
_PIECE = 8192  # masses, fewer than the 10,000 from which on NumPy uses threads
_LEAST_PART = 1e-9  # of a step; a Gaussian that is narrower is taken to be as wide
_LEAST = 1e-299  # a value that counts: products of less take processors a hundred times as long


class Masses(NamedTuple):
    """The distribution of a loss, moved to the nodes of a grid.

    Attributes:
        first: The node of the first mass.
        masses: The masses of this node and those that follow.
        beyond: The mass above all these nodes.
    """

    first: int
    masses: Floats
    beyond: float


def apply(grid: LossGrid, inner: Profile, mu: float, window: Window) -> Profile:
    """The mean of a value function where normal noise of sensitivity mu adds to the loss."""
    far = math.sqrt(-2 * math.log(grid.precision))
    law = (masses_above if grid.up else masses_below)(grid.step, mu, far)
    looked_up = Window(window.first + law.first, window.last + law.first + len(law.masses) - 1)
    known = grid.extended(inner, looked_up)
    known[np.abs(known) < _LEAST] = 0.0
    values = _correlated(known, law.masses)
    if grid.up:
        values += 2 * _LEAST  # more than what was left out
    return Profile(window.first, np.minimum(values + law.beyond, 1.0))


def _correlated(values: Floats, masses: Floats) -> Floats:
    # In pieces, as NumPy shares longer sums out among threads and waits for them.
    size = len(values) - len(masses) + 1
    total = np.zeros(size)
    for first in range(0, len(masses), _PIECE):
        piece = masses[first : first + _PIECE]
        total += np.correlate(values[first : first + len(piece) + size - 1], piece, "valid")
    return total


def masses_above(step: float, mu: float, far: float) -> Masses:
    """Masses with which no value gets too small: the ends of each cell share its mass.

    They share it so that the mean of exp(-loss) is kept, which is linear interpolation in R. Beyond
    `far` standard deviations, what is below counts as the lowest node, and what is above counts as
    certain to reach epsilon.
    """
    mu = max(mu, step * _LEAST_PART)
    parts = max(1, math.ceil(_PANELS * step / mu))
    width = step / parts
    first = math.floor((mu / 2 - far) * mu / width)
    last = math.ceil((mu / 2 + far) * mu / width)
    panels = np.arange(first, last)
    cells = panels // parts
    near, far_end = cell_masses(panels, panels % parts, parts, width, mu)
    masses = np.zeros(int(cells[-1] - cells[0]) + 2)
    np.add.at(masses, cells - cells[0], near)
    np.add.at(masses, cells - cells[0] + 1, far_end)
    masses *= 1 + _ERROR
    masses[1] += float(tail_above((mu / 2 - first * width / mu) * (1 - 1e-15)))
    beyond = float(tail_above((last * width / mu - mu / 2) * (1 - 1e-15)))
    return Masses(int(cells[0]), masses, beyond)


def cell_masses(
    panels: NDArray[np.int64], places: NDArray[np.int64], parts: int, width: float, mu: float
) -> tuple[Floats, Floats]:
    """The mass of each panel that goes to the lower end of its cell, and to the upper one.

    Panels are given by their numbers, counted in widths from 0, and by their places in their cells.
    """
    nodes, shares = _quadrature(width / mu, abs(int(panels[-1] - panels[0])) * width / mu)
    weights = _density((panels[:, None] + nodes) * width, mu) * shares * width
    inside = np.arange(parts)[:, None] + nodes
    whole = math.expm1(-parts * width)
    upper = np.expm1(-inside * width) / whole
    lower = np.exp(-inside * width) * np.expm1((inside - parts) * width) / whole
    return (weights * lower[places]).sum(axis=1), (weights * upper[places]).sum(axis=1)


def masses_below(step: float, mu: float, far: float) -> Masses:
    """Masses with which no value gets too large: each node gets the mass around it.

    The mean of exp(-loss) of that mass is not above the node's own, so that this follows from
    Jensen's inequality. The edges between the nodes are shifted for
    that; where it fails none the less, the mass goes to the node below. A Gaussian that is narrow
    for the grid is left out, which makes no value larger either.
    """
    if _PANELS * step > mu:
        return Masses(0, np.ones(1), 0.0)
    first = math.floor((mu / 2 - far) * mu / step)
    nodes = np.arange(first, math.ceil((mu / 2 + far) * mu / step) + 1)
    middles = (np.append(nodes, nodes[-1] + 1) - 0.5) * step
    shift = middles + 0.05 * (np.abs(middles) + mu**2 + mu)
    edges = middles + (step / mu) ** 2 / 12 * shift
    widths = np.diff(edges)
    inner, shares = _quadrature(2 * step / mu, 2 * far)
    places = edges[:-1, None] + inner * widths[:, None]
    weights = _density(places, mu) * shares * widths[:, None]
    masses = weights.sum(axis=1) * (1 - _ERROR)
    excess = (weights * np.expm1((nodes * step)[:, None] - places)).sum(axis=1)
    kept = excess < -_ERROR * step * masses
    result = np.where(kept, masses, 0.0)
    result[:-1] += np.where(kept, 0.0, masses)[1:]
    return Masses(int(nodes[0]), result, 0.0)


def _quadrature(width: float, length: float) -> tuple[Floats, Floats]:
    """Nodes in [0, 1] and their weights, good enough for panels of a normal density.

    Gauss and Legendre's rule of order n is off by (n!)⁴ / ((2n+1) (2n)!³) times the 2n-th
    derivative. Widths and lengths are in standard deviations; across a panel, that derivative is
    at most (width (length + sqrt(2n)))^2n times the density, and the density falls by at most
    exp(width length).
    """
    for order in _ORDERS:
        fall = math.exp(width * length)
        derivative = (width * (length + math.sqrt(2 * order))) ** (2 * order)
        factor = math.factorial(order) ** 4 / (2 * order + 1) / math.factorial(2 * order) ** 3
        if fall * derivative * factor < _ERROR / 8:
            break
    return _gauss_legendre(order)


@cache
def _gauss_legendre(order: int) -> tuple[Floats, Floats]:
    """Nodes in [0, 1] and their weights."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    return nodes / 2 + 0.5, weights / 2


def _density(losses: Floats, mu: float) -> Floats:
    # The loss of normal noise has the law N(mu²/2, mu²).
    standard = losses / mu - mu / 2
    density: Floats = np.exp(-standard * standard / 2) / (mu * math.sqrt(2 * math.pi))
    return density
