"""Small data sets, all neighbours among them, and what a mechanism may look at of each."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from helpers import walks
from helpers.laws import shown
from helpers.losses import neighbours
from helpers.oracles_of_users import counts_of
from helpers.views import Listed
from shortlist.evidence import Wins
from shortlist.evidence.contributions import Contributions


def of_users(mechanism, data, n_items, draws):
    """Users who each hold a set of items."""
    rows = [(user, item) for user, items in enumerate(data) for item in sorted(items)]
    users, items = (np.array([row[i] for row in rows], np.uint32) for i in (0, 1))
    held = Contributions.of_rows(users, items, n_users=len(data), n_items=n_items)
    return shown(held, mechanism, draws)


def in_store(_mechanism, data, n_items, _draws):
    """The same users, counted in a store."""
    return Listed(counts_of(data, n_items))


def won(_mechanism, data, n_items, _draws):
    """Comparisons, of which each is the item that won."""
    return Wins(np.bincount(np.array(data, np.int64), minlength=n_items))


def compared(_mechanism, data, n_items, _draws):
    """One comparison of each pair: whether its first item won."""
    return walks.complete(n_items, 1, data)


@dataclass(frozen=True)
class Small:
    """Pairs of neighbours among data sets of so many items, and what is shown of one."""

    n_items: int
    pairs: Sequence[tuple[Any, Any]]
    evidence: Callable[..., Any] = of_users


def one_more(n_items, most):
    """Pairs of sorted tuples of items, of which one has one item more."""
    for n in range(most):
        for some in itertools.combinations_with_replacement(range(n_items), n):
            for one in range(n_items):
                yield some, tuple(sorted((*some, one)))


def one_changed(n):
    """Pairs of tuples of 0 and 1, of which one entry differs."""
    for some in itertools.product((0, 1), repeat=n):
        for i in range(n):
            if not some[i]:
                yield some, (*some[:i], 1, *some[i + 1 :])


USERS = Small(3, list(neighbours(range(3), users=3)))
FEWER_USERS = Small(3, list(neighbours(range(3), users=2)))
TWO_ITEMS = Small(2, list(neighbours(range(2), users=3)))
STORE = Small(2, TWO_ITEMS.pairs, in_store)
WON = Small(3, list(one_more(3, most=3)), won)
COMPARED = Small(2, list(one_changed(1)), compared)
ONE, OTHER, BOTH = map(frozenset, ({0}, {1}, {0, 1}))
THIRD, ALL = map(frozenset, ({2}, {0, 1, 2}))
OF_ONE_EACH = (ONE, OTHER, THIRD) * 9
MANY_OF_ONE = (ONE, OTHER) * 25, (ONE, OTHER, THIRD) * 25
PAIRS_OF_FEW = Small(  # few users; and many of one item each, of whom none or one holds a pair
    3,
    [
        *neighbours(range(2), users=2),
        *((some, (*some, one)) for some in MANY_OF_ONE for one in (BOTH, ALL)),
        ((*MANY_OF_ONE[1], BOTH), (*MANY_OF_ONE[1], BOTH, BOTH)),
    ],
)
IN_GROUPS = [  # one user more, in one of two groups or in both, where few or several are
    (some, (*some, one)) for some in ((), (ONE,) * 3, (ONE,) * 8) for one in (ONE, OTHER, BOTH)
]
