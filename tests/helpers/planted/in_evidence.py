"""Mistakes in evidence, and in what is thinned or told twice."""

from dataclasses import replace

import numpy as np

from helpers.planted.planting import Plant, times
from shortlist.algorithms import policies, thinning
from shortlist.draws import Order
from shortlist.draws.noise import Normal
from shortlist.evidence import user_sets
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import _two_gaussians, weighted_gaussian
from shortlist.mechanisms._two_gaussians import TwoGaussians
from shortlist.mechanisms.mechanism import score_digits
from shortlist.mechanisms.weighted_gaussian import WeightedGaussian


def _weights_of_fewer(patch):
    def make(right):
        return lambda size: right(max(size - 1, 1))

    patch.everywhere(user_sets, "unit_weight", make)


def _weights_3(patch):
    patch.everywhere(user_sets, "unit_weight", lambda right: lambda n: int(right(n) * 1.03))


def _one_more_counts(patch):
    def make(right):
        def wrong(self, most, draws):
            return replace(right(self, most + 1, draws), max_items_per_user=most)

        return wrong

    patch.method(Contributions, "bounded", make)


def _not_bounded(patch):
    def make(_right):
        def wrong(self, most, _draws):
            return replace(self, max_items_per_user=most, whole=self.whole or self)

        return wrong

    patch.method(Contributions, "bounded", make)


def _bounded_by_others(patch):
    """Of users with too many items those count that few others hold."""

    def make(_right):
        def wrong(self, most, _draws):
            items, counts = self.items.copy(), self.recount().counts
            for start, size in zip(self.starts.tolist(), self.sizes.tolist(), strict=True):
                mine = items[start : start + size]
                items[start : start + size] = mine[np.argsort(counts[mine], kind="stable")]
            sizes = np.minimum(self.sizes, most)
            whole = self.whole or self
            return replace(self, items=items, sizes=sizes, max_items_per_user=most, whole=whole)

        return wrong

    patch.method(Contributions, "bounded", make)


def _norm_of_left(patch):
    """A user's part in counts is clipped as if the user held half of the items."""

    def make(right):
        def wrong(self, weights):
            return right(self, weights[(np.arange(len(weights)) + 1) // 2])

        return wrong

    patch.method(Contributions, "added_by_size", make)


def _thinned_twice(patch):
    def make(right):
        def wrong(light, chances, draws):
            items = right(light, chances, draws)
            if items is None:
                return None
            return items.at(draws.coin(chances(items.weights)))

        return wrong

    patch.everywhere(thinning, "succeeding", make)


def _most_is_half(patch):
    """What is heavy among the light items passes half as often as it should."""
    patch.at(thinning, "_at_least_all", lambda right: lambda *given: right(*given) / 2)


def _second_look_fresh(patch):
    def make(_right):
        def wrong(self, named, draws):
            noise = Normal(self.sigma)
            digits = score_digits(self.sigma)
            ranked = draws.order(Order(named.weights, [noise], digits=digits))
            positions = named.positions[ranked.positions]
            return weighted_gaussian.Selection(
                positions, ranked.values, ordered=False, noise_sd=self.sigma
            )

        return wrong

    patch.method(WeightedGaussian, "scored", make)


def _first_not_conditioned(patch):
    def make(_right):
        return lambda self, _weights, _named, weight=1.0: Normal(self.first_sigma, weight)

    patch.method(TwoGaussians, "first_noise", make)


def _mean_of_second_alone(patch):
    """The second noise as if the mean were it: 30 % too small."""
    patch.method(TwoGaussians, "second_sigma", times(0.7))


def _strips_from_first(patch):
    """A light item's strip is not drawn: it is the first."""

    def make(right):
        def wrong(self, light, named, draws):
            ranged = right(self, light, named, draws)
            if ranged is None:
                return None
            gaps = self.first_threshold - ranged.items.weights
            return ranged._replace(high=gaps, low=np.minimum(ranged.low, gaps - 1))

        return wrong

    patch.method(_two_gaussians.Strips, "draw", make)


def _whole_delta_twice(patch):
    def make(right):
        return lambda self, sigma: right(replace(self, delta=min(2 * self.delta, 0.9)), sigma)

    patch.method(TwoGaussians, "_threshold", make)


def _norm_of_descent(patch):
    def make(right):
        def wrong(held, order, *, cutoff, grid, start=None):
            half = right(held, order, cutoff=cutoff, grid=grid, start=start)
            return right(held, order[: len(order) // 2], cutoff=cutoff, grid=grid, start=half)

        return wrong

    patch.everywhere(policies, "descend", make)


def _two_units(patch):
    def make(right):
        def wrong(held, order, ranks, *, cutoff):
            return right(held, np.repeat(order, 2), ranks, cutoff=cutoff)

        return wrong

    patch.everywhere(policies, "count_units", make)


def _of(room, shown, *cases):
    return lambda name, plant: Plant(name, room, shown, plant, cases)


_weights = _of(
    "evidence",
    ("weighted-gaussian", "discover-then-rank", "user-peeling"),
    "weighted-gaussian",
    "discover-then-rank",
)

_sets = _of(
    "evidence/contributions",
    ("weighted-gaussian", "adaptive-gaussian", "limited-domain", "discover-then-rank"),
    "weighted-gaussian",
    "adaptive-gaussian zcdp",
)

_light = _of(
    "algorithms/thinning", ("weighted-gaussian", "discover-then-rank"), "weighted-gaussian light"
)

EVIDENCE = [
    _weights("a user weighs as one of an item less", _weights_of_fewer),
    _weights("users' weights are 3 % too large", _weights_3),
    _sets("one item of a user more than the bound counts", _one_more_counts),
    _sets("users' items are not bounded", _not_bounded),
    _sets("which items of a user count depends on other users", _bounded_by_others),
    Plant(
        "what a user adds is of one who holds half as much",
        "evidence/contributions",
        ("adaptive-gaussian", "adaptive-top-k", "per-group", "noisy-clipped-counts"),
        _norm_of_left,
        ("adaptive-gaussian zcdp", "per-group zcdp"),
    ),
    _light("light items are thinned twice", _thinned_twice),
    _light("heavy ones of the light items pass half as often as they should", _most_is_half),
    Plant(
        "noise that is told after a coin is drawn anew",
        "mechanisms/weighted_gaussian",
        ("weighted-gaussian",),
        _second_look_fresh,
        ("weighted-gaussian",),
    ),
    Plant(
        "the first of two noises is drawn anew after its coin",
        "mechanisms/_two_gaussians",
        ("discover-then-rank",),
        _first_not_conditioned,
        ("discover-then-rank zcdp",),
    ),
    Plant(
        "30 % too little noise in the second of two Gaussians",
        "mechanisms/_two_gaussians",
        ("discover-then-rank",),
        _mean_of_second_alone,
        ("discover-then-rank zcdp",),
    ),
    Plant(
        "light items are taken to be just below the first threshold",
        "mechanisms/_two_gaussians",
        ("discover-then-rank",),
        _strips_from_first,
        ("discover-then-rank light",),
    ),
    Plant(
        "each of two thresholds loses what is for both",
        "mechanisms/_two_gaussians",
        ("discover-then-rank",),
        _whole_delta_twice,
        ("discover-then-rank zcdp",),
    ),
    Plant(
        "half of the users add weight twice under the policy",
        "algorithms/policies",
        ("policy-gaussian",),
        _norm_of_descent,
        ("policy-gaussian",),
    ),
    Plant(
        "users add two units under the policy",
        "algorithms/policies",
        ("policy-greedy",),
        _two_units,
        ("policy-greedy", "policy-greedy published"),
    ),
]
