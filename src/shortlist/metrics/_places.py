"""A top-k and its answer, place by place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shortlist.metrics._checks import Positions, positions_of, require_k

__all__ = ["Places", "largest"]


@dataclass(frozen=True)
class Places:
    """What should be in each of k places, and what is; both 0 where there is nothing.

    Attributes:
        best: The k largest counts, falling, shape (k,).
        held: The counts of the answer's items in its order, shape (k,).
    """

    best: NDArray[np.int64]
    held: NDArray[np.int64]

    @classmethod
    def of(
        cls, counts: NDArray[np.integer], positions: Positions, best: NDArray[np.int64]
    ) -> Places:
        """The places of an answer.

        Args:
            counts: How many users hold each item, shape (n,).
            positions: The items of the answer, as positions in `counts`, best first.
            best: From `largest`.

        Raises:
            ValueError: A position is no item's, or there twice, or there are more than k.
        """
        k, answer = len(best), positions_of(positions, len(counts))
        if len(answer) > k or len(np.unique(answer)) < len(answer):
            raise ValueError(f"an answer for k={k} has at most {k} items, and none of them twice.")
        held = np.zeros(k, np.int64)
        held[: len(answer)] = np.asarray(counts)[answer]
        return cls(best, held)

    @property
    def shortfall(self) -> int:
        """How much less the answer holds than the true top k."""
        return int(self.best.sum() - self.held.sum())

    @property
    def l1(self) -> int:
        """The sum of the differences."""
        return int(np.abs(self.best - self.held).sum())

    @property
    def linf(self) -> int:
        """The largest difference."""
        return int(np.abs(self.best - self.held).max())

    @property
    def relative(self) -> int:
        """How far the least of the answer falls short of the k-th largest count."""
        return int(self.best[-1] - self.held.min())


def largest(counts: NDArray[np.integer], k: int) -> NDArray[np.int64]:
    """The k largest counts, falling, and 0 for those that are missing; shape (k,).

    Raises:
        ValueError: k is not a whole number of at least 1.
    """
    require_k(k)
    found = np.asarray(counts, np.int64)
    found = found if len(found) <= k else np.partition(found, -k)[-k:]
    best = np.zeros(k, np.int64)
    best[: len(found)] = np.sort(found)[::-1]
    return best
