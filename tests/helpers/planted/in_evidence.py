"""Mistakes in evidence, and in what is thinned or told twice."""

from dataclasses import replace

import numpy as np

from helpers.planted.planting import (
    argument,
    at,
    everywhere,
    method,
    mistakes,
    result,
    times,
    with_field,
)
from shortlist.algorithms import policies, thinning
from shortlist.draws import Order
from shortlist.draws.noise import Normal
from shortlist.evidence import user_sets
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import _two_gaussians, weighted_gaussian
from shortlist.mechanisms._two_gaussians import TwoGaussians
from shortlist.mechanisms.mechanism import score_digits
from shortlist.mechanisms.weighted_gaussian import WeightedGaussian


def _one_more_counts(right, self, most, draws):
    return replace(right(self, most + 1, draws), max_items_per_user=most)


def _not_bounded(_right, self, most, _draws):
    return replace(self, max_items_per_user=most, whole=self.whole or self)


def _bounded_by_others(_right, self, most, _draws):
    """Of users with too many items those count that few others hold."""
    items, counts = self.items.copy(), self.recount().counts
    for start, size in zip(self.starts.tolist(), self.sizes.tolist(), strict=True):
        mine = items[start : start + size]
        items[start : start + size] = mine[np.argsort(counts[mine], kind="stable")]
    sizes = np.minimum(self.sizes, most)
    whole = self.whole or self
    return replace(self, items=items, sizes=sizes, max_items_per_user=most, whole=whole)


def _thinned_twice(right, light, chances, draws):
    items = right(light, chances, draws)
    return None if items is None else items.at(draws.coin(chances(items.weights)))


def _noise_anew(_right, self, named, draws):
    order = Order(named.weights, [Normal(self.sigma)], digits=score_digits(self.sigma))
    ranked = draws.order(order)
    positions = named.positions[ranked.positions]
    return weighted_gaussian.Selection(positions, ranked.values, ordered=False, noise_sd=self.sigma)


def _first_anew(_right, self, _weights, _named, weight=1.0):
    return Normal(self.first_sigma, weight)


def _highest_strip(right, self, light, named, draws):
    ranged = right(self, light, named, draws)
    if ranged is None:
        return None
    gaps = self.first_threshold - ranged.items.weights
    return ranged._replace(high=gaps, low=np.minimum(ranged.low, gaps - 1))


def _half_twice(right, held, order, *, cutoff, grid, start=None):
    half = right(held, order, cutoff=cutoff, grid=grid, start=start)
    return right(held, order[: len(order) // 2], cutoff=cutoff, grid=grid, start=half)


def _two_units(right, held, order, ranks, **given):
    return right(held, np.repeat(order, 2), ranks, **given)


EVIDENCE = [
    *mistakes(
        ("weighted-gaussian", "discover-then-rank", "user-peeling"),
        ("weighted-gaussian", "discover-then-rank"),
        {
            "a user weighs as one of an item less": everywhere(
                user_sets, "unit_weight", argument(0, lambda size: max(size - 1, 1))
            ),
            "users' weights are 3 % too large": everywhere(
                user_sets, "unit_weight", result(lambda weight: int(weight * 1.03))
            ),
        },
    ),
    *mistakes(
        ("weighted-gaussian", "adaptive-gaussian", "limited-domain", "discover-then-rank"),
        ("weighted-gaussian", "adaptive-gaussian zcdp"),
        {
            "one item of a user more than the bound counts": method(
                Contributions, "bounded", _one_more_counts
            ),
            "users' items are not bounded": method(Contributions, "bounded", _not_bounded),
            "which items of a user count depends on other users": method(
                Contributions, "bounded", _bounded_by_others
            ),
        },
    ),
    *mistakes(
        ("adaptive-gaussian", "adaptive-top-k", "per-group", "noisy-clipped-counts"),
        ("adaptive-gaussian zcdp", "per-group zcdp"),
        {
            "what a user adds is of one who holds half as much": method(
                Contributions,
                "added_by_size",
                argument(1, lambda weights: weights[(np.arange(len(weights)) + 1) // 2]),
            )
        },
    ),
    *mistakes(
        ("weighted-gaussian", "discover-then-rank"),
        "weighted-gaussian light",
        {
            "light items are thinned twice": everywhere(thinning, "succeeding", _thinned_twice),
            "heavy ones of the light items pass half as often as they should": at(
                thinning, "_at_least_all", result(lambda chance: chance / 2)
            ),
        },
    ),
    *mistakes(
        "weighted-gaussian",
        "weighted-gaussian",
        {
            "noise that is told after a coin is drawn anew": method(
                WeightedGaussian, "scored", _noise_anew
            )
        },
    ),
    *mistakes(
        "discover-then-rank",
        "discover-then-rank zcdp",
        {
            "the first of two noises is drawn anew after its coin": method(
                TwoGaussians, "first_noise", _first_anew
            ),
            "30 % too little noise in the second of two Gaussians": method(
                TwoGaussians, "second_sigma", times(0.7)
            ),
            "each of two thresholds loses what is for both": method(
                TwoGaussians, "_threshold", with_field("delta", lambda delta: min(2 * delta, 0.9))
            ),
        },
    ),
    *mistakes(
        "discover-then-rank",
        "discover-then-rank light",
        {
            "light items are taken to be just below the first threshold": method(
                _two_gaussians.Strips, "draw", _highest_strip
            )
        },
    ),
    *mistakes(
        "policy-gaussian",
        "policy-gaussian",
        {
            "half of the users add weight twice under the policy": everywhere(
                policies, "descend", _half_twice
            )
        },
    ),
    *mistakes(
        "policy-greedy",
        ("policy-greedy", "policy-greedy published"),
        {"users add two units under the policy": everywhere(policies, "count_units", _two_units)},
    ),
]
