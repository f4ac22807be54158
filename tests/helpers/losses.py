"""Losses between two laws in floats, and all small data sets: what the law tests share."""

import itertools
import math

import numpy as np


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
    factor, of_q = math.exp(epsilon), q.get
    return sum(over for o, chance in p.items() if (over := chance - factor * of_q(o, 0.0)) > 0)


def largest_log_ratio(p, q):
    """The largest ln P(o) / Q(o) over outcomes o."""
    if any(q.get(o, 0) <= 0 for o in p):
        return math.inf
    return math.log(max(chance / q[o] for o, chance in p.items()))


def worst_of_choice(mechanism, of_unit):
    """The largest delta over the chances of one unit on one of two neighbours, by brute force."""
    choice, cost = mechanism.choice_epsilon, mechanism._other.cost
    chances = 1 / (1 + np.exp(np.linspace(-12, 12, 25)))
    losses = np.log1p(chances * np.expm1(choice))
    of_other = np.array([cost.delta(mechanism.epsilon - loss) for loss in losses])
    return (chances * of_unit + (1 - chances) * np.maximum(of_other, mechanism.delta)).max()
