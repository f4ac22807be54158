"""Output laws of what discovers or picks from users' sets, by brute force from the definitions."""

import itertools
import math

from scipy.special import ndtr

from helpers.oracles_of_counts import peeling_oracle


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
