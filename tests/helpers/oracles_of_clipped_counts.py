"""The output law of a domain with noisy clipped counts, by brute force, in plain floats."""

import itertools
import math

from scipy.special import ndtr

from helpers.oracles_of_users import averaged, named_above, weights_of
from shortlist.mechanisms import WeightedGaussian

N_ITEMS = 3


def with_clipped_counts(kind, *, k=None, epsilon=2.0):  # noqa: ARG001 - as for others
    """A coarse grid and bounds, beside a domain of one round."""

    def selection(epsilon, delta):  # of one item each, so that whole sets are others than bounded
        return WeightedGaussian(epsilon=epsilon, delta=delta, max_items_per_user=1)

    return kind.of(
        selection, epsilon=epsilon, delta=0.2, count_share=0.5, design=kind.design.coarse
    )


def clipped_oracle(mechanism, data):
    """Each outcome: the items with their counts, and the noise's standard deviation.

    The selection, of three items, is by one round of weights.
    """
    selection, outcomes = mechanism.selection, {}

    def named(kept):
        return named_above(weights_of(kept, N_ITEMS), selection.threshold, selection.sigma)

    for found, p in averaged(data, selection.max_items_per_user, named).items():
        for told, q in counted(mechanism, data, sorted(found)):
            outcomes[told] = outcomes.get(told, 0) + p * q
    return outcomes


def counted(mechanism, data, found):
    """What is told of items that were found, and its chance."""
    if not found:
        yield (frozenset(), round(mechanism.least_count_sd, 9)), 1.0
        return
    held = [[x for x in found if x in user] for user in data]
    sds = [math.sqrt(bound) * mechanism.least_count_sd for bound in mechanism.design.bounds]
    odds = [
        math.exp(-mechanism.choice_epsilon * (sd - sds[0] + lost(held, bound, len(found))))
        for bound, sd in zip(mechanism.design.bounds, sds, strict=True)
    ]
    for bound, sd, weight in zip(mechanism.design.bounds, sds, odds, strict=True):
        counts = [sum(part(bound, user) for user in held if x in user) for x in found]
        laws = [on_grid(mechanism.design.grid(sd), count, sd) for count in counts]
        for values in itertools.product(*laws):
            told = frozenset((x, value) for x, (value, _) in zip(found, values, strict=True))
            yield (told, round(sd, 9)), weight / sum(odds) * math.prod(p for _, p in values)


def lost(held, bound, n_items):
    """What clipping leaves out of the counts, in the mean of the items."""
    return sum(len(user) * (1 - part(bound, user)) for user in held if user) / n_items


def part(bound, user):
    """What a user adds to each of the named items held."""
    return min(1.0, math.sqrt(bound / len(user)))


def on_grid(grid, count, sd):
    """Each value that a count in noise is rounded down to, and its chance."""
    size = grid.step / 2**20
    ends = [size * multiple for multiple in range(grid.lowest, grid.highest + 1)]
    below = [0.0, *(ndtr((end - count) / sd) for end in ends), 1.0]
    values = [size * (grid.lowest - 1), *ends]
    return [(v, b - a) for v, (a, b) in zip(values, itertools.pairwise(below), strict=True)]
