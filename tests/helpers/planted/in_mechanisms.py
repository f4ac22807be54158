"""Mistakes in the new mechanisms around rounds, looks and choices."""

from dataclasses import replace
from functools import partial

import numpy as np

from helpers.planted.planting import Plant, times
from shortlist import privacy
from shortlist.mechanisms import (
    adaptive_hitting_set,
    adaptive_top_k,
    chosen_bound,
    joint_permute_and_flip,
)
from shortlist.mechanisms.adaptive_hitting_set import AdaptiveHittingSet
from shortlist.mechanisms.adaptive_top_k import AdaptiveTopK
from shortlist.mechanisms.chosen_bound import ChosenBound
from shortlist.mechanisms.joint_or_peel import JointOrPeel
from shortlist.mechanisms.limited_domain import LimitedPicks
from shortlist.mechanisms.one_shot_exponential import OneShotExponential
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease, limits_of

ROUNDS = "adaptive-top-k rounds", "adaptive-top-k rounds exact"

CHOSEN = "chosen-bound", "chosen-bound zcdp"


def scaled(cls, name, by):
    """A property of a class times a factor."""
    return lambda patch: patch.method(cls, name, times(by))


def _smallest_everywhere(patch):
    def make(right):
        return lambda self: right(self)[:1] * len(self.bounds)

    patch.method(ChosenBound, "_searches", make)


def _bounded_by_largest(patch):
    def make(right):
        def wrong(self, evidence, _bound, search, draws):
            return right(self, evidence, self.max_items_per_user, search, draws)

        return wrong

    patch.method(chosen_bound.AdaptiveGaussian, "_named", make)


def _free_choice(patch):
    def make(right):
        return lambda release, schedule, bound, choice: right(release, schedule, bound, 0 * choice)

    patch.at(chosen_bound, "after_choice", make)


def _charged_once(patch):
    patch.number(adaptive_top_k, "_CHOICES", 1)


def _round_left(patch):
    patch.method(AdaptiveTopK, "_left", lambda right: lambda self, n: right(self, n - 1))


def _free_route(patch):
    patch.method(AdaptiveTopK, "_stages", lambda right: lambda self, rho: right(self, rho)[1:])


def _route_twice(patch):
    def make(right):
        def wrong(self, counts, draws):
            first, second = (right(self, counts, draws) for _ in range(2))
            return first if first is not None else second

        return wrong

    patch.method(AdaptiveTopK, "_route", make)


def _route_louder(patch):
    def make(right):
        def wrong(self, counts, draws):
            loud = replace(self)
            vars(loud)["route_epsilon"] = self.route_epsilon * 1.5
            return right(loud, counts, draws)

        return wrong

    patch.method(AdaptiveTopK, "_route", make)


def _nobody_for_one(patch):
    def make(right):
        return lambda self, _looked_at: right(self, 1)

    patch.method(AdaptiveTopK, "_nobody", make)


def _all_of_delta(patch):
    def make(right):
        def wrong(self):
            search = right(self)
            release = RoundsRelease(search.sigma, self.delta)
            limits = limits_of(search.schedule, release, self.max_items_per_user)
            return replace(search, limits=limits)

        return wrong

    patch.method(AdaptiveTopK, "search", make)


def _unfound_counted(patch):
    """Items that were not found are counted beside those that were."""

    def make(right):
        def wrong(self, evidence, found, _kept, draws):
            held = np.flatnonzero(evidence.counts)
            everything = found._replace(items=held)
            return right(self, evidence, everything, np.arange(len(held)), draws)

        return wrong

    patch.method(AdaptiveTopK, "_ranked", make)


def _loud_picks(factor, patch):
    def make(right):
        def wrong(self, counts, draws):
            loud = replace(self, local_epsilon=factor * self.local_epsilon)
            return right(loud, counts, draws)

        return wrong

    patch.method(LimitedPicks, "select", make)


def _first_round_free(patch):
    patch.method(AdaptiveHittingSet, "left_after", lambda right: lambda self, n: right(self, n - 1))


def _half_of_picks(patch):
    def make(right):
        return lambda mu, n: right(mu, max(n // 2, 1))

    patch.at(adaptive_hitting_set, "picks_below", make)


def _by_true_counts(patch):
    def make(right):
        def wrong(held, domain, worth, *given):
            return right(held, domain, worth * np.maximum(held.counts[domain], 1.0), *given)

        return wrong

    patch.at(adaptive_hitting_set, "pick_by_reach", make)


def _reach_louder(patch):
    def make(right):
        def wrong(held, domain, worth, k, local_epsilon, draws):
            return right(held, domain, worth, k, 1.15 * local_epsilon, draws)

        return wrong

    patch.at(adaptive_hitting_set, "pick_by_reach", make)


def _all_on_weights(patch):
    patch.method(AdaptiveHittingSet, "_first", lambda _: lambda self: 0.999)  # noqa: ARG005


def _slope_twice(patch):
    patch.method(JointOrPeel, "slope", times(2))


def _whole_decay(patch):
    def make(right):
        def wrong(self, groups):
            near = right(self, groups)
            return replace(near, decay=1.5 * near.decay)

        return wrong

    patch.method(JointOrPeel, "competition", make)


def _flips_louder(patch):
    def make(right):
        def wrong(classes, draws):
            return right(replace(classes, decay=1.4 * classes.decay), draws)

        return wrong

    patch.everywhere(joint_permute_and_flip, "draw_flipped", make)


def _one_direction(patch):
    patch.method(OneShotExponential, "_spread", lambda _: lambda self: 1.0)  # noqa: ARG005


def _joint_pick_less(patch):
    def make(right):
        def wrong(self, local_epsilon):
            choice, either = right(self, local_epsilon)
            (picks,) = either.second
            fewer = replace(picks, times=max(picks.times - 1, 1))
            return choice, replace(either, second=(fewer,))

        return wrong

    patch.method(JointOrPeel, "_stages", make)


def _smaller_way(patch):
    patch.everywhere(privacy.combined_costs, "max", lambda _: lambda first, second: first)  # noqa: ARG005


def _plant(name, room, shown, plant, *cases):
    return Plant(name, room, shown, plant, cases)


def _of(room, shown, *cases):
    """Plants of one room, which show in the same mechanisms."""
    return lambda name, plant: _plant(name, room, shown, plant, *cases)


_chosen = _of("mechanisms/chosen_bound", ("chosen-bound",), *CHOSEN)

_top_k = _of("mechanisms/adaptive_top_k", ("adaptive-top-k",), *ROUNDS)

_hitting = _of(
    "mechanisms/adaptive_hitting_set", ("adaptive-hitting-set",), "adaptive-hitting-set zcdp"
)

MECHANISMS = [
    _chosen("thresholds of the smallest bound at every bound", _smallest_everywhere),
    _plant(
        "users are bounded by the largest bound, whichever was chosen",
        "mechanisms/chosen_bound",
        ("chosen-bound",),
        _bounded_by_largest,
        "chosen-bound few",
    ),
    _plant(
        "the choice of a bound is free",
        "mechanisms/chosen_bound",
        ("chosen-bound",),
        _free_choice,
        CHOSEN[0],
    ),
    _top_k("two choices of a clipping bound, charged as one", _charged_once),
    _top_k("the last round that was run counts as left over", _round_left),
    _plant(
        "the choice of the route is free",
        "mechanisms/adaptive_top_k",
        ("adaptive-top-k",),
        _free_route,
        ROUNDS[1],
    ),
    _top_k("the route looks at counts twice", _route_twice),
    _top_k("the route is chosen at 1.5 times its epsilon", _route_louder),
    _plant(
        '"nobody" has the odds for one item new among those looked at',
        "mechanisms/adaptive_top_k",
        ("adaptive-top-k",),
        _nobody_for_one,
        "adaptive-top-k zcdp",
    ),
    _top_k("thresholds lose all of delta instead of their share", _all_of_delta),
    _top_k("items that were not found are counted too", _unfound_counted),
    _plant(
        "picks at twice their range",
        "mechanisms/limited_domain",
        ("adaptive-top-k", "limited-domain", "each-group", "noisy-counts"),
        partial(_loud_picks, 2.0),
        "adaptive-top-k zcdp",
        "limited-domain",
        "each-group",
    ),
    _plant(
        "picks at 1.15 times their range",
        "mechanisms/limited_domain",
        ("adaptive-top-k", "limited-domain", "each-group", "noisy-counts"),
        partial(_loud_picks, 1.15),
        "adaptive-top-k zcdp",
        "limited-domain",
        "each-group",
    ),
    _hitting("the last round that was run is left for picks", _first_round_free),
    _hitting("picks are fitted as half as many", _half_of_picks),
    _hitting("an item's odds grow with its count beside its reach", _by_true_counts),
    _hitting("picks at 1.15 times what is left for them", _reach_louder),
    _plant(
        "all that follows the first round counts as noise on weights",
        "mechanisms/adaptive_hitting_set",
        ("adaptive-hitting-set",),
        _all_on_weights,
        "adaptive-hitting-set",
    ),
    _plant(
        "the choice between ways has half its noise",
        "mechanisms/joint_or_peel",
        ("joint-or-peel",),
        _slope_twice,
        "joint-or-peel",
    ),
    _plant(
        "sequences weigh by 1.5 times the epsilon of JOINT",
        "mechanisms/joint_or_peel",
        ("joint-or-peel",),
        _whole_decay,
        "joint-or-peel whole",
    ),
    _plant(
        "sequences are accepted as if epsilon were 1.4 times as large",
        "mechanisms/joint_permute_and_flip",
        ("joint-permute-and-flip", "joint-or-peel"),
        _flips_louder,
        "joint-permute-and-flip",
        "joint-or-peel whole",
    ),
    _plant(
        "the picks after the choice are charged without one of them",
        "mechanisms/joint_or_peel",
        ("joint-or-peel",),
        _joint_pick_less,
        "joint-or-peel",
    ),
    _plant(
        "exponential noise for users added, where they may be changed",
        "mechanisms/one_shot_exponential",
        ("one-shot-exponential", "each-group"),
        _one_direction,
        "one-shot-exponential general",
        "each-group general",
    ),
    _plant(
        "3 % too little exponential noise",
        "mechanisms/one_shot_exponential",
        ("one-shot-exponential",),
        scaled(OneShotExponential, "scale", 0.97),
    ),
    _plant(
        "of two ways the first is charged",
        "privacy/combined_costs",
        ("adaptive-top-k", "joint-or-peel", "discover-then-rank"),
        _smaller_way,
        "joint-or-peel zcdp",
    ),
]
