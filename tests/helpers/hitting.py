"""Hitting sets: small data, and the law of picks by their definition."""

import itertools
import math

import numpy as np

from shortlist.audit.exact.enumerator import law
from shortlist.evidence.contributions import Contributions


def contributions(data, n_items):
    rows = [(user, item) for user, items in enumerate(data) for item in sorted(items)]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    return Contributions.of_rows(users, items, n_users=len(data), n_items=n_items)


def positions_law(mechanism, data, n_items=3):
    held = contributions(data, n_items)
    return law(lambda draws: tuple(mechanism.select(held, draws).positions.tolist()))


def picks_oracle(data, domain, k, epsilon, worth=None):
    """Each ordered tuple by the definition: count anew, weigh, pick, leave out."""
    worth = worth or dict.fromkeys(domain, 1)
    outcomes = {}
    for picked in itertools.permutations(domain, min(k, len(domain))):
        p, left = 1.0, list(domain)
        for place, item in enumerate(picked):
            waiting = [held for held in data if not held & set(picked[:place])]
            counts = [sum(x in held for held in waiting) for x in left]
            weights = [worth[x] * math.exp(epsilon * n) for x, n in zip(left, counts, strict=True)]
            p *= weights[left.index(item)] / sum(weights)
            left.remove(item)
        outcomes[picked] = p
    return outcomes
