"""Mistakes in private choices of a bound, and in looks at counts."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from helpers.planted.planting import Plant
from shortlist.algorithms import clipped_counts, grouped_looks, two_looks
from shortlist.algorithms.clipped_counts import ClippedCounts
from shortlist.algorithms.grouped_looks import GroupedLooks
from shortlist.algorithms.two_looks import TwoLooks
from shortlist.mechanisms.adaptive_top_k import AdaptiveTopK
from shortlist.mechanisms.chosen_bound import _ONE, BoundChoice

LOOKED = "adaptive-top-k", "per-group"

CLIPPED = *LOOKED, "noisy-clipped-counts"

ROUNDS = "adaptive-top-k rounds", "adaptive-top-k rounds exact"

OF_CLIPPED = "adaptive-top-k rounds", "per-group zcdp", "noisy-clipped-counts zcdp"

CHOSEN = "chosen-bound", "chosen-bound zcdp"


def _at_twice(patch):
    def make(right):
        return lambda self, held, draws: right(replace(self, epsilon=2 * self.epsilon), held, draws)

    patch.method(BoundChoice, "pick", make)


def _louder_choice(patch):
    def make(right):
        return lambda self, held, draws: right(
            replace(self, epsilon=1.3 * self.epsilon), held, draws
        )

    patch.method(BoundChoice, "pick", make)


def _two_losses(patch):
    """Who holds more than a bound loses 1, and what its threshold costs beside."""

    def make(_right):
        def wrong(self, users_of_size):
            everybody = int(users_of_size[1:].sum())
            beyond = [users_of_size[bound + 1 :].sum() for bound in self.bounds]
            return np.array(beyond, np.int64) * 2 * _ONE + everybody * self._of_others

        return wrong

    patch.method(BoundChoice, "_lost", make)


def _items_beyond(patch):
    def make(right):
        def wrong(self, users_of_size):
            return right(self, users_of_size * np.arange(len(users_of_size)))

        return wrong

    patch.method(BoundChoice, "_lost", make)


def _choice_twice(patch):
    """Chosen twice, and the smaller of both taken."""

    def make(right):
        return lambda self, held, draws: min(right(self, held, draws), right(self, held, draws))

    patch.method(BoundChoice, "pick", make)


def _bound_plus_one(patch):
    patch.method(ClippedCounts, "clipped", lambda right: lambda self, bound: right(self, bound + 1))


def _size_minus_one(patch):
    def make(right):
        def wrong(bound, largest):
            weights = right(bound, largest)
            return np.append(weights[:1], weights[:-1])

        return wrong

    patch.at(clipped_counts, "clipped_weights", make)


def _half_variance(patch):
    def make(right):
        return lambda self, bound, sd, draws: right(self, bound, sd * math.sqrt(0.5), draws)

    patch.method(ClippedCounts, "noisy", make)


def _little_less(patch):
    def make(right):
        return lambda self, bound, sd, draws: right(self, bound, sd * 0.97, draws)

    patch.method(ClippedCounts, "noisy", make)


def _sd_of_next(patch):
    def make(right):
        return lambda self, bound, sd, draws: right(self, 2 * bound, sd, draws)

    patch.method(ClippedCounts, "noisy", make)


def _by_power(patch):
    wrong = lambda right: lambda bound, rho: right(bound**0.8, rho)
    patch.everywhere(clipped_counts, "sd_of_counts", wrong)


def _bound_at_twice(patch):
    def make(right):
        return lambda self, bounds, sds, epsilon, draws: right(
            self, bounds, sds, 2 * epsilon, draws
        )

    patch.method(ClippedCounts, "pick", make)


def _bound_picked_twice(patch):
    def make(right):
        return lambda *given: max(right(*given), right(*given))

    patch.method(ClippedCounts, "pick", make)


def _over_half(patch):
    patch.method(ClippedCounts, "_most", lambda right: lambda self: max(right(self) // 2, 1))


def _one_group_in_choice(patch):
    def make(right):
        return lambda self, sizes: right(replace(self, most_groups=1), sizes)

    patch.method(GroupedLooks, "_most", make)


def _noise_by_size(patch):
    """Counts of few items, which are whole numbers mostly, get half the noise."""

    def make(right):
        def wrong(self, bound, sd, draws):
            return right(self, bound, sd / (1 + (self.held.n_items < 10)), draws)

        return wrong

    patch.method(ClippedCounts, "noisy", make)


def _open_by_truth(patch):
    known = {}

    def looks(right):
        def wrong(self, held, share, draws):
            known.setdefault(id(self), []).append(held.counts.astype(float))
            return right(self, held, share, draws)

        return wrong

    def best(right):
        def wrong(self, held, k, draws):
            known.clear()
            return right(self, held, k, draws)

        return wrong

    def decided(right):
        def wrong(look, k):
            (true, *_) = next(iter(known.values()))
            return right(look._replace(counts=true), k)

        return wrong

    patch.method(TwoLooks, "_look", looks)
    patch.method(TwoLooks, "best", best)
    patch.at(two_looks, "_decided", decided)


def _whole_rho(patch):
    patch.method(AdaptiveTopK, "_looks", lambda right: lambda self, rho: right(self, 2 * rho))


def _whole_rho_each(patch):
    def make(right):
        def wrong(self, *given):
            return right(replace(self, shares=(Fraction(1),) * len(self.shares)), *given)

        return wrong

    patch.method(GroupedLooks, "best", make)


def _second_whole(patch):
    def make(right):
        def wrong(self, *given):
            return right(replace(self, shares=(self.shares[0],) * len(self.shares)), *given)

        return wrong

    patch.method(GroupedLooks, "best", make)


def _expects_truth(patch):
    """What is expected of a group is worked out from its counts without noise."""
    known = {}

    def looks(right):
        def wrong(self, held, sizes, rho, draws):
            known.setdefault("true", held.counts.astype(float))
            return right(self, held, sizes, rho, draws)

        return wrong

    def best(right):
        def wrong(self, *given):
            known.clear()
            return right(self, *given)

        return wrong

    def expected(right):
        return lambda _, *given: right(known["true"], *given)

    patch.method(GroupedLooks, "_look", looks)
    patch.method(GroupedLooks, "best", best)
    patch.at(grouped_looks, "_expected", expected)


def _plant(name, room, shown, plant, *cases):
    return Plant(name, room, shown, plant, cases)


def _of(room, shown, *cases):
    """Plants of one room, which show in the same mechanisms."""
    return lambda name, plant: _plant(name, room, shown, plant, *cases)


_bounds = _of("mechanisms/chosen_bound", ("chosen-bound",), *CHOSEN)

_counts = _of("algorithms/clipped_counts", CLIPPED, *OF_CLIPPED)

_ranked = _of("algorithms/two_looks", ("adaptive-top-k",), ROUNDS[0])

_grouped = _of("algorithms/grouped_looks", ("per-group",), "per-group zcdp")

LOOKS = [
    _bounds("picks a bound at twice the range", _at_twice),
    _bounds("picks a bound at 1.3 times the range", _louder_choice),
    _bounds("users beyond a bound lose by its threshold too", _two_losses),
    _bounds("the choice of a bound looks at items instead of users", _items_beyond),
    _bounds("a bound is chosen twice and charged once", _choice_twice),
    _plant(
        "counts are clipped at the bound + 1",
        "algorithms/clipped_counts",
        CLIPPED,
        _bound_plus_one,
        *OF_CLIPPED[:2],
    ),
    _counts("a user is clipped as one of an item less", _size_minus_one),
    _counts("half the variance of the counts' noise", _half_variance),
    _counts("3 % too little noise in counts", _little_less),
    _plant(
        "counts are clipped at twice the bound that the noise is for",
        "algorithms/clipped_counts",
        CLIPPED,
        _sd_of_next,
        *OF_CLIPPED[:2],
    ),
    _plant(
        "the noise of counts grows too slowly with the bound",
        "algorithms/clipped_counts",
        LOOKED,
        _by_power,
        *OF_CLIPPED[:2],
    ),
    _counts("picks a clipping bound at twice the range", _bound_at_twice),
    _counts("a clipping bound is picked twice and charged once", _bound_picked_twice),
    _counts("the loss of a bound is over half of what a user can hold", _over_half),
    _plant(
        "counts of fewer than ten items have half the noise",
        "algorithms/clipped_counts",
        CLIPPED,
        _noise_by_size,
        "adaptive-top-k rounds",
        "noisy-clipped-counts zcdp",
    ),
    _ranked("what is open after a look follows from the counts without noise", _open_by_truth),
    _ranked("two looks each with all of the budget", _whole_rho),
    _grouped("each look in groups has all of the budget", _whole_rho_each),
    _grouped("the second look in groups has as much as the first", _second_whole),
    _grouped("the choice of a clipping bound is for users of one group", _one_group_in_choice),
    _grouped("what is expected of a group follows from counts without noise", _expects_truth),
]
