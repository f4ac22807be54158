"""A store's view of a few scores, which counts how often it is asked."""

import numpy as np

from shortlist.audit.universes.of_counts import ScoresInMemory


class Listed(ScoresInMemory):
    """Also a source of values, and strict about what it is asked."""

    def random_access(self, ids):
        assert len(set(ids.tolist())) == len(ids)
        return super().random_access(ids)


def hard_family(m, k, n=100, seed=0):
    """Wu et al. (2023), Theorem 5.4: sqrt(mk) items have n, 1/k of these n - 1, the others 0."""
    rng, scores = np.random.default_rng(seed), np.zeros(m, np.int64)
    size = round((m * k) ** 0.5)
    chosen = rng.permutation(m)[:size]
    scores[chosen], scores[chosen[: size // k]] = n, n - 1
    return scores
