"""Top-k in every group: groups and items are found apart, and ranked together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np

from shortlist.algorithms.grouped_looks import GroupedLooks
from shortlist.algorithms.rounding_grids import coarse_grid, fine_grid, grid_of_two
from shortlist.algorithms.rounds import Aim, Rounds
from shortlist.algorithms.stopping import ToTheEnd, UntilEnough, UntilMany
from shortlist.algorithms.two_looks import best_first
from shortlist.draws import Draws, Floats, Ints, RoundingGrid
from shortlist.evidence import UserGroups, UserSets
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    coarser,
    cost_of_release,
    score_digits,
)
from shortlist.parameters import DeltaAboveZero, Epsilon, Share, Whole
from shortlist.privacy import ZCDP, Cost, Pure, round_down
from shortlist.privacy.accountant import BoundedRange, Composition, Stage, ThresholdDelta
from shortlist.privacy.accountant.fitting import largest_within, normal_noise
from shortlist.privacy.accountant.rounds import Limits, RoundsRelease, Schedule, limits_of
from shortlist.privacy.calibration import bounded_range_epsilon, gaussian_sigma, zcdp_rho

__all__ = ["PerGroup"]

_CHOICE = Fraction(1, 50)  # of the zCDP, for each choice of a clipping bound
_OF_GROUPS, _OF_ITEMS = Fraction(1, 10), Fraction(1, 5)  # of the Gaussians' zCDP, to find them
_LOSS_OF_GROUPS = 0.3  # of what thresholds may lose
_LOOKS = Fraction(2, 3), Fraction(1, 3)  # of what is left: a third finds no more
_ENOUGH = 100  # times k: no more items are looked for
_MOST_PLACES = 2**20  # of an item in a group; more items of few groups, or fewer of many
_BOLDNESS = 1.5  # an item is expected to gain by what users move, as a factor
_BOUNDS = tuple(2**n for n in range(9))  # of the squared norm of a user's part in all counts
_SEEN = {False: 1.0, True: 3.0}  # standard deviations: nobody may be in a group that is public
_ROUNDS = Schedule(parts=(3, 4, 5, 6), floor=Fraction(0), losses=(0.02, 0.07, 0.21, 0.7), reach=4.0)
_ONE_ROUND = Schedule(parts=(1,), floor=Fraction(0), losses=(1.0,), reach=1.0)


@dataclass(frozen=True, kw_only=True)
class PerGroup(Mechanism):
    """The k items held by most users in each group: what is common anywhere is counted everywhere.

    The groups are found by how many users are in them, and the items by how many hold them in any
    group, as by `AdaptiveGaussian`. Every found item may then be counted in every found group, with
    no further threshold. Noisy counts of them all are made in two looks. In each, a user's part
    in all counts is clipped at a bound that is chosen privately. A look is at those items alone
    that may be, and may not be, among the k best of their group. Where the noise is large beside a
    count, the rank goes by what the item's popularity in all groups lets expect, too.

    The noisy counts are released with the items.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of all
    stages together. One user's part in all counts is clipped together, in however many groups.
    threshold_share of delta bounds the probability of naming a group or an item that one user alone
    holds.

    Source: of this project. Proof note: `docs/proofs/per-group.md`.

    Args:
        k: How many items of each group, at least 1; fewer come out where fewer are found.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count when items are found.
        max_groups_per_user: The most groups of one user that count at all.
        threshold_share: The share of delta that pays for the thresholds.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = PerGroup(k=10, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole
    max_groups_per_user: Whole = 1
    threshold_share: Share = 0.25
    accounting: Accounting = Accounting.EXACT

    evidence: ClassVar[type] = UserGroups
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("rho", "group_threshold", "item_threshold")
    score_unit: ClassVar[str | None] = "noisy clipped count"
    _plan_of_items: ClassVar[Schedule] = _ROUNDS
    _plan_of_several: ClassVar[Schedule] = _ROUNDS
    _shares: ClassVar[tuple[Fraction, ...]] = _LOOKS
    _bounds: ClassVar[tuple[int, ...]] = _BOUNDS
    _is_fine: ClassVar[bool] = True

    # --- what is spent

    @property
    def threshold_delta(self) -> float:
        """The probability granted to naming a group or an item that one user alone holds."""
        return self.delta * self.threshold_share

    @cached_property
    def rho(self) -> float:
        """The zCDP of all stages, beside what is lost."""
        by_rho = zcdp_rho(epsilon=self.epsilon, delta=self.delta, lost=self.threshold_delta)
        by_rho *= 1 - 2.0**-50
        if self.accounting is Accounting.ZCDP:
            return by_rho
        return largest_within(
            self._stages,
            epsilon=self.epsilon,
            delta=self.delta,
            by_rho=by_rho,
            own_items=ThresholdDelta(self.threshold_delta),
        )

    def _stages(self, rho: float) -> tuple[Stage, ...]:
        """All noise, and the choices of a bound, where these cost so much zCDP."""
        looks = len(self._shares)
        choices = BoundedRange(bounded_range_epsilon(1, rho * float(_CHOICE)), looks)
        return normal_noise(_in_gaussians(rho, looks)), choices

    @cached_property
    def cost(self) -> Cost:
        """All noise, the choices of a bound, and what thresholds lose."""
        choices = Pure.bounded_range(self._choice_epsilon) * len(self._shares)
        by_rho = ZCDP(self._in_gaussians, self.threshold_delta) + choices
        composition = Composition(self._stages(self.rho), ThresholdDelta(self.threshold_delta))
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    @cached_property
    def _choice_epsilon(self) -> float:
        """The range of each choice of a clipping bound."""
        return bounded_range_epsilon(1, self.rho * float(_CHOICE))

    @property
    def _in_gaussians(self) -> float:
        """The zCDP of the rounds and the noisy counts."""
        return _in_gaussians(self.rho, len(self._shares))

    # --- what is told of it

    @property
    def group_threshold(self) -> float:
        """The least mean noisy weight of a group to be found in the last round."""
        return self._groups.limits.thresholds[-1]

    @property
    def item_threshold(self) -> float:
        """The least mean noisy weight of an item to be found in the last round."""
        return self._items.limits.thresholds[-1]

    @cached_property
    def _groups(self) -> _Search:
        """By how many users are in them."""
        bound = self.max_groups_per_user
        plan = _ONE_ROUND if bound == 1 else self._plan_of_several
        lost = self.threshold_delta * _LOSS_OF_GROUPS
        return self._search(plan, _OF_GROUPS, lost, bound)

    @cached_property
    def _items(self) -> _Search:
        """By how many users hold them in any group."""
        lost = self.threshold_delta * (1 - _LOSS_OF_GROUPS) * (1 - 2.0**-50)
        return self._search(self._plan_of_items, _OF_ITEMS, lost, self.max_items_per_user)

    def _search(self, plan: Schedule, share: Fraction, lost: float, bound: int) -> _Search:
        rho = round_down(Fraction(self._in_gaussians) * share)
        sigma = gaussian_sigma(rho)
        limits = limits_of(plan, RoundsRelease(sigma, lost), bound)
        few = coarse_grid(max(limits.thresholds))._replace(lowest=1)
        grid = fine_grid(sigma) if self._is_fine else few
        return _Search(plan, share, sigma, limits, grid)

    def audit_hints(self) -> AuditHints:
        """The thresholds; and the same code with few rounds, looks and bounds, on a coarse grid."""
        few = {
            "_plan_of_items": _ONE_ROUND,
            "_plan_of_several": _ONE_ROUND,
            "_shares": (Fraction(1, 2),) * 2,
            "_bounds": (1, 2),
            "_is_fine": False,
        }
        thresholds = self.group_threshold, self.item_threshold
        hints = super().audit_hints()
        # k items in each of any number of groups
        hints = replace(hints, most_items=None, most_groups=self.max_groups_per_user)
        return replace(hints, thresholds=thresholds, coarse=coarser(self, **few))

    def explain(self) -> list[str]:
        """The discovery and the looks in plain words."""
        groups, bound = self.max_groups_per_user, self.max_items_per_user
        some = "1 group counts" if groups == 1 else f"{groups} groups count at most"
        best = "best item" if self.k == 1 else f"{self.k} best items"
        user = f"Of each user, {some}, picked at random among the user's own."
        group = (
            f"A group is found if about {self.group_threshold:.0f} people are in it and no other."
        )
        item = (
            f"An item is found if about {self.item_threshold:.0f} people hold it and nothing else, "
            f"in whichever groups. Of a user with more than {bound} items, {bound} count for this."
        )
        counted = (
            "Each item found is then counted in each group found, with normal noise, in "
            f"{len(self._shares)} looks. A user who holds many of these items adds less than 1 to "
            "each count."
        )
        again = (
            "After a look, only those items are counted again of which it is open whether they "
            f"are among the {best} of their group."
        )
        ranked = (
            "Where the noise is large compared with a count, the rank also depends on how common "
            "the item is in all groups. Rarely, an item is named in a group where nobody holds it."
        )
        public = "Public groups need not be found, and the counts get what that would cost."
        return [user, group, item, counted, again, ranked, public]

    # --- the selection

    def select(self, evidence: UserGroups, draws: Draws) -> Selection:
        """At most k items of each group, best first, with their noisy counts.

        Positions are those of pairs: the code of the group times the number of items, and the code
        of the item.
        """
        held = evidence.bounded(self.max_groups_per_user, draws)
        groups, left = self._found_groups(held, draws)
        most = max(self.k, _MOST_PLACES // max(len(groups), 1))
        items = self._found_items(held.items(), min(_ENOUGH * self.k, most), draws)
        left += items.left
        codes, popularity = items.codes[:most], np.maximum(items.weights[:most], 1.0)
        rho = round_down(Fraction(self._in_gaussians) * left)
        looks = self._looks(_SEEN[evidence.groups_are_public])
        ranked = looks.best(held.among(groups, codes), popularity, rho, draws)
        positions = groups[ranked.groups] * evidence.n_items + codes[ranked.items]
        sd = float(ranked.sds.max(initial=0.0)) or self._least_sd
        return Selection(positions, np.round(ranked.counts, score_digits(sd)), noise_sd=sd)

    def _found_groups(self, held: UserGroups, draws: Draws) -> tuple[Ints, Fraction]:
        """Their codes, those of most users first; and what is left for counts."""
        left = 1 - _OF_GROUPS - _OF_ITEMS
        if held.groups_are_public:
            return np.arange(held.n_groups), left + _OF_GROUPS
        sets = held.groups.bounded(self.max_groups_per_user, draws)
        return self._groups.found(ToTheEnd(self._groups.rounds), sets, draws).codes, left

    def _found_items(self, held: UserSets, enough: int, draws: Draws) -> _Found:
        """Those that most users hold first; no further round is run once there are enough."""
        rounds = self._items.rounds
        until = UntilMany(rounds, (enough,) * len(rounds.plan.parts))
        return self._items.found(until, held.bounded(self.max_items_per_user, draws), draws)

    def _looks(self, seen: float) -> GroupedLooks:
        return GroupedLooks(
            self.k,
            self._shares,
            self._bounds,
            self._choice_epsilon,
            self.max_groups_per_user,
            seen,
            self._grid_of_counts,
        )

    @property
    def _grid_of_counts(self) -> Callable[[float], RoundingGrid]:
        """What noisy counts are, given the standard deviation of the noise."""
        return fine_grid if self._is_fine else grid_of_two

    @property
    def _least_sd(self) -> float:
        """Of a count's noise, were all that is left spent on it."""
        return math.sqrt(1 / (2 * self._in_gaussians))


class _Found(NamedTuple):
    """What was found, best first.

    Attributes:
        codes: What it is.
        weights: How common each seems: no counts.
        left: What was not spent on the search, as a share of all Gaussians.
    """

    codes: Ints
    weights: Floats
    left: Fraction


class _Search(NamedTuple):
    """How something is found: everything in it is public.

    Attributes:
        plan: Of the rounds.
        share: Of the zCDP of all Gaussians.
        sigma: The standard deviation of the mean of all rounds' noise.
        limits: The thresholds, and the largest weights.
        grid: What noisy weights are rounded down to.
    """

    plan: Schedule
    share: Fraction
    sigma: float
    limits: Limits
    grid: RoundingGrid

    @property
    def rounds(self) -> Rounds:
        """Which aim at the last threshold."""
        return Rounds(self.plan, self.sigma, self.limits, self.grid, _BOLDNESS, Aim.LAST)

    def found(self, until: UntilEnough, held: UserSets, draws: Draws) -> _Found:
        """What the rounds find of users' bounded sets, best first."""
        stopped = until.found(held, draws)
        order = best_first(stopped.estimates, draws)
        left = self.share * Fraction(sum(self.plan.parts[stopped.rounds :]), self.plan.whole)
        return _Found(stopped.items[order], stopped.estimates[order], left)


def _in_gaussians(rho: float, looks: int) -> float:
    """What so many choices of a clipping bound leave, rounded down."""
    return round_down(Fraction(rho) * (1 - looks * _CHOICE))
