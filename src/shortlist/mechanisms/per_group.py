"""Top-k in every group: groups and items are found apart, and ranked together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import ClassVar, NamedTuple, Self

import numpy as np

from shortlist import privacy
from shortlist.algorithms.clipped_counts import best_first
from shortlist.algorithms.grouped_measurements import GroupedMeasurements
from shortlist.algorithms.rounding_grids import (
    GridOfCounts,
    coarse_grid_above_zero,
    fine_grid,
    grid_of_two,
)
from shortlist.algorithms.search_in_rounds import Search, StopRule, UntilMany
from shortlist.draws import Draws, Floats, Ints
from shortlist.evidence import UserGroups, UserSets
from shortlist.mechanisms._in_rounds import SearchDesign
from shortlist.mechanisms._own_items import KindChoice, OwnItems
from shortlist.mechanisms.adaptive_gaussian import AdaptiveGaussian
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    cost_of_release,
    score_digits,
)
from shortlist.mechanisms.wrappers.noisy_clipped_counts import ClippedCountsDesign
from shortlist.parameters import DeltaAboveZero, Epsilon, GroupItems, Share, Whole
from shortlist.privacy import ZCDP, Approximate, Cost, Pure, Ways, round_down
from shortlist.privacy.accountant import BoundedRange, Composition, Stage, ThresholdDelta
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease, Schedule
from shortlist.privacy.accountant.fitting import largest_within, normal_noise
from shortlist.privacy.calibration import (
    bounded_range_epsilon,
    gaussian_sigma,
    subtract_down,
    zcdp_rho,
)

_CHOICE = Fraction(1, 50)  # of the zCDP, for each choice of a clipping bound
_OF_GROUPS, _OF_ITEMS = Fraction(1, 10), Fraction(1, 5)  # of the Gaussians' zCDP, to find them
_LOSS_OF_GROUPS = 0.3  # of what thresholds may lose
_ENOUGH = 100  # times k: no more items are searched
_MOST_PLACES = 2**20  # of an item in a group; more items of few groups, or fewer of many
_EXPECTED_GAIN = 1.5
_SEEN = {False: 1.0, True: 3.0}  # standard deviations: nobody may be in a group that is public
_ROUNDS = Schedule(parts=(3, 4, 5, 6), floor=Fraction(0), losses=(0.02, 0.07, 0.21, 0.7), cap=4.0)
_ONE_ROUND = Schedule(parts=(1,), floor=Fraction(0), losses=(1.0,), cap=1.0)


@dataclass(frozen=True, kw_only=True)
class PerGroupDesign(SearchDesign):
    """What is fixed of `PerGroup`.

    Attributes:
        of_items: How the rounds that find items share what may be spent.
        of_groups: Likewise of groups, where one user may be in several.
        shares: The parts of what is left that the noisy measurements of counts get.
        bounds: Of the squared norm of a user's part in all counts, to choose from.
        grid_of_counts: What noisy counts are rounded down to.
        rounds_of_pairs: How many, where items are the groups' own.
        kind_share: Of epsilon, for the choice where nobody knows whose items are.
        most_for_kind: The most epsilon that the choice gets.
    """

    of_items: Schedule = _ROUNDS
    of_groups: Schedule = _ROUNDS
    # A third measurement finds no more.
    shares: tuple[Fraction, ...] = (Fraction(2, 3), Fraction(1, 3))
    bounds: tuple[int, ...] = tuple(2**n for n in range(9))
    grid_of_counts: GridOfCounts = fine_grid
    rounds_of_pairs: int = 6
    kind_share: float = 0.02
    most_for_kind: float = 0.005  # with which a thousand users decide

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(
            self,
            of_items=_ONE_ROUND,
            of_groups=_ONE_ROUND,
            shares=(Fraction(1, 2),) * 2,
            bounds=(1, 2),
            grid=coarse_grid_above_zero,
            grid_of_counts=grid_of_two,
            rounds_of_pairs=2,
            kind_share=0.25,
            most_for_kind=math.inf,
        )


_DESIGN = PerGroupDesign()


@dataclass(frozen=True, kw_only=True)
class PerGroup(Mechanism):
    """The k items held by most users in each group: what is common anywhere is counted everywhere.

    The groups are found by how many users are in them, and the items by how many hold them in any
    group, as by `AdaptiveGaussian`. Every found item may then be counted in every found group, with
    no further threshold. The counts of them all are measured in noise, and then once more those
    that may be, and may not be, among the k best of their group. Each time, a user's part in all
    counts is clipped at a bound that is chosen privately. Where the noise is large beside a count,
    the rank goes by what the item's popularity in all groups lets expect, too.

    Where each item belongs to one group alone, other groups tell nothing of it, and `OWN` finds
    the pairs of a group and an item themselves: in rounds, as `AdaptiveGaussian` finds items, with
    clipped counts of what is found. The ranks in each group follow from both. Privacy does not hang
    on whether it is true. With `UNKNOWN` a little of epsilon decides privately between the two, by
    how many of users' pairs are in the group that most have the item in.

    The noisy counts are released with the items.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of all
    stages together. One user's part in all counts is clipped together, in however many groups.
    threshold_share of delta bounds the probability of naming a group or an item that one user alone
    holds.

    Source: of this project. Proof notes: `docs/proofs/per-group.md`, `docs/proofs/own-items.md`.

    Args:
        k: How many items of each group, at least 1; fewer come out where fewer are found.
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The most items of one user that count when items are found; of groups'
            own items, the most pairs.
        max_groups_per_user: The most groups of one user that count at all; where items are the
            groups' own, all do.
        group_items: What everybody knows of the items of groups.
        threshold_share: The share of delta that pays for the thresholds; not with `OWN`.
        accounting: By the worst case of all stages, or in zCDP, for one release of many.

    >>> mechanism = PerGroup(k=10, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    max_items_per_user: Whole
    max_groups_per_user: Whole = 1
    group_items: GroupItems = GroupItems.SHARED
    threshold_share: Share = 0.25
    accounting: Accounting = Accounting.EXACT
    design: PerGroupDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    evidence: ClassVar[type] = UserGroups
    discovers: ClassVar[bool | None] = True
    takes_known_items: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = (
        "kind_epsilon",
        "rho",
        "group_threshold",
        "item_threshold",
    )
    score_unit: ClassVar[str | None] = "noisy clipped count"

    @property
    def idle(self) -> tuple[str, ...]:
        """Options that nothing depends on, by whose items are."""
        ignored = {
            GroupItems.SHARED: ("kind_epsilon",),
            GroupItems.OWN: (
                *("kind_epsilon", "max_groups_per_user", "threshold_share"),
                *("rho", "group_threshold"),
            ),
            GroupItems.UNKNOWN: ("rho", "group_threshold", "item_threshold"),
        }
        return (*super().idle, *ignored[self.group_items])

    @cached_property
    def _either(self) -> _OwnOrShared | None:
        """What is chosen from, where nobody knows whose items are."""
        if self.group_items is not GroupItems.UNKNOWN:
            return None
        left = subtract_down(self.epsilon, self.kind_epsilon)
        own, shared = (
            replace(self, epsilon=left, group_items=kind)
            for kind in (GroupItems.OWN, GroupItems.SHARED)
        )
        choice = KindChoice(self.kind_epsilon, self.max_groups_per_user)
        return _OwnOrShared(choice, own, shared)

    @cached_property
    def _own(self) -> OwnItems | None:
        """How pairs are found and counted, where items are the groups' own."""
        if self.group_items is not GroupItems.OWN:
            return None
        domain = partial(
            AdaptiveGaussian,
            max_items_per_user=self.max_items_per_user,
            rounds=self.design.rounds_of_pairs,
            design=SearchDesign(grid=self.design.grid),
        )
        counts = ClippedCountsDesign(bounds=self.design.bounds, grid=self.design.grid_of_counts)
        return OwnItems.of(
            *(self.k, domain, counts),
            epsilon=self.epsilon,
            delta=self.delta,
            accounting=self.accounting,
        )

    # --- what is spent

    @property
    def kind_epsilon(self) -> float:
        """The range of the choice where nobody knows whose items are; 0 where somebody does."""
        if self.group_items is not GroupItems.UNKNOWN:
            return 0.0
        return min(self.epsilon * self.design.kind_share, self.design.most_for_kind)

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
        times = len(self.design.shares)
        choices = BoundedRange(bounded_range_epsilon(1, rho * float(_CHOICE)), times)
        return normal_noise(_in_gaussians(rho, times)), choices

    @cached_property
    def cost(self) -> Cost:
        """All noise, the choices of a bound, and what thresholds lose."""
        if self._either is not None:
            return self._either.cost
        if self._own is not None:
            return self._own.counted.cost
        choices = Pure.bounded_range(self._choice_epsilon) * len(self.design.shares)
        by_rho = ZCDP(self._in_gaussians, self.threshold_delta) + choices
        composition = Composition(self._stages(self.rho), ThresholdDelta(self.threshold_delta))
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    @cached_property
    def _choice_epsilon(self) -> float:
        return bounded_range_epsilon(1, self.rho * float(_CHOICE))

    @property
    def _in_gaussians(self) -> float:
        return _in_gaussians(self.rho, len(self.design.shares))

    # --- what is told of it

    @property
    def group_threshold(self) -> float:
        """The least mean noisy weight of a group to be found in the last round."""
        return self._groups.search.threshold

    @property
    def item_threshold(self) -> float:
        """The least mean noisy weight of an item, or of a pair, to be found in the last round."""
        if self._own is not None:
            return self._own.domain.threshold
        return self._items.search.threshold

    @cached_property
    def _groups(self) -> _Part:
        """The search for groups, by how many users are in them."""
        bound = self.max_groups_per_user
        schedule = _ONE_ROUND if bound == 1 else self.design.of_groups
        return self._part(schedule, _OF_GROUPS, self.threshold_delta * _LOSS_OF_GROUPS, bound)

    @cached_property
    def _items(self) -> _Part:
        """The search for items, by how many users hold them in any group."""
        lost = self.threshold_delta * (1 - _LOSS_OF_GROUPS) * (1 - 2.0**-50)
        return self._part(self.design.of_items, _OF_ITEMS, lost, self.max_items_per_user)

    def _part(self, schedule: Schedule, share: Fraction, lost: float, bound: int) -> _Part:
        rho = round_down(Fraction(self._in_gaussians) * share)
        release = RoundsRelease(gaussian_sigma(rho), lost)
        search = Search.of(schedule, release, bound, self.design.grid, _EXPECTED_GAIN)
        return _Part(search, share)

    def audit_hints(self) -> AuditHints:
        """The thresholds; of each of any number of groups k items are named."""
        hints = replace(super().audit_hints(), most_items=None)
        if self._either is not None:
            own, shared = (way.audit_hints() for way in self._either.ways)
            return replace(hints, thresholds=own.thresholds + shared.thresholds)
        if self._own is not None:
            return replace(hints, thresholds=self._own.domain.thresholds[::-1])
        return replace(
            hints,
            most_groups=self.max_groups_per_user,
            thresholds=(self.group_threshold, self.item_threshold),
        )

    def explain(self) -> list[str]:
        """The discovery and the counts in plain words."""
        if self._either is not None:
            return self._either.explain()
        if self._own is not None:
            return self._own.explain()
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
            f"{len(self.design.shares)} measurements. A user who holds many of these items adds "
            "less than 1 to each count."
        )
        again = (
            "After each, only those items are counted again that may or may not be "
            f"among the {best} of their group."
        )
        ranked = (
            "Where the noise is large compared with a count, the rank also depends on how common "
            "the item is in all groups. Rarely, an item is named in a group where nobody holds it."
        )
        public = "Public groups need not be found, and the counts get what that would cost."
        return [user, group, item, counted, again, ranked, public]

    def explain_known(self) -> list[str]:
        """What the known ones among the items need."""
        least = self._items.search.of_known.threshold
        return [
            "Known items take part whether anybody holds them or not, and need no delta.",
            f"In the end, a known item is found if its mean noisy weight is at least {least:.4g}.",
            "Groups are found as if no items were known.",
        ]

    # --- the selection

    def select(self, evidence: UserGroups, draws: Draws) -> Selection:
        """At most k items of each group, best first, with their noisy counts.

        Positions are those of pairs: the code of the group times the number of items, and the code
        of the item.
        """
        if self._either is not None:
            return self._either.select(evidence, draws)
        if self._own is not None:
            return self._own.select(evidence, draws)
        held = evidence.bounded(self.max_groups_per_user, draws)
        groups, left = self._found_groups(held, draws)
        most = max(self.k, _MOST_PLACES // max(len(groups), 1))
        items = self._found_items(held.items(), min(_ENOUGH * self.k, most), draws)
        left += items.left
        codes, popularity = items.codes[:most], np.maximum(items.weights[:most], 1.0)
        rho = round_down(Fraction(self._in_gaussians) * left)
        measurements = self._measurements(_SEEN[evidence.groups_are_public])
        ranked = measurements.best(held.among(groups, codes), popularity, rho, draws)
        positions = groups[ranked.groups] * evidence.n_items + codes[ranked.items]
        sd = float(ranked.sds.max(initial=0.0)) or self._least_sd
        return Selection(positions, np.round(ranked.counts, score_digits(sd)), noise_sd=sd)

    def _found_groups(self, held: UserGroups, draws: Draws) -> tuple[Ints, Fraction]:
        """Their codes, those of most users first; and what is left for counts."""
        left = 1 - _OF_GROUPS - _OF_ITEMS
        if held.groups_are_public:
            return np.arange(held.n_groups), left + _OF_GROUPS
        sets = held.groups.bounded(self.max_groups_per_user, draws)
        return self._groups.found(None, sets, draws).codes, left

    def _found_items(self, held: UserSets, enough: int, draws: Draws) -> _FoundCodes:
        """Those that most users hold first; no further round is run once there are enough."""
        stop = UntilMany((enough,) * self.design.of_items.rounds)
        return self._items.found(stop, held.bounded(self.max_items_per_user, draws), draws)

    def _measurements(self, seen: float) -> GroupedMeasurements:
        return GroupedMeasurements(
            self.k,
            self.design.shares,
            self.design.bounds,
            self._choice_epsilon,
            self.max_groups_per_user,
            seen,
            self.design.grid_of_counts,
        )

    @property
    def _least_sd(self) -> float:
        """Of a count's noise, were all that is left spent on it."""
        return math.sqrt(1 / (2 * self._in_gaussians))


class _OwnOrShared(NamedTuple):
    """A private choice of whose items are taken to be, and what follows it.

    Attributes:
        choice: The choice.
        own: What answers where items seem to be the groups' own.
        shared: What answers where they seem to be shared.
    """

    choice: KindChoice
    own: PerGroup
    shared: PerGroup

    @property
    def ways(self) -> tuple[PerGroup, PerGroup]:
        return self.own, self.shared

    @property
    def cost(self) -> Cost:
        """The choice, and whichever way follows it; both are calibrated to the same epsilon."""
        own, shared, left = self.own.cost, self.shared.cost, self.own.epsilon
        guarantee = Approximate(left, max(own.delta(left), shared.delta(left)))
        either = Ways(privacy.max(own, shared).ways[0], guarantee)
        return Pure.bounded_range(self.choice.epsilon) + either

    def explain(self) -> list[str]:
        own, shared = (way.explain() for way in self.ways)
        where_own = "If so, pairs of a group and an item are looked for."
        where_shared = "If not, groups and items are looked for apart."
        return [self.choice.explain(), where_own, *own, where_shared, *shared]

    def select(self, evidence: UserGroups, draws: Draws) -> Selection:
        """As the way that was chosen, and which it was."""
        own = self.choice.says_own(evidence, draws)
        told = (self.own if own else self.shared).select(evidence, draws)
        return told._replace(branch="items are the groups' own" if own else "items are shared")


class _FoundCodes(NamedTuple):
    """What was found, best first.

    Attributes:
        codes: What it is.
        weights: How common each seems: no counts.
        left: What was not spent on the search, as a share of all Gaussians.
    """

    codes: Ints
    weights: Floats
    left: Fraction


class _Part(NamedTuple):
    """A search, and its share of the zCDP of all Gaussians."""

    search: Search
    share: Fraction

    def found(self, stop: StopRule | None, held: UserSets, draws: Draws) -> _FoundCodes:
        """What the rounds find of users' bounded sets, best first."""
        # Known items that hardly anybody holds are left out: these would clip the others' counts.
        found = self.search.found_early(stop, held, draws, self.search.of_known)
        order = best_first(found.estimates, draws)
        left = self.share * self.search.schedule.left(found.rounds)
        return _FoundCodes(found.items[order], found.estimates[order], left)


def _in_gaussians(rho: float, choices: int) -> float:
    """What so many choices of a clipping bound leave, rounded down."""
    return round_down(Fraction(rho) * (1 - choices * _CHOICE))
