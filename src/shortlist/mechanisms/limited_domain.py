"""Limited domain: top-k of private items from their counts alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import takewhile
from typing import ClassVar, TypeAlias

import numpy as np

from shortlist.algorithms.grouping import EqualCounts
from shortlist.draws import Draws, Ints
from shortlist.draws.reals import ExponentialWeights
from shortlist.errors import InputError
from shortlist.evidence import PrivateCounts
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Mechanism,
    Selection,
    cost_of_release,
    counted,
    picked_in_turn,
    require_bounded,
)
from shortlist.mechanisms.peeling import first, odds
from shortlist.parameters import MOST_ITEMS, DeltaOfCounts, Epsilon, Share, Whole
from shortlist.privacy import ZCDP, Approximate, Cost, Pure, round_down, round_up
from shortlist.privacy.accountant import (
    BoundedRange,
    Composition,
    EitherStage,
    Stage,
    ThresholdDelta,
)
from shortlist.privacy.accountant.fitting import largest_within
from shortlist.privacy.calibration import bounded_range_epsilon, divide_down, zcdp_rho

# How many counts take part at least, where a user may be in any number of them.
_LOOKED_AT = 1000

# In how many parts the picks are divided; how many a second try has hangs on the part that ended.
_PARTS = 3

# Of what the bar may lose, the part of the first try where a second one may follow it.
_FIRST = Fraction(3, 4)


@dataclass(frozen=True, kw_only=True)
class LimitedDomain(Mechanism):
    """Top-k of private items from counts: peeling among the largest, until nobody is picked.

    Only the `looked_at` largest counts take part, and the next count sets the bar: a candidate
    "nobody" has the odds of that count + `lead`. The picks end when it is picked, so that fewer
    than k items may come out. Ties at the last place looked at are broken at random.

    Where it is picked early, the budget of most other picks is left. It pays for a second try among
    the items left, of fewer picks that look closer, so that the bar is lower for them.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, who is in at most
    max_items_per_user counts, or in any number of them. Either threshold_share of delta pays for
    the bar, and the rest for k picks of bounded range; or all of it pays for the bar, and the picks
    are pure, where they would gain so little by a delta that the bar would rise for it.

    Source: Durfee & Rogers (2019), Algorithm 1 and Theorem 1. Proof notes:
    `docs/proofs/limited-domain.md`, `docs/proofs/accountant.md`.

    Args:
        k: How many items, at least 1.
        epsilon: Above 0.
        delta: In (0, 1).
        k_bar: How many of the largest counts are looked at, at least k. With None all are, if
            max_items_per_user is given, and the largest 10 k, or 1,000, if not.
        max_items_per_user: In how many counts a user is at most; None if there is no bound.
        threshold_share: The share of delta that pays for the bar, unless picks are pure.
        second_try: By what the parameter of a pick is multiplied in a second try, which has as many
            picks as their budget then allows; None for no second try. There is none of fewer than 6
            picks by the default, nor of pure ones.
        accounting: Of the picks: by the worst case, or in zCDP, for one release of many.

    >>> mechanism = LimitedDomain(k=10, epsilon=1.0, delta=1e-6, max_items_per_user=100)
    >>> round(mechanism.local_epsilon, 4), round(mechanism.lead, 1)
    (0.149, 131.2)
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaOfCounts
    k_bar: Whole | None = None
    max_items_per_user: Whole | None = None
    threshold_share: Share = 0.5
    second_try: Whole | None = 2
    accounting: Accounting = Accounting.EXACT

    evidence: ClassVar[type] = PrivateCounts
    discovers: ClassVar[bool | None] = True
    reads_unit: ClassVar[bool] = True
    derived: ClassVar[tuple[str, ...]] = ("local_epsilon", "lead")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k_bar is not None and self.k_bar < self.k:
            raise InputError(
                "must be at least {k=}, or None for the default",
                given={"k": self.k, "k_bar": self.k_bar},
            )

    @cached_property
    def _by_rho(self) -> float:
        """The local epsilon of k picks in zCDP, beside what the bar loses."""
        epsilon, delta = self.epsilon, self.delta
        rho = zcdp_rho(epsilon=epsilon, delta=delta, lost=delta * self.threshold_share)
        return bounded_range_epsilon(self.k, rho)

    @cached_property
    def _composed_epsilon(self) -> float:
        """The local epsilon of k picks, composed with what the bar loses."""
        if self.accounting is Accounting.ZCDP:
            return self._by_rho
        return largest_within(
            self._stages,
            epsilon=self.epsilon,
            delta=self.delta,
            by_rho=self._by_rho,
            own_items=ThresholdDelta(self.delta * self.threshold_share),
        )

    def _stages(self, local_epsilon: float) -> tuple[Stage, ...]:
        """Of all picks, or of those until a part ended early, and of the second try after it."""
        if not self._may_try_again:
            return (BoundedRange(local_epsilon, self.k),)
        stages: tuple[Stage, ...] = ()
        for start in reversed(range(0, self.k, self._part)):
            if again := self._picks_again(start):
                bolder = BoundedRange(self._second_epsilon(local_epsilon), again)
                stages = (EitherStage(stages, (bolder,)),)
            times = min(self._part, self.k - start)
            stages = (BoundedRange(local_epsilon, times), *stages)
        return stages

    @property
    def _part(self) -> int:
        return -(-self.k // _PARTS)

    def _picks_again(self, found: int) -> int:
        """How many picks a second try has, if "nobody" was picked after so many items."""
        if self.second_try is None:
            return 0
        left = self.k - self._part * (found // self._part + 1)
        return max(left, 0) // self.second_try**2

    @property
    def _may_try_again(self) -> bool:
        return self._picks_again(0) > 0

    def _second_epsilon(self, local_epsilon: float) -> float:
        """The parameter of each pick of a second try."""
        return round_down(Fraction(local_epsilon) * (self.second_try or 1))

    @cached_property
    def _pure_epsilon(self) -> float:
        return divide_down(self.epsilon, self.k)

    @cached_property
    def _is_pure(self) -> bool:
        """Whether the picks are: unless they gain by a delta, and the bar does not rise for that.

        In zCDP it may rise.
        """
        if self._pure_epsilon < self._by_rho:
            return False
        composed = self._lead(self._composed_epsilon, self.delta * self.threshold_share)
        return composed >= self._lead(self._pure_epsilon, self.delta)

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick."""
        return self._pure_epsilon if self._is_pure else self._composed_epsilon

    @cached_property
    def threshold_delta(self) -> float:
        """The probability granted to naming an item that one user brought among the largest."""
        return self.delta if self._is_pure else self.delta * self.threshold_share

    @property
    def looked_at(self) -> int | None:
        """How many of the largest counts take part; None for all."""
        if self.k_bar is None and self.max_items_per_user is None:
            return max(10 * self.k, _LOOKED_AT)
        return self.k_bar

    @property
    def _tries_again(self) -> bool:
        return self._may_try_again and not self._is_pure

    @cached_property
    def _nobody(self) -> float:
        """How many items of the bar's count have the odds of "nobody", rounded up."""
        return self._nobody_for(_FIRST if self._tries_again else Fraction(1))

    @cached_property
    def _nobody_again(self) -> float:
        """The same in a second try."""
        return self._nobody_for(1 - _FIRST)

    def _nobody_for(self, share: Fraction) -> float:
        return round_up(Fraction(self._changed) / (share * Fraction(self.threshold_delta)))

    @property
    def _changed(self) -> int:
        """How many of the counts looked at one user changes at most."""
        bounds = [self.looked_at, self.max_items_per_user]
        return min(bound for bound in bounds if bound is not None)

    @cached_property
    def lead(self) -> float:
        """How far above the first count not looked at an item is as likely as "nobody"."""
        lead = 1 + math.log(self._nobody) / self.local_epsilon
        if not math.isfinite(lead):
            raise OverflowError  # no item could reach the bar
        return lead

    def _lead(self, local_epsilon: float, threshold_delta: float) -> float:
        """About the lead that these would give."""
        return (math.log(self._changed) - math.log(threshold_delta)) / local_epsilon

    @cached_property
    def cost(self) -> Cost:
        picks_of_range = Pure.bounded_range(self.local_epsilon) * self.k
        if self._is_pure:
            return Approximate(picks_of_range.pure, self.threshold_delta, picks_of_range.rho)
        by_rho = ZCDP(picks_of_range.rho, self.threshold_delta)
        composition = Composition(
            self._stages(self.local_epsilon), ThresholdDelta(self.threshold_delta)
        )
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    def audit_hints(self) -> AuditHints:
        thresholds = (self.lead, self._second_lead) if self._tries_again else (self.lead,)
        return replace(super().audit_hints(), thresholds=thresholds)

    @property
    def _second_lead(self) -> float:
        """The lead in a second try."""
        return 1 + math.log(self._nobody_again) / self._second_epsilon(self.local_epsilon)

    def explain(self) -> list[str]:
        looked_at = self.looked_at
        among, bar = "all items", ""
        if looked_at is not None:
            among = f"the {counted(looked_at, 'item')} of the largest counts"
            bar = " more than the next item after these"
        picked = f"Up to {picked_in_turn(self.k)} among {among}: "
        end = (
            'Picking ends when "nobody" is picked. It has the odds of an item held by '
            f"{self.lead:.0f} people{bar}."
        )
        return [picked + odds(self.local_epsilon), end, *self._explained_again()]

    def _explained_again(self) -> list[str]:
        if not self._tries_again:
            return []
        again = counted(self._picks_again(0), "pick")
        said = (
            "If it ends early, there is a second try among the rest, for which the picks left out "
            f'pay: up to {again}, in which "nobody" has the odds of {self._second_lead:.0f} '
            f"people instead of {self.lead:.0f}."
        )
        return [said]

    def select(self, evidence: PrivateCounts, draws: Draws) -> Selection:
        """At most k items in the order picked."""
        require_bounded(evidence, max_items_per_user=self.max_items_per_user)
        first_try = self._try(self.k, self._nobody, self.local_epsilon, evidence.unit)
        second_after = partial(self._second_after, evidence.unit)
        return Selection(first_try.select(evidence.counts, draws, second_after))

    def _second_after(self, unit: float, found: int) -> LimitedPicks | None:
        """The second try, if "nobody" was picked after so many items and there is one then."""
        again = self._picks_again(found) if self._tries_again else 0
        bolder = self._second_epsilon(self.local_epsilon)
        return self._try(again, self._nobody_again, bolder, unit) if again else None

    def _try(self, k: int, nobody: float, local_epsilon: float, unit: float) -> LimitedPicks:
        return LimitedPicks(k, self.looked_at, nobody, local_epsilon * unit, round(1 / unit))


SecondAfter: TypeAlias = "Callable[[int], LimitedPicks | None]"
"""A second try, or none, by how many items were picked before "nobody"."""


@dataclass(frozen=True)
class LimitedPicks:
    """Peeling of private items: of the largest counts, and "nobody", who ends it.

    Attributes:
        k: How many items are picked at most.
        looked_at: How many of the largest counts take part; None for all.
        nobody: How many items of the bar's count, which is what one user adds above the next
            count, have the odds of "nobody".
        local_epsilon: The parameter of each pick.
        one: By how much one user raises a count at most.
    """

    k: int
    looked_at: int | None
    nobody: float
    local_epsilon: float
    one: int = 1

    def select(
        self, counts: Ints, draws: Draws, second_after: SecondAfter = lambda _: None
    ) -> Ints:
        """Positions of at most k items, and those of a second try after them, in the order picked.

        Ties at the last place looked at are broken at random.
        """
        groups = EqualCounts.of(counts)
        values, sizes, bar = self._limited(groups)
        found = self.until_nobody(values, sizes, bar, draws)
        if (second := second_after(len(found))) is not None:
            left = sizes - np.bincount(found, minlength=len(sizes))
            found = np.append(found, second.until_nobody(values, left, bar, draws))
        return groups.draw_members(found, draws)

    def until_nobody(self, values: Ints, sizes: Ints, bar: int, draws: Draws) -> Ints:
        """The groups of the items picked."""
        nobody = int(np.searchsorted(-values, -bar, side="right"))
        values = np.insert(values, nobody, bar)
        sizes = np.insert(sizes.astype(np.float64), nobody, self.nobody)
        at_most = float(MOST_ITEMS) + self.nobody
        weights = ExponentialWeights(values, sizes, self.local_epsilon, at_most)
        picked = weights.in_turn(lambda left: left.pick(draws))
        found = first(self.k, takewhile(lambda group: group != nobody, picked))
        return found - (found > nobody)

    def _limited(self, groups: EqualCounts) -> tuple[Ints, Ints, int]:
        """The groups looked at, with as many items of each as take part, and the bar's count.

        Of a group that takes part in part, each item is as likely to be one of these: the odds are
        those of the part, and a pick is drawn from the whole group.
        """
        held = int(np.searchsorted(-groups.values, 0))  # without the items that nobody holds
        values, sizes, ends = groups.values[:held], groups.sizes[:held], groups.ends[:held]
        if self.looked_at is None or not held or ends[-1] <= self.looked_at:
            return values, sizes, self.one
        last = int(np.searchsorted(ends, self.looked_at))
        bar = values[last] if ends[last] > self.looked_at else values[last + 1]
        taking_part = sizes[: last + 1].copy()
        taking_part[last] -= ends[last] - min(ends[last], self.looked_at)
        return values[: last + 1], taking_part, int(bar) + self.one
