"""Mistakes in what wraps a selection, in evidence, and in what is thinned or told twice."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from helpers.planted.planting import Plant, always, times
from shortlist.algorithms import policies, thinning
from shortlist.draws import Order
from shortlist.draws.noise import Normal
from shortlist.evidence import user_sets
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms import _strips, _two_gaussians, weighted_gaussian
from shortlist.mechanisms._two_gaussians import TwoGaussians
from shortlist.mechanisms.base import score_digits
from shortlist.mechanisms.weighted_gaussian import WeightedGaussian
from shortlist.mechanisms.wrappers import EachGroup, NoisyClippedCounts, NoisyCounts
from shortlist.mechanisms.wrappers import _correlated_noise as correlated
from shortlist.mechanisms.wrappers import each_group, noisy_clipped_counts, noisy_counts

COUNTS = ("noisy-counts",)
CLIPPED = ("noisy-clipped-counts",)
GROUPS = ("each-group",)
OF_COUNTS = "noisy-counts", "noisy-counts few", "noisy-counts weights"
OF_CLIPPED = "noisy-clipped-counts", "noisy-clipped-counts zcdp"


def less_count_noise(factor):
    def plant(patch):
        def make(_right):
            def wrong(self, counts, draws):
                noise = self._best.noise
                name = "sd" if isinstance(noise, Normal) else "scale"
                less = replace(noise, **{name: getattr(noise, name) * factor})
                told = Order(counts, [less], shared=self._best.shared, unit=1.0, digits=0)
                return draws.order(told).by_position()

            return wrong

        patch.method(NoisyCounts, "_noisy", make)

    return plant


def _bound_of_weights(patch):
    """In so many counts as items of a user weigh, though counts beside weights are of all."""

    def make(_right):
        return lambda self: min(self.k, self.max_items_per_user or self.k)

    patch.method(NoisyCounts, "_changed", make)


def _no_stage(patch):
    def make(_right):
        return lambda self, before, _counts, by_rho: self._composed(before, by_rho)

    patch.method(NoisyCounts, "_one_more", make)


def _all_move(patch):
    """Correlated noise that hides a user of as many counts as can be, and no user of fewer."""

    def within(_right):
        def wrong(self, mu, *, k, m):
            a, v = Fraction(self.shared) ** 2, Fraction(self.own) ** 2
            return (m - a * m * m / (v + k * a)) / v <= Fraction(mu) ** 2

        return wrong

    def distance(_right):
        return lambda ratio, k, m: max(m - m * m * ratio / (1 + k * ratio), 1e-3)

    patch.method(correlated.CorrelatedNoise, "is_within", within)
    patch.at(correlated, "_squared_distance", distance)


def _shared_for_both(patch):
    """Of noise that all counts share, the variance is taken off each count's own twice."""

    def make(right):
        def wrong(self, mu):
            laid = right(self, mu)
            own = math.sqrt(max(laid.own**2 - laid.shared**2, laid.own**2 / 2))
            return laid._replace(own=own)

        return wrong

    patch.method(NoisyCounts, "_laid", make)


def _counts_by_selection(patch):
    """The noise that named an item serves for its count again."""

    def make(right):
        def wrong(self, selection, held, draws):
            if selection.scores is None or not held.n_items:
                return right(self, selection, held, draws)
            truth = held.bounded(self.selection.max_items_per_user, draws)
            weights = truth.added_by_size(truth.unit_weights()) * 2.0**-32
            noise = (selection.scores - weights) / self.selection.sigma
            sd = self.least_count_sd
            counts = np.round(held.counts + noise * sd, score_digits(sd))
            return selection._replace(scores=counts, noise_sd=sd)

        return wrong

    patch.method(NoisyClippedCounts, "_with_counts", make)


def _sd_of_smaller(patch):
    def make(right):
        return lambda self: (right(self)[0], *right(self)[:-1])

    patch.method(NoisyClippedCounts, "_sds", make)


def _choice_is_no_stage(patch):
    patch.method(
        noisy_clipped_counts._Counts, "stages", lambda right: lambda self: right(self)[1:]
    )


def _choice_free_in_rho(patch):
    def of(cls, rho):
        mu = math.sqrt(2 * rho) * (1 - 2.0**-40)
        return cls(mu, noisy_clipped_counts.bounded_range_epsilon(1, rho))

    def by_rho(_right):
        rho = noisy_clipped_counts.ZCDP
        return lambda self: rho(self.mu**2 / 2 * (1 + 2.0**-40))

    patch.method(noisy_clipped_counts._Counts, "by_rho", by_rho)
    patch.method(noisy_clipped_counts._Counts, "stages", lambda right: lambda s: right(s)[1:])
    patch.method(noisy_clipped_counts._Counts, "of", lambda _: classmethod(of))


def _loud_choice(patch):
    patch.method(NoisyClippedCounts, "choice_epsilon", times(3))


# --- each group


def _one_group(patch):
    patch.method(EachGroup, "times", always(1))


def _added_as_changed(patch):
    patch.method(EachGroup, "times", lambda _: lambda self: self.max_groups_per_user)


def _one_time_less(patch):
    def make(right):
        return lambda cost, n, *, epsilon: right(cost, max(n - 1, 1), epsilon=epsilon)

    patch.at(each_group, "repeated", make)


def _whole_delta_each(patch):
    """Each group has all of delta for its bar, and the cost says a part."""

    def make(right):
        def wrong(self, evidence, draws):
            loud = replace(self.selection, delta=min(self.selection.delta * self.times, 0.5))
            vars(loud)["local_epsilon"] = self.selection.local_epsilon
            return right(_Around(self, loud), evidence, draws)

        return wrong

    patch.method(EachGroup, "select", make)


class _Around:
    """Each group with another selection in the place of its own."""

    def __init__(self, each, selection):
        self._each, self.selection = each, selection

    def __getattr__(self, name):
        return getattr(self._each, name)


# --- evidence


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


# --- thinning, and noise after coins


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

    patch.method(_strips.Strips, "draw", make)


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


_counts = _of("mechanisms/wrappers/noisy_counts", COUNTS, *OF_COUNTS)
_clipped = _of("mechanisms/wrappers/noisy_clipped_counts", CLIPPED, *OF_CLIPPED)
_groups = _of("mechanisms/wrappers/each_group", GROUPS, "each-group")
_laid = _of("mechanisms/wrappers/_correlated_noise", COUNTS, "noisy-counts many")
_weights = _of("evidence", ("weighted-gaussian", "discover-then-rank", "user-peeling"),
               "weighted-gaussian", "discover-then-rank")
_sets = _of("evidence/contributions",
            ("weighted-gaussian", "adaptive-gaussian", "limited-domain", "discover-then-rank"),
            "weighted-gaussian", "adaptive-gaussian zcdp")
_light = _of("algorithms/thinning", ("weighted-gaussian", "discover-then-rank"),
             "weighted-gaussian light")

WRAPPERS = [
    _counts("10 % too little noise in counts beside a selection", less_count_noise(0.9)),
    _counts("3 % too little noise in counts beside a selection", less_count_noise(0.97)),
    _counts("half the variance of counts beside a selection", less_count_noise(math.sqrt(0.5))),
    Plant("counts beside weights are as if a user were in as few as weigh",
          "mechanisms/wrappers/noisy_counts", COUNTS, _bound_of_weights,
          ("noisy-counts weights",)),
    Plant("noisy counts are no stage of the cost", "mechanisms/wrappers/noisy_counts", COUNTS,
          _no_stage, ("noisy-counts", "noisy-counts few")),
    _laid("correlated noise hides only whom all counts hold", _all_move),
    _laid("shared noise is taken off each count's own twice", _shared_for_both),
    _clipped("the noise that named an item serves for its count again", _counts_by_selection),
    _clipped("the noise of a clipping bound is that of half of it", _sd_of_smaller),
    Plant("the choice of a clipping bound is no stage of the cost",
          "mechanisms/wrappers/noisy_clipped_counts", CLIPPED, _choice_is_no_stage,
          OF_CLIPPED[:1]),
    _clipped("the choice and the noise of counts each have all of the budget",
             _choice_free_in_rho),
    _clipped("picks a clipping bound at three times what is charged", _loud_choice),
    _groups("a user in several groups pays for one", _one_group),
    Plant("who is changed pays as who is added", "mechanisms/wrappers/each_group", GROUPS,
          _added_as_changed, ("each-group general",)),
    _groups("one of a user's groups is not charged", _one_time_less),
    _groups("each group has all of delta for its bar", _whole_delta_each),
    _weights("a user weighs as one of an item less", _weights_of_fewer),
    _weights("users' weights are 3 % too large", _weights_3),
    _sets("one item of a user more than the bound counts", _one_more_counts),
    _sets("users' items are not bounded", _not_bounded),
    _sets("which items of a user count depends on other users", _bounded_by_others),
    Plant("what a user adds is of one who holds half as much", "evidence/contributions",
          ("adaptive-gaussian", "adaptive-top-k", "per-group", "noisy-clipped-counts"),
          _norm_of_left, ("adaptive-gaussian zcdp", "per-group zcdp")),
    _light("light items are thinned twice", _thinned_twice),
    _light("heavy ones of the light items pass half as often as they should", _most_is_half),
    Plant("noise that is told after a coin is drawn anew", "mechanisms/weighted_gaussian",
          ("weighted-gaussian",), _second_look_fresh, ("weighted-gaussian",)),
    Plant("the first of two noises is drawn anew after its coin", "mechanisms/_two_gaussians",
          ("discover-then-rank",), _first_not_conditioned, ("discover-then-rank zcdp",)),
    Plant("30 % too little noise in the second of two Gaussians", "mechanisms/_two_gaussians",
          ("discover-then-rank",), _mean_of_second_alone, ("discover-then-rank zcdp",)),
    Plant("light items are taken to be just below the first threshold", "mechanisms/_strips",
          ("discover-then-rank",), _strips_from_first, ("discover-then-rank light",)),
    Plant("each of two thresholds loses what is for both", "mechanisms/_two_gaussians",
          ("discover-then-rank",), _whole_delta_twice, ("discover-then-rank zcdp",)),
    Plant("half of the users add weight twice under the policy", "algorithms/policies",
          ("policy-gaussian",), _norm_of_descent, ("policy-gaussian",)),
    Plant("users add two units under the policy", "algorithms/policies", ("policy-greedy",),
          _two_units, ("policy-greedy", "policy-greedy published")),
]
