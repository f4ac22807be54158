"""Output laws of the policy mechanisms, by brute force from their definitions."""

import itertools
import math

from scipy.special import ndtr


def mean_law(histograms, chance):
    """Each item is named by a coin of its own, in the mean over equally likely histograms."""
    oracle, histograms = {}, list(histograms)
    for histogram in histograms:
        held = [item for item in histogram if histogram[item] is not None]
        for named in itertools.product([False, True], repeat=len(held)):
            p = 1.0
            for item, yes in zip(held, named, strict=True):
                p *= chance(histogram[item]) if yes else 1 - chance(histogram[item])
            outcome = frozenset(item for item, yes in zip(held, named, strict=True) if yes)
            oracle[outcome] = oracle.get(outcome, 0) + p / len(histograms)
    return oracle


def descents(data, bound, cutoff):
    """For all subsets of the users' sets and all orders of users."""
    choices = [list(itertools.combinations(sorted(s), min(len(s), bound))) for s in data]
    for kept in itertools.product(*choices):
        for order in itertools.permutations(kept):
            weights = {item: 0.0 for items in kept for item in items}
            for items in order:
                norm = math.sqrt(sum((cutoff - weights[i]) ** 2 for i in items))
                for i in items:
                    weights[i] += (cutoff - weights[i]) * min(1.0, 1 / max(norm, 1e-300))
            yield weights


def gaussian_oracle(mechanism, data):
    return mean_law(
        descents(data, mechanism.max_items_per_user, mechanism.cutoff),
        lambda weight: ndtr((weight - mechanism.threshold) / mechanism.sigma),
    )


def units(data, cutoff, n_items):
    """For all orders of users and of items."""
    for order in itertools.permutations(data):
        for ranking in itertools.permutations(range(n_items)):
            counts = dict.fromkeys(range(n_items))
            for items in order:
                for i in ranking:
                    if i in items and (counts[i] or 0) < cutoff:
                        counts[i] = (counts[i] or 0) + 1
                        break
            yield counts


def laplace_tail(x):
    return math.exp(-x) / 2 if x > 0 else 1 - math.exp(x) / 2


def greedy_oracle(mechanism, data):
    return mean_law(
        units(data, mechanism.cutoff, 3),
        lambda count: laplace_tail(mechanism.epsilon * (mechanism.threshold - count)),
    )
