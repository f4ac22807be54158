"""Mistakes in private choices of a bound, and in noisy measurements of counts."""

import math
from fractions import Fraction

import numpy as np

from helpers.planted.planting import (
    argument_times,
    at,
    everywhere,
    method,
    mistakes,
    result,
    with_field,
)
from shortlist.algorithms import clipped_counts, grouped_measurements
from shortlist.algorithms.clipped_counts import ClippedCounts, TwoMeasurements
from shortlist.algorithms.grouped_measurements import GroupedMeasurements
from shortlist.mechanisms.adaptive_top_k import AdaptiveTopK
from shortlist.mechanisms.chosen_bound import BoundChoice

LOOKED = "adaptive-top-k", "per-group"
CLIPPED = *LOOKED, "noisy-clipped-counts"
OF_CLIPPED = "adaptive-top-k rounds", "per-group zcdp", "noisy-clipped-counts zcdp"


def _two_losses(_right, self, users_of_size):
    """Who holds more than a bound loses 1, and what its threshold costs beside."""
    items = users_of_size * np.minimum(np.arange(len(users_of_size)), self.whole)
    beyond = [items[bound + 1 :].sum() for bound in self.bounds]
    return np.array(beyond, np.int64) * 2 * self._per_item + items.sum() * self._of_others


def _noise_by_size(right, self, bound, sd, draws):
    return right(self, bound, sd / (1 + (self.held.n_items < 10)), draws)


def _with_true_counts(cls, look, module, name, wrong):
    """A function of noisy counts, also given those that the first measurement is of."""

    def plant(patches):
        known = {}

        def looks(right, self, held, *given):
            known.setdefault("true", held.counts.astype(float))
            return right(self, held, *given)

        def best(right, *given):
            known.clear()
            return right(*given)

        patches.method(cls, look, looks)
        patches.method(cls, "best", best)
        patches.at(module, name, lambda right, *given: wrong(right, known["true"], *given))

    return plant


LOOKS = [
    *mistakes(
        "chosen-bound",
        ("chosen-bound", "chosen-bound zcdp"),
        {
            "picks a bound at twice the range": method(
                BoundChoice, "pick", with_field("epsilon", lambda e: 2 * e)
            ),
            "picks a bound at 1.3 times the range": method(
                BoundChoice, "pick", with_field("epsilon", lambda e: 1.3 * e)
            ),
            "users beyond a bound lose by its threshold too": method(
                BoundChoice, "_lost", _two_losses
            ),
            "the choice of a bound looks at items instead of users": method(
                BoundChoice, "_lost", lambda right, self, of: right(self, of * np.arange(len(of)))
            ),
            "a bound is chosen twice and charged once": method(
                BoundChoice, "pick", lambda right, *given: min(right(*given), right(*given))
            ),
        },
    ),
    *mistakes(
        CLIPPED,
        OF_CLIPPED,
        {
            "a user is clipped as one of an item less": at(
                clipped_counts,
                "clipped_weights",
                result(lambda weights: np.append(weights[:1], weights[:-1])),
            ),
            "half the variance of the counts' noise": method(
                ClippedCounts, "noisy", argument_times(2, math.sqrt(0.5))
            ),
            "3 % too little noise in counts": method(
                ClippedCounts, "noisy", argument_times(2, 0.97)
            ),
            "picks a clipping bound at twice the range": method(
                ClippedCounts, "pick", argument_times(3, 2)
            ),
            "a clipping bound is picked twice and charged once": method(
                ClippedCounts, "pick", lambda right, *given: max(right(*given), right(*given))
            ),
            "the loss of a bound is over half of what a user can hold": method(
                ClippedCounts, "_most", result(lambda most: max(most // 2, 1))
            ),
        },
    ),
    *mistakes(
        CLIPPED,
        OF_CLIPPED[:2],
        {
            "counts are clipped at the bound + 1": method(
                ClippedCounts, "clipped", lambda right, self, bound: right(self, bound + 1)
            ),
            "counts are clipped at twice the bound that the noise is for": method(
                ClippedCounts, "noisy", argument_times(1, 2)
            ),
        },
    ),
    *mistakes(
        LOOKED,
        OF_CLIPPED[:2],
        {
            "the noise of counts grows too slowly with the bound": everywhere(
                clipped_counts, "sd_of_counts", lambda right, bound, rho: right(bound**0.8, rho)
            )
        },
    ),
    *mistakes(
        CLIPPED,
        ("adaptive-top-k rounds", "noisy-clipped-counts zcdp"),
        {
            "counts of fewer than ten items have half the noise": method(
                ClippedCounts, "noisy", _noise_by_size
            )
        },
    ),
    *mistakes(
        "adaptive-top-k",
        "adaptive-top-k rounds",
        {
            "what is open after a look follows from the counts without noise": _with_true_counts(
                TwoMeasurements,
                "_measured",
                clipped_counts,
                "_decided",
                lambda right, true, look, k: right(look._replace(counts=true), k),
            ),
            "two looks each with all of the budget": method(
                AdaptiveTopK, "_measurements", argument_times(1, 2)
            ),
        },
    ),
    *mistakes(
        "per-group",
        "per-group zcdp",
        {
            "each look in groups has all of the budget": method(
                GroupedMeasurements,
                "best",
                with_field("shares", lambda every: (Fraction(1),) * len(every)),
            ),
            "the second look in groups has as much as the first": method(
                GroupedMeasurements,
                "best",
                with_field("shares", lambda every: every[:1] * len(every)),
            ),
            "the choice of a clipping bound is for users of one group": method(
                GroupedMeasurements, "_most", with_field("most_groups", lambda _: 1)
            ),
            "what is expected of a group follows from counts without noise": _with_true_counts(
                GroupedMeasurements,
                "_measured",
                grouped_measurements,
                "_expected",
                lambda right, true, _noisy, *given: right(true, *given),
            ),
        },
    ),
]
