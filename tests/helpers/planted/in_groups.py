"""Mistakes in the new mechanisms of groups."""

from dataclasses import replace

import numpy as np

from helpers.planted.planting import Plant
from shortlist.evidence.contributions import Contributions
from shortlist.evidence.grouped_sets import GroupedSets
from shortlist.mechanisms import (
    per_group,
)
from shortlist.mechanisms.per_group import PerGroup


def _groups_free(patch):
    def make(right):
        def wrong(self, held, draws):
            codes, left = right(self, held, draws)
            return codes, left if held.groups_are_public else left + per_group._OF_GROUPS

        return wrong

    patch.method(PerGroup, "_found_groups", make)


def _groups_as_items(patch):
    def make(right):
        def wrong(self, schedule, share, lost, bound):
            more = max(share, per_group._OF_ITEMS)
            return right(self, schedule, more, lost, bound)._replace(share=share)

        return wrong

    patch.method(PerGroup, "_part", make)


def _both_lose_all(patch):
    def make(right):
        def wrong(self, schedule, share, _lost, bound):
            return right(self, schedule, share, self.threshold_delta, bound)

        return wrong

    patch.method(PerGroup, "_part", make)


def _each_group_whole(patch):
    """Every part of a user counts as a user."""

    def make(right):
        def wrong(self, groups, items):
            at = self._places().listed()
            alone = Contributions(
                np.arange(len(at)), np.ones(len(at), np.int64), self.groups.items[at], self.n_groups
            )
            parts = replace(self.parts, starts=self.parts.starts[at], sizes=self.parts.sizes[at])
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

    patch.method(per_group._Part, "found", make)


def _plant(name, room, shown, plant, *cases):
    return Plant(name, room, shown, plant, cases)


def _of(room, shown, *cases):
    """Plants of one room, which show in the same mechanisms."""
    return lambda name, plant: _plant(name, room, shown, plant, *cases)


_per_group = _of("mechanisms/per_group", ("per-group",), "per-group zcdp")

GROUPS = [
    _per_group("no share of the budget is taken for groups", _groups_free),
    _per_group("groups are found with the budget of items", _groups_as_items),
    _per_group("thresholds of groups and items each lose what is for both", _both_lose_all),
    _plant(
        "a user in two groups has the whole weight in each",
        "evidence/grouped",
        ("per-group",),
        _each_group_whole,
        "per-group zcdp",
    ),
    _plant(
        "users' groups are not bounded",
        "evidence/grouped",
        ("per-group",),
        _unbounded_groups,
        "per-group zcdp",
    ),
    _plant(
        "one group of a user more than the bound counts",
        "evidence/grouped",
        ("per-group",),
        _one_group_more,
        "per-group zcdp",
    ),
    _plant(
        "two choices of a clipping bound in groups, charged as one",
        "mechanisms/per_group",
        ("per-group",),
        _one_choice_charged,
        "per-group",
    ),
    _per_group("half of what a search spent is given to the counts again", _stops_free),
]
