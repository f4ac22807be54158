"""The output law of two Gaussians that name items, by integrals over all noise at once."""

import itertools

import numpy as np
from scipy.stats import multivariate_normal

from helpers.oracles_of_counts import peeling_oracle
from helpers.oracles_of_users import subsets


def normal_orthant(constraints, mean, covariance, points=2_000_000):
    """P(each constraint · X <= bound) for normal X, by SciPy's own integration."""
    matrix = np.array([c for c, _ in constraints])
    bounds = np.array([b for _, b in constraints])
    return multivariate_normal.cdf(
        bounds,
        mean=matrix @ mean,
        cov=matrix @ covariance @ matrix.T,
        allow_singular=True,
        abseps=1e-9,
        releps=1e-9,
        maxpts=points,
    )


def top_up(mechanism, weights, counts):
    """The law of DiscoverThenRank: of the items in their order, those that nobody holds left out.

    Variables: the first noisy weights Y1 of the items held, then their second ones Y2.
    """
    held = [x for x, weight in enumerate(weights) if weight > 0]
    k, n, oracle = mechanism.k, len(held), {}
    if not held:
        return {(): 1.0}
    sigmas = np.repeat([mechanism.first_sigma, mechanism.second_sigma], n)
    mean, covariance = np.tile([weights[x] for x in held], 2), np.diag(sigmas**2)
    w = mechanism.gaussians.first_share
    y1, y2 = np.eye(2 * n)[:n], np.eye(2 * n)[n:]
    both = w * y1 + (1 - w) * y2
    first, second = mechanism.first_threshold, mechanism.mean_threshold

    def add(places, constraints, share=1.0):
        p = share * normal_orthant(constraints, mean, covariance, points=200_000)
        outcome = tuple(held[i] for i in places)
        oracle[outcome] = oracle.get(outcome, 0) + p

    for named in subsets(n):
        sides = [(-y1[i], -first) if named[i] else (y1[i], first) for i in range(n)]
        if sum(named) >= k:
            found = [i for i in range(n) if named[i]]
            picks = peeling_oracle([counts[held[i]] for i in found], k, mechanism.local_epsilon)
            for picked, share in picks.items():
                add([found[j] for j in picked], sides, share)
            continue
        for kept in subsets(n):
            if any(yes and not still for yes, still in zip(named, kept, strict=True)):
                continue
            levels = [
                (-both[i], -second) if kept[i] else (both[i], second)
                for i in range(n)
                if not named[i]
            ]
            for order in itertools.permutations([i for i in range(n) if kept[i]]):
                ahead = [(both[low] - both[high], 0.0) for high, low in itertools.pairwise(order)]
                add(order[:k], [*sides, *levels, *ahead])
    return oracle
