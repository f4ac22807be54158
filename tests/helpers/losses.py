"""Losses between two laws in floats, and all small data sets: what the law tests share."""

import itertools

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
    return sum(max(0.0, p[o] - np.exp(epsilon) * q.get(o, 0.0)) for o in p)


def largest_log_ratio(p, q):
    """The largest ln P(o) / Q(o) over outcomes o."""
    return max(np.log(p[o]) - (np.log(q[o]) if q.get(o, 0) > 0 else -np.inf) for o in p)
