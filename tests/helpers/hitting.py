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


def picks_oracle(data, domain, k, epsilon, weights=None, power_at_first=3.0):
    """Each ordered tuple by the definition: count anew, weigh, pick, leave out."""
    logs = {x: math.log((weights or {}).get(x, 1)) for x in domain}
    outcomes = {}
    for picked in itertools.permutations(domain, min(k, len(domain))):
        p, left, power = 1.0, list(domain), power_at_first
        for place, item in enumerate(picked):
            waiting = [held for held in data if not held & set(picked[:place])]
            counts = {x: sum(x in held for held in waiting) for x in left}
            public = {x: math.exp(power * logs[x]) for x in left}
            odds = {x: public[x] * math.exp(epsilon * counts[x]) for x in left}
            p *= odds[item] / sum(odds.values())
            expected = sum(public[x] * logs[x] for x in left) / sum(public.values())
            power = min(max(power + 0.3 * (logs[item] - expected), 0), 4)
            left.remove(item)
        outcomes[picked] = p
    return outcomes
