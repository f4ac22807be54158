"""Scores as a store returns them: checked, and put beside the ids that were asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from shortlist.draws import Ints
from shortlist.errors import InputError, Words
from shortlist.stores.faults import PRIVATE

__all__ = ["aligned", "whole_scores"]

_LARGEST = 2**62  # differences and sums of two scores fit 64 bits


def whole_scores(values: ArrayLike, origin: Words) -> Ints:
    """The same numbers as 64-bit integers.

    Args:
        values: Shape (n,), as they were read.
        origin: The table and the column, for messages.

    Raises:
        InputError: One is null, or no whole number from 0 to 2^62. It is not quoted.

    >>> whole_scores([7, 0], Words("counts"))
    array([7, 0])
    """
    numbers = np.asarray(values)
    if numbers.size == 0:
        return np.empty(0, np.int64)
    if numbers.dtype.kind not in "iu":
        raise InputError(
            "{origin} holds something that is not a whole number from 0 to 2^62, such as a null, a "
            "text or a fraction",
            "fix it. {private}",
            origin=origin,
            private=PRIVATE,
        )
    if not (numbers.min() >= 0 and numbers.max() <= _LARGEST):
        raise InputError(
            "{origin} holds a number that is not a count: below 0 or above 2^62",
            "fix it. {private}",
            origin=origin,
            private=PRIVATE,
        )
    return numbers.astype(np.int64)


def aligned(wanted: Ints, found: Ints, scores: Ints) -> Ints:
    """The score of each wanted id, -1 where it was not found.

    Args:
        wanted: Ids, shape (n,).
        found: Those that exist, in any order, each once.
        scores: Theirs.

    >>> aligned(np.array([5, 2, 9]), np.array([9, 5]), np.array([90, 50]))
    array([50, -1, 90])
    """
    if len(found) == 0:
        return np.full(len(wanted), -1, np.int64)
    order = np.argsort(found)
    places = np.minimum(np.searchsorted(found[order], wanted), len(found) - 1)
    rows = order[places]
    return np.where(found[rows] == wanted, scores[rows], -1)
