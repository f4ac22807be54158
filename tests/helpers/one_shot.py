"""One-shot noise on small counts, and its law."""

import itertools

import numpy as np

from shortlist.audit.exact.enumerator import law
from shortlist.evidence import PublicCounts
from shortlist.mechanisms import Adjacency, OneShotLaplace

EPSILON = 2.0
LOSS = 1e-7  # of the logarithm of a probability that is small itself
BOTH = [Adjacency.ADD_REMOVE, Adjacency.GENERAL]


def build(mechanism, k, neighbours=Adjacency.ADD_REMOVE, **given):
    return mechanism(**{"k": k, "epsilon": EPSILON, "neighbours": neighbours} | given)


def cells_law(mechanism, counts, edges, bound):
    """The law of (positions, cells of their scores)."""

    def run(draws):
        selection = mechanism.select(PublicCounts(np.array(counts), bound), draws)
        return tuple(selection.positions.tolist()), tuple(selection.scores)

    return law(run, edges)


def without_cells(law):
    return {positions: p for (positions, _), p in law.items()}


def changes(d, neighbours, bound=None):
    """All ways in which one user changes d counts; of two opposite ones, one."""
    bound = d if bound is None else bound
    if neighbours is Adjacency.ADD_REMOVE:
        ways = itertools.product((0, 1), repeat=d)
        return [way for way in ways if 0 < sum(way) <= bound]
    ways = itertools.product((-1, 0, 1), repeat=d)
    return [way for way in ways if way > (0,) * d and max(way.count(1), way.count(-1)) <= bound]


class QuietLaplace(OneShotLaplace):
    """Noise that is 30 % too small."""

    def _calibrated(self, *given):
        return 0.7 * super()._calibrated(*given)
