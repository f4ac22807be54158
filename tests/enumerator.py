"""An enumerator in the place of `Draws`: the exact output law of code as it runs.

`law(run)` calls `run(draws)` again and again. Each time a different branch is taken at the last
draw that still has one; when all branches of all draws were taken, the outcomes with their
probabilities are the output law. Nothing is sampled. `order`, whose noise is continuous, branches
over the orders it can return, with probabilities by quadrature.
"""

import dataclasses
import itertools
from collections import defaultdict

import numpy as np
from flint import ctx

from orders import order_and_cell_law
from shortlist.exact import Ordered
from shortlist.reals import UNIT, ExponentialWeights
from shortlist.slack import SlackClasses

NEGLIGIBLE = 1e-30


def law(run, edges=()):
    """The probability of each outcome of `run`, which must return something hashable.

    The values that `order` returns are the number of `edges` that the noisy value has passed.
    """
    outcomes = defaultdict(float)
    draws = Enumerator(edges=edges)
    while draws is not None:
        outcomes[run(draws)] += draws.probability
        draws = draws.next()
    return dict(outcomes)


class Enumerator:
    def __init__(self, script=(), edges=()):
        self._edges = edges
        self._script = list(script)  # for each draw so far, which of its branches to take
        self._open = []  # for each draw so far, how many branches it has
        self.probability = 1.0

    def next(self):
        """The enumerator of the next branch, or None after the last."""
        script = [*self._script, *[0] * (len(self._open) - len(self._script))]
        while script:
            script[-1] += 1
            if script[-1] < self._open[len(script) - 1]:
                return Enumerator(script, self._edges)
            script.pop()
        return None

    def _branch(self, options):
        """One of (value, probability); those of hardly any probability are no branch."""
        options = [option for option in options if option[1] > NEGLIGIBLE]
        depth = len(self._open)
        self._open.append(len(options))
        value, probability = options[self._script[depth] if depth < len(self._script) else 0]
        self.probability *= probability
        return value

    def coin(self, chances):
        heads = [_exactly(chances, i) for i in range(len(chances))]
        tosses = [self._branch([(True, p), (False, 1 - p)]) for p in heads]
        return np.array(tosses, np.bool_)

    def choice(self, weights):
        masses = [_exactly(weights, i) for i in range(len(weights))]
        return self._branch([(i, mass / sum(masses)) for i, mass in enumerate(masses)])

    def permute_and_flip(self, candidates):
        """By the integral over the arrival time of the first that is accepted, a polynomial."""
        if isinstance(candidates, ExponentialWeights):
            candidates = dataclasses.replace(candidates, at_most=np.inf)
        if isinstance(candidates, SlackClasses):
            candidates = candidates.every()
        chances = np.array([_exactly(candidates.chance(i), 0) for i in range(len(candidates))])
        weights = np.array([_exactly(candidates, i) for i in range(len(candidates))])
        sizes = np.round(weights * np.exp(candidates.shift) / chances)
        nodes, shares = np.polynomial.legendre.leggauss(int(sizes.sum()) // 2 + 1)
        y = (nodes + 1) / 2
        waiting = 1 - np.outer(chances, y)
        nobody = np.prod(waiting ** sizes[:, None], axis=0)
        masses = sizes * chances * (nobody / waiting @ (shares / 2))
        return self._branch(list(enumerate(masses)))

    def integer(self, bounds):
        draws = [self._branch([(i, 1 / bound) for i in range(bound)]) for bound in bounds.tolist()]
        return np.array(draws, np.int64)

    def order(self, scores, noises, *, digits, unit=UNIT, radius=None, at_least=None, k=None):
        edges = () if digits is None else self._edges
        options = _orders(scores, noises, at_least, k, edges, unit, radius)
        positions, cells = self._branch(options)
        return Ordered(np.array(positions, np.int64), np.array(cells, np.float64))


def _orders(scores, noises, at_least, k, edges, unit, radius, known={}):  # noqa: B006 - kept on
    told = [x for noise in noises for x in (type(noise), *vars(noise).values())]
    parts = [scores, *told, at_least, k, edges, unit, radius]
    key = tuple(tuple(x.tolist()) if isinstance(x, np.ndarray) else x for x in parts)
    if key not in known:
        law = order_and_cell_law(scores, noises, at_least, k, edges, unit=unit, radius=radius)
        known[key] = list(law.items())
    return known[key]


def _exactly(reals, i):
    with ctx.workprec(200):
        return float(reals.ball(i))


def neighbours(items, users):
    """All pairs of data sets (tuples of frozensets) that differ by the last user."""
    sets = [
        frozenset(s) for size in range(len(items) + 1) for s in itertools.combinations(items, size)
    ]
    for size in range(users):
        for data in itertools.combinations_with_replacement(sets[1:], size):
            for added in sets[1:]:
                yield data, (*data, added)


def hockey_stick(p, q, epsilon):
    """The largest P(E) - exp(epsilon) Q(E) over events E."""
    return sum(max(0.0, p[o] - np.exp(epsilon) * q.get(o, 0.0)) for o in p)


def largest_log_ratio(p, q):
    """The largest ln P(o) / Q(o) over outcomes o."""
    return max(np.log(p[o]) - (np.log(q[o]) if q.get(o, 0) > 0 else -np.inf) for o in p)
