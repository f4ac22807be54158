"""A domain, and a noisy count of each named item, of which each user's part is clipped."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self

import numpy as np

from shortlist.algorithms.clipped_counts import ClippedCounts
from shortlist.algorithms.rounding_grids import (
    UNIT_OF_WEIGHTS,
    GridOfCounts,
    coarse_grid,
    fine_grid,
)
from shortlist.draws import Draws
from shortlist.draws.noise import Normal
from shortlist.errors import InputError
from shortlist.evidence import PrivateCounts, UserSets, Wants, WeightedHistogram
from shortlist.evidence.contributions import Contributions
from shortlist.mechanisms.mechanism import (
    ADD_OR_REMOVE,
    FIXED,
    AuditHints,
    Mechanism,
    Selection,
    score_digits,
    with_coarse_design,
)
from shortlist.mechanisms.wrappers._floor import AT_MOST, Floor, PlayedWithFloor
from shortlist.mechanisms.wrappers._wrapper import Counted
from shortlist.parameters import DeltaOfDomain, Epsilon, Share, Whole
from shortlist.privacy import ZCDP, Cost, Pure, round_down, round_up
from shortlist.privacy.accountant import BoundedRange, Composition, GaussianStage, Stage
from shortlist.privacy.accountant.fitting import largest_after, largest_within
from shortlist.privacy.calibration import bounded_range_epsilon, zcdp_rho
from shortlist.privacy.composed import composition_of
from shortlist.questions import Domain, Question

if TYPE_CHECKING:
    from shortlist.mechanisms.finding import Detection

# The share of the zCDP of the counts that pays for the choice of the bound.
_CHOICE_SHARE = 0.1
# What is left out of a count and its noise are both errors, and weigh alike.
NOISE_WEIGHT = 1.0
# Noise beyond the last multiple of the grid is 32 times as large as this standard deviation.
MOST_SD = 2.0**29


@dataclass(frozen=True, kw_only=True)
class ClippedCountsDesign:
    """What is fixed of `NoisyClippedCounts`.

    Attributes:
        bounds: Of the squared norm of a user's part in all counts, to choose from.
        grid: What noisy counts are rounded down to: any grid is private.
    """

    bounds: tuple[int, ...] = tuple(2**n for n in range(13))
    grid: GridOfCounts = fine_grid

    @property
    def coarse(self) -> Self:
        """One with so few branches that they can be enumerated."""
        return replace(self, bounds=(1, 2), grid=_COARSE)


_DESIGN, _COARSE = ClippedCountsDesign(), partial(coarse_grid, highest=2.0)


@dataclass(frozen=True, kw_only=True)
class NoisyClippedCounts(Counted):
    """Another mechanism's domain, each named item with a noisy count.

    One user may hold any number of the named items. So a bound D is picked privately from a grid,
    and a user who holds n of them, more than D, adds sqrt(D / n) to each instead of 1. The count
    of an item is the sum over its holders, with normal noise that grows with the square root of D.
    All items of a user count here, however the selection bounds them.

    Guarantee: (epsilon, delta)-DP when one user is added or removed, by composition. count_share of
    epsilon and delta is withheld from the selection; the counts and the choice of D get all that
    the selection does not use.

    Source: of this project; the clipping is that of the norm of a gradient, Abadi et al. (2016).
    Proof notes: `docs/proofs/noisy-clipped-counts.md`, `docs/proofs/adaptive-top-k.md`, part E.

    Attributes:
        selection: The mechanism that answers which items there are.
        epsilon: Of the whole.
        delta: Of the whole.
        count_share: The share of epsilon and delta that is withheld from the selection.
        min_users: How many users an item has to have to be named, as far as its noisy clipped count
            says; None for any number.
    """

    selection: Mechanism
    epsilon: Epsilon
    delta: DeltaOfDomain
    count_share: Share
    min_users: Whole | None = None
    design: ClippedCountsDesign = field(default=_DESIGN, repr=False, metadata=FIXED)

    question: ClassVar[type[Question]] = Domain
    discovers: ClassVar[bool | None] = True
    derived: ClassVar[tuple[str, ...]] = ("choice_epsilon", "least_count_sd")
    score_unit: ClassVar[str | None] = "noisy clipped count"

    def __post_init__(self) -> None:
        self._require_domain()
        super().__post_init__()
        self._require_useful_counts(max(self._sds), MOST_SD)

    def _require_domain(self) -> None:
        """Refuse what does not answer which items there are, from rows of users."""
        kinds = UserSets | WeightedHistogram | PrivateCounts
        shown = issubclass(self.selection.wants.kind, kinds)
        if not (self.selection.question is Domain and shown and self.adjacency == ADD_OR_REMOVE):
            raise InputError(
                "{kind} names no domain of users' rows",
                "omit it",
                given={"count_share": self.count_share},
                kind=type(self.selection),
            )

    @cached_property
    def _best(self) -> _PricedCounts:
        """The way with the least noise; a choice by public parameters."""
        return max(self._ways(), key=lambda way: way.counts.mu)

    def _ways(self) -> Iterator[_PricedCounts]:
        yield self._by_guarantees()
        if rho := self._rho_left:
            counts = ChoiceAndCounts.of(rho)
            yield _PricedCounts(counts, self.selection.cost + counts.by_rho)
        if self._has_stages:
            yield from self._after_stages()

    def _by_guarantees(self) -> _PricedCounts:
        """For the epsilon and the delta that are left: both guarantees add up."""
        epsilon, delta = self._left
        rho = largest_within(
            lambda rho: ChoiceAndCounts.of(rho).stages,
            epsilon=epsilon,
            delta=delta,
            by_rho=zcdp_rho(epsilon=epsilon, delta=delta),
        )
        counts = ChoiceAndCounts.of(rho)
        return _PricedCounts(counts, self._beside_guarantee(epsilon, delta, counts.by_rho))

    def _after_stages(self) -> Iterator[_PricedCounts]:
        """As two stages more of a selection whose worst case is known.

        The choice is set apart first: its share of what noise alone could have.
        """
        before = composition_of(self.selection.cost)
        if before is None:
            return
        if (alone := self._noise_after(before)) == 0:
            return
        choice = ChoiceAndCounts.of(alone**2 / 2).choice
        chosen = replace(before, stages=(*before.stages, BoundedRange(choice)))
        if (mu := self._noise_after(chosen)) > 0:
            counts = ChoiceAndCounts(mu, choice)
            cost = self._followed_by(counts.stages, before, counts.by_rho)
            yield _PricedCounts(counts, cost)

    def _noise_after(self, stages: Composition) -> float:
        return largest_after(stages, GaussianStage, epsilon=self.epsilon, delta=self.delta)

    @property
    def cost(self) -> Cost:
        return self._best.cost

    @property
    def choice_epsilon(self) -> float:
        """The range of the choice of a bound."""
        return self._best.counts.choice

    @property
    def least_count_sd(self) -> float:
        """The standard deviation of the noise of a count, where the bound is 1."""
        return self._sds[0]

    @cached_property
    def _sds(self) -> tuple[float, ...]:
        """Of the noise of a count, for each bound."""
        return tuple(map(self._best.counts.sd, self.design.bounds))

    @property
    def evidence(self) -> type:  # type: ignore[override]
        """Users' sets; as rows, where the selection goes through them."""
        rows = issubclass(self.selection.evidence, Contributions)
        return Contributions if rows else UserSets

    @property
    def wants(self) -> Wants:
        return Wants(self.evidence)

    def audit_hints(self) -> AuditHints:
        inner = self.selection.audit_hints()
        around = replace(self, selection=inner.coarse or self.selection)
        coarse = with_coarse_design(around)
        return replace(inner, score_sd=None, inner=self.selection, coarse=coarse)

    @property
    def noise_varies(self) -> bool:
        return True

    def _explained_counts(self) -> list[str]:
        part = "A user who holds n of these items, more than D, adds sqrt(D / n) to each count"
        picked = f"D is picked privately from 1, 2, 4 and so on to {self.design.bounds[-1]}"
        floor = [] if self.min_users is None else self._explained_floor(self.min_users)
        return [
            f"Each named item comes with a noisy count. {part}, instead of 1.",
            f"{picked}: it is large where many users hold many of the named items.",
            f"The noise is normal, of standard deviation {self.least_count_sd:.3g} sqrt(D).",
            *floor,
        ]

    def _explained_floor(self, users: int) -> list[str]:
        least, most = (self._floor(users, sd) for sd in (self._sds[0], self._sds[-1]))
        named = (
            "Of these only items are named whose noisy clipped count is at least "
            f"about {users:,} + {least.far:.3g} sqrt(D): {AT_MOST.format(users)}."
        )
        kept = (
            "One that is found is named in at least 99 of 100 cases if its clipped count is about "
            f"{users:,} + {2 * least.far:.3g} sqrt(D) or more, from {least.kept_from:,} with D = 1 "
            f"to {most.kept_from:,} with the largest D. That is its number of users where none of "
            "them holds more than D of the items found."
        )
        return [named, kept]

    def _told_of_floor(self, min_users: int) -> dict[str, object]:
        least = self._floor(min_users, self.least_count_sd)
        return {"min_users": min_users, "least_kept_from": least.kept_from}

    def _floor(self, min_users: int, sd: float) -> Floor:
        step = self.design.grid(sd).step * UNIT_OF_WEIGHTS
        return Floor.of(Normal(sd), min_users, step)

    @property
    def finding(self) -> Detection | None:
        found = super().finding
        if found is None or self.min_users is None:
            return found
        return PlayedWithFloor(
            find=lambda held, draws: self.select(held, draws).positions,
            around=found.around,
            most=found.most,
            floor=self._floor(self.min_users, self.least_count_sd),
        )

    def select(self, evidence: UserSets, draws: Draws) -> Selection:
        """The selection, with noisy clipped counts as its scores; of it what reaches the floor."""
        wants, shown = self.selection.wants, evidence
        if wants.bound is not None:
            shown = evidence.bounded(wants.bound, draws)
        selection = self.selection.select(shown.shown_as(wants), draws)
        return self.with_counts(selection, evidence.among(selection.positions), draws)

    def with_counts(self, selection: Selection, held: UserSets, draws: Draws) -> Selection:
        """A selection with counts of what users hold of it, whole sets, as its scores."""
        if not held.n_items:
            return selection._replace(scores=np.empty(0), noise_sd=self.least_count_sd)
        clipped = ClippedCounts(held, self.design.grid, NOISE_WEIGHT)
        counts, sd = clipped.measured(self.design.bounds, self._sds, self.choice_epsilon, draws)
        named = (
            slice(None)
            if self.min_users is None
            else counts >= self._floor(self.min_users, sd).least
        )
        return selection._replace(
            positions=selection.positions[named],
            scores=np.round(counts[named], score_digits(sd)),
            noise_sd=sd,
        )


class ChoiceAndCounts(NamedTuple):
    """How private the choice of a bound, and the counts after it, are.

    Attributes:
        mu: Of the Gaussian mechanism that the counts are.
        choice: The range of the choice.
    """

    mu: float
    choice: float

    @classmethod
    def of(cls, rho: float) -> ChoiceAndCounts:
        """That cost so much zCDP together."""
        left = Fraction(rho) * (1 - Fraction(_CHOICE_SHARE))
        mu = round_down(Fraction(math.sqrt(2 * left)) * (1 - Fraction(1, 2**50)))
        return cls(mu, bounded_range_epsilon(1, rho * _CHOICE_SHARE * (1 - 2.0**-50)))

    @property
    def stages(self) -> tuple[Stage, ...]:
        return BoundedRange(self.choice), GaussianStage(self.mu)

    @property
    def by_rho(self) -> Cost:
        """Each by itself in zCDP."""
        return Pure.bounded_range(self.choice) + ZCDP(round_up(Fraction(self.mu) ** 2 / 2))

    def sd(self, bound: int) -> float:
        """Of the noise of counts of which one user's part has at most this squared norm."""
        norm = Fraction(math.sqrt(bound)) * (1 + Fraction(1, 2**50))
        return round_up(norm / Fraction(self.mu))


class _PricedCounts(NamedTuple):
    """The counts, and what they cost with the selection."""

    counts: ChoiceAndCounts
    cost: Cost
