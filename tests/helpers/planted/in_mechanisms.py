"""Mistakes in the new mechanisms around rounds, measurements and choices, and of groups."""

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
from helpers.wrong_groups import pairs_apart
from shortlist import privacy
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.mechanisms import (
    adaptive_hitting_set,
    adaptive_top_k,
    chosen_bound,
    joint_permute_and_flip,
    one_shot_exponential,
    per_group,
    user_peeling,
)
from shortlist.mechanisms._own_items import KindChoice
from shortlist.mechanisms.adaptive_hitting_set import AdaptiveHittingSet
from shortlist.mechanisms.adaptive_top_k import AdaptiveTopK
from shortlist.mechanisms.chosen_bound import ChosenBound
from shortlist.mechanisms.joint_or_peel import JointOrPeel
from shortlist.mechanisms.limited_domain import LimitedPicks
from shortlist.mechanisms.one_shot_exponential import OneShotExponential
from shortlist.mechanisms.per_group import PerGroup
from shortlist.mechanisms.set_or_peel import SetOrPeel
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease, limits_of

TOP_K = "adaptive-top-k rounds", "adaptive-top-k rounds exact"
CHOSEN = "chosen-bound", "chosen-bound zcdp"


def _bounded_by_largest(right, self, evidence, _bound, search, draws):
    return right(self, evidence, self.max_items_per_user, search, draws)


def _all_of_delta(right, self):
    search = right(self)
    release = RoundsRelease(search.sigma, self.delta)
    return replace(search, limits=limits_of(search.schedule, release, self.max_items_per_user))


def _route_twice(right, self, counts, draws):
    first, second = (right(self, counts, draws) for _ in range(2))
    return first if first is not None else second


def _route_louder(right, self, counts, draws):
    loud = replace(self)
    vars(loud)["route_epsilon"] = self.route_epsilon * 1.5
    return right(loud, counts, draws)


def _unfound_counted(right, self, evidence, found, _kept, draws):
    """Items that were not found are counted beside those that were."""
    held = np.flatnonzero(evidence.counts)
    return right(self, evidence, found._replace(items=held), np.arange(len(held)), draws)


def _by_true_counts(right, held, domain, worth, *given):
    return right(held, domain, worth * np.maximum(held.counts[domain], 1.0), *given)


def _joint_pick_less(stages):
    choice, either = stages
    (picks,) = either.second
    return choice, replace(either, second=(replace(picks, times=max(picks.times - 1, 1)),))


def _groups_free(right, self, held, draws):
    codes, left = right(self, held, draws)
    return codes, left if held.groups_are_public else left + per_group._OF_GROUPS


def _groups_as_items(right, self, schedule, share, lost, bound):
    more = max(share, per_group._OF_ITEMS)
    return right(self, schedule, more, lost, bound)._replace(share=share)


def _both_lose_all(right, self, schedule, share, _lost, bound):
    return right(self, schedule, share, self.threshold_delta, bound)


def _stops_free(right, self, *given):
    """What the rounds that were not run leave is counted twice."""
    found = right(self, *given)
    return found._replace(left=found.left + self.share / 2)


def _each_group_whole(right, self, groups, items):
    """Every part of a user counts as a user."""
    at = self._places().listed()
    alone = Contributions(
        np.arange(len(at)), np.ones(len(at), np.int64), self.groups.items[at], self.n_groups
    )
    parts = replace(self.parts, starts=self.parts.starts[at], sizes=self.parts.sizes[at])
    return right(GroupedSets(alone, parts), groups, items)


def _one_choice_charged(stages):
    noise, choices = stages
    return noise, replace(choices, times=1)


def _local_epsilon(factor):
    return with_field("local_epsilon", lambda epsilon: factor * epsilon)


MECHANISMS = [
    *mistakes(
        "chosen-bound",
        CHOSEN,
        {
            "thresholds of the smallest bound at every bound": method(
                ChosenBound, "_searches", result(lambda searches: searches[:1] * len(searches))
            )
        },
    ),
    *mistakes(
        "chosen-bound",
        "chosen-bound few",
        {
            "users are bounded by the largest bound, whichever was chosen": method(
                chosen_bound.AdaptiveGaussian, "_named", _bounded_by_largest
            )
        },
    ),
    *mistakes(
        "chosen-bound",
        CHOSEN[0],
        {"the choice of a bound is free": at(chosen_bound, "after_choice", argument_times(3, 0))},
    ),
    *mistakes(
        "adaptive-top-k",
        TOP_K,
        {
            "two choices of a clipping bound, charged as one": number(
                adaptive_top_k, "_CHOICES", 1
            ),
            "the last round that was run counts as left over": method(
                AdaptiveTopK, "_left", argument(1, lambda n: n - 1)
            ),
            "the route looks at counts twice": method(AdaptiveTopK, "_route", _route_twice),
            "the route is chosen at 1.5 times its epsilon": method(
                AdaptiveTopK, "_route", _route_louder
            ),
            "thresholds lose all of delta instead of their share": method(
                AdaptiveTopK, "search", _all_of_delta
            ),
            "items that were not found are counted too": method(
                AdaptiveTopK, "_ranked", _unfound_counted
            ),
        },
    ),
    *mistakes(
        "adaptive-top-k",
        TOP_K[1],
        {
            "the choice of the route is free": method(
                AdaptiveTopK, "_choice_and", result(lambda stages: stages[1:])
            )
        },
    ),
    *mistakes(
        "adaptive-top-k",
        "adaptive-top-k zcdp",
        {
            '"nobody" has the odds for one item new among those looked at': method(
                AdaptiveTopK, "_nobody", argument(1, lambda _: 1)
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "limited-domain", "each-group", "noisy-counts"),
        ("adaptive-top-k zcdp", "limited-domain", "each-group"),
        {
            "picks at twice their range": method(LimitedPicks, "select", _local_epsilon(2.0)),
            "picks at 1.15 times their range": method(LimitedPicks, "select", _local_epsilon(1.15)),
        },
    ),
    *mistakes(
        "adaptive-hitting-set",
        "adaptive-hitting-set zcdp",
        {
            "the last round that was run is left for picks": method(
                AdaptiveHittingSet, "left_after", argument(1, lambda n: n - 1)
            ),
            "picks are fitted as half as many": at(
                adaptive_hitting_set, "picks_by_reach_below", argument(1, lambda n: max(n // 2, 1))
            ),
            "an item's odds grow with its count beside its reach": at(
                adaptive_hitting_set, "pick_by_reach", _by_true_counts
            ),
            "picks at 1.15 times what is left for them": at(
                adaptive_hitting_set, "pick_by_reach", argument_times(4, 1.15)
            ),
        },
    ),
    *mistakes(
        "adaptive-hitting-set",
        "adaptive-hitting-set",
        {
            "all that follows the first round counts as noise on weights": method(
                AdaptiveHittingSet, "_first", always(0.999)
            ),
            "a look at whom items reach has a tenth of its noise": method(
                AdaptiveHittingSet, "look_sd", times(0.1)
            ),
        },
    ),
    *mistakes(
        "user-peeling",
        "user-peeling many",
        {
            "picks are paid for as if any of four had reached the user": at(
                user_peeling, "picks_by_reach_below", argument(1, lambda n: min(n, 4))
            ),
            "picks of known items at 1.25 times what they cost until a user is reached": at(
                user_peeling, "peel_users", argument_times(3, 1.25)
            ),
        },
    ),
    *mistakes(
        "joint-or-peel",
        "joint-or-peel",
        {
            "the choice between ways has half its noise": method(JointOrPeel, "slope", times(2)),
            "the picks after the choice are charged without one of them": method(
                JointOrPeel, "_stages", result(_joint_pick_less)
            ),
        },
    ),
    *mistakes(
        "joint-or-peel",
        "joint-or-peel whole",
        {
            "sequences weigh by 1.5 times the epsilon of JOINT": method(
                JointOrPeel,
                "competition",
                result(lambda near: replace(near, decay=1.5 * near.decay)),
            )
        },
    ),
    *mistakes(
        "set-or-peel",
        "set-or-peel",
        {
            "the choice between a set and picks has half its noise": method(
                SetOrPeel, "slope", times(2)
            )
        },
    ),
    *mistakes(
        "set-or-peel",
        "set-or-peel whole",
        {
            "sets weigh by 1.5 times their epsilon": method(
                SetOrPeel,
                "competition",
                result(lambda near: replace(near, decay=1.5 * near.decay)),
            )
        },
    ),
    *mistakes(
        ("joint-permute-and-flip", "joint-or-peel"),
        ("joint-permute-and-flip", "joint-or-peel whole"),
        {
            "sequences are accepted as if epsilon were 1.4 times as large": everywhere(
                joint_permute_and_flip,
                "draw_flipped",
                with_field("decay", lambda decay: 1.4 * decay),
            )
        },
    ),
    *mistakes(
        ("one-shot-exponential", "each-group"),
        ("one-shot-exponential general", "each-group general"),
        {
            "exponential noise for users added, where they may be changed": at(
                one_shot_exponential,
                "one_shot_laplace_scale",
                lambda right, k, *, epsilon, spread: right(
                    k, epsilon=epsilon, spread=min(spread, 1.0)
                ),
            )
        },
    ),
    *mistakes(
        "one-shot-exponential",
        (),
        {"3 % too little exponential noise": method(OneShotExponential, "scale", times(0.97))},
    ),
    *mistakes(
        ("adaptive-top-k", "joint-or-peel", "discover-then-rank"),
        "joint-or-peel zcdp",
        {
            "of two ways the first is charged": everywhere(
                privacy.combined_costs, "max", lambda _right, first, _second: first
            )
        },
    ),
]

GROUPS = [
    *mistakes(
        "per-group",
        "per-group zcdp",
        {
            "no share of the budget is taken for groups": method(
                PerGroup, "_found_groups", _groups_free
            ),
            "groups are found with the budget of items": method(
                PerGroup, "_part", _groups_as_items
            ),
            "thresholds of groups and items each lose what is for both": method(
                PerGroup, "_part", _both_lose_all
            ),
            "half of what a search spent is given to the counts again": method(
                per_group._Part, "found", _stops_free
            ),
            "a user in two groups has the whole weight in each": method(
                GroupedSets, "among", _each_group_whole
            ),
            "users' groups are not bounded": method(
                GroupedSets, "bounded", lambda _right, self, *_: self
            ),
            "one group of a user more than the bound counts": method(
                GroupedSets, "bounded", argument(1, lambda most: most + 1)
            ),
        },
    ),
    *mistakes(
        "per-group",
        "per-group own",
        {
            "a user's pairs in each group count as another user's": method(
                GroupedSets, "pairs", lambda right, self: pairs_apart(right(self), self)
            )
        },
    ),
    *mistakes(
        "per-group",
        "per-group unknown",
        {
            "what follows the choice of whose items are gets all of epsilon": method(
                per_group, "subtract_down", lambda _right, whole, _part: whole
            ),
            "one user moves the choice of whose items are by twice its range": method(
                KindChoice, "_lost_as_own", times(2)
            ),
        },
    ),
    *mistakes(
        "per-group",
        "per-group",
        {
            "two choices of a clipping bound in groups, charged as one": method(
                PerGroup, "_stages", result(_one_choice_charged)
            )
        },
    ),
]
