"""Output laws of what discovers or picks from users' sets, by brute force from the definitions."""

import itertools
import math
from functools import cache

import numpy as np
from scipy.special import ndtr

from helpers.hitting import picks_oracle
from helpers.oracles_of_counts import peeling_oracle

nodes_and_shares = cache(np.polynomial.legendre.leggauss)


def named_by_mean(gaussians, weight):
    """P(an item of that weight is not named at first, and then by the mean), by quadrature."""
    share, sigma = gaussians.first_share, gaussians.first_sigma
    nodes, shares = nodes_and_shares(400)
    low, high = weight - 12 * sigma, min(gaussians.first_threshold, weight + 12 * sigma)
    first = (nodes + 1) / 2 * (high - low) + low
    density = np.exp(-(((first - weight) / sigma) ** 2) / 2) / (sigma * math.sqrt(2 * math.pi))
    missing = gaussians.mean_threshold - share * first - (1 - share) * weight
    chance = ndtr(-missing / ((1 - share) * gaussians.second_sigma))
    return float(shares @ (density * chance)) * (high - low) / 2


def first_named(mechanism, weights):
    """The items that the first Gaussian can name, and the probability of each set of them."""
    held = [x for x, weight in enumerate(weights) if weight > 0]
    for named in subsets(len(held)):
        chances = [
            ndtr(
                (1 if yes else -1)
                * (weights[x] - mechanism.first_threshold)
                / mechanism.first_sigma
            )
            for x, yes in zip(held, named, strict=True)
        ]
        found = [x for x, yes in zip(held, named, strict=True) if yes]
        yield held, found, math.prod(chances)


def hit_oracle(mechanism, data, kept):
    """The law of DiscoverThenHit by its definition, given what bounding kept of each user."""
    weights = weights_of(kept, 3)
    k, outcomes = mechanism.k, {}

    def add(domain, epsilon, p):
        for picked, q in picks_oracle(data, domain, k, epsilon).items():
            outcomes[picked] = outcomes.get(picked, 0) + p * q

    for held, found, p in first_named(mechanism, weights):
        if len(found) >= k:
            add(found, mechanism.local_epsilon, p)
            continue
        gaussians = mechanism.gaussians_after(len(found))
        picks = mechanism.picks_after(len(found))
        others = [x for x in held if x not in found]
        missed = {
            x: ndtr((gaussians.first_threshold - weights[x]) / gaussians.first_sigma)
            for x in others
        }
        for more in subsets(len(others)):
            chance = p
            for x, yes in zip(others, more, strict=True):
                by_mean = named_by_mean(gaussians, weights[x]) / missed[x]
                chance *= by_mean if yes else 1 - by_mean
            add(found + [x for x, yes in zip(others, more, strict=True) if yes], picks, chance)
    return outcomes


def averaged(data, bound, oracle):
    """The mean of an oracle's laws over what bounding may keep of each user."""
    kept = [list(itertools.combinations(sorted(held), min(bound, len(held)))) for held in data]
    outcomes = {}
    for choice in itertools.product(*kept):
        for outcome, p in oracle([frozenset(c) for c in choice]).items():
            outcomes[outcome] = outcomes.get(outcome, 0) + p / math.prod(map(len, kept))
    return outcomes


def subsets(n):
    """Which of n items are named, in every way."""
    return itertools.product([False, True], repeat=n)


def weights_of(kept, n_items):
    """What the users' bounded sets add to each item."""
    return [sum(len(held) ** -0.5 for held in kept if x in held) for x in range(n_items)]


def counts_of(data, n_items):
    return [sum(x in held for held in data) for x in range(n_items)]


def named_above(weights, threshold, sigma):
    """The law of the set of items whose noisy weights reach the threshold."""
    chances = [ndtr((w - threshold) / sigma) if w > 0 else 0.0 for w in weights]
    return {
        frozenset(i for i, yes in enumerate(named) if yes): math.prod(
            p if yes else 1 - p for p, yes in zip(chances, named, strict=True)
        )
        for named in subsets(len(weights))
    }


def published_peeling(mechanism, weights, counts):
    """Among the items named by their weights, each pick by the exponential mechanism."""
    outcomes = {}
    for found, p in named_above(weights, mechanism.threshold, mechanism.sigma).items():
        items = sorted(found)
        picks = peeling_oracle([counts[i] for i in items], mechanism.k, mechanism.local_epsilon)
        for picked, q in picks.items():
            outcome = tuple(items[j] for j in picked)
            outcomes[outcome] = outcomes.get(outcome, 0) + p * q
    return outcomes


def discovery_oracle(sets, mechanism):
    """Each domain of three items and its probability, given what bounding kept of each user."""
    named = named_above(weights_of(sets, 3), mechanism.threshold, mechanism.sigma)
    return [(sorted(domain), p) for domain, p in named.items()]
