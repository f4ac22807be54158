"""A store's view of a few scores in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shortlist.draws import Ints

__all__ = ["Listed"]


class Listed:
    """Scores by id, of which -1 stands for an id that does not exist; counts its accesses.

    Attributes:
        size: How many ids there are.
        costs: Of a sorted and of a random access.
        n_sorted: How many scores were read in falling order.
        n_random: How many were read by id.
    """

    def __init__(
        self, scores: Sequence[int] | Ints, costs: tuple[float, float] = (1.0, 1.0)
    ) -> None:
        """No access was made yet."""
        self.scores = np.array(scores)
        self.size, self.costs = len(self.scores), costs
        self._order = np.argsort(-self.scores, kind="stable")[: np.count_nonzero(self.scores >= 0)]
        self.n_sorted = self.n_random = 0

    @property
    def accesses(self) -> int:
        """Of both kinds."""
        return self.n_sorted + self.n_random

    def sorted_access(self, start: int, n: int) -> tuple[Ints, Ints]:
        """As a store's."""
        ids = self._order[start : start + n]
        self.n_sorted += len(ids)
        return ids, self.scores[ids]

    def random_access(self, ids: Ints) -> Ints:
        """As a store's."""
        self.n_random += len(ids)
        found: Ints = self.scores[ids]
        return found
