"""Picks among items by how many users each reaches anew, where some are worth more than others."""

from __future__ import annotations

import numpy as np

from shortlist.draws import Draws, Floats, Ints
from shortlist.draws.reals import ExponentialWeights
from shortlist.evidence import UserSets

__all__ = ["pick_by_reach"]

_ROUNDING = 1 + 1e-9  # of a sum of floats: more


def pick_by_reach(
    held: UserSets, domain: Ints, worth: Floats, k: int, local_epsilon: float, draws: Draws
) -> Ints:
    """Places in the domain of `k` items (all, if fewer), in the order picked.

    Each has odds worth · exp(local_epsilon · count), count the number of users who hold it and no
    item picked before.

    Args:
        held: Users' whole sets.
        domain: Item codes, none twice, shape (n,).
        worth: Of each, at least 1, shape (n,); it is released, or follows from what is.
        k: How many.
        local_epsilon: By how much one user changes the logarithm of odds, at most.
        draws: The exact draws.
    """
    picked: list[int] = []
    unreached = held.unreached(domain)
    left = np.arange(len(domain))
    for _ in range(min(k, len(domain))):
        left = left[np.argsort(-unreached.counts[left], kind="stable")]
        each = worth[left]
        at_most = float(each.sum()) * _ROUNDING
        odds = ExponentialWeights(unreached.counts[left], each, local_epsilon, at_most)
        place = odds.pick(draws)
        picked.append(int(left[place]))
        unreached.reach(picked[-1])
        left = np.delete(left, place)
    return np.array(picked, np.int64)
