"""An enumerator in the place of `Draws`: the exact output law of code as it runs.

`law(run)` calls `run(draws)` again and again. Each time a different branch is taken at the last
draw that still has one; when all branches of all draws were taken, the outcomes with their
probabilities are the output law. Nothing is sampled. `order`, whose noise is continuous, branches
over the orders it can return, with probabilities by quadrature.
"""

import itertools
from collections import defaultdict

import numpy as np
from flint import ctx

from orders import order_and_cell_law
from shortlist.exact import Ordered


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
        """One of (value, probability); those of probability 0 are no branch."""
        options = [option for option in options if option[1] > 0]
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

    def integer(self, bounds):
        draws = [self._branch([(i, 1 / bound) for i in range(bound)]) for bound in bounds.tolist()]
        return np.array(draws, np.int64)

    def order(self, scores, noises, *, digits, at_least=None, k=None):  # noqa: ARG002 - see `law`
        positions, cells = self._branch(_orders(scores, noises, at_least, k, self._edges))
        return Ordered(np.array(positions, np.int64), np.array(cells, np.float64))


def _orders(scores, noises, at_least, k, edges, known={}):  # noqa: B006 - kept between replays
    parts = [scores, *(x for noise in noises for x in vars(noise).values()), at_least, k, edges]
    key = tuple(tuple(x.tolist()) if isinstance(x, np.ndarray) else x for x in parts)
    if key not in known:
        known[key] = list(order_and_cell_law(scores, noises, at_least, k, edges).items())
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
