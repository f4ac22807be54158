"""The threshold algorithm on coarse numbers, and its law."""

import itertools
from functools import cache

import numpy as np
import pytest

from helpers.oracles_of_counts import exponential
from helpers.oracles_of_counts import one_by_one as in_turn
from helpers.oracles_one_shot import exponential_law, laplace_law
from shortlist.algorithms.threshold_algorithm import read
from shortlist.mechanisms.threshold_top_k import AddedNoise, ThresholdTopK

EPSILON = 2.0
KINDS = list(AddedNoise)
every = pytest.mark.parametrize("noise", KINDS)


def one_by_one(n_sources):
    """Lengths as published: one item more of each source in each round."""
    return ([length] * n_sources for length in itertools.count(1))


def threshold_algorithm(sources, aggregate, k, lengths=None):
    """As published: the k best items by an aggregated value, best first, and these values."""
    ahead = lambda values, last: aggregate(values) >= aggregate(last)
    seen = read(sources, k, ahead, one_by_one(len(sources)) if lengths is None else lengths)
    totals = aggregate(seen.values)
    best = np.argsort(totals, kind="stable")[::-1][:k]
    return seen.ids[best], totals[best]


class Unbatched(ThresholdTopK):
    def _lengths(self, _):
        return one_by_one(2)


def build(kind, noise, k, epsilon=EPSILON, **fixed):
    return kind(k=k, epsilon=epsilon, noise=noise, **fixed)


def coarse(noise, k, epsilon=EPSILON, *, bits=1, kind=ThresholdTopK):
    """Few leading bits, so that they tie and often leave the order open."""
    return build(kind, noise, k, epsilon, leading_bits=bits)


@cache
def reading_everything(noise, scores, k, epsilon=EPSILON):
    """By the definitions, over the ids that exist."""
    ids = [i for i, score in enumerate(scores) if score >= 0]
    held = [scores[i] for i in ids]
    few = min(k, len(ids))
    match noise:
        case AddedNoise.GUMBEL:
            found = in_turn(lambda left: exponential(epsilon / k, left), held, few)
        case AddedNoise.LAPLACE:
            found = (
                {o: p for (o, _), p in laplace_law(held, k / epsilon, few).items()}
                if ids
                else {(): 1.0}
            )
        case AddedNoise.EXPONENTIAL:
            found = exponential_law(held, k / epsilon, few) if ids else {(): 1.0}
    return {tuple(ids[i] for i in outcome): p for outcome, p in found.items()}
