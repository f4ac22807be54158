"""Chosen bound: adaptive Gaussian at a bound on users' items that is chosen privately."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

from shortlist.algorithms.bound_choice import BoundChoice
from shortlist.draws import Draws
from shortlist.evidence import UserSets
from shortlist.mechanisms._told_of_rounds import told_of_first, told_of_rounds
from shortlist.mechanisms.adaptive_gaussian import LOST_IN_ZCDP, AdaptiveGaussian
from shortlist.mechanisms.mechanism import (
    Accounting,
    AuditHints,
    Selection,
    coarser,
    cost_of_release,
)
from shortlist.mechanisms.weighted_gaussian import people_needed
from shortlist.parameters import Whole
from shortlist.privacy import Cost, Gaussian, round_down, round_up
from shortlist.privacy.accountant.after_choice import after_choice, fitted_after_choice
from shortlist.privacy.accountant.picks_as_noise import picks_below
from shortlist.privacy.accountant.rounds import Limits, RoundsRelease, limits_of
from shortlist.privacy.calibration import gaussian_rho, gaussian_sigma

__all__ = ["ChosenBound"]

_CHOICE = 0.0015  # of the zCDP of normal noise, for the choice
_LOUDEST = 1.0  # of its range: more would tell nothing that counts
_BOUNDS = 3, 10, 30, 100, 300, 1000
_USUAL = 100  # the bound that is best on most tables
_DISTRUST = 2  # the odds of another fall with this power of how many times as large or small it is


@dataclass(frozen=True, kw_only=True)
class ChosenBound(AdaptiveGaussian):
    """Domain discovery at a bound on each user's items that is chosen privately.

    The more items of a user count, the less is lost of large sets, and the more people an item
    needs to be named. So the bound is chosen from 3, 10, 30, 100, 300 and 1,000: the choice looks
    at nothing but how many users hold more than each, and takes a thousandth of the budget. Items
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

    Raises:
        InputError: A parameter is out of range.

    >>> mechanism = ChosenBound(epsilon=1.0, delta=1e-6)
    >>> mechanism.bounds, mechanism.cost.epsilon(1e-6) <= 1.0
    ((3, 10, 30, 100, 300, 1000), True)
    """

    max_items_per_user: Whole = _BOUNDS[-1]

    derived: ClassVar[tuple[str, ...]] = ("bounds", "choice_epsilon", "sigma", "threshold")
    _bounds: ClassVar[tuple[int, ...]] = _BOUNDS
    _share: ClassVar[float] = _CHOICE
    _chooser: ClassVar[type[BoundChoice]] = BoundChoice

    # --- what is spent

    @cached_property
    def _rho(self) -> float:
        """The zCDP of normal noise alone."""
        lost = self._lost if self.accounting is Accounting.ZCDP else 0.0
        return gaussian_rho(epsilon=self.epsilon, delta=self.delta, lost=lost)

    @property
    def _lost(self) -> float:
        """The share of delta for thresholds, in zCDP."""
        return self.delta * LOST_IN_ZCDP

    @cached_property
    def choice_epsilon(self) -> float:
        """The range of the choice: it costs no more than normal noise of its share."""
        return min(picks_below(math.sqrt(2 * self._rho * self._share), 1), _LOUDEST)

    @cached_property
    def _release(self) -> RoundsRelease:
        """The noise, and what may be lost, at each bound."""
        if self.accounting is Accounting.ZCDP:
            left = (1 - Fraction(self._share)) * Fraction(self._rho) * (1 - Fraction(1, 2**40))
            return RoundsRelease(gaussian_sigma(round_down(left)), self._lost)
        return fitted_after_choice(
            self._plan,
            epsilon=self.epsilon,
            delta=self.delta,
            bound=self.max_items_per_user,
            choice=self.choice_epsilon,
        )

    @cached_property
    def cost(self) -> Cost:
        """The choice, and the rounds at the worst of the bounds."""
        composition = after_choice(
            self._release, self._plan, self.max_items_per_user, self.choice_epsilon
        )
        choice = Fraction(self._share) * Fraction(self._rho)
        rho = round_up(Fraction(composition.chosen.rho) + choice)
        by_rho = Gaussian(rho, composition.lost)
        return cost_of_release(self.accounting, composition, by_rho, self.epsilon)

    # --- what is told of it

    @property
    def bounds(self) -> tuple[int, ...]:
        """Those that are chosen from."""
        most = self.max_items_per_user
        return (*(bound for bound in self._bounds if bound < most), most)

    @cached_property
    def _every_limits(self) -> tuple[Limits, ...]:
        """The thresholds and the largest weights at each bound."""
        return tuple(limits_of(self._plan, self._release, bound) for bound in self.bounds)

    def audit_hints(self) -> AuditHints:
        """As of adaptive Gaussian; and the same code with a coarse grid and bounds."""
        coarse = coarser(self, _is_fine=False, _bounds=(1, 2))
        return replace(super().audit_hints(), coarse=coarse)

    def explain(self) -> list[str]:
        """The choice and the rounds in plain words."""
        *rounds, named = told_of_rounds(
            self.thresholds, self.sigma, bound="that many", named="named", may_stop=False
        )
        least, most = (f"{bound:,}" for bound in (self.bounds[0], self.bounds[-1]))
        last = f"{self._every_limits[0].thresholds[-1]:.4g}"
        return [
            f"How many items of a user count is chosen privately, from {_listed(self.bounds)}.",
            "The choice looks at how many users hold more than that: these should be few.",
            *rounds,
            f"At a bound of {most}, {named[0].lower()}{named[1:]}",
            f"At smaller bounds it needs less: {last} at {least}, after the last round.",
            told_of_first(self._score_sd),
            people_needed(self.threshold),
        ]

    # --- the selection

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """A set of items with their noisy weights, and which bound was chosen."""
        place = self._choice.pick(evidence, draws)
        bound, limits = self.bounds[place], self._every_limits[place]
        selection = self._found(evidence, bound, limits, draws)
        return selection._replace(branch=f"at most {bound} items of a user")

    @property
    def _choice(self) -> BoundChoice:
        thresholds = tuple(limits.thresholds[-1] for limits in self._every_limits)
        factors = tuple(
            (min(bound, _USUAL) / max(bound, _USUAL)) ** _DISTRUST for bound in self.bounds
        )
        return self._chooser(self.bounds, thresholds, factors, self.choice_epsilon)


def _listed(bounds: tuple[int, ...]) -> str:
    """In words.

    >>> _listed((3, 10, 1000)), _listed((2,))
    ('3, 10 and 1,000', '2 alone')
    """
    *others, last = (f"{bound:,}" for bound in bounds)
    return f"{', '.join(others)} and {last}" if others else f"{last} alone"
