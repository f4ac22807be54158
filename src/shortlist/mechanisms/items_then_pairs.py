"""Pairs of items: items are found in rounds, and then picks are made among all pairs of these."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from shortlist.algorithms.clipped_counts import best_first
from shortlist.algorithms.search_in_rounds import Found, Search
from shortlist.draws import Draws, Ints
from shortlist.evidence import PairsOfItems
from shortlist.mechanisms._in_rounds import InRounds, SearchDesign
from shortlist.mechanisms.mechanism import (
    FIXED,
    Accounting,
    AuditHints,
    Selection,
    cost_of_release,
    picked_in_turn,
)
from shortlist.mechanisms.peeling import odds, peel
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import DeltaAboveZero, Epsilon, Whole
from shortlist.privacy import Cost, Gaussian, round_down
from shortlist.privacy.accountant import Composition
from shortlist.privacy.accountant.cost_of_rounds import (
    RoundsRelease,
    Schedule,
    fitted,
    with_a_stop,
    zcdp_of_noise,
)
from shortlist.privacy.accountant.picks_as_noise import picks_below
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma

_OF_ITEMS = Fraction(3, 20)  # of the zCDP, to find items
_MOST_PAIRED = 2_000  # items, so that there are at most two million pairs
_EXPECTED_GAIN = 1.5
_LOST = 0.4  # of delta, in zCDP


@dataclass(frozen=True, kw_only=True)
class ItemsThenPairsDesign(SearchDesign):
    """What is fixed of `ItemsThenPairs`.

    Attributes:
        schedule: How the rounds share what is spent to find items.
    """

    schedule: Schedule

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        few = replace(self.schedule, parts=(1, 5), losses=(0.1, 0.9))
        return replace(super().coarse, schedule=few)


_DESIGN = ItemsThenPairsDesign(
    schedule=Schedule(
        parts=(4, 5, 6, 7, 8, 9),
        floor=Fraction(0),
        losses=(0.003, 0.006, 0.013, 0.026, 0.052, 0.9),
        cap=8.0,
        raised=0.06,
    )
)


@dataclass(frozen=True, kw_only=True)
class ItemsThenPairs(InRounds):
    """Pairs of private items: single items are found in rounds, then k pairs of these are picked.

    Items are found in rounds, as by `AdaptiveGaussian`. All pairs of what was found compete, also
    those that nobody holds: of more than 2,000 items, the 2,000 of the largest noisy weights. Each
    pick has odds exp(local_epsilon · count), count the number of users who hold both items. Of a
    user all items count there; `most_items` bounds the rounds alone. So a pair that nobody holds
    may be named, with little chance where others are held by many.

    It is no default. It misses less than pairs as items do where users hold many items, and more
    where fewer than about √(2k) items would be found.

    Guarantee: (epsilon, delta)-DP when one user is added or removed. The picks cost no more than
    normal noise, so that all of it costs as much as normal noise, and what the thresholds of the
    rounds lose to a user who alone holds items.

    Source: of this project; items before pairs as in Kim et al. (2021), whose pairs are named by
    thresholds. Proof notes: `docs/proofs/items-then-pairs.md`, `docs/proofs/accountant.md`.

    Args:
        k: How many pairs, at least 1; fewer come out where fewer items are found.
        epsilon: Above 0.
        delta: In (0, 1).
        most_items: The most items of one user that count in the rounds.
        accounting: By the worst case of all users, or in zCDP, for one release of many.

    >>> mechanism = ItemsThenPairs(k=20, epsilon=1.0, delta=1e-6)
    >>> mechanism.cost.epsilon(1e-6) <= 1.0
    True
    """

    k: Whole
    epsilon: Epsilon
    delta: DeltaAboveZero
    most_items: Whole = 100
    accounting: Accounting = Accounting.EXACT
    design: ItemsThenPairsDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    evidence: ClassVar[type] = PairsOfItems
    takes_known_items: ClassVar[bool] = False
    derived: ClassVar[tuple[str, ...]] = ("rho", "local_epsilon", "sigma", "threshold")

    # --- what is spent

    @cached_property
    def _release(self) -> RoundsRelease:
        """The noise that all of it is worth, and what may be lost."""
        if self.accounting is Accounting.EXACT:
            return fitted(self._composed, epsilon=self.epsilon, delta=self.delta)
        lost = self.delta * _LOST
        rho = gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=lost)
        return RoundsRelease(gaussian_sigma(rho), lost)

    def _composed(self, release: RoundsRelease) -> Composition:
        first = round_down(_OF_ITEMS * self.design.schedule.spent(1)) * (1 - 2.0**-40)
        return with_a_stop(release, first, self.most_items)

    @cached_property
    def cost(self) -> Cost:
        """Normal noise, and the items that one user alone may hold."""
        if self.accounting is Accounting.ZCDP:
            return Gaussian(self.rho, self._release.lost)
        composition = self._composed(self._release)
        by_rho = Gaussian(composition.rho, composition.lost)
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    @cached_property
    def rho(self) -> float:
        """The zCDP of rounds and picks together."""
        return zcdp_of_noise(self._release.sigma)

    @cached_property
    def local_epsilon(self) -> float:
        """The parameter of each pick."""
        left = round_down(Fraction(self.rho) * (1 - _OF_ITEMS))
        return picks_below(math.sqrt(2 * left) * (1 - 2.0**-50), self.k)

    @cached_property
    def search(self) -> Search:
        """The rounds, among users of at most `most_items` items."""
        sigma = gaussian_sigma(round_down(Fraction(self.rho) * _OF_ITEMS))
        release = RoundsRelease(sigma, self._release.lost)
        schedule, grid = self.design.schedule, self.design.grid
        return Search.of(schedule, release, self.most_items, grid, _EXPECTED_GAIN)

    # --- what is told of it

    @property
    def finding(self) -> None:  # type: ignore[override]
        """None: whether a pair is named hangs on the counts of others."""
        return

    def audit_hints(self) -> AuditHints:
        """The thresholds, and of how many items of a user the rounds look at."""
        return replace(super().audit_hints(), user_bound=self.most_items)

    def explain(self) -> list[str]:
        """The rounds and the picks in plain words."""
        compete = "All pairs of the items found compete, also those that nobody holds."
        few = f"If more than {_MOST_PAIRED:,} are found, those of the largest noisy weights do."
        picked = f"Up to {picked_in_turn(self.k, 'pair')}, by how many people hold both items"
        return [
            "First single items are found, of which pairs are made.",
            *self._explain_rounds("found", may_stop=False, bound=self.most_items),
            f"{compete} {few}",
            f"{picked}, however many they hold: {odds(self.local_epsilon, 'a pair')}",
            people_needed(self.threshold, "found"),
        ]

    # --- the selection

    def select(self, evidence: PairsOfItems, draws: Draws) -> Selection:
        """At most k pairs of items in the order picked, from whole sets of items."""
        found = self.search.found(evidence.sets.bounded(self.most_items, draws), draws)
        paired = _best(found, draws)
        picked = peel(evidence.held_together(paired), self.k, self.local_epsilon, draws)
        return Selection(evidence.pairs_of(paired, picked))


def _best(found: Found, draws: Draws) -> Ints:
    """The items of which pairs are made, rising: all, if they are not too many."""
    if len(found.items) <= _MOST_PAIRED:
        return found.items
    best: Ints = np.sort(found.items[best_first(found.first, draws)[:_MOST_PAIRED]])
    return best
