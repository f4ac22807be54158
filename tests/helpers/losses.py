"""Losses between two laws in floats, and all small data sets: what the law tests share."""

import itertools
import math


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
