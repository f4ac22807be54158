"""Mistakes in thresholds of rounds, in fitting and in calibration."""

import math
from dataclasses import replace

import numpy as np

from helpers.planted.planting import Plant, always, times
from shortlist.privacy import calibration
from shortlist.privacy.accountant import (
    cost_of_rounds,
    fitting,
    gaussian_threshold,
    picks_as_noise,
)
from shortlist.privacy.accountant.cost_of_rounds import ItemsInRounds, Schedule
from shortlist.privacy.accountant.items_of_one_user import Cases
from shortlist.privacy.accountant.policy_coin import UnitCoin

ROUNDS = "adaptive-gaussian", "chosen-bound", "adaptive-top-k", "adaptive-hitting-set", "per-group"

OF_ROUNDS = "adaptive-gaussian", "adaptive-gaussian zcdp", "per-group zcdp"

PICKS = "peeling", "adaptive-top-k", "joint-or-peel", "user-peeling", "limited-domain"

OF_PICKS = "peeling", "limited-domain", "user-peeling"


def _as_coin(patch):
    patch.number(ItemsInRounds, "by_coin", value=True)


def _none_between(patch):
    def make(right):
        def wrong(self):
            shared, lost = right(self)
            return Cases(shared[[0, -1]], lost[[0, -1]])

        return wrong

    patch.method(ItemsInRounds, "cases", make)


def _kept_all(patch):
    patch.method(Schedule, "kept", always(1.0))


def _kept_without_first(patch):
    """Later rounds keep as much as the first."""
    patch.method(
        cost_of_rounds.Schedule, "kept", lambda right: lambda self: min(2 * right(self), 1.0)
    )


def _without_d(patch):
    def make(right):
        return lambda tails: right(np.full_like(tails, np.max(tails)))

    patch.at(cost_of_rounds, "upper_quantiles", make)


def _threshold_without_d(patch):
    def make(right):
        return lambda tails: right(np.full_like(tails, np.max(tails)))

    patch.at(gaussian_threshold, "upper_quantiles", make)


def _whole_loss_each(patch):
    def make(right):
        def wrong(schedule, release, bound):
            return right(replace(schedule, losses=(1.0,) * schedule.rounds), release, bound)

        return wrong

    patch.everywhere(cost_of_rounds, "limits_of", make)


def _even_weights_only(patch):
    """Thresholds as if no item got more than its even weight; caps as they are."""

    def make(right):
        def wrong(schedule, release, bound):
            low = right(replace(schedule, cap=1.0, raised=None), release, bound)
            return right(schedule, release, bound)._replace(thresholds=low.thresholds)

        return wrong

    patch.everywhere(cost_of_rounds, "limits_of", make)


def _limits_of_smaller(patch):
    def make(right):
        return lambda schedule, release, bound: right(schedule, release, max(bound // 2, 1))

    patch.everywhere(cost_of_rounds, "limits_of", make)


def _lower_thresholds(patch):
    def make(right):
        def wrong(*given):
            limits = right(*given)
            return limits._replace(thresholds=tuple(0.95 * least for least in limits.thresholds))

        return wrong

    patch.everywhere(cost_of_rounds, "limits_of", make)


def _later_parameter(patch):
    patch.everywhere(fitting, "largest_within", times(1.05))


def _later_after(patch):
    patch.everywhere(fitting, "largest_after", times(1.1))


def _less_noise_fitted(patch):
    def make(right):
        def wrong(*given, **named):
            found = right(*given, **named)
            return found._replace(sigma=found.sigma * 0.97)

        return wrong

    patch.everywhere(cost_of_rounds, "_noise_then_loss", make)


def _stop_after_all(patch):
    """All rounds are taken to be run."""

    def make(right):
        return lambda release, first, bound: right(release, (first + 1) / 2, bound)

    patch.at(cost_of_rounds, "with_a_stop", make)


def _picks_as_rho(patch):
    def make(_right):
        return lambda mu, n: 2 * mu / math.sqrt(n)

    patch.everywhere(picks_as_noise, "picks_below", make)


def _picks_as_pure(patch):
    """Each pick as one coin, whatever their number."""

    def make(right):
        return lambda mu, n: right(mu, 1) / math.sqrt(n)

    patch.everywhere(picks_as_noise, "picks_below", make)


def _steeper_coin(patch):
    def make(right):
        return lambda self: right(UnitCoin(1.1 * self.epsilon, self.delta))

    patch.method(UnitCoin, "numerators", make)


def _one_way_coin(patch):
    """Chances grow by e^epsilon up to 1: what they leave falls faster."""

    def make(_right):
        def wrong(self):
            one, chance = 1 << self.bits, 0
            growth = math.floor(math.exp(self.epsilon) * one)
            delta = math.floor(self.delta * one)
            while chance < one:
                yield chance
                chance = min(growth * chance // one + delta, one)
            yield one

        return wrong

    patch.method(UnitCoin, "_climb", make)


def _threshold_for_one(patch):
    def make(right):
        def wrong(*, sigma, delta, max_items_per_user):
            return right(sigma=sigma, delta=delta, max_items_per_user=min(max_items_per_user, 1))

        return wrong

    patch.everywhere(calibration, "threshold", make)


def _little_less_sigma(patch):
    patch.everywhere(calibration, "gaussian_sigma", times(0.97))


def _sigma_of_double(patch):
    patch.everywhere(calibration, "gaussian_sigma", lambda right: lambda rho: right(2 * rho))


def _range_of_fewer(patch):
    def make(right):
        return lambda k, rho: right(max(k - 1, 1), rho)

    patch.everywhere(calibration, "bounded_range_epsilon", make)


def _range_of_rho(patch):
    def make(right):
        return lambda k, rho: right(k, rho * 1.2)

    patch.everywhere(calibration, "bounded_range_epsilon", make)


def _lost_is_free(patch):
    def make(right):
        return lambda *, epsilon, delta, lost=0.0: right(
            epsilon=epsilon, delta=delta, lost=0 * lost
        )

    patch.everywhere(calibration, "zcdp_rho", make)


def _of(room, shown, *cases):
    return lambda name, plant: Plant(name, "privacy/" + room, shown, plant, cases)


_limits = _of("accountant/cost_of_rounds", ROUNDS, *OF_ROUNDS)

_in_rounds = _of(
    "accountant/cost_of_rounds",
    ("adaptive-gaussian", "adaptive-hitting-set"),
    "adaptive-gaussian",
    "adaptive-hitting-set",
)

_normal = _of(
    "accountant/picks_as_noise",
    ("adaptive-hitting-set", "chosen-bound"),
    "adaptive-hitting-set zcdp",
)

_coin = _of("accountant/policy_coin", ("policy-greedy",), "policy-greedy")

_calibrated = _of(
    "calibration",
    ("adaptive-top-k", "per-group", "discover-then-rank"),
    "adaptive-top-k rounds",
    "per-group zcdp",
    "discover-then-rank zcdp",
)

FITTING = [
    _in_rounds("naming what one user alone holds counts as a coin of its own", _as_coin),
    _in_rounds("users of whose items some are novel are not looked at", _none_between),
    Plant(
        "novel items are taken to keep all from others in each round",
        "privacy/accountant/cost_of_rounds",
        ("adaptive-gaussian", "chosen-bound"),
        _kept_all,
        ("adaptive-gaussian",),
    ),
    Plant(
        "novel items are taken to keep twice as much as they do",
        "privacy/accountant/cost_of_rounds",
        ("adaptive-gaussian", "chosen-bound"),
        _kept_without_first,
        ("adaptive-gaussian",),
    ),
    _limits("d is missing in the union bound of rounds", _without_d),
    Plant(
        "d is missing in the union bound of a threshold",
        "privacy/accountant/gaussian_threshold",
        ("weighted-gaussian", "policy-gaussian"),
        _threshold_without_d,
        ("weighted-gaussian",),
    ),
    _limits("each round loses what is for all", _whole_loss_each),
    _limits("thresholds are for even weights, and caps above them", _even_weights_only),
    _limits("thresholds and caps are for half of a user's items", _limits_of_smaller),
    _limits("thresholds of rounds are 5 % too low", _lower_thresholds),
    Plant(
        "a parameter that was seen to be too large is taken",
        "privacy/accountant/fitting",
        PICKS,
        _later_parameter,
        OF_PICKS[:2],
    ),
    Plant(
        "the last stage takes more than is left",
        "privacy/accountant/fitting",
        ("noisy-counts", "noisy-clipped-counts"),
        _later_after,
        ("noisy-counts", "noisy-clipped-counts"),
    ),
    Plant(
        "3 % less noise than was fitted",
        "privacy/accountant/cost_of_rounds",
        ROUNDS[:1] + ROUNDS[3:4],
        _less_noise_fitted,
        ("adaptive-gaussian", "adaptive-hitting-set"),
    ),
    Plant(
        "rounds are taken to run on after they may stop",
        "privacy/accountant/cost_of_rounds",
        ("adaptive-hitting-set",),
        _stop_after_all,
        ("adaptive-hitting-set",),
    ),
    _normal("picks count as normal noise of their zCDP", _picks_as_rho),
    _normal("picks count as one, divided by the root of their number", _picks_as_pure),
    _coin("a policy's coin grows with 1.1 times epsilon", _steeper_coin),
    _coin("a policy's coin is private one way only", _one_way_coin),
    Plant(
        "thresholds are for users of one item",
        "privacy/calibration",
        ("discover-then-rank", "user-peeling", "weighted-gaussian"),
        _threshold_for_one,
        ("discover-then-rank", "weighted-gaussian wide zcdp"),
    ),
    _calibrated("3 % too little normal noise for its zCDP", _little_less_sigma),
    _calibrated("normal noise for twice its zCDP", _sigma_of_double),
    Plant(
        "picks have the zCDP of one pick less",
        "privacy/calibration",
        ("adaptive-top-k", "discover-then-rank", "user-peeling"),
        _range_of_fewer,
        ("adaptive-top-k zcdp", "discover-then-rank zcdp"),
    ),
    Plant(
        "picks have 1.2 times their zCDP",
        "privacy/calibration",
        ("adaptive-top-k", "per-group", "discover-then-rank"),
        _range_of_rho,
        ("adaptive-top-k zcdp", "per-group zcdp", "discover-then-rank zcdp"),
    ),
    Plant(
        "what thresholds lose is free in zCDP",
        "privacy/calibration",
        ("adaptive-top-k", "per-group", "limited-domain"),
        _lost_is_free,
        ("adaptive-top-k zcdp", "per-group zcdp", "limited-domain zcdp"),
    ),
]
