"""Noisy counts around every kind of selection."""

import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from shortlist.draws.noise import Laplace, Normal
from shortlist.evidence import WeightedHistogram
from shortlist.mechanisms import (
    Adjacency,
    DiscoverThenRank,
    Gamma,
    Joint,
    JointOrPeel,
    JointPermuteAndFlip,
    LimitedDomain,
    OneShotLaplace,
    Peeling,
    PermuteAndFlip,
    WeightedGaussianPeeling,
)
from shortlist.mechanisms.wrappers.noisy_counts import NoisyCounts

HUGE = 2**62

KINDS = {
    "peeling": Peeling,
    "permute-and-flip": PermuteAndFlip,
    "joint": Joint,
    "joint-permute-and-flip": JointPermuteAndFlip,
    "joint or peel": JointOrPeel,
    "limited domain": LimitedDomain,
    "limited domain, bounded": partial(LimitedDomain, max_items_per_user=4),
    "one-shot laplace": OneShotLaplace,
    "one-shot laplace, general": partial(OneShotLaplace, neighbours=Adjacency.GENERAL),
    "gamma": Gamma,
    "gamma, general": partial(Gamma, neighbours=Adjacency.GENERAL),
    "discover, then rank": partial(DiscoverThenRank, max_items_per_user=4),
    "weighted gaussian peeling": partial(WeightedGaussianPeeling, max_items_per_user=4),
}

every = pytest.mark.parametrize("kind", KINDS)


def build(kind, *, k=3, epsilon=1.0, delta=1e-6, count_share=0.3, bound=None):
    make = KINDS[kind]
    fields = getattr(make, "func", make).fields()
    if "one-shot" in kind:  # as far as it has a theorem
        delta = 0.0 if epsilon > 0.2 else min(delta, 0.05)

    def selection(epsilon, delta):
        given = {"k": k, "epsilon": epsilon, "delta": delta}
        return make(**{name: given[name] for name in given if name in fields})

    return NoisyCounts.of(
        selection,
        k=k,
        epsilon=epsilon,
        delta=delta,
        count_share=count_share,
        max_items_per_user=bound,
    )


def evidence(mechanism, counts, bound=None):
    counts = np.array(counts, np.int64)
    bound = bound or getattr(mechanism.selection, "max_items_per_user", None)
    if mechanism.evidence is WeightedHistogram:
        return WeightedHistogram(np.minimum(counts, 2**29) << 32, counts, bound)
    return mechanism.evidence(counts, bound)


def squared_mu(way, *, k, m):
    """The largest squared distance that one user moves normal noise by, from its definition."""
    a = Fraction(0 if way.shared is None else way.shared.sd) ** 2
    v = Fraction(way.noise.sd) ** 2
    return max((j - a * j * j / (v + k * a)) / v for j in range(1, m + 1))


def tail(noise, x):
    """P(noise >= x) for x > 0."""
    if isinstance(noise, Laplace):
        return math.exp(-x / noise.scale) / 2
    return math.erfc(x / (noise.sd * math.sqrt(2))) / 2


def cells(noise):
    """The probability of each whole number that the noise is rounded to."""
    chances, n = {0: 1 - 2 * tail(noise, 0.5)}, 1
    while tail(noise, n - 0.5) > 1e-40:
        chances[n] = chances[-n] = tail(noise, n - 0.5) - tail(noise, n + 0.5)
        n += 1
    return chances


def scaled_way(way, factor):
    """The same with all noise times a factor."""
    shared = None if way.shared is None else scaled(way.shared, factor)
    return way._replace(noise=scaled(way.noise, factor), shared=shared)


def scaled(noise, factor):
    if isinstance(noise, Laplace):
        return Laplace(noise.scale * factor)
    return Normal(noise.sd * factor)
