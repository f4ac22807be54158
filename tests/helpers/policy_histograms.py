"""Histograms of small data under a policy."""

import itertools

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from shortlist.algorithms.policies import count_units
from shortlist.evidence.contributions import Contributions

fixed = settings(derandomize=True, deadline=None, max_examples=100)
N_ITEMS = 6
SETS = st.lists(st.sets(st.integers(0, N_ITEMS - 1)).map(sorted), min_size=1, max_size=40)


def contributions(data, n_items=N_ITEMS):
    """The users' sets; the items of each in the order given."""
    rows = [(user, item) for user, items in enumerate(data) for item in items]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    return Contributions.of_rows(users, items, n_users=len(data), n_items=n_items)


def order_of(users):
    return np.array(users, np.uint32)


def units_of(data, users, cutoff, n_items=N_ITEMS, ranks=None):
    ranks = np.arange(n_items) if ranks is None else ranks
    held = contributions(data, n_items)
    start = np.zeros(n_items, np.int64)
    return count_units(held, order_of(users), order_of(ranks), cutoff=cutoff, start=start)


GAPS = st.integers(0, 61).flatmap(lambda bits: st.integers(0, 2**bits))


def all_small(n_items, n_users):
    """User 0 and all others, with any sets, in every order; the others' is the one without."""
    sets = [
        c for size in range(1, n_items + 1) for c in itertools.combinations(range(n_items), size)
    ]
    for added in sets:
        for others in itertools.product(sets, repeat=n_users):  # the others in turn
            for place in range(n_users + 1):
                users = [*range(1, n_users + 1)]
                yield [added, *others], [*users[:place], 0, *users[place:]]
