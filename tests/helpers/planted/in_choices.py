"""Mistakes in private choices, in looks at counts, and in the new mechanisms around them."""

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np

from helpers.planted.planting import Plant, times
from shortlist import privacy
from shortlist.algorithms import clipped_counts, grouped_looks, two_looks
from shortlist.algorithms.bound_choice import _ONE, BoundChoice
from shortlist.algorithms.clipped_counts import ClippedCounts
from shortlist.algorithms.grouped_looks import GroupedLooks
from shortlist.algorithms.two_looks import TwoLooks
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped import GroupedSets
from shortlist.mechanisms import (
    adaptive_hitting_set,
    adaptive_top_k,
    chosen_bound,
    joint_permute_and_flip,
    per_group,
)
from shortlist.mechanisms._limited_picks import LimitedPicks
from shortlist.mechanisms.adaptive_hitting_set import AdaptiveHittingSet
from shortlist.mechanisms.adaptive_top_k import AdaptiveTopK
from shortlist.mechanisms.chosen_bound import ChosenBound
from shortlist.mechanisms.joint_or_peel import JointOrPeel
from shortlist.mechanisms.one_shot_exponential import OneShotExponential
from shortlist.mechanisms.per_group import PerGroup

LOOKED = "adaptive-top-k", "per-group"
CLIPPED = *LOOKED, "noisy-clipped-counts"
ROUNDS = "adaptive-top-k rounds", "adaptive-top-k rounds exact"
OF_CLIPPED = "adaptive-top-k rounds", "per-group zcdp", "noisy-clipped-counts zcdp"
CHOSEN = "chosen-bound", "chosen-bound zcdp"


def scaled(cls, name, by):
    """A property of a class times a factor."""
    return lambda patch: patch.method(cls, name, times(by))


# --- the bound of users' items


def _at_twice(patch):
    def make(right):
        return lambda self, held, draws: right(
            replace(self, epsilon=2 * self.epsilon), held, draws
        )

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


def _smallest_everywhere(patch):
    def make(right):
        return lambda self: right(self)[:1] * len(self.bounds)

    patch.method(ChosenBound, "_every_limits", make)


def _bounded_by_largest(patch):
    def make(right):
        def wrong(self, evidence, _bound, limits, draws):
            return right(self, evidence, self.max_items_per_user, limits, draws)

        return wrong

    patch.method(chosen_bound.AdaptiveGaussian, "_found", make)


def _free_choice(patch):
    def make(right):
        return lambda release, plan, bound, choice: right(release, plan, bound, 0 * choice)

    patch.at(chosen_bound, "after_choice", make)


def _choice_twice(patch):
    """Chosen twice, and the smaller of both taken."""

    def make(right):
        return lambda self, held, draws: min(right(self, held, draws), right(self, held, draws))

    patch.method(BoundChoice, "pick", make)


# --- clipped counts


def _bound_plus_one(patch):
    patch.method(
        ClippedCounts, "clipped", lambda right: lambda self, bound: right(self, bound + 1)
    )


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
    wrong = lambda right: lambda bound, rho: right(bound**0.8, rho)  # noqa: E731
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


# --- two looks, and more


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
        return lambda counts, popularity, least: right(known["true"], popularity, least)

    patch.method(GroupedLooks, "_look", looks)
    patch.method(GroupedLooks, "best", best)
    patch.at(grouped_looks, "_expected", expected)


# --- adaptive top-k


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
    patch.method(
        AdaptiveTopK, "_release", lambda right: lambda self: right(self)._replace(lost=self.delta)
    )


def _unfound_counted(patch):
    """Items that were not found are counted beside those that were."""

    def make(right):
        def wrong(self, evidence, found, kept, draws):
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


# --- adaptive hitting set


def _first_round_free(patch):
    patch.method(
        AdaptiveHittingSet, "left_after", lambda right: lambda self, n: right(self, n - 1)
    )


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


# --- per group


def _groups_free(patch):
    def make(right):
        def wrong(self, held, draws):
            codes, left = right(self, held, draws)
            return codes, left if held.groups_are_public else left + per_group._OF_GROUPS

        return wrong

    patch.method(PerGroup, "_found_groups", make)


def _groups_as_items(patch):
    def make(right):
        def wrong(self, plan, share, lost, bound):
            return right(self, plan, max(share, per_group._OF_ITEMS), lost, bound)._replace(
                share=share
            )

        return wrong

    patch.method(PerGroup, "_search", make)


def _both_lose_all(patch):
    def make(right):
        def wrong(self, plan, share, _lost, bound):
            return right(self, plan, share, self.threshold_delta, bound)

        return wrong

    patch.method(PerGroup, "_search", make)


def _each_group_whole(patch):
    """Every part of a user counts as a user."""

    def make(right):
        def wrong(self, groups, items):
            at = self._places().listed()
            alone = Contributions(
                np.arange(len(at)), np.ones(len(at), np.int64), self.groups.items[at], self.n_groups
            )
            parts = replace(
                self.parts, starts=self.parts.starts[at], sizes=self.parts.sizes[at]
            )
            return right(GroupedSets(alone, parts), groups, items)

        return wrong

    patch.method(GroupedSets, "among", make)


def _unbounded_groups(patch):
    patch.method(GroupedSets, "bounded", lambda _: lambda self, *_: self)


def _one_group_more(patch):
    def make(right):
        return lambda self, most, draws: right(self, most + 1, draws)

    patch.method(GroupedSets, "bounded", make)


def _one_choice_charged(patch):
    def stages(right):
        def wrong(self, rho):
            noise, choices = right(self, rho)
            return noise, replace(choices, times=1)

        return wrong

    patch.method(PerGroup, "_stages", stages)


def _stops_free(patch):
    """What the rounds that were not run leave is counted twice."""

    def make(right):
        def wrong(self, *given):
            found = right(self, *given)
            return found._replace(left=found.left + self.share / 2)

        return wrong

    patch.method(per_group._Search, "found", make)


# --- public items


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
    patch.everywhere(privacy.sums, "max", lambda _: lambda first, second: first)  # noqa: ARG005


def _plant(name, room, shown, plant, *cases):
    return Plant(name, room, shown, plant, cases)


def _of(room, shown, *cases):
    """Plants of one room, which show in the same mechanisms."""
    return lambda name, plant: _plant(name, room, shown, plant, *cases)


_bounds = _of("algorithms/bound_choice", ("chosen-bound",), *CHOSEN)
_chosen = _of("mechanisms/chosen_bound", ("chosen-bound",), *CHOSEN)
_counts = _of("algorithms/clipped_counts", CLIPPED, *OF_CLIPPED)
_ranked = _of("algorithms/two_looks", ("adaptive-top-k",), ROUNDS[0])
_grouped = _of("algorithms/grouped_looks", ("per-group",), "per-group zcdp")
_top_k = _of("mechanisms/adaptive_top_k", ("adaptive-top-k",), *ROUNDS)
_hitting = _of("mechanisms/adaptive_hitting_set", ("adaptive-hitting-set",),
               "adaptive-hitting-set zcdp")
_per_group = _of("mechanisms/per_group", ("per-group",), "per-group zcdp")

CHOICES = [
    _bounds("picks a bound at twice the range", _at_twice),
    _bounds("picks a bound at 1.3 times the range", _louder_choice),
    _bounds("users beyond a bound lose by its threshold too", _two_losses),
    _bounds("the choice of a bound looks at items instead of users", _items_beyond),
    _bounds("a bound is chosen twice and charged once", _choice_twice),
    _chosen("thresholds of the smallest bound at every bound", _smallest_everywhere),
    _plant("users are bounded by the largest bound, whichever was chosen",
           "mechanisms/chosen_bound", ("chosen-bound",), _bounded_by_largest,
           "chosen-bound few"),
    _plant("the choice of a bound is free", "mechanisms/chosen_bound", ("chosen-bound",),
           _free_choice, CHOSEN[0]),
    _plant("counts are clipped at the bound + 1", "algorithms/clipped_counts", CLIPPED,
           _bound_plus_one, *OF_CLIPPED[:2]),
    _counts("a user is clipped as one of an item less", _size_minus_one),
    _counts("half the variance of the counts' noise", _half_variance),
    _counts("3 % too little noise in counts", _little_less),
    _plant("counts are clipped at twice the bound that the noise is for",
           "algorithms/clipped_counts", CLIPPED, _sd_of_next, *OF_CLIPPED[:2]),
    _plant("the noise of counts grows too slowly with the bound", "algorithms/clipped_counts",
           LOOKED, _by_power, *OF_CLIPPED[:2]),
    _counts("picks a clipping bound at twice the range", _bound_at_twice),
    _counts("a clipping bound is picked twice and charged once", _bound_picked_twice),
    _counts("the loss of a bound is over half of what a user can hold", _over_half),
    _plant("counts of fewer than ten items have half the noise", "algorithms/clipped_counts",
           CLIPPED, _noise_by_size, "adaptive-top-k rounds", "noisy-clipped-counts zcdp"),
    _ranked("what is open after a look follows from the counts without noise", _open_by_truth),
    _ranked("two looks each with all of the budget", _whole_rho),
    _grouped("each look in groups has all of the budget", _whole_rho_each),
    _grouped("the second look in groups has as much as the first", _second_whole),
    _grouped("the choice of a clipping bound is for users of one group", _one_group_in_choice),
    _grouped("what is expected of a group follows from counts without noise", _expects_truth),
    _top_k("two choices of a clipping bound, charged as one", _charged_once),
    _top_k("the last round that was run counts as left over", _round_left),
    _plant("the choice of the route is free", "mechanisms/adaptive_top_k", ("adaptive-top-k",),
           _free_route, ROUNDS[1]),
    _top_k("the route looks at counts twice", _route_twice),
    _top_k("the route is chosen at 1.5 times its epsilon", _route_louder),
    _plant("\"nobody\" has the odds for one item new among those looked at",
           "mechanisms/adaptive_top_k", ("adaptive-top-k",), _nobody_for_one,
           "adaptive-top-k zcdp"),
    _top_k("thresholds lose all of delta instead of their share", _all_of_delta),
    _top_k("items that were not found are counted too", _unfound_counted),
    _plant("picks at twice their range", "mechanisms/_limited_picks",
           ("adaptive-top-k", "limited-domain", "each-group", "noisy-counts"),
           partial(_loud_picks, 2.0), "adaptive-top-k zcdp", "limited-domain", "each-group"),
    _plant("picks at 1.15 times their range", "mechanisms/_limited_picks",
           ("adaptive-top-k", "limited-domain", "each-group", "noisy-counts"),
           partial(_loud_picks, 1.15), "adaptive-top-k zcdp", "limited-domain", "each-group"),
    _hitting("the last round that was run is left for picks", _first_round_free),
    _hitting("picks are fitted as half as many", _half_of_picks),
    _hitting("an item's odds grow with its count beside its reach", _by_true_counts),
    _hitting("picks at 1.15 times what is left for them", _reach_louder),
    _plant("all that follows the first round counts as noise on weights",
           "mechanisms/adaptive_hitting_set", ("adaptive-hitting-set",), _all_on_weights,
           "adaptive-hitting-set"),
    _per_group("no share of the budget is taken for groups", _groups_free),
    _per_group("groups are found with the budget of items", _groups_as_items),
    _per_group("thresholds of groups and items each lose what is for both", _both_lose_all),
    _plant("a user in two groups has the whole weight in each", "evidence/grouped",
           ("per-group",), _each_group_whole, "per-group zcdp"),
    _plant("users' groups are not bounded", "evidence/grouped", ("per-group",),
           _unbounded_groups, "per-group zcdp"),
    _plant("one group of a user more than the bound counts", "evidence/grouped", ("per-group",),
           _one_group_more, "per-group zcdp"),
    _plant("two choices of a clipping bound in groups, charged as one", "mechanisms/per_group",
           ("per-group",), _one_choice_charged, "per-group"),
    _per_group("half of what a search spent is given to the counts again", _stops_free),
    _plant("the choice between ways has half its noise", "mechanisms/joint_or_peel",
           ("joint-or-peel",), _slope_twice, "joint-or-peel"),
    _plant("sequences weigh by 1.5 times the epsilon of JOINT", "mechanisms/joint_or_peel",
           ("joint-or-peel",), _whole_decay, "joint-or-peel whole"),
    _plant("sequences are accepted as if epsilon were 1.4 times as large",
           "mechanisms/joint_permute_and_flip", ("joint-permute-and-flip", "joint-or-peel"),
           _flips_louder, "joint-permute-and-flip", "joint-or-peel whole"),
    _plant("the picks after the choice are charged without one of them",
           "mechanisms/joint_or_peel", ("joint-or-peel",), _joint_pick_less, "joint-or-peel"),
    _plant("exponential noise for users added, where they may be changed",
           "mechanisms/one_shot_exponential", ("one-shot-exponential", "each-group"),
           _one_direction, "one-shot-exponential general", "each-group general"),
    _plant("3 % too little exponential noise", "mechanisms/one_shot_exponential",
           ("one-shot-exponential",), scaled(OneShotExponential, "scale", 0.97)),
    _plant("of two ways the first is charged", "privacy/sums",
           ("adaptive-top-k", "joint-or-peel", "discover-then-rank"), _smaller_way,
           "joint-or-peel zcdp"),
]
