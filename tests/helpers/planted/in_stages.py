"""Mistakes in what stages cost, and whom the accountant looks at."""

import functools
import math
from dataclasses import replace

from helpers.planted.planting import Plant
from shortlist.privacy import composed
from shortlist.privacy.accountant import _value_functions, stages
from shortlist.privacy.accountant._bounded_range import apply_ranges
from shortlist.privacy.accountant.after_choice import AfterChoice
from shortlist.privacy.accountant.composition import Composition
from shortlist.privacy.accountant.items_of_one_user import Cases, ItemsByThreshold, ThresholdDelta
from shortlist.privacy.accountant.stages import BoundedRange, EitherStage, GaussianStage, PureStage

PICKS = "peeling", "adaptive-top-k", "joint-or-peel", "user-peeling", "limited-domain"

OF_PICKS = "peeling", "limited-domain", "user-peeling"

NOVEL = "weighted-gaussian", "discover-then-rank", "user-peeling", "noisy-clipped-counts"

OF_NOVEL = "weighted-gaussian", "discover-then-rank"


def _as_larger(patch):
    def merges(right):
        def wrong(one, other):
            if isinstance(one, GaussianStage) and isinstance(other, GaussianStage):
                return max(one, other, key=lambda stage: stage.mu)
            return right(one, other)

        return wrong

    def mu_of(_right):
        def wrong(some, shared=1.0):
            mus = (
                stage.mu * (math.sqrt(shared) if stage.on_weights else 1.0)
                for stage in some
                if isinstance(stage, GaussianStage)
            )
            return max(mus, default=0.0)

        return wrong

    patch.at(stages, "_as_one", merges)
    patch.everywhere(stages, "mu_of", mu_of)


def each_stage(change):
    """The accountant sees each stage as something else."""

    def seen(some):
        told = []
        for stage in some:
            if isinstance(stage, EitherStage):
                either = EitherStage(tuple(seen(stage.first)), tuple(seen(stage.second)))
                told += change(either)
            else:
                told += change(stage)
        return told

    def plant(patch):
        patch.everywhere(stages, "as_stages", lambda right: lambda some: right(seen(some)))

    return plant


def _first_way(stage):
    if isinstance(stage, EitherStage):
        return [EitherStage(stage.first, stage.first)]
    return [stage]


def _second_way(stage):
    if isinstance(stage, EitherStage):
        return [EitherStage(stage.second, stage.second)]
    return [stage]


def _one_pick_less(stage):
    if isinstance(stage, BoundedRange) and stage.times > 1:
        return [replace(stage, times=stage.times - 1)]
    return [stage]


def _one_choice(stage):
    if isinstance(stage, BoundedRange) and stage.times == 2:
        return [replace(stage, times=1)]
    return [stage]


def _pure_as_range(stage):
    if isinstance(stage, PureStage):
        return [BoundedRange(stage.epsilon, stage.times)]
    return [stage]


def _without_single(stage):
    is_single = isinstance(stage, BoundedRange | PureStage) and stage.times == 1
    return [] if is_single else [stage]


def _shrunk(by):
    def change(stage):
        if isinstance(stage, GaussianStage):
            return [replace(stage, mu=stage.mu * by)]
        if isinstance(stage, EitherStage):
            return [stage]
        return [replace(stage, epsilon=stage.epsilon * by)]

    return change


def _half_range_losses(patch):
    def make(right):
        return lambda grid, inner, epsilon, *given: right(grid, inner, epsilon * 0.9, *given)

    assert _value_functions.apply_ranges is apply_ranges
    patch.at(_value_functions, "apply_ranges", make)


def _rho_of_picks(patch):
    def make(right):
        def wrong(stage):
            known = right(stage)
            return known * 2 / 3 if isinstance(stage, BoundedRange) else known

        return wrong

    patch.at(stages, "_rho", make)


def _nothing_lost(patch):
    def make(right):
        @functools.lru_cache(maxsize=64)
        def wrong(self, epsilon, *, fineness=1.0):
            told = self
            if isinstance(self.own_items, ThresholdDelta):
                told = Composition(self.stages)
            return right(told, epsilon, fineness=fineness)

        return wrong

    patch.method(Composition, "delta", make)


def _nobody_alone(patch):
    def make(right):
        def wrong(self):
            shared, lost = right(self)
            return Cases(shared[:1], lost[:1])

        return wrong

    patch.method(ItemsByThreshold, "cases", make)


def _choice_is_nothing(patch):
    def make(_right):
        def wrong(self, epsilon, *, fineness=1.0):
            return self.chosen.delta(epsilon, fineness=fineness)

        return wrong

    patch.method(AfterChoice, "delta", make)


def _approximate_is_pure(patch):
    def make(right):
        def wrong(cost):
            told = right(cost)
            return None if told is None else replace(told, own_items=None)

        return wrong

    patch.everywhere(composed, "composition_of", make)


def _of(room, shown, *cases):
    return lambda name, plant: Plant(name, "privacy/" + room, shown, plant, cases)


_picks = _of("accountant/stages", PICKS, *OF_PICKS)

_novel = _of("accountant/novel", NOVEL, *OF_NOVEL)

STAGES = [
    Plant(
        "two Gaussians count as the larger of them",
        "privacy/accountant/stages",
        ("adaptive-hitting-set", "noisy-clipped-counts"),
        _as_larger,
    ),
    Plant(
        "of two ways the accountant sees the first",
        "privacy/accountant/stages",
        ("adaptive-top-k", "discover-then-rank", "joint-or-peel"),
        each_stage(_first_way),
        ("adaptive-top-k rounds exact", "discover-then-rank"),
    ),
    Plant(
        "of two ways the accountant sees the second",
        "privacy/accountant/stages",
        ("adaptive-top-k", "discover-then-rank"),
        each_stage(_second_way),
        ("adaptive-top-k rounds exact", "discover-then-rank"),
    ),
    _picks("the accountant counts a pick less", each_stage(_one_pick_less)),
    Plant(
        "the accountant counts two choices as one",
        "privacy/accountant/stages",
        ("adaptive-top-k", "per-group"),
        each_stage(_one_choice),
        ("adaptive-top-k rounds exact", "per-group"),
    ),
    Plant(
        "what is pure counts as of bounded range",
        "privacy/accountant/stages",
        ("joint-or-peel", "noisy-counts"),
        each_stage(_pure_as_range),
        ("joint-or-peel", "noisy-counts few"),
    ),
    Plant(
        "a choice that is made once is left out",
        "privacy/accountant/stages",
        ("adaptive-top-k", "noisy-clipped-counts"),
        each_stage(_without_single),
        ("adaptive-top-k rounds exact", "noisy-clipped-counts"),
    ),
    _picks("every stage counts 3 % less than it is", each_stage(_shrunk(0.97))),
    _picks("the value function has ranges of 0.9 of their length", _half_range_losses),
    _picks("zCDP of picks by two thirds", _rho_of_picks),
    Plant(
        "what thresholds lose is not added",
        "privacy/accountant/composition",
        ("adaptive-top-k", "per-group", "limited-domain"),
        _nothing_lost,
        ("limited-domain", "adaptive-top-k rounds exact"),
    ),
    _novel("users who alone hold an item are not looked at", _nobody_alone),
    Plant(
        "the choice of a bound counts for nothing",
        "privacy/accountant/after_choice",
        ("chosen-bound",),
        _choice_is_nothing,
        ("chosen-bound",),
    ),
    Plant(
        "the delta of a selection is forgotten where stages follow",
        "privacy/composed",
        ("noisy-counts", "each-group"),
        _approximate_is_pure,
        ("each-group",),
    ),
]
