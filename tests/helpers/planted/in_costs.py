"""Mistakes in what stages cost, and in how costs add up, repeat and convert."""

import math
from dataclasses import replace
from fractions import Fraction

from helpers.planted.planting import (
    argument_times,
    at,
    everywhere,
    method,
    mistakes,
    result,
    together,
)
from shortlist.mechanisms import mechanism
from shortlist.mechanisms.mechanism import Accounting
from shortlist.privacy import _delta_curves, combined_costs, composed
from shortlist.privacy.accountant import Composition, ThresholdDelta, _value_functions, stages
from shortlist.privacy.accountant.after_choice import AfterChoice
from shortlist.privacy.accountant.items_of_one_user import Cases, ItemsByThreshold
from shortlist.privacy.accountant.stages import BoundedRange, EitherStage, GaussianStage, PureStage
from shortlist.privacy.combined_costs import Either, Sum
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import ZCDP, Approximate, Cost, Gaussian, Pure

PICKS = "peeling", "adaptive-top-k", "joint-or-peel", "user-peeling", "limited-domain"

# --- stages


def _as_one(right, one, other):
    if isinstance(one, GaussianStage) and isinstance(other, GaussianStage):
        return max(one, other, key=lambda stage: stage.mu)
    return right(one, other)


def _mu_of_largest(_right, some, shared=1.0):
    mus = (
        stage.mu * (math.sqrt(shared) if stage.on_weights else 1.0)
        for stage in some
        if isinstance(stage, GaussianStage)
    )
    return max(mus, default=0.0)


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

    return everywhere(stages, "as_stages", lambda right, some: right(seen(some)))


def _of_kind(kinds, change):
    """Stages of a kind are changed, and others are as they are."""
    return each_stage(lambda stage: change(stage) if isinstance(stage, kinds) else [stage])


def _shrunk(stage):
    if isinstance(stage, GaussianStage):
        return [replace(stage, mu=stage.mu * 0.97)]
    return [replace(stage, epsilon=stage.epsilon * 0.97)]


def _two_thirds_of_picks(right, stage):
    known = right(stage)
    return known * 2 / 3 if isinstance(stage, BoundedRange) else known


def _nothing_lost(right, self, epsilon, *, fineness=1.0):
    told = Composition(self.stages) if isinstance(self.own_items, ThresholdDelta) else self
    return right(told, epsilon, fineness=fineness)


def _choice_is_nothing(_right, self, epsilon, *, fineness=1.0):
    return self.chosen.delta(epsilon, fineness=fineness)


STAGES = [
    *mistakes(
        ("adaptive-hitting-set", "noisy-clipped-counts"),
        (),
        {
            "two Gaussians count as the larger of them": together(
                at(stages, "_as_one", _as_one), everywhere(stages, "mu_of", _mu_of_largest)
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "discover-then-rank", "joint-or-peel"),
        ("adaptive-top-k rounds exact", "discover-then-rank"),
        {
            "of two ways the accountant sees the first": _of_kind(
                EitherStage, lambda stage: [EitherStage(stage.first, stage.first)]
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "discover-then-rank"),
        ("adaptive-top-k rounds exact", "discover-then-rank"),
        {
            "of two ways the accountant sees the second": _of_kind(
                EitherStage, lambda stage: [EitherStage(stage.second, stage.second)]
            )
        },
    ),
    *mistakes(
        PICKS,
        ("peeling", "limited-domain", "user-peeling"),
        {
            "the accountant counts a pick less": _of_kind(
                BoundedRange, lambda stage: [replace(stage, times=max(stage.times - 1, 1))]
            ),
            "every stage counts 3 % less than it is": _of_kind(
                (GaussianStage, BoundedRange, PureStage), _shrunk
            ),
            "the value function has ranges of 0.9 of their length": at(
                _value_functions, "apply_ranges", argument_times(2, 0.9)
            ),
            "zCDP of picks by two thirds": at(stages, "_rho", _two_thirds_of_picks),
        },
    ),
    *mistakes(
        ("adaptive-top-k", "per-group"),
        ("adaptive-top-k rounds exact", "per-group"),
        {
            "the accountant counts two choices as one": _of_kind(
                BoundedRange, lambda it: [replace(it, times=1 if it.times == 2 else it.times)]
            )
        },
    ),
    *mistakes(
        ("joint-or-peel", "noisy-counts"),
        ("joint-or-peel", "noisy-counts few"),
        {
            "what is pure counts as of bounded range": _of_kind(
                PureStage, lambda stage: [BoundedRange(stage.epsilon, stage.times)]
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "noisy-clipped-counts"),
        ("adaptive-top-k rounds exact", "noisy-clipped-counts"),
        {
            "a choice that is made once is left out": _of_kind(
                (BoundedRange, PureStage), lambda stage: [stage] if stage.times > 1 else []
            )
        },
    ),
    *mistakes(
        ("per-group", "limited-domain"),
        ("limited-domain",),
        {"what thresholds lose is not added": method(Composition, "delta", _nothing_lost)},
    ),
    *mistakes(
        ("weighted-gaussian", "discover-then-rank", "user-peeling", "noisy-clipped-counts"),
        ("weighted-gaussian", "discover-then-rank"),
        {
            "users who alone hold an item are not looked at": method(
                ItemsByThreshold,
                "cases",
                result(lambda every: Cases(*(each[:1] for each in every))),
            )
        },
    ),
    *mistakes(
        "chosen-bound",
        (),
        {
            "the choice of a bound counts for nothing": method(
                AfterChoice, "delta", _choice_is_nothing
            )
        },
    ),
    *mistakes(
        ("noisy-counts", "each-group"),
        "each-group",
        {
            "the delta of a selection is forgotten where stages follow": everywhere(
                composed,
                "composition_of",
                result(lambda told: told and replace(told, own_items=None)),
            )
        },
    ),
]

# --- costs


def _once_less(right, self, n):
    told = right(self, n)
    if isinstance(told, Pure) and n > 1:
        return Pure(told.pure, told.rho * (n - 1) / n)
    return told


def _root_of_times(right, self, n):
    """K pure releases cost the root of k in epsilon, too."""
    told = right(self, n)
    return Pure(told.pure / n**0.5, told.rho) if isinstance(told, Pure) else told


def _dearest_part(right, self, epsilon):
    return min(max(part.delta(epsilon) for part in self.parts), right(self, epsilon))


def _repeated(once):
    """What is repeated costs something else, where stages are known."""

    def wrong(right, cost, n, *, epsilon):
        told = right(cost, n, epsilon=epsilon)
        if not isinstance(told, Composed) or n == 1:
            return told
        return Composed(*once(told, cost, n), epsilon=epsilon)

    return everywhere(composed, "repeated", wrong)


def _lost_once(told, cost, _n):
    return Composition(told.composition.stages, ThresholdDelta(cost.lost)), ZCDP(
        told.rho, cost.lost
    )


def _stages_once(told, cost, n):
    stages = told.composition.stages
    return replace(told.composition, stages=stages[: len(stages) // n]), cost * n


def _a_fifth_less(right, told, stages, by_rho, epsilon):
    if told is Accounting.ZCDP and isinstance(by_rho, ZCDP):
        return type(by_rho)(by_rho.rho * 0.8, by_rho.lost)
    return right(told, stages, by_rho, epsilon)


def _a_tenth_less(right, self, stages, by_rho, epsilon):
    less = type(by_rho)
    if less in (ZCDP, Gaussian, Sum):
        by_rho = (ZCDP if less is Sum else less)(by_rho.rho * 0.9, by_rho.lost)
    elif less is Pure:
        by_rho = Pure(by_rho.pure, by_rho.rho * 0.9)
    right(self, stages, by_rho, epsilon=epsilon)


def _mean_of_ways(right, first, second):
    told = right(first, second)
    if isinstance(told, ZCDP):
        return type(told)((first.rho + second.rho) / 2 * 0.9, told.lost)
    return told


CONVERTED = "adaptive-top-k", "per-group", "peeling", "limited-domain"
OF_CONVERTED = "peeling zcdp", "limited-domain zcdp", "adaptive-top-k zcdp"

COSTS = [
    *mistakes(
        ("peeling", "adaptive-top-k", "joint-or-peel", "per-group", "user-peeling"),
        ("peeling zcdp", "adaptive-top-k zcdp"),
        {
            "picks of range e cost e²/12": method(
                Pure,
                "bounded_range",
                lambda _right, cls, epsilon: cls(epsilon, float(Fraction(epsilon) ** 2 / 12)),
            ),
            "repeated picks are charged once less in zCDP": method(Cost, "__mul__", _once_less),
        },
    ),
    *mistakes(
        ("permute-and-flip", "peeling"),
        "permute-and-flip",
        {
            "repeated picks cost the root of their number in epsilon": method(
                Cost, "__mul__", _root_of_times
            )
        },
    ),
    *mistakes(
        ("limited-domain", "discover-then-rank", "adaptive-gaussian"),
        ("limited-domain zcdp", "discover-then-rank zcdp"),
        {
            "what thresholds lose does not count at conversion": method(
                ZCDP, "delta", lambda _right, self, epsilon: min(1.0, self._curve(epsilon))
            )
        },
    ),
    *mistakes(
        "policy-greedy",
        (),
        {
            "the delta of what fails is forgotten": method(
                Approximate,
                "delta",
                lambda _right, self, epsilon: Pure(self.pure, self.rho).delta(epsilon),
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "per-group", "noisy-clipped-counts", "noisy-counts"),
        ("adaptive-top-k zcdp", "per-group zcdp"),
        {
            "of a sum only the largest rho counts": method(
                Sum, "rho", lambda _right, self: max(part.rho for part in self.parts)
            ),
            "of a sum only the part that costs most counts": method(Sum, "delta", _dearest_part),
        },
    ),
    *mistakes(
        "joint-or-peel",
        "joint-or-peel two costs",
        {
            "of several pure ways the cheapest is charged": together(
                method(Either, "rho", lambda _, self: min(cost.rho for cost in self.alternatives)),
                method(
                    Either,
                    "delta",
                    lambda _, self, e: min(cost.delta(e) for cost in self.alternatives),
                ),
            )
        },
    ),
    *mistakes(
        CONVERTED,
        OF_CONVERTED,
        {
            "all that is known in zCDP converts as a Gaussian": everywhere(
                _delta_curves,
                "zcdp_delta",
                lambda _, *given: _delta_curves.gaussian_delta(*given),
            ),
            "6 % less zCDP at conversion": everywhere(
                _delta_curves, "zcdp_delta", argument_times(0, 0.94)
            ),
        },
    ),
    *mistakes(
        ("adaptive-gaussian", "chosen-bound", "weighted-gaussian"),
        ("adaptive-gaussian zcdp", "weighted-gaussian zcdp"),
        {
            "6 % less zCDP of Gaussians at conversion": everywhere(
                _delta_curves, "gaussian_delta", argument_times(0, 0.94)
            )
        },
    ),
    *mistakes(
        "each-group",
        (),
        {
            "what each repetition loses counts once": _repeated(_lost_once),
            "the stages of repetitions count once": _repeated(_stages_once),
        },
    ),
    *mistakes(
        ("adaptive-top-k", "discover-then-rank", "limited-domain"),
        ("discover-then-rank zcdp", "limited-domain zcdp"),
        {
            "a fifth less zCDP where a release is one of many": everywhere(
                mechanism, "cost_of_release", _a_fifth_less
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "adaptive-gaussian", "per-group", "peeling"),
        ("adaptive-gaussian", "adaptive-top-k", "peeling"),
        {
            "a composed cost adds up as a tenth less zCDP": method(
                Composed, "__init__", _a_tenth_less
            )
        },
    ),
    *mistakes(
        ("adaptive-top-k", "discover-then-rank"),
        ("adaptive-top-k zcdp", "discover-then-rank zcdp"),
        {"of two ways the mean is charged": everywhere(combined_costs, "max", _mean_of_ways)},
    ),
]
