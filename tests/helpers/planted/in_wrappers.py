"""Mistakes in what wraps a selection."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from helpers.planted.planting import Plant, always, times
from shortlist.draws import Order
from shortlist.draws.noise import Normal
from shortlist.mechanisms.mechanism import score_digits
from shortlist.mechanisms.wrappers import (
    EachGroup,
    NoisyClippedCounts,
    NoisyCounts,
    each_group,
    noisy_clipped_counts,
)
from shortlist.mechanisms.wrappers import noisy_counts as correlated

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
    def make(right):
        return lambda self, _counts, before, by_rho: right(self, (), before, by_rho)

    patch.method(NoisyCounts, "_followed_by", make)


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
        noisy_clipped_counts._ChoiceAndCounts, "stages", lambda right: lambda self: right(self)[1:]
    )


def _choice_free_in_rho(patch):
    def of(cls, rho):
        mu = math.sqrt(2 * rho) * (1 - 2.0**-40)
        return cls(mu, noisy_clipped_counts.bounded_range_epsilon(1, rho))

    def by_rho(_right):
        rho = noisy_clipped_counts.ZCDP
        return lambda self: rho(self.mu**2 / 2 * (1 + 2.0**-40))

    patch.method(noisy_clipped_counts._ChoiceAndCounts, "by_rho", by_rho)
    patch.method(
        noisy_clipped_counts._ChoiceAndCounts, "stages", lambda right: lambda s: right(s)[1:]
    )
    patch.method(noisy_clipped_counts._ChoiceAndCounts, "of", lambda _: classmethod(of))


def _loud_choice(patch):
    patch.method(NoisyClippedCounts, "choice_epsilon", times(3))


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


def _of(room, shown, *cases):
    return lambda name, plant: Plant(name, room, shown, plant, cases)


_counts = _of("mechanisms/wrappers/noisy_counts", COUNTS, *OF_COUNTS)

_clipped = _of("mechanisms/wrappers/noisy_clipped_counts", CLIPPED, *OF_CLIPPED)

_groups = _of("mechanisms/wrappers/each_group", GROUPS, "each-group")

_laid = _of("mechanisms/wrappers/noisy_counts", COUNTS, "noisy-counts many")

WRAPPERS = [
    _counts("10 % too little noise in counts beside a selection", less_count_noise(0.9)),
    _counts("3 % too little noise in counts beside a selection", less_count_noise(0.97)),
    _counts("half the variance of counts beside a selection", less_count_noise(math.sqrt(0.5))),
    Plant(
        "counts beside weights are as if a user were in as few as weigh",
        "mechanisms/wrappers/noisy_counts",
        COUNTS,
        _bound_of_weights,
        ("noisy-counts weights",),
    ),
    Plant(
        "noisy counts are no stage of the cost",
        "mechanisms/wrappers/noisy_counts",
        COUNTS,
        _no_stage,
        ("noisy-counts", "noisy-counts few"),
    ),
    _laid("correlated noise hides only whom all counts hold", _all_move),
    _laid("shared noise is taken off each count's own twice", _shared_for_both),
    _clipped("the noise that named an item serves for its count again", _counts_by_selection),
    _clipped("the noise of a clipping bound is that of half of it", _sd_of_smaller),
    Plant(
        "the choice of a clipping bound is no stage of the cost",
        "mechanisms/wrappers/noisy_clipped_counts",
        CLIPPED,
        _choice_is_no_stage,
        OF_CLIPPED[:1],
    ),
    _clipped("the choice and the noise of counts each have all of the budget", _choice_free_in_rho),
    _clipped("picks a clipping bound at three times what is charged", _loud_choice),
    _groups("a user in several groups pays for one", _one_group),
    Plant(
        "who is changed pays as who is added",
        "mechanisms/wrappers/each_group",
        GROUPS,
        _added_as_changed,
        ("each-group general",),
    ),
    _groups("one of a user's groups is not charged", _one_time_less),
    _groups("each group has all of delta for its bar", _whole_delta_each),
]
