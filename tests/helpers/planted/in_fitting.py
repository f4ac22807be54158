"""Mistakes in thresholds of rounds, in fitting and in calibration."""

import math
from dataclasses import replace

import numpy as np

from helpers.planted.planting import (
    always,
    argument,
    argument_times,
    at,
    everywhere,
    method,
    mistakes,
    number,
    result,
    times,
    with_field,
)
from shortlist.mechanisms import adaptive_hitting_set
from shortlist.privacy import calibration
from shortlist.privacy.accountant import (
    cost_of_rounds,
    fitting,
    gaussian_threshold,
    picks_by_reach,
)
from shortlist.privacy.accountant.cost_of_rounds import ItemsInRounds, Schedule, with_a_stop
from shortlist.privacy.accountant.items_of_one_user import Cases
from shortlist.privacy.accountant.policy_coin import UnitCoin

ROUNDS = "adaptive-gaussian", "chosen-bound", "adaptive-top-k", "adaptive-hitting-set", "per-group"
OF_ROUNDS = "adaptive-gaussian", "adaptive-gaussian zcdp", "per-group zcdp"
PICKS = "peeling", "adaptive-top-k", "joint-or-peel", "user-peeling", "limited-domain"


def _limits(wrong):
    return everywhere(cost_of_rounds, "limits_of", wrong)


def _even_weights_only(right, schedule, release, bound):
    """Thresholds as if no item got more than its even weight; caps as they are."""
    low = right(replace(schedule, cap=1.0, raised=None), release, bound)
    return right(schedule, release, bound)._replace(thresholds=low.thresholds)


def _as_if_rounds_ran_on(right, composed, **guarantee):
    made = composed.__self__  # the mechanism
    first, bound = (made._first + 1) / 2, made.max_items_per_user
    return right(lambda release: with_a_stop(release, first, bound), **guarantee)


def _lower_thresholds(limits):
    return limits._replace(thresholds=tuple(0.95 * least for least in limits.thresholds))


def _climb_one_way(_right, self):
    """Chances grow by e^epsilon up to 1: what they leave falls faster."""
    one, chance = 1 << self.bits, 0
    growth = math.floor(math.exp(self.epsilon) * one)
    delta = math.floor(self.delta * one)
    while chance < one:
        yield chance
        chance = min(growth * chance // one + delta, one)
    yield one


def _threshold_for_one(right, *, sigma, delta, max_items_per_user):
    return right(sigma=sigma, delta=delta, max_items_per_user=min(max_items_per_user, 1))


def _lost_is_free(right, *, epsilon, delta, lost=0.0):
    return right(epsilon=epsilon, delta=delta, lost=0 * lost)


_for_one_item = argument(0, lambda tails: np.full_like(tails, np.max(tails)))

FITTING = [
    *mistakes(
        ("adaptive-gaussian", "adaptive-hitting-set"),
        ("adaptive-gaussian", "adaptive-hitting-set"),
        {
            "naming what one user alone holds counts as a coin of its own": number(
                ItemsInRounds, "by_coin", value=True
            ),
            "users who alone hold some of their items are not looked at": method(
                ItemsInRounds,
                "cases",
                result(lambda every: Cases(*(each[[0, -1]] for each in every))),
            ),
            "3 % less noise than was fitted": everywhere(
                cost_of_rounds,
                "fitted",
                result(lambda found: found._replace(sigma=found.sigma * 0.97)),
            ),
        },
    ),
    *mistakes(
        ("adaptive-gaussian", "chosen-bound"),
        "adaptive-gaussian",
        {
            "items of one user alone are taken to keep all from others in each round": method(
                Schedule, "kept", always(1.0)
            ),
            "items of one user alone are taken to keep twice as much as they do": method(
                Schedule, "kept", result(lambda kept: min(2 * kept, 1.0))
            ),
        },
    ),
    *mistakes(
        ROUNDS,
        OF_ROUNDS,
        {
            "d is missing in the union bound of rounds": at(
                cost_of_rounds, "upper_quantiles", _for_one_item
            ),
            "each round loses what is for all": _limits(
                with_field("losses", lambda losses: (1.0,) * len(losses))
            ),
            "thresholds are for even weights, and caps above them": _limits(_even_weights_only),
            "thresholds and caps are for half of a user's items": _limits(
                argument(2, lambda bound: max(bound // 2, 1))
            ),
            "thresholds of rounds are 5 % too low": _limits(result(_lower_thresholds)),
        },
    ),
    *mistakes(
        ("weighted-gaussian", "policy-gaussian"),
        "weighted-gaussian",
        {
            "d is missing in the union bound of a threshold": at(
                gaussian_threshold, "upper_quantiles", _for_one_item
            )
        },
    ),
    *mistakes(
        PICKS,
        ("peeling", "limited-domain"),
        {
            "a parameter that was seen to be too large is taken": everywhere(
                fitting, "largest_within", times(1.05)
            )
        },
    ),
    *mistakes(
        ("noisy-counts", "noisy-clipped-counts"),
        (),
        {
            "the last stage takes more than is left": everywhere(
                fitting, "largest_after", times(1.1)
            )
        },
    ),
    *mistakes(
        "adaptive-hitting-set",
        (),
        {
            "rounds are taken to run on after they may stop": at(
                adaptive_hitting_set, "fitted", _as_if_rounds_ran_on
            )
        },
    ),
    *mistakes(
        "adaptive-hitting-set",
        "adaptive-hitting-set zcdp",
        {
            "picks may lose a thousandth beside the noise that pays for them": everywhere(
                picks_by_reach, "picks_by_reach_below", argument(2, lambda _: 1e-3)
            ),
        },
    ),
    *mistakes(
        "policy-greedy",
        "policy-greedy",
        {
            "a policy's coin grows with 1.1 times epsilon": method(
                UnitCoin,
                "numerators",
                argument(0, lambda coin: UnitCoin(1.1 * coin.epsilon, coin.delta)),
            ),
            "a policy's coin is private one way only": method(UnitCoin, "_climb", _climb_one_way),
        },
    ),
    *mistakes(
        ("discover-then-rank", "user-peeling", "weighted-gaussian"),
        ("discover-then-rank", "weighted-gaussian wide zcdp"),
        {
            "thresholds are for users of one item": everywhere(
                calibration, "threshold", _threshold_for_one
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "per-group", "discover-then-rank"),
        ("adaptive-top-k rounds", "per-group zcdp", "discover-then-rank zcdp"),
        {
            "3 % too little normal noise for its zCDP": everywhere(
                calibration, "gaussian_sigma", times(0.97)
            ),
            "normal noise for twice its zCDP": everywhere(
                calibration, "gaussian_sigma", argument_times(0, 2)
            ),
        },
    ),
    *mistakes(
        ("adaptive-top-k", "per-group", "discover-then-rank"),
        ("adaptive-top-k zcdp", "per-group zcdp", "discover-then-rank zcdp"),
        {
            "picks have 1.2 times their zCDP": everywhere(
                calibration, "bounded_range_epsilon", argument_times(1, 1.2)
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "discover-then-rank", "user-peeling"),
        ("adaptive-top-k zcdp", "discover-then-rank zcdp"),
        {
            "picks have the zCDP of one pick less": everywhere(
                calibration, "bounded_range_epsilon", argument(0, lambda k: max(k - 1, 1))
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "per-group", "limited-domain"),
        ("adaptive-top-k zcdp", "per-group zcdp", "limited-domain zcdp"),
        {
            "what thresholds lose is free in zCDP": everywhere(
                calibration, "zcdp_rho", _lost_is_free
            )
        },
    ),
]
