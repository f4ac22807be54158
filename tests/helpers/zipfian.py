"""Tables whose counts fall like a power of the rank, with sets of any size, and answers to them."""

import numpy as np

from shortlist.bits import SeededBits
from shortlist.bounds import WeightedGaussianBounds
from shortlist.draws import ExactDraws
from shortlist.evidence.contributions import Contributions


def falling_counts(n_pairs, s, *, flat=0.0):
    """Counts that fall like (rank + flat)^-s, rounded down, of about n_pairs in all."""
    ranks = np.arange(1.0, 10**6 + 1)
    shares = (ranks + flat) ** -s
    counts = np.floor(n_pairs * shares / shares.sum()).astype(np.int64)
    return counts[counts > 0]


def dealt(counts, set_size=1):
    """Each item to as many users as its count, so that no user has more than `set_size` items.

    Items are dealt one after another to users in turn: nobody gets one twice as long as no count is
    larger than the number of users.
    """
    items = np.repeat(np.arange(len(counts)), counts)
    n_users = -(-len(items) // set_size)
    assert max(counts) <= n_users
    users = np.arange(len(items)) % n_users
    return Contributions.of_rows(
        users.astype(np.uint32), items.astype(np.uint32), n_users=n_users, n_items=len(counts)
    )


def bounds_of(held, mechanism, **others):
    """The bounds for this table, or with a number of it replaced."""
    numbers = {
        "n_pairs": int(held.counts.sum()),
        "largest_set": int(held.sizes.max()),
        "sigma": mechanism.sigma,
        "threshold": mechanism.threshold,
        "max_items_per_user": mechanism.max_items_per_user,
    }
    return WeightedGaussianBounds(**numbers | others)


def answers(held, mechanism, runs, seed=1):
    """The positions named in each run, the sets bounded anew."""
    draws = ExactDraws(SeededBits(seed))
    for _ in range(runs):
        evidence = held.bounded(mechanism.max_items_per_user, draws).weigh()
        yield mechanism.select(evidence, draws).positions
