"""How many users a set of items reaches, and the sets that reach most, without any privacy.

They read private data: for experiments only. Users' sets are `shortlist.evidence.contributions.
Contributions`, as `Contributions.of_rows` makes them from the codes of a table of pairs.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from shortlist.metrics._positions import Positions, positions_of, require_k

if TYPE_CHECKING:
    from shortlist.evidence.contributions import Contributions

_MOST_SETS = 10**6  # that `best_hitting_set` looks at, one by one


def hits(held: Contributions, positions: Positions) -> int:
    """How many users hold at least one of the items.

    Reads private data: for experiments only.

    Args:
        held: Each user's items.
        positions: The items, as codes.

    Raises:
        ValueError: A position is no item's.

    Source: Dick et al. (2026), Section 4.2; Mitrovic et al. (2017).

    >>> from shortlist.evidence.contributions import Contributions
    >>> users, items = np.array([[0, 0, 1, 2], [0, 1, 1, 2]], np.uint32)
    >>> held = Contributions.of_rows(users, items, n_users=3, n_items=3)
    >>> hits(held, [1]), missed_users(held, [1])
    (2, 1)
    """
    from shortlist import kernels

    named = np.zeros(held.n_items, np.bool_)
    named[positions_of(positions, held.n_items)] = True
    hit = np.zeros(len(held.sizes), np.bool_)
    kernels.find_hit(held.starts, held.sizes, held.items, named, hit)
    return int(np.count_nonzero(hit))


def missed_users(held: Contributions, positions: Positions) -> int:
    """How many of the users who hold anything hold none of the items.

    Reads private data: for experiments only. Users who hold nothing cannot be reached, and where
    users are numbers, those between two of them are nobody.
    """
    return int(np.count_nonzero(held.sizes)) - hits(held, positions)


def greedy_hitting_set(held: Contributions, k: int) -> NDArray[np.int64]:
    """NOT private: at most k items, each the one that reaches most users not reached before.

    Reaches at least 1 - (1 - 1/k)^k > 63 % of what any k items can. A comparison for experiments:
    what a private hitting set of the same data falls short of is the price of privacy. Each pair is
    touched twice, and each count once for each item chosen.

    Args:
        held: Each user's items.
        k: How many items, at least 1.

    Returns:
        Codes of items in the order chosen, of equal ones the smallest code first; fewer than k
        where nobody is left to reach.

    Raises:
        ValueError: k is not a whole number of at least 1.

    Source: Nemhauser, Wolsey & Fisher (1978); Dick et al. (2026), Section 5.3.

    >>> from shortlist.evidence.contributions import Contributions
    >>> users, items = np.array([[0, 0, 1, 2], [0, 1, 1, 2]], np.uint32)
    >>> greedy_hitting_set(Contributions.of_rows(users, items, n_users=3, n_items=3), k=2)
    array([1, 2])
    """
    require_k(k)
    unreached = held.unreached(np.arange(held.n_items))
    chosen: list[int] = []
    while len(chosen) < k and unreached.counts.max(initial=0) > 0:
        chosen.append(int(unreached.counts.argmax()))
        unreached.reach(chosen[-1])
    return np.array(chosen, np.int64)


def best_hitting_set(held: Contributions, k: int) -> NDArray[np.int64]:
    """NOT private: k items that reach as many users as any k items can, found by trying all sets.

    For tiny inputs and experiments: the problem is NP-hard.

    Args:
        held: Each user's items.
        k: How many items, at least 1; all items that are held if there are fewer.

    Returns:
        Codes of items, rising; of sets that reach as many, the first in the order of codes.

    Raises:
        ValueError: There are more than a million sets to try, or k is out of range.

    >>> from shortlist.evidence.contributions import Contributions
    >>> users, items = np.array([[0, 0, 1, 2], [0, 1, 1, 2]], np.uint32)
    >>> best_hitting_set(Contributions.of_rows(users, items, n_users=3, n_items=3), k=2)
    array([1, 2])
    """
    require_k(k)
    holders = _holders(held)
    size = min(k, len(holders))
    if math.comb(len(holders), size) > _MOST_SETS:
        raise ValueError(f"k={k}: more than {_MOST_SETS:,} sets to try; use greedy_hitting_set.")

    def reached(items: tuple[int, ...]) -> int:
        users = 0
        for item in items:
            users |= holders[item]
        return users.bit_count()

    return np.array(max(combinations(holders, size), key=reached), np.int64)


def _holders(held: Contributions) -> dict[int, int]:
    """The users of each item that is held, as the bits of a number, items rising."""
    holders: dict[int, int] = {}
    for user, (start, size) in enumerate(zip(held.starts, held.sizes, strict=True)):
        for item in held.items[start : start + size].tolist():
            holders[item] = holders.get(item, 0) | 1 << user
    return dict(sorted(holders.items()))
