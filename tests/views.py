"""A store's view of a few scores, which counts how often it is asked."""

import numpy as np


class Listed:
    """Scores by id, of which -1 stands for an id that does not exist; also a source of values."""

    def __init__(self, scores, costs=(1.0, 1.0)):
        self.scores = np.array(scores)
        self.size, self.costs = len(self.scores), costs
        self._order = np.argsort(-self.scores, kind="stable")[: np.count_nonzero(self.scores >= 0)]
        self.n_sorted = self.n_random = 0

    @property
    def accesses(self):
        return self.n_sorted + self.n_random

    def sorted_access(self, start, n):
        ids = self._order[start : start + n]
        self.n_sorted += len(ids)
        return ids, self.scores[ids]

    def random_access(self, ids):
        assert len(set(ids.tolist())) == len(ids)
        self.n_random += len(ids)
        return self.scores[ids]


def hard_family(m, k, n=100, seed=0):
    """Wu et al. (2023), Theorem 5.4: sqrt(mk) items have n, 1/k of these n - 1, the others 0."""
    rng, scores = np.random.default_rng(seed), np.zeros(m, np.int64)
    size = round((m * k) ** 0.5)
    chosen = rng.permutation(m)[:size]
    scores[chosen], scores[chosen[: size // k]] = n, n - 1
    return scores
