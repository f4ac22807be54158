"""Chosen bound: adaptive Gaussian at a bound on users' items that is chosen privately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from shortlist.algorithms.likely_least import likely_least
from shortlist.algorithms.rounding_grids import WHOLE_WEIGHT
from shortlist.algorithms.search_in_rounds import Search
from shortlist.draws import Draws, Ints
from shortlist.errors import figures, joined
from shortlist.evidence import UserSets
from shortlist.mechanisms._in_rounds import SearchDesign
from shortlist.mechanisms.adaptive_gaussian import LOST_IN_ZCDP, AdaptiveGaussian
from shortlist.mechanisms.finding import ByPlay
from shortlist.mechanisms.mechanism import FIXED, Accounting, Selection, cost_of_release
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import Whole
from shortlist.privacy import Cost, Gaussian, round_down, round_up
from shortlist.privacy.accountant.after_choice import after_choice, fitted_after_choice
from shortlist.privacy.accountant.cost_of_rounds import RoundsRelease, limits_of
from shortlist.privacy.accountant.picks_as_noise import picks_below
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma

_LOUDEST = 1.0  # of the choice's range: more would tell nothing that counts
_USUAL = 100  # the bound that is best on most tables
_DISTRUST = 0.75  # the odds of another fall with this power of how many times as large or small
_STEEPNESS = 2  # a threshold higher by one per cent costs as much as two per cent of the items


@dataclass(frozen=True, kw_only=True)
class ChosenBoundDesign(SearchDesign):
    """What is fixed of `ChosenBound`.

    Attributes:
        bounds: Those that are chosen from, if they are below the largest.
        choice_share: The share of the zCDP of normal noise that pays for the choice.
        whole: How many items a user holds whose loss counts in whole, in the choice.
    """

    bounds: tuple[int, ...] = (3, 10, 30, 100, 300, 1000)
    choice_share: float = 0.0015
    whole: int = 10

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(super().coarse, bounds=(1, 2), whole=2)


_DESIGN = ChosenBoundDesign()


@dataclass(frozen=True, kw_only=True)
class ChosenBound(AdaptiveGaussian):
    """Domain discovery at a bound on each user's items that is chosen privately.

    The more items of a user count, the less is lost of large sets, and the more people an item
    needs to be named. So the bound is chosen from 3, 10, 30, 100, 300 and 1,000: the choice looks
    at nothing but how many users hold how many items, and takes a thousandth of the budget. Items
    are then found at that bound in rounds, as by `AdaptiveGaussian`, with the same noise at each.

    Where few users are in the table, or nothing speaks for another, the bound is most likely 100.
    It is not published.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by the worst case of the
    choice and the rounds together, whichever bound was chosen.

    Source: of this project. Proof notes: `docs/proofs/chosen-bound.md`,
    `docs/proofs/adaptive-gaussian.md`.

    Args:
        epsilon: Above 0.
        delta: In (0, 1).
        max_items_per_user: The largest of the bounds: itself, and those listed that are smaller.
        rounds: How many, from 2 to 10. Each passes over all users' items once.
        accounting: By the worst case of all users, or in zCDP, for one release of many.

    >>> mechanism = ChosenBound(epsilon=1.0, delta=1e-6)
    >>> mechanism.bounds, mechanism.cost.epsilon(1e-6) <= 1.0
    ((3, 10, 30, 100, 300, 1000), True)
    """

    max_items_per_user: Whole = _DESIGN.bounds[-1]
    design: ChosenBoundDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    derived: ClassVar[tuple[str, ...]] = ("bounds", "choice_epsilon", "sigma", "threshold")
    chooses_bound: ClassVar[bool] = True

    # --- what is spent

    @cached_property
    def _rho(self) -> float:
        lost = self._lost if self.accounting is Accounting.ZCDP else 0.0
        return gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=lost)

    @property
    def _lost(self) -> float:
        """The share of delta for thresholds, in zCDP."""
        return self.delta * LOST_IN_ZCDP

    @cached_property
    def choice_epsilon(self) -> float:
        """The range of the choice: it costs no more than normal noise of its share."""
        return min(picks_below(math.sqrt(2 * self._rho * self.design.choice_share), 1), _LOUDEST)

    @cached_property
    def _release(self) -> RoundsRelease:
        """The noise, and what may be lost, at each bound."""
        if self.accounting is Accounting.ZCDP:
            left = (1 - Fraction(self.design.choice_share)) * Fraction(self._rho)
            sigma = gaussian_sigma(round_down(left * (1 - Fraction(1, 2**40))))
            return RoundsRelease(sigma, self._lost)
        return fitted_after_choice(
            self._schedule,
            epsilon=self.epsilon,
            delta=self.delta,
            bound=self.max_items_per_user,
            choice=self.choice_epsilon,
        )

    @cached_property
    def cost(self) -> Cost:
        """The choice, and the rounds at the worst of the bounds."""
        composition = after_choice(
            self._release, self._schedule, self.max_items_per_user, self.choice_epsilon
        )
        choice = Fraction(self.design.choice_share) * Fraction(self._rho)
        rho = round_up(Fraction(composition.chosen.rho) + choice)
        by_rho = Gaussian(rho, composition.lost)
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    # --- what is told of it

    @property
    def bounds(self) -> tuple[int, ...]:
        """Those that are chosen from."""
        most = self.max_items_per_user
        return (*(bound for bound in self.design.bounds if bound < most), most)

    @cached_property
    def _searches(self) -> tuple[Search, ...]:
        """The rounds at each bound: with the same noise, and thresholds of their own."""
        limits = (limits_of(self._schedule, self._release, bound) for bound in self.bounds)
        return tuple(replace(self.search, limits=its) for its in limits)

    @property
    def usual_threshold(self) -> float:
        """The least mean noisy weight after the last round, at the bound that is usual."""
        usual = sum(bound <= _USUAL for bound in self.bounds)
        return self._searches[max(usual - 1, 0)].threshold

    @property
    def finding(self) -> ByPlay:
        """The choice, and all rounds."""
        return replace(super().finding, find=lambda held, draws: self.select(held, draws).positions)

    def explain(self) -> list[str]:
        """The choice and the rounds in plain words."""
        *rounds, named = self._explain_rounds("named", may_stop=False, bound="that many")
        least, most = (f"{bound:,}" for bound in (self.bounds[0], self.bounds[-1]))
        last = f"{self._searches[0].threshold:.4g}"
        return [
            f"How many items of a user count is chosen privately, from {listed(self.bounds)}.",
            "The choice looks at how many users hold more than that: these should be few.",
            f"Users of fewer than {self.design.whole} items count for less in it.",
            *rounds,
            f"At a bound of {most}, {named[0].lower()}{named[1:]}",
            f"At smaller bounds it needs less: {last} at {least}, after the last round.",
            self.explain_scores(),
            people_needed(self.threshold),
        ]

    # --- the selection

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """A set of items with their noisy weights, and which bound was chosen."""
        place = self._choice.pick(evidence, draws)
        bound = self.bounds[place]
        selection = self._named(evidence, bound, self._searches[place], draws)
        return selection._replace(branch=f"at most {bound} items of a user")

    @property
    def _choice(self) -> BoundChoice:
        thresholds = tuple(search.threshold for search in self._searches)
        factors = tuple(
            (min(bound, _USUAL) / max(bound, _USUAL)) ** _DISTRUST for bound in self.bounds
        )
        return BoundChoice(self.bounds, thresholds, factors, self.choice_epsilon, self.design.whole)


def listed(bounds: Sequence[float]) -> str:
    """In words.

    >>> listed((3, 10, 1000)), listed((2,))
    ('3, 10 and 1,000', '2 alone')
    """
    return joined(map(figures, bounds), "and") if len(bounds) > 1 else f"{figures(*bounds)} alone"


@dataclass(frozen=True)
class BoundChoice:
    """A private choice of a bound by how many items users hold: all that is in it is public.

    It is an exponential mechanism. A user who holds more items than a bound loses 1 at it, and
    every other user loses what the bound's threshold costs. Both count in proportion to the items
    held, where these are few: who holds one item could not name much. So one user more adds a
    number from 0 to 1 to the losses of all bounds.

    Attributes:
        bounds: To choose from, rising.
        thresholds: How noisy a weight is enough at each.
        factors: Of the odds of each, whatever users hold.
        epsilon: The range.
        whole: From how many items on a user counts in whole.
    """

    bounds: tuple[int, ...]
    thresholds: tuple[float, ...]
    factors: tuple[float, ...]
    epsilon: float
    whole: int

    def pick(self, held: UserSets, draws: Draws) -> int:
        """The bound that is likely to lose users least, of whole sets: its place."""
        lost = self._lost(held.users_of_size())
        return likely_least(lost, self.epsilon, draws, self.factors)

    def _lost(self, users_of_size: Ints) -> Ints:
        """What all users lose at each bound, in multiples of 2^-20."""
        items = users_of_size * np.minimum(np.arange(len(users_of_size)), self.whole)
        beyond = np.array([items[bound + 1 :].sum() for bound in self.bounds], np.int64)
        lost: Ints = beyond * self._per_item + (items.sum() - beyond) * self._of_others
        return lost

    @property
    def _per_item(self) -> int:
        """What each item that counts is worth: rounded down, so that a user loses at most 1."""
        return WHOLE_WEIGHT // self.whole

    @property
    def _of_others(self) -> Ints:
        """What users lose of an item at each bound that they do not exceed, by its threshold."""
        least = min(self.thresholds)
        shares = [1 - least / threshold for threshold in self.thresholds]  # public: as they may be
        costs = np.clip(_STEEPNESS * np.array(shares), 0.0, 1.0)
        of_others: Ints = np.floor(costs * self._per_item).astype(np.int64)
        return of_others
