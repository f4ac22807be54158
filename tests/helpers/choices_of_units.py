"""The choice between one unit and another way, as `GreedyOr` makes it: its law, and mistakes."""

from collections import Counter
from types import SimpleNamespace

import numpy as np

from helpers.hitting import contributions
from shortlist.audit.exact.enumerator import law
from shortlist.bits import SeededBits
from shortlist.draws import ExactDraws

ONE = 2**20
USERS = [{0}, {1}, {0, 1}, {0, 1, 2}, {0, 1, 2, 3, 4}, set()]


def ways(mechanism, sizes, runs=40):
    """How often each way, of so many users who hold so many items."""
    held = SimpleNamespace(users_of_size=lambda: np.bincount(np.repeat(*zip(*sizes, strict=True))))
    return Counter(mechanism._way(held, ExactDraws(SeededBits(i))) for i in range(runs))


def law_of(mechanism, users):
    """The chance of each way."""
    held = contributions(users, 5)
    found = law(lambda draws: mechanism._way(held, draws))
    return np.array([found.get(way, 0.0) for way in range(2)], float)


def largest_range(mechanism):
    """What one user more does to the odds, at most, in parts of what is paid for."""
    pairs = [(users, [*users, user]) for users in ([], [{0}], [{0, 1}]) for user in USERS]
    laws = [[law_of(mechanism, one) for one in pair] for pair in pairs]
    worst = max(np.ptp(np.log(a / b)) for a, b in laws)  # of the odds
    return worst / mechanism.choice_epsilon


class TwoVotes:
    """One user has two votes."""

    def _lost(self, users_of_size):
        return 2 * super()._lost(users_of_size)


class ItemsVote:
    """Items vote, of which one user may hold any number."""

    def _lost(self, users_of_size):
        return super()._lost(users_of_size * np.arange(len(users_of_size)))
