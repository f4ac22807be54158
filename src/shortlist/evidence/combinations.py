"""What users hold together: pairs or triples of their items, of each user at most so many."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from shortlist import kernels
from shortlist.draws import Draws, Ints
from shortlist.evidence.contributions import Contributions
from shortlist.runtime.threads import parts, share

_MOST_ITEMS = 2**20
"""Of users with more items so many are drawn first: the ranks of triples of more are too long."""


def combined(
    held: Contributions, of: int, most: int, draws: Draws
) -> tuple[Ints, NDArray[np.uint32]]:
    """Which combinations of their items users hold.

    Of a user who holds more than `most`, a random subset of so many: it depends on fresh bits and
    on that user's items alone.

    Args:
        held: The items of users.
        of: How many items make up a combination.
        most: How many combinations of one user there are at most.
        draws: What subsets are drawn from.

    Returns:
        How many each user holds, shape (n_users,), and their items, shape (of, n): those of one
        user side by side, in the order of users, and the codes of one combination rising.
    """
    if held.largest > _MOST_ITEMS:
        held = held.bounded(_MOST_ITEMS, draws)
    whole = _combinations_by_size(held.largest, of)[held.sizes]
    kept = np.minimum(whole, most)
    drawn, bounds = _choices(whole, kept)
    ends = np.cumsum(kept)
    out = np.empty((of, int(kept.sum())), np.uint32)
    kernel = partial(
        kernels.combine,
        *(held.starts, held.sizes, held.items, ends - kept, kept, drawn, draws.integer(bounds)),
    )
    share(parts(out.shape[1], ends), kernel, lambda: [out])
    return kept, out


def _combinations_by_size(largest: int, of: int) -> Ints:
    return np.array([math.comb(size, of) for size in range(largest + 1)], np.int64)


def _choices(whole: Ints, kept: Ints) -> tuple[Ints, Ints]:
    """Where the choices of each user begin, -1 where there are none; and what each chooses from."""
    drawn, large = np.full(len(whole), -1, np.int64), np.flatnonzero(whole > kept)
    ends = np.cumsum(kept[large])
    drawn[large] = ends - kept[large]
    steps = np.arange(ends[-1] if len(ends) else 0) - np.repeat(drawn[large], kept[large])
    return drawn, np.repeat(whole[large] - kept[large], kept[large]) + steps + 1
