"""The law of a selection in each of two groups of a histogram, by that of one group's counts.

A user holds a set of pairs: pair i is the item i // 2 in the group i % 2.
"""

import itertools

import numpy as np

from helpers.oracles_of_counts import limited_domain
from helpers.oracles_of_users import counts_of
from shortlist.evidence import GroupedCounts, PrivateCounts
from shortlist.mechanisms import LimitedDomain

N_GROUPS, N_PAIRS = 2, 3
DATA = [(), ({0, 1, 2},), ({0},) * 5 + ({1},) * 4, ({0, 1},) * 6 + ({1, 2},) * 6]
PAIRS = [[pair for pair in range(N_PAIRS) if pair % N_GROUPS == g] for g in range(N_GROUPS)]


def shown(mechanism, data, n_pairs, _draws=None):
    """What is shown of them: the pairs of the first group first, those nobody holds too."""
    counts, order = counts_of(data, n_pairs), sorted(range(n_pairs), key=lambda p: p % N_GROUPS)
    return GroupedCounts.of_rows(
        np.array([counts[pair] for pair in order]),
        np.array([pair % N_GROUPS for pair in order]),
        PrivateCounts,
        max_items_per_user=N_PAIRS,
        max_groups_per_user=mechanism.max_groups_per_user,
    )


def law(mechanism, data):
    """Groups are independent: the product of their laws, by the law of one histogram."""
    counts, one = counts_of(data, N_PAIRS), mechanism.selection
    laws = [limited_domain(one, [counts[p] for p in pairs], one.k).items() for pairs in PAIRS]
    found = {}
    for (first, p), (second, q) in itertools.product(*laws):
        told = (*first, *(len(PAIRS[0]) + place for place in second))
        found[told] = found.get(told, 0.0) + p * q
    return found


def build(kind, *, k=None, epsilon=2.0):  # noqa: ARG001 - as others are built
    """Two items of each of two groups that a user may be in, by a mechanism for private ones."""
    return kind.of(_selection, epsilon=epsilon, delta=0.2, max_groups_per_user=N_GROUPS)


def _selection(epsilon, delta):
    return LimitedDomain(k=2, epsilon=epsilon, delta=delta, max_items_per_user=N_PAIRS)
