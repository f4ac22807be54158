"""Mistakes in how costs add up, repeat and convert."""

from dataclasses import replace
from fractions import Fraction

from helpers.planted.planting import Plant
from shortlist.mechanisms import mechanism
from shortlist.mechanisms.mechanism import Accounting
from shortlist.privacy import _delta_curves, combined_costs, composed
from shortlist.privacy.accountant import Composition, ThresholdDelta
from shortlist.privacy.combined_costs import Either, Sum
from shortlist.privacy.composed import Composed
from shortlist.privacy.costs import ZCDP, Approximate, Cost, Gaussian, Pure


def _range_by_twelve(patch):
    def wrong(cls, epsilon):
        return cls(epsilon, float(Fraction(epsilon) ** 2 / 12))

    patch.method(Pure, "bounded_range", lambda _: classmethod(wrong))


def _factor_less(patch):
    """So many times: rho is counted a time less."""

    def make(right):
        def wrong(self, n):
            told = right(self, n)
            if isinstance(told, Pure) and n > 1:
                return Pure(told.pure, told.rho * (n - 1) / n)
            return told

        return wrong

    patch.method(Cost, "__mul__", make)


def _root_of_times(patch):
    """K pure releases cost the root of k in epsilon, too."""

    def make(right):
        def wrong(self, n):
            told = right(self, n)
            return Pure(told.pure / n**0.5, told.rho) if isinstance(told, Pure) else told

        return wrong

    patch.method(Cost, "__mul__", make)


def _lost_is_free(patch):
    patch.method(ZCDP, "delta", lambda _: lambda self, epsilon: min(1.0, self._curve(epsilon)))


def _rho_of_sum(patch):
    patch.method(Sum, "rho", lambda _: lambda self: max(part.rho for part in self._parts))


def _sum_of_larger(patch):
    """Of a sum of costs of several kinds the first kind by rho, and the others for nothing."""

    def make(right):
        def wrong(self, epsilon):
            return min(max(part.delta(epsilon) for part in self._parts), right(self, epsilon))

        return wrong

    patch.method(Sum, "delta", make)


def _approximate_loses_nothing(patch):
    def make(_right):
        return lambda self, epsilon: Pure(self.pure, self.rho).delta(epsilon)

    patch.method(Approximate, "delta", make)


def _by_smallest(patch):
    """Of several pure releases, one of which is made, the least rho."""
    patch.method(Either, "rho", lambda _: lambda self: min(cost.rho for cost in self._alternatives))
    patch.method(
        Either, "delta", lambda _: lambda self, e: min(cost.delta(e) for cost in self._alternatives)
    )


def _zcdp_is_gaussian(patch):
    """The curve of a Gaussian for all that is known in zCDP."""
    patch.everywhere(_delta_curves, "zcdp_delta", lambda _: _delta_curves.gaussian_delta)


def _gaussian_less(patch):
    patch.everywhere(
        _delta_curves, "gaussian_delta", lambda right: lambda rho, e: right(0.94 * rho, e)
    )


def _zcdp_less(patch):
    patch.everywhere(_delta_curves, "zcdp_delta", lambda right: lambda rho, e: right(0.94 * rho, e))


def _lost_once(patch):
    def make(right):
        def wrong(cost, n, *, epsilon):
            told = right(cost, n, epsilon=epsilon)
            if isinstance(told, Composed) and n > 1:
                once = Composition(told.composition.stages, ThresholdDelta(cost.lost))
                return Composed(once, ZCDP(told.rho, cost.lost), epsilon=epsilon)
            return told

        return wrong

    patch.everywhere(composed, "repeated", make)


def _stages_once(patch):
    def make(right):
        def wrong(cost, n, *, epsilon):
            told = right(cost, n, epsilon=epsilon)
            if isinstance(told, Composed) and n > 1:
                stages = told.composition.stages
                once = replace(told.composition, stages=stages[: len(stages) // n])
                return Composed(once, cost * n, epsilon=epsilon)
            return told

        return wrong

    patch.everywhere(composed, "repeated", make)


def _best_of_both(patch):
    """In zCDP, the exact worst case counts though it does not add up."""

    def make(right):
        def wrong(told, stages, by_rho, epsilon):
            if told is Accounting.ZCDP and isinstance(by_rho, ZCDP):
                return type(by_rho)(by_rho.rho * 0.8, by_rho.lost)
            return right(told, stages, by_rho, epsilon)

        return wrong

    patch.everywhere(mechanism, "cost_of_release", make)


def _way_of_one(patch):
    """What a composed cost adds up as is a tenth less than what its stages are in zCDP."""

    def make(right):
        def wrong(self, stages, by_rho, *, epsilon):
            less = type(by_rho)
            if less in (ZCDP, Gaussian):
                by_rho = less(by_rho.rho * 0.9, by_rho.lost)
            elif less is Pure:
                by_rho = Pure(by_rho.pure, by_rho.rho * 0.9)
            elif less is Sum:
                by_rho = ZCDP(by_rho.rho * 0.9, by_rho.lost)
            right(self, stages, by_rho, epsilon=epsilon)

        return wrong

    patch.method(Composed, "__init__", make)


def _choice_by_mean(patch):
    """One of two ways costs their mean."""

    def make(right):
        def wrong(first, second):
            told = right(first, second)
            if isinstance(told, ZCDP):
                return type(told)((first.rho + second.rho) / 2 * 0.9, told.lost)
            return told

        return wrong

    patch.everywhere(combined_costs, "max", make)


def _of(room, shown, *cases):
    return lambda name, plant: Plant(name, "privacy/" + room, shown, plant, cases)


_costs = _of(
    "costs",
    ("peeling", "adaptive-top-k", "joint-or-peel", "per-group", "user-peeling"),
    "peeling zcdp",
    "adaptive-top-k zcdp",
)
_added = _of(
    "sums",
    ("adaptive-top-k", "per-group", "noisy-clipped-counts", "noisy-counts"),
    "adaptive-top-k zcdp",
    "per-group zcdp",
)

COSTS = [
    _costs("picks of range e cost e²/12", _range_by_twelve),
    _costs("repeated picks are charged once less in zCDP", _factor_less),
    Plant(
        "repeated picks cost the root of their number in epsilon",
        "privacy/costs",
        ("permute-and-flip", "peeling"),
        _root_of_times,
        ("permute-and-flip",),
    ),
    Plant(
        "what thresholds lose does not count at conversion",
        "privacy/costs",
        ("limited-domain", "discover-then-rank", "adaptive-gaussian"),
        _lost_is_free,
        ("limited-domain zcdp", "discover-then-rank zcdp"),
    ),
    Plant(
        "the delta of what fails is forgotten",
        "privacy/costs",
        ("policy-greedy",),
        _approximate_loses_nothing,
    ),
    _added("of a sum only the largest rho counts", _rho_of_sum),
    _added("of a sum only the part that costs most counts", _sum_of_larger),
    Plant(
        "of several pure ways the cheapest is charged",
        "privacy/combined_costs",
        ("joint-or-peel",),
        _by_smallest,
        ("joint-or-peel zcdp",),
    ),
    Plant(
        "all that is known in zCDP converts as a Gaussian",
        "privacy/_delta_curves",
        ("adaptive-top-k", "per-group", "peeling", "limited-domain"),
        _zcdp_is_gaussian,
        ("peeling zcdp", "limited-domain zcdp", "adaptive-top-k zcdp"),
    ),
    Plant(
        "6 % less zCDP at conversion",
        "privacy/_delta_curves",
        ("adaptive-top-k", "per-group", "peeling", "limited-domain"),
        _zcdp_less,
        ("peeling zcdp", "limited-domain zcdp", "adaptive-top-k zcdp"),
    ),
    Plant(
        "6 % less zCDP of Gaussians at conversion",
        "privacy/_delta_curves",
        ("adaptive-gaussian", "chosen-bound", "weighted-gaussian"),
        _gaussian_less,
        ("adaptive-gaussian zcdp", "weighted-gaussian zcdp"),
    ),
    Plant(
        "what each repetition loses counts once",
        "privacy/composed",
        ("each-group",),
        _lost_once,
        ("each-group",),
    ),
    Plant(
        "the stages of repetitions count once",
        "privacy/composed",
        ("each-group",),
        _stages_once,
        ("each-group",),
    ),
    Plant(
        "a fifth less zCDP where a release is one of many",
        "mechanisms/mechanism",
        ("adaptive-top-k", "discover-then-rank", "limited-domain"),
        _best_of_both,
        ("discover-then-rank zcdp", "limited-domain zcdp"),
    ),
    Plant(
        "a composed cost adds up as a tenth less zCDP",
        "privacy/composed",
        ("adaptive-top-k", "adaptive-gaussian", "per-group", "peeling"),
        _way_of_one,
        ("adaptive-gaussian", "adaptive-top-k", "peeling"),
    ),
    Plant(
        "of two ways the mean is charged",
        "privacy/combined_costs",
        ("adaptive-top-k", "discover-then-rank"),
        _choice_by_mean,
        ("adaptive-top-k zcdp", "discover-then-rank zcdp"),
    ),
]
