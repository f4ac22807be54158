"""Mistakes in what wraps a selection."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from helpers.planted.planting import (
    always,
    at,
    method,
    mistakes,
    result,
    times,
    together,
)
from shortlist.draws import Order
from shortlist.draws.noise import Normal
from shortlist.mechanisms import ClippedCountEach, CountEach
from shortlist.mechanisms.mechanism import score_digits
from shortlist.mechanisms.wrappers import (
    EachGroup,
    NoisyClippedCounts,
    NoisyCounts,
    each_group,
    noisy_clipped_counts,
    noisy_counts,
    noisy_others,
    noisy_reach,
)

OF_COUNTS = "noisy-counts", "noisy-counts few", "noisy-counts weights"
OF_CLIPPED = "noisy-clipped-counts", "noisy-clipped-counts zcdp"


def less_count_noise(factor):
    def noisy(_right, self, counts, draws, _unit=1.0):
        noise = self._best.noise
        name = "sd" if isinstance(noise, Normal) else "scale"
        less = replace(noise, **{name: getattr(noise, name) * factor})
        told = Order(counts, [less], shared=self._best.shared, unit=1.0, digits=0)
        return draws.order(told).by_position()

    return method(noisy_counts.InNoise, "_noisy", noisy)


def _all_within(_right, self, mu, *, k, m):
    a, v = Fraction(self.shared) ** 2, Fraction(self.own) ** 2
    return (m - a * m * m / (v + k * a)) / v <= Fraction(mu) ** 2


def _own_less_shared(laid):
    own = math.sqrt(max(laid.own**2 - laid.shared**2, laid.own**2 / 2))
    return laid._replace(own=own)


def _counts_by_selection(right, self, selection, held, draws):
    if selection.scores is None or not held.n_items:
        return right(self, selection, held, draws)
    truth = held.bounded(self.selection.max_items_per_user, draws)
    weights = truth.added_by_size(truth.unit_weights()) * 2.0**-32
    noise = (selection.scores - weights) / self.selection.sigma
    sd = self.least_count_sd
    counts = np.round(held.counts + noise * sd, score_digits(sd))
    return selection._replace(scores=counts, noise_sd=sd)


_Counts = noisy_clipped_counts.ChoiceAndCounts
_without_choice = method(_Counts, "stages", result(lambda every: every[1:]))


def _all_by_noise(_right, self):
    return noisy_clipped_counts.ZCDP(self.mu**2 / 2 * (1 + 2.0**-40))


def _all_for_each(_right, cls, rho):
    mu = math.sqrt(2 * rho) * (1 - 2.0**-40)
    return cls(mu, noisy_clipped_counts.bounded_range_epsilon(1, rho))


def _whole_delta_each(right, self, evidence, draws):
    """Each group has all of delta for its bar, and the cost says a part."""
    loud = replace(self.selection, delta=min(self.selection.delta * self.times, 0.5))
    vars(loud)["local_epsilon"] = self.selection.local_epsilon
    return right(_Around(self, loud), evidence, draws)


class _Around:
    """Each group with another selection in the place of its own."""

    def __init__(self, each, selection):
        self._each, self.selection = each, selection

    def __getattr__(self, name):
        return getattr(self._each, name)


OF_LISTED = "clipped-count-each", "clipped-count-each zcdp"
OF_EACH = "count-each", "count-each normal", "count-each promised"

WRAPPERS = [
    *mistakes(
        "clipped-count-each",
        OF_LISTED,
        {
            "the noise of a clipping bound of a list is that of half of it": method(
                ClippedCountEach, "_sds", result(lambda sds: (sds[0], *sds[:-1]))
            ),
            "picks a clipping bound of a list at three times what is charged": method(
                ClippedCountEach, "choice_epsilon", times(3)
            ),
        },
    ),
    *mistakes(
        "count-each",
        OF_EACH,
        {
            "a user of many items of a list pays for one": method(CountEach, "_changed", always(1)),
            "3 % too little noise in the counts of a list": less_count_noise(0.97),
        },
    ),
    *mistakes(
        "noisy-counts",
        OF_COUNTS,
        {
            "10 % too little noise in counts beside a selection": less_count_noise(0.9),
            "3 % too little noise in counts beside a selection": less_count_noise(0.97),
            "half the variance of counts beside a selection": less_count_noise(math.sqrt(0.5)),
        },
    ),
    *mistakes(
        "noisy-counts",
        OF_COUNTS[2],
        {
            # Counts beside weights are of all items of a user.
            "counts beside weights are as if a user were in as few as weigh": method(
                NoisyCounts,
                "_changed",
                lambda _right, self: min(self.k, self.max_items_per_user or self.k),
            )
        },
    ),
    *mistakes(
        "noisy-counts",
        OF_COUNTS[:2],
        {
            "noisy counts are no stage of the cost": method(
                NoisyCounts,
                "_followed_by",
                lambda right, self, _counts, before, by_rho: right(self, (), before, by_rho),
            )
        },
    ),
    *mistakes(
        "noisy-counts",
        "noisy-counts many",
        {
            # It hides a user of as many counts as can be, and no user of fewer.
            "correlated noise hides only whom all counts hold": together(
                method(noisy_counts.CorrelatedNoise, "is_within", _all_within),
                at(
                    noisy_counts,
                    "_squared_distance",
                    lambda _, ratio, k, m: max(m - m * m * ratio / (1 + k * ratio), 1e-3),
                ),
            ),
            "shared noise is taken off each count's own twice": method(
                NoisyCounts, "_laid", result(_own_less_shared)
            ),
        },
    ),
    *mistakes(
        "noisy-reach",
        "noisy-reach",
        {
            "users who are reached are counted again, with every item that they hold": at(
                noisy_reach,
                "_reached_first",
                lambda _right, held, positions: held.recount().counts[positions],
            ),
            "3 % too little noise in the numbers of users reached": less_count_noise(0.97),
        },
    ),
    *mistakes(
        "noisy-others",
        "noisy-others",
        {
            "each pair counts for as much, however many a user has": at(
                noisy_others,
                "_weights",
                lambda _right, most, largest: np.full(largest + 1, 2**32 // most),
            ),
            "who holds none of the items pays for the pairs alone": together(
                method(noisy_others.NoisyOthers, "_changed", always(1)),
                method(
                    noisy_others.NoisyOthers,
                    "_laid",
                    lambda _right, _self, mu: noisy_others.independent(mu, m=1),
                ),
            ),
        },
    ),
    *mistakes(
        "noisy-clipped-counts",
        OF_CLIPPED,
        {
            "the noise that named an item serves for its count again": method(
                NoisyClippedCounts, "with_counts", _counts_by_selection
            ),
            "the noise of a clipping bound is that of half of it": method(
                NoisyClippedCounts, "_sds", result(lambda sds: (sds[0], *sds[:-1]))
            ),
            "the choice and the noise of counts each have all of the budget": together(
                method(_Counts, "by_rho", _all_by_noise),
                _without_choice,
                method(_Counts, "of", _all_for_each),
            ),
            "picks a clipping bound at three times what is charged": method(
                NoisyClippedCounts, "choice_epsilon", times(3)
            ),
        },
    ),
    *mistakes(
        "noisy-clipped-counts",
        OF_CLIPPED[0],
        {"the choice of a clipping bound is no stage of the cost": _without_choice},
    ),
    *mistakes(
        "each-group",
        "each-group",
        {
            "a user in several groups pays for one": method(EachGroup, "times", always(1)),
            "one of a user's groups is not charged": at(
                each_group,
                "repeated",
                lambda right, cost, n, *, epsilon: right(cost, max(n - 1, 1), epsilon=epsilon),
            ),
            "each group has all of delta for its bar": method(
                EachGroup, "select", _whole_delta_each
            ),
        },
    ),
    *mistakes(
        "each-group",
        "each-group general",
        {
            "who is changed pays as who is added": method(
                EachGroup, "times", lambda _right, self: self.max_groups_per_user
            )
        },
    ),
]
